// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

// Longer pieces move faster by one call each than by packing: measured up to 1 KiB and from 4 KiB
// with MPICH, whose calls cost more.
constexpr std::size_t max_packed_bytes = 512;
constexpr std::size_t max_packed_bytes_mpich = 2048;

Method method_of(std::string_view name) noexcept {
  if (name == "direct") {
    return Method::direct;
  }
  if (name == "batched" || name == "vectors") {
    return Method::batched;
  }
  return name == "conservative" ? Method::conservative : Method::automatic;
}

Status make_type(const std::vector<int>& lengths, const std::vector<MPI_Aint>& offsets,
                 MPI_Datatype element, MPI_Datatype& type) {
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Type_create_hindexed",
            MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                     offsets.data(), element, &type)));
  return check("MPI_Type_commit", MPI_Type_commit(&type));
}

}  // namespace

Methods Methods::of(const Settings& settings, const Library& library, bool is_one_machine) {
  const bool is_mpich = library.vendor == Vendor::mpich;
  return {.vectors = method_of(settings.mpi_vectors),
          .strides = method_of(settings.mpi_strides),
          .batch = settings.mpi_batch,
          .uses_requests = settings.mpi_handles != "flush",
          .lists_may_overlap = settings.check_overlap == 0,
          .small_sums_saturate = library.small_sums_saturate,
          .unsigned_compares_as_signed = library.unsigned_compares_as_signed,
          .max_row_bytes = is_mpich ? max_packed_bytes_mpich : max_packed_bytes,
          // MPICH packs lists, too.
          .max_listed_bytes =
              is_mpich ? max_packed_bytes_mpich : std::numeric_limits<std::size_t>::max(),
          .types_have_requests = !library.typed_requests_break,
          // Open MPI issue 14181: updates are lost in accumulates with indexed datatypes.
          .types_accumulate = library.vendor != Vendor::open_mpi,
          .shares_windows = is_one_machine && library.vendor == Vendor::open_mpi &&
                            library.is_multiple() && !library.allocated_windows_break};
}

// Packing costs more than a call for each row if rows are few or long.
Method Methods::of_shape(const CopyShape& shape, bool accumulates) const noexcept {
  const std::int64_t min_rows = shares_windows ? 12 : 4;
  if (accumulates && !types_accumulate) {
    return Method::batched;
  }
  if (strides != Method::automatic) {
    return strides;
  }
  const bool is_worth_it = shape.run_bytes <= max_row_bytes && shape.level[0].count >= min_rows;
  return is_worth_it ? Method::direct : Method::batched;
}

Method Methods::of_list(Fragments fragments, bool accumulates, bool overlap) const noexcept {
  constexpr std::size_t min_pieces = 4;
  if (overlap && vectors == Method::automatic) {
    return Method::conservative;
  }
  if (accumulates && !types_accumulate && vectors != Method::conservative) {
    return Method::batched;
  }
  if (vectors != Method::automatic) {
    return vectors;
  }
  const bool is_worth_it = !shares_windows && fragments.size() >= min_pieces &&
                           total_bytes(fragments) / fragments.size() <= max_listed_bytes;
  return is_worth_it ? Method::direct : Method::batched;
}

bool Methods::caches_lists(Fragments fragments) const noexcept {
  constexpr std::size_t min_pieces = 8;
  constexpr std::size_t max_pieces = 65'536;
  return shares_windows && vectors == Method::automatic && fragments.size() >= min_pieces &&
         fragments.size() <= max_pieces;
}

Result<ListTypes> ListTypes::create(Fragments fragments, MPI_Datatype element,
                                    std::size_t element_bytes) {
  constexpr std::size_t max_count = std::numeric_limits<int>::max();
  const bool fits = fragments.size() <= max_count &&
                    std::all_of(fragments.begin(), fragments.end(), [&](const Fragment& each) {
                      return each.bytes / element_bytes <= max_count;
                    });
  if (!fits) {
    return Status::error(
        Code::limit_exceeded,
        fmt::format("a list of {} pieces has counts larger than MPI's ints", fragments.size()));
  }
  ListTypes types;
  if (fragments.empty()) {
    return types;
  }
  std::vector<int> lengths(fragments.size());
  std::vector<MPI_Aint> here(fragments.size());
  std::vector<MPI_Aint> there(fragments.size());
  MPI_Aint first = 0;
  MPI_Get_address(fragments.front().local, &first);
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    lengths[i] = static_cast<int>(fragments[i].bytes / element_bytes);
    MPI_Get_address(fragments[i].local, &here[i]);
    here[i] -= first;
    there[i] = static_cast<MPI_Aint>(fragments[i].remote_offset - fragments.front().remote_offset);
  }
  TESSERA_RETURN_IF_ERROR(make_type(lengths, here, element, types.local_));
  TESSERA_RETURN_IF_ERROR(make_type(lengths, there, element, types.remote_));
  return types;
}

ListTypes::ListTypes(ListTypes&& other) noexcept
    : local_(std::exchange(other.local_, MPI_DATATYPE_NULL)),
      remote_(std::exchange(other.remote_, MPI_DATATYPE_NULL)) {}

ListTypes& ListTypes::operator=(ListTypes&& other) noexcept {
  std::swap(local_, other.local_);
  std::swap(remote_, other.remote_);
  return *this;
}

ListTypes::~ListTypes() {
  int is_over = 0;
  MPI_Finalized(&is_over);
  for (MPI_Datatype* const each : {&local_, &remote_}) {
    if (*each != MPI_DATATYPE_NULL && is_over == 0) {
      MPI_Type_free(each);
    }
  }
}

}  // namespace tessera::rma::mpi
