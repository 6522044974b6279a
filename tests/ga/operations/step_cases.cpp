// SPDX-License-Identifier: BSD-3-Clause
//
// Step lengths, against formulas by element.
#include <limits>

#include "tests/ga/operations/support.hpp"

extern "C" {
void ga_elem_step_divide_patch_(const long* a, const long* alo, const long* ahi, const long* b,
                                const long* blo, const long* bhi, const long* c, const long* clo,
                                const long* chi);
void ga_elem_stepb_divide_patch_(const long* a, const long* alo, const long* ahi, const long* b,
                                 const long* blo, const long* bhi, const long* c, const long* clo,
                                 const long* chi);
void pnga_step_mask_patch(long a, long* alo, long* ahi, long b, long* blo, long* bhi, long c,
                          long* clo, long* chi);
}

namespace tessera::test {
namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::max();
template <>
constexpr double infinity<double> = 1e307;
template <>
constexpr float infinity<float> = 1e37F;

// Some elements are zeros.
template <class T>
void set_not_negative(Array<T>& array) {
  for (T& value : array.values) {
    value = static_cast<T>(random_between(0, 2) * random_between(0, 10));
  }
  array.store();
}

void step_max() {
  for_real_types([]<class T>() {
    Array<T> x({6, 5}, random_layout());
    set_not_negative(x);
    Array<T> direction({6, 5}, random_layout());
    const auto expect = [&](const Patch& box, const Patch& other) {
      const auto in_x = positions(x.dims, box);
      const auto in_direction = positions(direction.dims, other);
      T least = infinity<T>;
      for (std::size_t i = 0; i < in_x.size(); ++i) {
        const T speed = direction[in_direction[i]];
        if (speed < 0) {
          least = std::min(least, static_cast<T>(x[in_x[i]] / -speed));
        }
      }
      return least;
    };
    T step = -1;
    GA_Step_max(x.handle, direction.handle, &step);
    CHECK(step == expect(whole_of(x.dims), whole_of(x.dims)));
    for (T& value : x.values) {
      value = static_cast<T>(value + 3);
    }
    x.store();
    Patch box = random_patch(x.dims, {2, 3});
    Patch other = random_patch(direction.dims, {3, 2});
    GA_Step_max_patch(x.handle, box.lo.data(), box.hi.data(), direction.handle, other.lo.data(),
                      other.hi.data(), &step);
    CHECK(step == expect(box, other));
    GA_Step_max(x.handle, x.handle, &step);
    CHECK(step == infinity<T>);
    std::fill(direction.values.begin(), direction.values.end(), T{1});
    direction.store();
    GA_Step_max(x.handle, direction.handle, &step);
    CHECK(step == infinity<T>);
    x[11] = -1;
    x.store();
    CHECK_FAILS("has a negative element", GA_Step_max(x.handle, direction.handle, &step));
  });
}

template <class T>
struct Bounds {
  T first = infinity<T>;
  T first_moving = infinity<T>;
  T last = 0;
};

// An element at rest is infinitely far from its bounds, or at step 0 if it is at one.
template <class T>
void add_element(Bounds<T>& bounds, T x, T speed, T lower, T upper) {
  const T distance = static_cast<T>(speed > 0 ? upper - x : x - lower);
  const T step = speed == 0      ? infinity<T>
                 : distance == 0 ? T{0}
                                 : static_cast<T>(distance / (speed > 0 ? speed : -speed));
  const T masked = speed == 0 && (x == lower || x == upper) ? T{0} : step;
  bounds.first = std::min(bounds.first, masked);
  bounds.first_moving = std::min(bounds.first_moving, step);
  bounds.last = std::max(bounds.last, masked);
}

void step_bound_info() {
  for_real_types([]<class T>() {
    for (int trial = 0; trial < 6; ++trial) {
      const Array<T> x({6, 5}, random_layout());
      Array<T> direction({6, 5}, random_layout());
      Array<T> lower({6, 5}, random_layout());
      Array<T> upper({6, 5}, random_layout());
      Bounds<T> expected;
      for (std::size_t i = 0; i < x.values.size(); ++i) {
        // The first trials have no elements at rest or at a bound.
        const int gap = trial < 3 ? 1 : 0;
        lower[i] = static_cast<T>(x[i] - static_cast<T>(random_between(gap, 9)));
        upper[i] = static_cast<T>(x[i] + static_cast<T>(random_between(gap, 9)));
        direction[i] = static_cast<T>(random_between(0, 1) == 0 ? random_between(gap, 3)
                                                                : -random_between(gap, 3));
        add_element(expected, x[i], direction[i], lower[i], upper[i]);
      }
      direction.store();
      lower.store();
      upper.store();
      Bounds<T> found;
      GA_Step_bound_info(x.handle, direction.handle, lower.handle, upper.handle, &found.first,
                         &found.first_moving, &found.last);
      CHECK(found.first == expected.first);
      CHECK(found.first_moving == expected.first_moving);
      CHECK(found.last == expected.last);
      Patch box = random_patch(x.dims);
      expected = {};
      for (const std::size_t i : positions(x.dims, box)) {
        add_element(expected, x[i], direction[i], lower[i], upper[i]);
      }
      int* const lo = box.lo.data();
      int* const hi = box.hi.data();
      GA_Step_bound_info_patch(x.handle, lo, hi, direction.handle, lo, hi, lower.handle, lo, hi,
                               upper.handle, lo, hi, &found.first, &found.first_moving,
                               &found.last);
      CHECK(found.first == expected.first);
      CHECK(found.first_moving == expected.first_moving);
      CHECK(found.last == expected.last);
      upper[4] = static_cast<T>(x[4] - 1);
      upper.store();
      CHECK_FAILS("above its upper bound",
                  GA_Step_bound_info(x.handle, direction.handle, lower.handle, upper.handle,
                                     &found.first, &found.first_moving, &found.last));
    }
  });
}

void quotients() {
  for_real_types([]<class T>() {
    const Array<T> a({7, 9});
    const Array<T> b({7, 9}, Layout::cyclic);
    Array<T> result({7, 9}, Layout::scalapack);
    const long handles[] = {a.handle, b.handle, result.handle};
    long lo[] = {2, 1};  // Fortran's order and indices
    long hi[] = {8, 6};
    const Patch box{{0, 1}, {5, 7}};
    ga_elem_step_divide_patch_(&handles[0], lo, hi, &handles[1], lo, hi, &handles[2], lo, hi);
    for (const std::size_t i : positions(a.dims, box)) {
      result[i] = a[i] == 0   ? (b[i] >= 0 ? infinity<T> : T{0})
                  : b[i] == 0 ? infinity<T>
                              : static_cast<T>(a[i] / b[i]);
    }
    CHECK_ARRAY(result);
    ga_elem_stepb_divide_patch_(&handles[0], lo, hi, &handles[1], lo, hi, &handles[2], lo, hi);
    for (const std::size_t i : positions(a.dims, box)) {
      result[i] = a[i] == 0   ? (b[i] > 0 ? T{0} : infinity<T>)
                  : b[i] == 0 ? infinity<T>
                              : static_cast<T>(a[i] / b[i]);
    }
    CHECK_ARRAY(result);
    pnga_step_mask_patch(handles[0], lo, hi, handles[1], lo, hi, handles[2], lo, hi);
    for (const std::size_t i : positions(a.dims, box)) {
      result[i] = a[i] == 0 ? T{0} : b[i];
    }
    CHECK_ARRAY(result);
  });
  const Array<std::complex<double>> numbers({3});
  double step = 0;
  CHECK_FAILS("step_max", GA_Step_max(numbers.handle, numbers.handle, &step));
}

}  // namespace

const Case step_cases[] = {{"step_max", step_max},
                           {"step_bound_info", step_bound_info},
                           {"quotients", quotients},
                           {nullptr, nullptr}};

}  // namespace tessera::test
