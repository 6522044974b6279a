// SPDX-License-Identifier: BSD-3-Clause
//
// Dot products. Those of complex numbers conjugate neither operand.
#include <fmt/format.h>

#include <cstring>

#include "arrays/reductions.hpp"
#include "fortran/ga/entry.hpp"
#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

Status check_result(const Record& array, Type type) {
  TESSERA_ASSIGN_OR_RETURN(const rma::ElementType wanted, element_type(type));
  if (array.array().element().type == wanted) {
    return {};
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("a dot product of type {} of {}, which has elements of type {}",
                                   to_string(type), array.describe(), to_string(array.type())))
      .hint("call the function of the array's type");
}

Status dot_parts(const Part& a, const Part& b, bool is_reversed, const Numbers& result) {
  TESSERA_RETURN_IF_ERROR(check_result(*a.record, result.type));
  Alignment alignment(a);
  TESSERA_ASSIGN_OR_RETURN(const Part matched, alignment.match(b, is_reversed));
  return on_parts(std::array{a, matched}, [&]<class T>(Tag<T>, const auto& of) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const T sum,
                             arrays::dot(of.template part<T>(0), of.template part<T>(1)));
    std::memcpy(result.at, &sum, sizeof sum);
    return {};
  });
}

}  // namespace

Status dot(Record& a, Record& b, const Numbers& result) {
  return dot_parts(part_of(a), part_of(b), false, result);
}

Status dot_patch(Record& a, char a_trans, const Box& a_box, Record& b, char b_trans,
                 const Box& b_box, const Numbers& result) {
  return dot_parts(part_of(a, a_box), part_of(b, b_box), is_plain(a_trans) != is_plain(b_trans),
                   result);
}

Status dot_of_type(Type type, Record& a, Record& b, void* result) {
  return dot(a, b, {type, result, 1});
}

Status dot_patch_of_type(Record& a, char a_trans, const Box& a_box, Record& b, char b_trans,
                         const Box& b_box, void* result) {
  return dot_patch(a, a_trans, a_box, b, b_trans, b_box, {a.type(), result, 1});
}

}  // namespace tessera::ga
