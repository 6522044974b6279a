// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on corresponding elements.
#include "tests/ga/operations/support.hpp"

namespace tessera::test {
namespace {

using Whole = void (*)(int, int, int);
using Parts = void (*)(int, int*, int*, int, int*, int*, int, int*, int*);

template <class T>
bool is_less(T a, T b) {
  if constexpr (requires { typename T::value_type; }) {
    return std::norm(a) < std::norm(b);
  } else {
    return a < b;
  }
}

// Arrays of other layouts and shapes; `b` has no zeros.
template <class T, class Function>
void check_operation(Whole whole, Parts parts, const Function& function) {
  for (const Layout layout : all_layouts) {
    const Array<T> a({4, 9}, random_layout());
    Array<T> b({4, 9}, random_layout());
    for (T& value : b.values) {
      value = value == T{} ? T{1} : value;
    }
    b.store();
    Array<T> result({4, 9}, layout);
    whole(a.handle, b.handle, result.handle);
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      result[i] = function(a[i], b[i]);
    }
    CHECK_ARRAY(result);
    Array<T> other({30}, layout);
    Patch a_box = random_patch(a.dims, {3, 4});
    Patch b_box = random_patch(b.dims, {2, 6});
    Patch box = random_patch(other.dims, {12});
    parts(a.handle, a_box.lo.data(), a_box.hi.data(), b.handle, b_box.lo.data(), b_box.hi.data(),
          other.handle, box.lo.data(), box.hi.data());
    const auto in_a = positions(a.dims, a_box);
    const auto in_b = positions(b.dims, b_box);
    const auto in_other = positions(other.dims, box);
    for (std::size_t i = 0; i < in_other.size(); ++i) {
      other[in_other[i]] = function(a[in_a[i]], b[in_b[i]]);
    }
    CHECK_ARRAY(other);
  }
}

void multiply() {
  for_all_types([]<class T>() {
    check_operation<T>(GA_Elem_multiply, GA_Elem_multiply_patch,
                       [](T a, T b) { return static_cast<T>(a * b); });
  });
}

void divide() {
  for_real_types([]<class T>() {
    check_operation<T>(GA_Elem_divide, GA_Elem_divide_patch,
                       [](T a, T b) { return static_cast<T>(a / b); });
  });
}

void maximum() {
  for_all_types([]<class T>() {
    check_operation<T>(GA_Elem_maximum, GA_Elem_maximum_patch,
                       [](T a, T b) { return is_less(a, b) ? b : a; });
  });
}

void minimum() {
  for_all_types([]<class T>() {
    check_operation<T>(GA_Elem_minimum, GA_Elem_minimum_patch,
                       [](T a, T b) { return is_less(b, a) ? b : a; });
  });
}

void median() {
  for_real_types([]<class T>() {
    const Array<T> a({5, 6}, random_layout());
    const Array<T> b({5, 6}, random_layout());
    Array<T> c({5, 6}, random_layout());
    const auto middle = [](T x, T y, T z) {
      return std::max(std::min(x, y), std::min(std::max(x, y), z));
    };
    GA_Median(a.handle, b.handle, c.handle, c.handle);
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      c[i] = middle(a[i], b[i], c[i]);
    }
    CHECK_ARRAY(c);
    Array<T> result({40});
    Patch a_box = random_patch(a.dims, {2, 5});
    Patch b_box = random_patch(b.dims, {5, 2});
    Patch c_box = random_patch(c.dims, {2, 5});
    Patch box = random_patch(result.dims, {10});
    GA_Median_patch(a.handle, a_box.lo.data(), a_box.hi.data(), b.handle, b_box.lo.data(),
                    b_box.hi.data(), c.handle, c_box.lo.data(), c_box.hi.data(), result.handle,
                    box.lo.data(), box.hi.data());
    const auto in_a = positions(a.dims, a_box);
    const auto in_b = positions(b.dims, b_box);
    const auto in_c = positions(c.dims, c_box);
    const auto in_result = positions(result.dims, box);
    for (std::size_t i = 0; i < in_result.size(); ++i) {
      result[in_result[i]] = middle(a[in_a[i]], b[in_b[i]], c[in_c[i]]);
    }
    CHECK_ARRAY(result);
  });
}

// GA ends the program at a zero divisor of any type; nothing is changed here.
void refuses_zero_divisors() {
  for_all_types([]<class T>() {
    const Array<T> a({3, 4});
    Array<T> b({3, 4}, Layout::tiled);
    std::fill(b.values.begin(), b.values.end(), T{2});
    b[7] = T{};
    b[3] = T{};
    b.store();
    Array<T> result({3, 4});
    CHECK_FAILS("division by zero: 2 elements", GA_Elem_divide(a.handle, b.handle, result.handle));
    CHECK_ARRAY(result);
    Patch box{{0, 0}, {2, 2}};  // has neither of them
    GA_Elem_divide_patch(a.handle, box.lo.data(), box.hi.data(), b.handle, box.lo.data(),
                         box.hi.data(), result.handle, box.lo.data(), box.hi.data());
    for (const std::size_t at : positions(a.dims, box)) {
      result[at] = static_cast<T>(a[at] / T{2});
    }
    CHECK_ARRAY(result);
  });
}

}  // namespace

const Case element_cases[] = {
    {"multiply", multiply}, {"divide", divide}, {"maximum", maximum},
    {"minimum", minimum},   {"median", median}, {"refuses_zero_divisors", refuses_zero_divisors},
    {nullptr, nullptr}};

}  // namespace tessera::test
