// SPDX-License-Identifier: BSD-3-Clause
//
// What DRA's names, which are in the table `names`, call in both languages. Requests are done when
// they begin. `function` is the name that the program calls.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "fortran/ga/entry.hpp"
#include "fortran/ga/include/dra.h"
#include "fortran/ga/pario/disk_arrays.hpp"

namespace tessera::ga::pario::dra {

inline int number_of(const Status& status) {
  switch (status.code()) {
    case rma::Code::protocol:
      return static_cast<int>(Failure::open);
    case rma::Code::no_memory:
      return static_cast<int>(Failure::memory);
    case rma::Code::out_of_range:
    case rma::Code::invalid_argument:
      return static_cast<int>(Failure::handle);
    default:
      return static_cast<int>(Failure::unknown);
  }
}

/// Prints an error, on one process.
inline int report(const char* function, const Status& status) noexcept {
  if (default_group().rank <= 0) {
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
    return report(function, Status::code_only(rma::Code::no_memory));
  } catch (const std::exception& error) {
    return report(function, Status::error(rma::Code::internal, error.what()));
  }
}

/// Collective. A new array.
template <Style style, class I, class H>
int create(const char* function, std::int64_t type, std::int64_t ndims, const I* dims,
           std::string_view name, std::string_view file, std::int64_t mode, const I* typical,
           H* handle) noexcept {
  return run(function, [&](DiskArrays& arrays) -> Status {
    TESSERA_RETURN_IF_ERROR(check_dims(ndims));
    const auto count = static_cast<int>(ndims);
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t number,
                             arrays.create(type_of<style>(type), numbers_of<style>(count, dims),
                                           name, file, mode, numbers_of<style>(count, typical)));
    *handle = static_cast<H>(number);
    return {};
  });
}
inline int create_matrix(const char* function, std::int64_t type, Integer dim1, Integer dim2,
                         std::string_view name, std::string_view file, std::int64_t mode,
                         Integer typical1, Integer typical2, Integer* handle) noexcept {
  const std::array dims{dim1, dim2};
  const std::array typical{typical1, typical2};
  return create<Style::fortran>(function, type, 2, dims.data(), name, file, mode, typical.data(),
                                handle);
}

template <class H>
int open(const char* function, std::string_view file, std::int64_t mode, H* handle) noexcept {
  return run(function, [&](DiskArrays& arrays) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t number, arrays.open(file, mode));
    *handle = static_cast<H>(number);
    return {};
  });
}
inline int close(const char* function, std::int64_t disk) noexcept {
  return run(function, [&](DiskArrays& arrays) { return arrays.close(disk); });
}
inline int remove(const char* function, std::int64_t disk) noexcept {
  return run(function, [&](DiskArrays& arrays) { return arrays.remove(disk); });
}
inline int begin(const char* function, std::int64_t arrays_wanted, double memory) noexcept {
  return run(function, [&](DiskArrays& arrays) { return arrays.begin(arrays_wanted, memory); });
}
inline int end(const char* function) noexcept {
  return run(function, [](DiskArrays& arrays) { return arrays.end(); });
}

inline Status move(DiskArrays& arrays, const SectionPair& pair, bool is_write) {
  return is_write ? arrays.write(pair) : arrays.read(pair);
}

constexpr int moved = 0;  ///< the request of each transfer, which is complete at return

/// Programs take DRA_REQ_INVALID for a transfer that was not started.
template <class H>
int set_request(H* request, int code) noexcept {
  *request = code == ELIO_OK ? moved : DRA_REQ_INVALID;
  return code;
}

/// Collective. Moves all of an array.
template <class H>
int move_all(const char* function, bool is_write, std::int64_t array, std::int64_t disk,
             H* request) noexcept {
  return set_request(request, run(function, [&](DiskArrays& arrays) -> Status {
                       TESSERA_ASSIGN_OR_RETURN(const SectionPair pair, arrays.whole(array, disk));
                       return move(arrays, pair, is_write);
                     }));
}

template <Style style, class I>
void set_box(Box& box, const I* lo, const I* hi) {
  detail::read_box<style>(box.extents(), lo, hi, box);
}

/// Collective. Moves a section; bounds are inclusive.
template <Style style, class G, class D, class H>
int move_section(const char* function, bool is_write, std::int64_t transposed, std::int64_t array,
                 const G* glo, const G* ghi, std::int64_t disk, const D* dlo, const D* dhi,
                 H* request) noexcept {
  return set_request(request, run(function, [&](DiskArrays& arrays) -> Status {
                       TESSERA_ASSIGN_OR_RETURN(SectionPair pair, arrays.whole(array, disk));
                       set_box<style>(pair.array_box, glo, ghi);
                       set_box<style>(pair.disk_box, dlo, dhi);
                       pair.is_transposed = transposed != 0;
                       return move(arrays, pair, is_write);
                     }));
}
/// The same with the bounds of matrices, as GA's older names give them.
inline int move_matrix(const char* function, bool is_write, std::int64_t transposed,
                       std::int64_t array, Integer gilo, Integer gihi, Integer gjlo, Integer gjhi,
                       std::int64_t disk, Integer dilo, Integer dihi, Integer djlo, Integer djhi,
                       Integer* request) noexcept {
  const Integer glo[] = {gilo, gjlo};
  const Integer ghi[] = {gihi, gjhi};
  const Integer dlo[] = {dilo, djlo};
  const Integer dhi[] = {dihi, djhi};
  return move_section<Style::fortran>(function, is_write, transposed, array, glo, ghi, disk, dlo,
                                      dhi, request);
}

inline int wait(std::int64_t request) noexcept {
  const bool is_known = request == moved || request == DRA_REQ_INVALID;
  return is_known ? ELIO_OK : static_cast<int>(Failure::handle);
}
template <class I>
int probe(std::int64_t request, I* status) noexcept {
  *status = 0;
  return wait(request);
}

/// Calls act(layout, name of the file).
template <class Act>
int with_array(const char* function, std::int64_t disk, const Act& act) noexcept {
  return run(function, [&](const DiskArrays& arrays) -> Status {
    const auto found = arrays.inquire(disk);
    TESSERA_RETURN_IF_ERROR(found.status());
    act(found->layout, found->file);
    return {};
  });
}
template <Style style, class I, class L>
int inquire(const char* function, std::int64_t disk, I* type, I* ndim, L* dims,
            const TextRoom& name, const TextRoom& file) noexcept {
  return with_array(function, disk, [&](const DiskLayout& layout, const std::string& path) {
    TypeOut::of<style>(type).set(static_cast<Type>(layout.type()));
    *ndim = layout.ndims();
    DimsOut::of<style>(dims).set(layout.extents());
    name.set(layout.name());
    file.set(path);
  });
}
/// Of a matrix, or of an array of one dimension, whose second length is 1.
inline int inquire_matrix(const char* function, std::int64_t disk, Integer* type, Integer* dim1,
                          Integer* dim2, const TextRoom& name, const TextRoom& file) noexcept {
  std::array<Integer, DiskLayout::max_dims> dims{};
  dims.fill(1);
  Integer ndim = 0;
  const int result = inquire<Style::fortran>(function, disk, type, &ndim, dims.data(), name, file);
  *dim1 = dims[0];
  *dim2 = dims[1];
  return result;
}

inline void print_internals(std::int64_t disk) noexcept {
  with_array("dra_print_internals", disk, [](const DiskLayout& layout, const std::string& file) {
    if (default_group().rank != 0) {
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

/// Accepted without effect: an array is one file, and all processes write.
inline void nothing() noexcept {}

}  // namespace tessera::ga::pario::dra
