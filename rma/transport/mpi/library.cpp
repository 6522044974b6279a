// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/library.hpp"

#include <fmt/format.h>
#include <link.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::rma::mpi {
namespace {

Vendor find_vendor() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) {
    return Vendor::other;
  }
  if (text.starts_with("Open MPI")) {
    return Vendor::open_mpi;
  }
  return text.starts_with("MPICH") ? Vendor::mpich : Vendor::other;
}

// A control variable of the library, an unsigned number; -1 if it does not exist. Open MPI 4.1
// takes the requested thread level for that of all of MPI, so it must be the same.
long control_variable(const char* name, int thread_level) {
  int provided = 0;
  if (MPI_T_init_thread(thread_level, &provided) != MPI_SUCCESS) {
    return -1;
  }
  long value = -1;
  int index = -1;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    unsigned number = 0;
    if (count == 1 && MPI_T_cvar_read(handle, &number) == MPI_SUCCESS) {
      value = static_cast<long>(number);
    }
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

// osc/sm, which serves the ranks of one machine, has priority 100.
bool prefers_osc_rdma(int thread_level) {
  constexpr long priority_of_osc_sm = 100;
  return control_variable("osc_rdma_priority", thread_level) >= priority_of_osc_sm;
}

// Vectors as long as a register, and shorter ones, are added in different ways.
template <class T>
bool saturates(MPI_Datatype type) {
  constexpr std::size_t count = 256;
  constexpr T large = std::numeric_limits<T>::max() - 10;
  std::array<T, count> term{};
  std::array<T, count> sum{};
  term.fill(large);
  sum.fill(large);
  if (MPI_Reduce_local(term.data(), sum.data(), static_cast<int>(count), type, MPI_SUM) !=
      MPI_SUCCESS) {
    return true;
  }
  const auto expected = static_cast<T>(2U * static_cast<unsigned>(large));
  return std::any_of(sum.begin(), sum.end(), [&](T each) { return each != expected; });
}

bool small_sums_saturate() {
  return saturates<std::uint8_t>(MPI_UINT8_T) || saturates<std::int8_t>(MPI_INT8_T) ||
         saturates<std::uint16_t>(MPI_UINT16_T) || saturates<std::int16_t>(MPI_INT16_T);
}

template <class T>
bool compares_as_signed(MPI_Datatype type) {
  const T zero = 0;
  T least = std::numeric_limits<T>::max();
  return MPI_Reduce_local(&zero, &least, 1, type, MPI_MIN) != MPI_SUCCESS || least != zero;
}

bool unsigned_compares_as_signed() {
  return compares_as_signed<std::uint8_t>(MPI_UINT8_T) ||
         compares_as_signed<std::uint16_t>(MPI_UINT16_T) ||
         compares_as_signed<std::uint32_t>(MPI_UINT32_T) ||
         compares_as_signed<std::uint64_t>(MPI_UINT64_T);
}

}  // namespace

namespace {

// For dl_iterate_phdr(): adds names of MPI libraries to a vector of strings.
int collect_mpi_name(dl_phdr_info* info, std::size_t /*size*/, void* found) {
  const std::string_view path = info->dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libmpi.so") || name.starts_with("libmpich.so")) {
    static_cast<std::vector<std::string>*>(found)->emplace_back(name);
  }
  return 0;
}

}  // namespace

Status check_single_mpi() {
  std::vector<std::string> names;
  dl_iterate_phdr(collect_mpi_name, &names);
  if (names.size() < 2) {
    return {};
  }
  return Status::error(
             Code::unsupported,
             fmt::format("this process has two MPI libraries, {} and {}", names[0], names[1]))
      .hint("build the program, and the libraries that it uses, with the same MPI as Tessera");
}

bool Library::is_multiple() const noexcept {
  return thread_level == MPI_THREAD_MULTIPLE;
}

bool Library::is_serialized() const noexcept {
  return thread_level >= MPI_THREAD_SERIALIZED;
}

Library find_library() {
  Library found;
  found.vendor = find_vendor();
  int version = 0;
  int subversion = 0;
  MPI_Get_version(&version, &subversion);
  constexpr int radix = 10;
  found.standard = version * radix + subversion;
  MPI_Query_thread(&found.thread_level);
  found.allocated_windows_break =
      found.vendor == Vendor::open_mpi && prefers_osc_rdma(found.thread_level);
  found.exposed_windows_break = found.vendor == Vendor::open_mpi;
  found.window_limit_is_fatal = found.vendor == Vendor::mpich;
  found.typed_requests_break = found.vendor == Vendor::mpich;
  found.small_sums_saturate = small_sums_saturate();
  found.unsigned_compares_as_signed = unsigned_compares_as_signed();
  return found;
}

std::string thread_level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

}  // namespace tessera::rma::mpi
