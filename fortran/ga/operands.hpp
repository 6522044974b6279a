// SPDX-License-Identifier: BSD-3-Clause
//
// Copies between parts of other shape, layout or group, and the operands that GA's operations take
// where Tessera's need equal shapes.
//
// GA takes patches with equal numbers of elements as operands, whatever their dimensions: elements
// correspond in the internal order, the last dimension fastest, which is Fortran's order, too. An
// operand may also be transposed: all its dimensions are reversed before.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/transform.hpp"
#include "fortran/ga/dispatch.hpp"
#include "fortran/ga/records.hpp"

namespace tessera::ga {

/// True for what GA takes as "not transposed": n or N.
inline bool is_plain(char trans) noexcept {
  return trans == 'n' || trans == 'N';
}

/// Collective over the smaller of the two groups, or over that of `to` if they are equal. to =
/// from, or from with its dimensions reversed, for parts with equal numbers of elements. The larger
/// group has all members of the smaller; what its other members wrote before is complete. Errors:
/// as arrays::copy(); invalid_argument for other elements, or another number of them.
Status copy_part(const Part& from, const Part& to, bool is_reversed = false);

/// A temporary array, which has no handle. Its destructor frees it, collectively.
class Temporary {
 public:
  /// Collective over the group of `like`. An array of zeros with the extents of its box, and
  /// elements of `type`.
  static Result<Temporary> create(const Part& like, Type type);
  static Result<Temporary> create(const Part& like, Type type, const Extents& extents);

  [[nodiscard]] Part part() const noexcept { return part_of(*record_); }

 private:
  explicit Temporary(std::unique_ptr<Record> record) noexcept : record_(std::move(record)) {}
  std::unique_ptr<Record> record_;
};

/// The operands of an operation on a part: themselves if the operation can take them, or else
/// copies, which live as long as this object.
class Alignment {
 public:
  explicit Alignment(const Part& leading) : leading_(leading) {}

  /// Collective over the leading part's group. A part with the leading one's extents and the
  /// elements of `given`; it shares memory with the leading part only if both are the same. Errors:
  /// as copy_part().
  Result<Part> match(const Part& given, bool is_reversed = false);
  /// Collective. `mask`, or its nonzero elements as ones if its elements aren't integers.
  Result<Part> integers(const Part& mask);

 private:
  Part leading_;
  std::vector<Temporary> copies_;
};

/// Collective. Calls act(tag, operands) with the leading part and the others aligned with it.
template <class Act, class... Parts>
Status on_aligned(const Act& act, const Part& leading, const Parts&... others) {
  Alignment alignment(leading);
  std::array parts{leading, others...};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    TESSERA_ASSIGN_OR_RETURN(parts[i], alignment.match(parts[i]));
  }
  return on_parts(parts, act);
}

/// "step lengths of array 'A' (handle -1000)": elements of this type have no …
Status no_such_operation(std::string_view what, const Record& record);

/// Collective. Errors: invalid_argument if a part has an element that is 0, with their number.
template <class T>
Status check_divisors(const arrays::Subarray<T>& divisors) {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t zeros, arrays::reduce(
                                                         std::int64_t{0}, rma::Reduction::sum,
                                                         [](std::int64_t found, const T& divisor) {
                                                           return found + (divisor == T{} ? 1 : 0);
                                                         },
                                                         divisors));
  return zeros == 0 ? Status()
                    : Status::error(Code::invalid_argument,
                                    "division by zero: " + std::to_string(zeros) + " elements of " +
                                        to_string(divisors.box()) + " of " +
                                        divisors.array().describe() + " are zero")
                          .hint("nothing was changed");
}

}  // namespace tessera::ga
