// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on the elements of one array, and sums.
#include <cmath>
#include <cstdlib>

#include "tests/ga/operations/support.hpp"

extern "C" {
void ga_dscal_(const tessera::test::FortranInteger* array, const double* alpha);
void ga_ifill_patch_(const tessera::test::FortranInteger* array,
                     const tessera::test::FortranInteger* ilo,
                     const tessera::test::FortranInteger* ihi,
                     const tessera::test::FortranInteger* jlo,
                     const tessera::test::FortranInteger* jhi,
                     const tessera::test::FortranInteger* value);
}

namespace tessera::test {
namespace {

template <class T>
T absolute(T value) {
  return static_cast<T>(std::abs(value));
}

// Calls whole(array) and patch(array, lo, hi) on arrays of all types and layouts; each element of
// the patch becomes function(element).
template <class Whole, class Part, class Function>
void changes_elements(const Whole& whole, const Part& patch, const Function& function) {
  for_all_types([&]<class T>() {
    for (const Layout layout : all_layouts) {
      Array<T> array({5, 4, 3}, layout);
      T scalar = random_number<T>();
      whole(array.handle, &scalar);
      for (T& value : array.values) {
        value = function(value, scalar);
      }
      CHECK_ARRAY(array);
      Patch box = random_patch(array.dims);
      scalar = random_number<T>();
      patch(array.handle, box.lo.data(), box.hi.data(), &scalar);
      for (const std::size_t at : positions(array.dims, box)) {
        array[at] = function(array[at], scalar);
      }
      CHECK_ARRAY(array);
    }
  });
}

void zero() {
  changes_elements([](int array, void*) { GA_Zero(array); },
                   [](int array, int* lo, int* hi, void*) { NGA_Zero_patch(array, lo, hi); },
                   []<class T>(T, T) { return T{}; });
}

void fill() {
  changes_elements(GA_Fill, NGA_Fill_patch, []<class T>(T, T scalar) { return scalar; });
}

void scale() {
  changes_elements(GA_Scale, NGA_Scale_patch,
                   []<class T>(T value, T scalar) { return static_cast<T>(value * scalar); });
}

void add_constant() {
  changes_elements(GA_Add_constant, GA_Add_constant_patch,
                   []<class T>(T value, T scalar) { return static_cast<T>(value + scalar); });
}

void abs_value() {
  changes_elements([](int array, void*) { GA_Abs_value(array); },
                   [](int array, int* lo, int* hi, void*) { GA_Abs_value_patch(array, lo, hi); },
                   []<class T>(T value, T) { return absolute(value); });
}

void recip() {
  for_real_types([]<class T>() {
    Array<T> array({7, 3}, random_layout());
    for (T& value : array.values) {
      value = static_cast<T>(value == 0 ? 1 : value);
    }
    array.store();
    Patch box = random_patch(array.dims);
    GA_Recip_patch(array.handle, box.lo.data(), box.hi.data());
    for (const std::size_t at : positions(array.dims, box)) {
      array[at] = static_cast<T>(T{1} / array[at]);
    }
    CHECK_ARRAY(array);
    std::fill(array.values.begin(), array.values.end(), T{3});
    array[20] = 0;
    array.store();
    CHECK_FAILS("division by zero: 1 elements", GA_Recip(array.handle));
    CHECK_ARRAY(array);
  });
}

void by_other_names() {
  Array<double> reals({4, 6});
  const FortranInteger handle = reals.handle;
  const double half = 0.5;
  ga_dscal_(&handle, &half);
  for (double& value : reals.values) {
    value *= half;
  }
  CHECK_ARRAY(reals);
  Array<long> numbers({4, 6}, Layout::scalapack);
  const FortranInteger box[] = {2, 3, 1, 4};  // Fortran's rows 2 to 3 and columns 1 to 4
  const FortranInteger seven = 7;
  const FortranInteger whole = numbers.handle;
  ga_ifill_patch_(&whole, &box[0], &box[1], &box[2], &box[3], &seven);
  for (const std::size_t at : positions(numbers.dims, {{0, 1}, {3, 2}})) {
    numbers[at] = 7;
  }
  CHECK_ARRAY(numbers);
  std::int64_t lo[] = {1, 1};
  std::int64_t hi[] = {2, 5};
  long eight = 8;
  NGA_Fill_patch64(numbers.handle, lo, hi, &eight);
  for (const std::size_t at : positions(numbers.dims, {{1, 1}, {2, 5}})) {
    numbers[at] = 8;
  }
  CHECK_ARRAY(numbers);
}

void add() {
  for_all_types([]<class T>() {
    for (const Layout layout : all_layouts) {
      const Array<T> a({6, 5}, random_layout());
      Array<T> b({6, 5}, random_layout());
      Array<T> sum({6, 5}, layout);
      T alpha = random_number<T>();
      T beta = random_number<T>();
      GA_Add(&alpha, a.handle, &beta, b.handle, sum.handle);
      for (std::size_t i = 0; i < sum.values.size(); ++i) {
        sum[i] = static_cast<T>(alpha * a[i] + beta * b[i]);
      }
      CHECK_ARRAY(sum);
      GA_Add(&alpha, sum.handle, &beta, b.handle, b.handle);
      for (std::size_t i = 0; i < sum.values.size(); ++i) {
        b[i] = static_cast<T>(alpha * sum[i] + beta * b[i]);
      }
      CHECK_ARRAY(b);
    }
  });
}

// The patches have equal numbers of elements and other shapes.
void add_patch() {
  for (int trial = 0; trial < 12; ++trial) {
    const Array<double> a({5, 4, 7}, random_layout());
    const Array<double> b({30}, random_layout());
    Array<double> sum({8, 9}, random_layout());
    Patch a_box = random_patch(a.dims, {2, 3, 4});
    Patch b_box = random_patch(b.dims, {24});
    Patch sum_box = random_patch(sum.dims, {4, 6});
    double alpha = 2;
    double beta = -3;
    NGA_Add_patch(&alpha, a.handle, a_box.lo.data(), a_box.hi.data(), &beta, b.handle,
                  b_box.lo.data(), b_box.hi.data(), sum.handle, sum_box.lo.data(),
                  sum_box.hi.data());
    const auto in_a = positions(a.dims, a_box);
    const auto in_b = positions(b.dims, b_box);
    const auto in_sum = positions(sum.dims, sum_box);
    for (std::size_t i = 0; i < in_sum.size(); ++i) {
      sum[in_sum[i]] = alpha * a[in_a[i]] + beta * b[in_b[i]];
    }
    CHECK_ARRAY(sum);
  }
}

// A patch of the result's own array that overlaps it is read as it was before.
void add_overlapping() {
  Array<double> array({6, 6});
  const std::vector<double> before = array.values;
  double one = 1;
  Patch from{{0, 0}, {3, 3}};
  Patch to{{1, 2}, {4, 5}};
  NGA_Add_patch(&one, array.handle, from.lo.data(), from.hi.data(), &one, array.handle,
                to.lo.data(), to.hi.data(), array.handle, to.lo.data(), to.hi.data());
  const auto reads = positions(array.dims, from);
  const auto writes = positions(array.dims, to);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    array[writes[i]] = before[reads[i]] + before[writes[i]];
  }
  CHECK_ARRAY(array);
}

void randomize() {
  Array<double> array({20, 30}, Layout::cyclic);
  double limit = -4;
  std::srand(1);
  GA_Randomize(array.handle, &limit);
  const std::vector<double> first = array.load();
  CHECK(std::all_of(first.begin(), first.end(), [](double x) { return x > -4 && x <= 0; }));
  CHECK(std::any_of(first.begin(), first.end(), [](double x) { return x < -2; }));
  GA_Randomize(array.handle, &limit);
  CHECK(array.load() != first);
  std::srand(1);
  GA_Randomize(array.handle, &limit);
  CHECK(array.load() == first);
  Array<int> numbers({100});
  int three = 3;
  GA_Randomize(numbers.handle, &three);
  const std::vector<int> drawn = numbers.load();
  CHECK(std::all_of(drawn.begin(), drawn.end(), [](int x) { return x >= 0 && x < 3; }));
  CHECK(std::count(drawn.begin(), drawn.end(), 2) > 10);
  int none = 0;
  GA_Randomize(numbers.handle, &none);
  std::fill(numbers.values.begin(), numbers.values.end(), 0);
  CHECK_ARRAY(numbers);
}

void rand() {
  double sum = 0;
  double last = -1;
  for (int i = 0; i < 1000; ++i) {
    const double next = GA_Rand(12);
    CHECK(next >= 0 && next < 1 && next != last);
    sum += next;
    last = next;
  }
  CHECK(sum > 450 && sum < 550);
}

void reports_operands_that_do_not_match() {
  const Array<double> reals({4, 4});
  Array<float> floats({4, 4});
  float one = 1;
  CHECK_FAILS("has elements of type",
              GA_Add(&one, reals.handle, &one, floats.handle, floats.handle));
  CHECK_ARRAY(floats);
  Patch small{{0, 0}, {1, 1}};
  Patch large{{0, 0}, {1, 2}};
  CHECK_FAILS("has 4 elements, but",
              NGA_Add_patch(&one, floats.handle, small.lo.data(), small.hi.data(), &one,
                            floats.handle, large.lo.data(), large.hi.data(), floats.handle,
                            large.lo.data(), large.hi.data()));
  CHECK_ARRAY(floats);
  const int own = NGA_Register_type(12);
  const int structures = create_array(own, {8}, Layout::regular);
  CHECK_FAILS("which are only moved", GA_Abs_value(structures));
  GA_Destroy(structures);
  NGA_Deregister_type(own);
}

}  // namespace

const Case whole_cases[] = {
    {"zero", zero},
    {"fill", fill},
    {"scale", scale},
    {"add_constant", add_constant},
    {"abs_value", abs_value},
    {"recip", recip},
    {"by_other_names", by_other_names},
    {"add", add},
    {"add_patch", add_patch},
    {"add_overlapping", add_overlapping},
    {"randomize", randomize},
    {"rand", rand},
    {"reports_operands_that_do_not_match", reports_operands_that_do_not_match},
    {nullptr, nullptr}};

}  // namespace tessera::test
