// SPDX-License-Identifier: BSD-3-Clause
//
// Scans, packing and enumeration of ranges of vectors. A range is cut at the vector's end.
#include "arrays/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arrays/chunk_engine.hpp"
#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

/// Errors: invalid_argument for arrays that are not vectors; out_of_range for a range that begins
/// before the first element.
Result<Part> range_of(Record& vector, std::int64_t first, std::int64_t end) {
  if (vector.ndims() != 1) {
    return Status::error(Code::invalid_argument, fmt::format("{} has {} dimensions, not one",
                                                             vector.describe(), vector.ndims()));
  }
  if (first < 0) {
    return Status::error(Code::out_of_range,
                         fmt::format("a range begins {} elements before the first of {}", -first,
                                     vector.describe()));
  }
  const std::int64_t length = vector.extents()[0];
  const std::int64_t lo = std::min(first, length);
  return part_of(vector, Box({lo}, {std::clamp(end, lo, length)}));
}

Result<Part> whole_vector(Record& vector) {
  return range_of(vector, 0, vector.extents()[0]);
}

Status check_apart(const Record& from, const Record& to) {
  return &from != &to ? Status()
                      : Status::error(Code::invalid_argument,
                                      fmt::format("{} is both read and written", from.describe()));
}

/// The operands of a scan: from, to and mask.
struct ScanParts {
  Part from, to, mask;
};
Result<ScanParts> scan_parts(Record& from, Record& to, Record& mask, std::int64_t first,
                             std::int64_t end) {
  TESSERA_RETURN_IF_ERROR(check_apart(from, to));
  TESSERA_ASSIGN_OR_RETURN(const Part source, range_of(from, first, end));
  TESSERA_ASSIGN_OR_RETURN(const Part target, range_of(to, first, end));
  TESSERA_ASSIGN_OR_RETURN(const Part flags, range_of(mask, first, end));
  return ScanParts{source, target, flags};
}

/// Calls act(tag, operands) with the parts, of which the last is the mask.
template <class Act>
Status on_masked(const ScanParts& parts, const Act& act) {
  Alignment alignment(parts.to);
  TESSERA_ASSIGN_OR_RETURN(const Part mask, alignment.integers(parts.mask));
  return rma::dispatch(*mask.record->array().element().type, [&]<class M>(Tag<M>) -> Status {
    if constexpr (rma::IntegerElement<M>) {
      return on_parts(
          std::array{parts.from, parts.to, mask},
          [&]<class T>(Tag<T>, const auto& of) {
            return act(of.template part<T>(0), of.template part<T>(1), of.template part<M>(2));
          },
          1);
    } else {
      return Status::error(Code::internal, "a mask that is not of integers");
    }
  });
}

/// Collective. The number of elements before the first flag that is set; all if none is.
template <class T, class M>
Result<std::int64_t> elements_before_flag(const arrays::Subarray<T>& target,
                                          const arrays::Subarray<M>& flags) {
  const std::array operands{arrays::reads(target), arrays::reads(flags)};
  TESSERA_RETURN_IF_ERROR(arrays::begin_on_chunks("scan_add", operands));
  std::int64_t first = flags.box().extent(0);
  const auto find = [&](const arrays::Chunk& chunk) {
    const auto view = chunk.view<const M>(1);
    for (std::int64_t i = 0; i < chunk.box.extent(0); ++i) {
      if (view(i) != M{}) {
        first = std::min(first, chunk.box.lo(0) - target.box().lo(0) + i);
        break;
      }
    }
    return Status();
  };
  rma::Team& team = target.array().team();
  TESSERA_RETURN_IF_ERROR(team.agree(arrays::for_each_chunk(operands, find)));
  return team.allreduce(first, rma::Reduction::min);
}

template <class T>
arrays::Subarray<T> without(const arrays::Subarray<T>& vector, std::int64_t first_elements) {
  return {vector.array(), Box({vector.box().lo(0) + first_elements}, {vector.box().hi(0)})};
}

}  // namespace

// Elements before the first segment keep their values.
Status scan_add(Record& from, Record& to, Record& mask, std::int64_t first, std::int64_t end,
                std::int64_t excludes) {
  TESSERA_ASSIGN_OR_RETURN(const ScanParts parts, scan_parts(from, to, mask, first, end));
  const auto kind = excludes != 0 ? arrays::ScanKind::exclusive : arrays::ScanKind::inclusive;
  return on_masked(parts, [&](const auto& source, const auto& target, const auto& flags) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t skipped, elements_before_flag(target, flags));
    return arrays::scan_add(without(source, skipped), without(flags, skipped),
                            without(target, skipped), kind);
  });
}

// Elements before the first segment become zeros.
Status scan_copy(Record& from, Record& to, Record& mask, std::int64_t first, std::int64_t end) {
  TESSERA_ASSIGN_OR_RETURN(const ScanParts parts, scan_parts(from, to, mask, first, end));
  return on_masked(parts, [](const auto& source, const auto& target, const auto& flags) -> Status {
    TESSERA_RETURN_IF_ERROR(arrays::zero(target));
    return arrays::scan_copy(source, flags, target);
  });
}

Status pack(Record& from, Record& to, Record& mask, std::int64_t first, std::int64_t end,
            const IntOut& count) {
  TESSERA_ASSIGN_OR_RETURN(ScanParts parts, scan_parts(from, to, mask, first, end));
  TESSERA_ASSIGN_OR_RETURN(parts.to, whole_vector(to));
  return on_masked(parts, [&](const auto& source, const auto& target, const auto& flags) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t moved, arrays::pack(source, flags, target));
    count.set(moved);
    return {};
  });
}

Status unpack(Record& from, Record& to, Record& mask, std::int64_t first, std::int64_t end,
              const IntOut& count) {
  TESSERA_ASSIGN_OR_RETURN(ScanParts parts, scan_parts(from, to, mask, first, end));
  TESSERA_ASSIGN_OR_RETURN(parts.from, whole_vector(from));
  return on_masked(parts, [&](const auto& source, const auto& target, const auto& flags) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t moved, arrays::unpack(source, flags, target));
    count.set(moved);
    return {};
  });
}

Status patch_enum(Record& array, std::int64_t first, std::int64_t end, const void* start,
                  const void* step) {
  TESSERA_ASSIGN_OR_RETURN(const Part range, range_of(array, first, end));
  return on_parts(std::array{range}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::enumerate(of.template part<T>(0), number_at<T>(start), number_at<T>(step));
  });
}

}  // namespace tessera::ga
