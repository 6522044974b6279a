// SPDX-License-Identifier: BSD-3-Clause
//
// Bins: many lists of values of different lengths, one after the other in one vector. The vectors
// of counts and offsets have GA's integers; offsets count from 0, bins from 1.
#include "arrays/bins.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

using arrays::BinVector;

Status check_vector(const Record& vector) {
  const auto& type = vector.array().element().type;
  return vector.ndims() == 1 && type && rma::is_integer(*type)
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} is not a vector of integers", vector.describe()));
}

/// A vector of integers with 64 bits: the array itself, or a copy.
class WideVector {
 public:
  /// Collective.
  static Result<WideVector> of(Record& vector) {
    TESSERA_RETURN_IF_ERROR(check_vector(vector));
    WideVector wide(part_of(vector));
    if (vector.array().element().type == rma::ElementType::i64) {
      return wide;
    }
    TESSERA_ASSIGN_OR_RETURN(Temporary copy, Temporary::create(wide.part_, Type::c_longlong));
    wide.part_ = copy.part();
    TESSERA_RETURN_IF_ERROR(
        on_parts(std::array{part_of(vector)}, [&]<class T>(Tag<T>, const auto& of) {
          if constexpr (rma::IntegerElement<T>) {
            return arrays::transform(
                wide.array(), [](T value) { return static_cast<std::int64_t>(value); },
                of.template part<T>(0));
          } else {
            return no_such_operation("bins", vector);
          }
        }));
    wide.copy_ = std::move(copy);
    return wide;
  }

  [[nodiscard]] BinVector& array() const noexcept {
    return static_cast<BinVector&>(part_.record->array());
  }

 private:
  explicit WideVector(const Part& part) noexcept : part_(part) {}

  Part part_;
  std::optional<Temporary> copy_;
};

Result<std::int64_t> element_of(const BinVector& vector, std::int64_t index) {
  std::int64_t value = 0;
  TESSERA_RETURN_IF_ERROR(vector.get(Box({index}, {index + 1}), std::span(&value, 1)));
  return value;
}

/// One-sided. The last bin that begins at or before `position`; −1 if there is none.
Result<std::int64_t> last_bin_from(const BinVector& offsets, std::int64_t position) {
  std::int64_t lo = 0;
  std::int64_t hi = offsets.extents()[0];
  while (lo < hi) {  // bins before lo begin at or before the position, those from hi on after it
    const std::int64_t middle = lo + (hi - lo) / 2;
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t offset, element_of(offsets, middle));
    (offset <= position ? lo : hi) = offset <= position ? middle + 1 : middle;
  }
  return lo - 1;
}

/// One-sided. The bins, from 1, that begin and end exactly at the ends of what this process owns; 0
/// if there is none.
Result<std::array<std::int64_t, 2>> own_bins(const Record& contents, const BinVector& counts,
                                             const BinVector& offsets) {
  std::array<std::int64_t, 2> bins = {};
  const Box own = contents.array().own_box();
  if (own.is_empty()) {
    return bins;
  }
  const std::int64_t end = own.hi(0);
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t first, last_bin_from(offsets, own.lo(0)));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t last, last_bin_from(offsets, end - 1));
  if (first < 0) {
    return bins;
  }
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t begin, element_of(offsets, first));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t last_begin, element_of(offsets, last));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t last_count, element_of(counts, last));
  bins[0] = begin == own.lo(0) ? first + 1 : 0;
  bins[1] = last_begin + last_count == end ? last + 1 : 0;
  return bins;
}

template <class T>
std::vector<T> numbers_in(const IntOut& list, std::int64_t count, std::int64_t shift) {
  std::vector<T> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<T>(list.get(i) + shift));
  }
  return numbers;
}

/// Calls act(tag, array) with the contents, which are integers.
template <class Act>
Status on_contents(Record& contents, const Act& act) {
  TESSERA_RETURN_IF_ERROR(check_vector(contents));
  return on_parts(std::array{part_of(contents)}, [&]<class T>(Tag<T>, const auto& of) -> Status {
    if constexpr (rma::IntegerElement<T>) {
      return act(of.template part<T>(0).array());
    } else {
      return no_such_operation("bins", contents);
    }
  });
}

}  // namespace

Result<std::int64_t> create_bin_range(Record& contents, Record& counts, Record& offsets) {
  TESSERA_RETURN_IF_ERROR(check_vector(contents));
  if (contents.plan.layout != ArrayLayout::regular) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("the processes have several blocks of {}", contents.describe()))
        .hint("bins need an array with one block on each process");
  }
  TESSERA_RETURN_IF_ERROR(counts.array().sync());
  TESSERA_RETURN_IF_ERROR(offsets.array().sync());
  TESSERA_ASSIGN_OR_RETURN(const WideVector count, WideVector::of(counts));
  TESSERA_ASSIGN_OR_RETURN(const WideVector offset, WideVector::of(offsets));
  const std::int64_t processes = contents.group().size();
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t handle,
                           create(Type::fortran_integer, Extents({processes, 2}), {}, "bin_proc",
                                  Chunk{Extents({1, 2})}, contents.group()));
  if (handle == 0) {
    return handle;
  }
  const auto found = own_bins(contents, count.array(), offset.array());
  Status status = found.status();
  if (found.ok()) {
    const std::int64_t own = contents.group().rank;
    status = on_parts(
        std::array{part_of(*Records::find(handle))},
        [&]<class T>(Tag<T>, const auto& of) -> Status {
          if constexpr (rma::IntegerElement<T>) {
            const std::array<T, 2> bins = {static_cast<T>((*found)[0]),
                                           static_cast<T>((*found)[1])};
            return of.template part<T>(0).array().put(Box({own, 0}, {own + 1, 2}), std::span(bins));
          } else {
            return Status::error(Code::internal, "bins that are not integers");
          }
        });
  }
  TESSERA_RETURN_IF_ERROR(Records::find(handle)->array().sync(std::move(status)));
  return handle;
}

Status bin_sorter(Record& contents, Record& counts, Record& offsets) {
  TESSERA_ASSIGN_OR_RETURN(const WideVector count, WideVector::of(counts));
  TESSERA_ASSIGN_OR_RETURN(const WideVector offset, WideVector::of(offsets));
  return on_contents(contents, [&](const auto& vector) {
    return arrays::sort_bins(vector, offset.array(), count.array());
  });
}

Status bin_index(Record& contents, Record& counts, Record& offsets, const IntOut& values,
                 const IntOut& bins, std::int64_t count, std::int64_t sorts) {
  TESSERA_RETURN_IF_ERROR(offsets.array().sync());
  TESSERA_ASSIGN_OR_RETURN(const WideVector offset, WideVector::of(offsets));
  TESSERA_ASSIGN_OR_RETURN(const Temporary filled,
                           Temporary::create(part_of(offsets), Type::c_longlong));
  const auto& used = static_cast<const BinVector&>(filled.part().record->array());
  const auto own_bins_given = numbers_in<std::int64_t>(bins, count, -1);
  TESSERA_RETURN_IF_ERROR(on_contents(contents, [&]<class T>(const arrays::Array<T>& vector) {
    return vector.sync(arrays::add_to_bins<T>(vector, offset.array(), used, own_bins_given,
                                              numbers_in<T>(values, count, 0)));
  }));
  return sorts != 0 ? bin_sorter(contents, counts, offsets) : Status();
}

}  // namespace tessera::ga
