// SPDX-License-Identifier: BSD-3-Clause
//
// DRA's C and Fortran names, dra.h and dra.fh. Requests are done when they begin.
#include "fortran/ga/include/dra.h"

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fortran/ga/pario/disk_arrays.hpp"
#include "fortran/ga/pario/fortran_names.h"
#include "fortran/ga/session.hpp"

namespace {

namespace pario = tessera::ga::pario;
using pario::DiskArrays;
using pario::DiskLayout;
using pario::Failure;
using pario::fortran_text;
using pario::SectionPair;
using tessera::ga::Box;
using tessera::ga::Extents;
using tessera::ga::Records;
using tessera::ga::Result;
using tessera::ga::Status;
using tessera::ga::Type;

// The order of a language's lists: C's is that of the inside.
enum class Order : unsigned char { c, fortran };

int number_of(const Status& status) {
  switch (status.code()) {
    case tessera::rma::Code::protocol:
      return static_cast<int>(Failure::open);
    case tessera::rma::Code::no_memory:
      return static_cast<int>(Failure::memory);
    case tessera::rma::Code::out_of_range:
    case tessera::rma::Code::invalid_argument:
      return static_cast<int>(Failure::handle);
    default:
      return static_cast<int>(Failure::unknown);
  }
}

// Prints an error, on one process.
int report(const char* function, const Status& status) noexcept {
  if (tessera::ga::default_group().rank <= 0) {
    std::fflush(stdout);
    std::fprintf(stderr, "tessera: %s: %s\n", function, status.describe().c_str());
  }
  return number_of(status);
}

template <class Act>
int run(const char* function, const Act& act) noexcept {
  try {
    const Status status = act(DiskArrays::all());
    return status.ok() ? ELIO_OK : report(function, status);
  } catch (const std::bad_alloc&) {
    return report(function, Status::code_only(tessera::rma::Code::no_memory));
  } catch (const std::exception& error) {
    return report(function, Status::error(tessera::rma::Code::internal, error.what()));
  }
}

int place_of(int dim, int ndims, Order order) {
  return order == Order::c ? dim : ndims - 1 - dim;
}

template <class I>
Result<Extents> extents_of(std::int64_t ndims, const I* given, Order order) {
  if (ndims < 1 || ndims > DiskLayout::max_dims) {
    return Status::error(tessera::rma::Code::invalid_argument,
                         fmt::format("an array of {} dimensions", ndims))
        .hint("use 1 to 7 dimensions");
  }
  const auto count = static_cast<int>(ndims);
  Extents extents = Extents::zeros(count);
  for (int dim = 0; dim < count; ++dim) {
    extents[place_of(dim, count, order)] = given[dim];
  }
  return extents;
}

template <class I>
Box box_of(int ndims, const I* lo, const I* hi, Order order) {
  Box box = Box::none(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    const std::int64_t first = order == Order::c ? lo[dim] : lo[dim] - 1;
    box.set(place_of(dim, ndims, order), first, order == Order::c ? hi[dim] + 1 : hi[dim]);
  }
  return box;
}

struct NewArray {
  Type type;
  std::string_view name;
  std::string_view file;
  std::int64_t mode = 0;
};

template <class I, class H>
int create(const char* function, const NewArray& made, std::int64_t ndims, const I* dims,
           const I* typical, Order order, H* handle) noexcept {
  return run(function, [&](DiskArrays& arrays) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Extents extents, extents_of(ndims, dims, order));
    TESSERA_ASSIGN_OR_RETURN(const Extents wanted, extents_of(ndims, typical, order));
    TESSERA_ASSIGN_OR_RETURN(
        const std::int64_t number,
        arrays.create(made.type, extents, made.name, made.file, made.mode, wanted));
    *handle = static_cast<H>(number);
    return {};
  });
}

template <class H>
int open_array(std::string_view file, std::int64_t mode, H* handle) noexcept {
  return run("dra_open", [&](DiskArrays& arrays) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t number, arrays.open(file, mode));
    *handle = static_cast<H>(number);
    return {};
  });
}

Status move(DiskArrays& arrays, const SectionPair& pair, bool is_write) {
  return is_write ? arrays.write(pair) : arrays.read(pair);
}

template <class H>
int move_all(const char* function, std::int64_t array, std::int64_t disk, bool is_write,
             H* request) noexcept {
  *request = DRA_REQ_INVALID;
  return run(function, [&](DiskArrays& arrays) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const SectionPair pair, arrays.whole(array, disk));
    return move(arrays, pair, is_write);
  });
}

template <class G, class D, class H>
int move_section(const char* function, bool is_transposed, std::int64_t array, const G* glo,
                 const G* ghi, std::int64_t disk, const D* dlo, const D* dhi, Order order,
                 bool is_write, H* request) noexcept {
  *request = DRA_REQ_INVALID;
  return run(function, [&](DiskArrays& arrays) -> Status {
    TESSERA_ASSIGN_OR_RETURN(SectionPair pair, arrays.whole(array, disk));
    pair.array_box = box_of(pair.array_box.ndims(), glo, ghi, order);
    pair.disk_box = box_of(pair.disk_box.ndims(), dlo, dhi, order);
    pair.is_transposed = is_transposed;
    return move(arrays, pair, is_write);
  });
}

/// The bounds of a matrix, as GA's older names give them.
struct MatrixBounds {
  Integer ilo, ihi, jlo, jhi;
};

int move_matrix(const char* function, bool is_transposed, std::int64_t array,
                const MatrixBounds& global, std::int64_t disk, const MatrixBounds& on_disk,
                bool is_write, Integer* request) noexcept {
  const Integer glo[] = {global.ilo, global.jlo};
  const Integer ghi[] = {global.ihi, global.jhi};
  const Integer dlo[] = {on_disk.ilo, on_disk.jlo};
  const Integer dhi[] = {on_disk.ihi, on_disk.jhi};
  return move_section(function, is_transposed, array, glo, ghi, disk, dlo, dhi, Order::fortran,
                      is_write, request);
}

int close_array(std::int64_t disk) noexcept {
  return run("dra_close", [&](DiskArrays& arrays) { return arrays.close(disk); });
}
int remove_array(std::int64_t disk) noexcept {
  return run("dra_delete", [&](DiskArrays& arrays) { return arrays.remove(disk); });
}
int begin(std::int64_t arrays_wanted, double memory) noexcept {
  return run("dra_init", [&](DiskArrays& arrays) { return arrays.begin(arrays_wanted, memory); });
}
int end() noexcept {
  return run("dra_terminate", [](DiskArrays& arrays) { return arrays.end(); });
}
int check_request(std::int64_t request) noexcept {
  return request == DRA_REQ_INVALID ? ELIO_OK : static_cast<int>(Failure::handle);
}

// Calls `act` with the layout, the file's name, and the type's number in that language.
template <class Act>
int inquire(const char* function, std::int64_t disk, const Act& act) noexcept {
  return run(function, [&](const DiskArrays& arrays) -> Status {
    const auto found = arrays.inquire(disk);
    TESSERA_RETURN_IF_ERROR(found.status());
    act(found->layout, found->file);
    return {};
  });
}

template <class I>
void copy_dims(const DiskLayout& layout, I* dims, Order order) {
  for (int dim = 0; dim < layout.ndims(); ++dim) {
    dims[dim] = static_cast<I>(layout.extents()[place_of(dim, layout.ndims(), order)]);
  }
}

void print(std::int64_t disk) noexcept {
  inquire("dra_print_internals", disk, [](const DiskLayout& layout, const std::string& file) {
    if (tessera::ga::default_group().rank != 0) {
      return;
    }
    std::string dims;
    for (int dim = 0; dim < layout.ndims(); ++dim) {
      dims += fmt::format("{}{} in chunks of {}", dim == 0 ? "" : ", ", layout.extents()[dim],
                          layout.chunk()[dim]);
    }
    std::printf("disk resident array '%s' in file '%s'\n  type %s, %s\n  %ld bytes\n",
                layout.name().c_str(), file.c_str(),
                std::string(to_string(static_cast<Type>(layout.type()))).c_str(), dims.c_str(),
                static_cast<long>(layout.file_bytes()));
    std::fflush(stdout);
  });
}

// Of two dimensions; zeros for the others, which are outside of an array in Fortran.
using Bounds = std::array<Integer, DiskLayout::max_dims>;

Type c_type(int code) {
  return static_cast<Type>(code);
}

}  // namespace

extern "C" {

int DRA_Init(int max_arrays, double, double, double max_memory) {
  return begin(max_arrays, max_memory);
}
int DRA_Terminate() {
  return end();
}
int NDRA_Create(int type, int ndim, dra_size_t dims[], char* name, char* filename, int mode,
                dra_size_t reqdims[], int* d_a) {
  return create("NDRA_Create", {c_type(type), name, filename, mode}, ndim, dims, reqdims, Order::c,
                d_a);
}
int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char* name, char* filename, int mode,
                       dra_size_t reqdims[], int, int, int* d_a) {
  return create("NDRA_Create_config", {c_type(type), name, filename, mode}, ndim, dims, reqdims,
                Order::c, d_a);
}
int DRA_Open(char* filename, int mode, int* d_a) {
  return open_array(filename, mode, d_a);
}
int DRA_Close(int d_a) {
  return close_array(d_a);
}
int DRA_Delete(int d_a) {
  return remove_array(d_a);
}
int NDRA_Inquire(int d_a, int* type, int* ndim, dra_size_t dims[], char* name, char* filename) {
  return inquire("NDRA_Inquire", d_a, [&](const DiskLayout& layout, const std::string& file) {
    *type = layout.type();
    *ndim = layout.ndims();
    copy_dims(layout, dims, Order::c);
    pario::copy_text(layout.name(), name, DiskLayout::name_bytes);
    pario::copy_text(file, filename, file.size() + 1);
  });
}
int NDRA_Write(int g_a, int d_a, int* request) {
  return move_all("NDRA_Write", g_a, d_a, true, request);
}
int NDRA_Read(int g_a, int d_a, int* request) {
  return move_all("NDRA_Read", g_a, d_a, false, request);
}
int NDRA_Write_section(logical transp, int g_a, int glo[], int ghi[], int d_a, dra_size_t dlo[],
                       dra_size_t dhi[], int* request) {
  return move_section("NDRA_Write_section", transp != 0, g_a, glo, ghi, d_a, dlo, dhi, Order::c,
                      true, request);
}
int NDRA_Read_section(logical transp, int g_a, int glo[], int ghi[], int d_a, dra_size_t dlo[],
                      dra_size_t dhi[], int* request) {
  return move_section("NDRA_Read_section", transp != 0, g_a, glo, ghi, d_a, dlo, dhi, Order::c,
                      false, request);
}
int DRA_Wait(int request) {
  return check_request(request);
}
int DRA_Probe(int request, int* compl_status) {
  *compl_status = 0;
  return check_request(request);
}
void DRA_Flick() {}
void DRA_Set_debug(logical) {}
void DRA_Print_internals(int d_a) {
  print(d_a);
}
void DRA_Set_default_config(int, int) {}

Integer dra_init_(const Integer* arrays, const double*, const double*, const double* memory) {
  return begin(*arrays, *memory);
}
Integer dra_terminate_() {
  return end();
}
Integer dra_create_(const Integer* type, const Integer* dim1, const Integer* dim2, const char* name,
                    const char* file, const Integer* mode, const Integer* req1, const Integer* req2,
                    Integer* handle, std::size_t name_length, std::size_t file_length) {
  const std::array<Integer, 2> dims{*dim1, *dim2};
  const std::array<Integer, 2> typical{*req1, *req2};
  return create("dra_create",
                {tessera::ga::from_fortran(*type), fortran_text(name, name_length),
                 fortran_text(file, file_length), *mode},
                2, dims.data(), typical.data(), Order::fortran, handle);
}
Integer ndra_create_(const Integer* type, const Integer* ndim, const Integer* dims,
                     const char* name, const char* file, const Integer* mode,
                     const Integer* typical, Integer* handle, std::size_t name_length,
                     std::size_t file_length) {
  return create("ndra_create",
                {tessera::ga::from_fortran(*type), fortran_text(name, name_length),
                 fortran_text(file, file_length), *mode},
                *ndim, dims, typical, Order::fortran, handle);
}
Integer ndra_create_config_(const Integer* type, const Integer* ndim, const Integer* dims,
                            const char* name, const char* file, const Integer* mode,
                            const Integer* typical, const Integer*, const Integer*, Integer* handle,
                            std::size_t name_length, std::size_t file_length) {
  return ndra_create_(type, ndim, dims, name, file, mode, typical, handle, name_length,
                      file_length);
}
Integer dra_open_(const char* file, const Integer* mode, Integer* handle, std::size_t length) {
  return open_array(fortran_text(file, length), *mode, handle);
}
Integer dra_close_(const Integer* disk) {
  return close_array(*disk);
}
Integer dra_delete_(const Integer* disk) {
  return remove_array(*disk);
}
Integer ndra_inquire_(const Integer* disk, Integer* type, Integer* ndim, Integer* dims, char* name,
                      char* file, std::size_t name_length, std::size_t file_length) {
  return inquire("ndra_inquire", *disk, [&](const DiskLayout& layout, const std::string& path) {
    *type = static_cast<Integer>(tessera::ga::to_fortran(static_cast<Type>(layout.type())));
    *ndim = layout.ndims();
    copy_dims(layout, dims, Order::fortran);
    pario::copy_to_fortran(layout.name(), name, name_length);
    pario::copy_to_fortran(path, file, file_length);
  });
}
Integer dra_inquire_(const Integer* disk, Integer* type, Integer* dim1, Integer* dim2, char* name,
                     char* file, std::size_t name_length, std::size_t file_length) {
  std::array<Integer, DiskLayout::max_dims> dims{};
  dims.fill(1);
  Integer ndim = 0;
  const Integer result =
      ndra_inquire_(disk, type, &ndim, dims.data(), name, file, name_length, file_length);
  *dim1 = dims[0];
  *dim2 = dims[1];
  return result;
}
Integer ndra_write_(const Integer* array, const Integer* disk, Integer* request) {
  return move_all("ndra_write", *array, *disk, true, request);
}
Integer ndra_read_(const Integer* array, const Integer* disk, Integer* request) {
  return move_all("ndra_read", *array, *disk, false, request);
}
Integer dra_write_(const Integer* array, const Integer* disk, Integer* request) {
  return move_all("dra_write", *array, *disk, true, request);
}
Integer dra_read_(const Integer* array, const Integer* disk, Integer* request) {
  return move_all("dra_read", *array, *disk, false, request);
}
Integer ndra_write_section_(const Integer* transpose, const Integer* array, const Integer* glo,
                            const Integer* ghi, const Integer* disk, const Integer* dlo,
                            const Integer* dhi, Integer* request) {
  return move_section("ndra_write_section", *transpose != 0, *array, glo, ghi, *disk, dlo, dhi,
                      Order::fortran, true, request);
}
Integer ndra_read_section_(const Integer* transpose, const Integer* array, const Integer* glo,
                           const Integer* ghi, const Integer* disk, const Integer* dlo,
                           const Integer* dhi, Integer* request) {
  return move_section("ndra_read_section", *transpose != 0, *array, glo, ghi, *disk, dlo, dhi,
                      Order::fortran, false, request);
}
Integer dra_write_section_(const Integer* transpose, const Integer* array, const Integer* gilo,
                           const Integer* gihi, const Integer* gjlo, const Integer* gjhi,
                           const Integer* disk, const Integer* dilo, const Integer* dihi,
                           const Integer* djlo, const Integer* djhi, Integer* request) {
  return move_matrix("dra_write_section", *transpose != 0, *array, {*gilo, *gihi, *gjlo, *gjhi},
                     *disk, {*dilo, *dihi, *djlo, *djhi}, true, request);
}
Integer dra_read_section_(const Integer* transpose, const Integer* array, const Integer* gilo,
                          const Integer* gihi, const Integer* gjlo, const Integer* gjhi,
                          const Integer* disk, const Integer* dilo, const Integer* dihi,
                          const Integer* djlo, const Integer* djhi, Integer* request) {
  return move_matrix("dra_read_section", *transpose != 0, *array, {*gilo, *gihi, *gjlo, *gjhi},
                     *disk, {*dilo, *dihi, *djlo, *djhi}, false, request);
}
Integer dra_wait_(const Integer* request) {
  return check_request(*request);
}
Integer dra_probe_(const Integer* request, Integer* status) {
  *status = 0;
  return check_request(*request);
}
void dra_flick_() {}
void dra_set_debug_(const Integer*) {}
void dra_print_internals_(const Integer* disk) {
  print(*disk);
}
void dra_set_default_config_(const Integer*, const Integer*) {}

}  // extern "C"
