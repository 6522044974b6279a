// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on corresponding elements of arrays or patches.
#include "arrays/elementwise.hpp"

#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

Status multiply_parts(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::multiply(of.template part<T>(1), of.template part<T>(2),
                                of.template part<T>(0));
      },
      result, a, b);
}

Status divide_parts(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) -> Status {
        TESSERA_RETURN_IF_ERROR(check_divisors(of.template part<T>(2)));
        return arrays::divide(of.template part<T>(1), of.template part<T>(2),
                              of.template part<T>(0));
      },
      result, a, b);
}

Status maximum_parts(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::maximum(of.template part<T>(1), of.template part<T>(2),
                               of.template part<T>(0));
      },
      result, a, b);
}

Status minimum_parts(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::minimum(of.template part<T>(1), of.template part<T>(2),
                               of.template part<T>(0));
      },
      result, a, b);
}

Status median_parts(const Part& a, const Part& b, const Part& c, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::median(of.template part<T>(1), of.template part<T>(2),
                              of.template part<T>(3), of.template part<T>(0));
      },
      result, a, b, c);
}

}  // namespace

Status elem_multiply(Record& a, Record& b, Record& result) {
  return multiply_parts(part_of(a), part_of(b), part_of(result));
}

Status elem_multiply_patch(Record& a, const Box& a_box, Record& b, const Box& b_box, Record& result,
                           const Box& result_box) {
  return multiply_parts(part_of(a, a_box), part_of(b, b_box), part_of(result, result_box));
}

Status elem_divide(Record& a, Record& b, Record& result) {
  return divide_parts(part_of(a), part_of(b), part_of(result));
}

Status elem_divide_patch(Record& a, const Box& a_box, Record& b, const Box& b_box, Record& result,
                         const Box& result_box) {
  return divide_parts(part_of(a, a_box), part_of(b, b_box), part_of(result, result_box));
}

Status elem_maximum(Record& a, Record& b, Record& result) {
  return maximum_parts(part_of(a), part_of(b), part_of(result));
}

Status elem_maximum_patch(Record& a, const Box& a_box, Record& b, const Box& b_box, Record& result,
                          const Box& result_box) {
  return maximum_parts(part_of(a, a_box), part_of(b, b_box), part_of(result, result_box));
}

Status elem_minimum(Record& a, Record& b, Record& result) {
  return minimum_parts(part_of(a), part_of(b), part_of(result));
}

Status elem_minimum_patch(Record& a, const Box& a_box, Record& b, const Box& b_box, Record& result,
                          const Box& result_box) {
  return minimum_parts(part_of(a, a_box), part_of(b, b_box), part_of(result, result_box));
}

Status median(Record& a, Record& b, Record& c, Record& result) {
  return median_parts(part_of(a), part_of(b), part_of(c), part_of(result));
}

Status median_patch(Record& a, const Box& a_box, Record& b, const Box& b_box, Record& c,
                    const Box& c_box, Record& result, const Box& result_box) {
  return median_parts(part_of(a, a_box), part_of(b, b_box), part_of(c, c_box),
                      part_of(result, result_box));
}

}  // namespace tessera::ga
