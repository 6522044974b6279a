// SPDX-License-Identifier: BSD-3-Clause
//
// Dot products of arrays and of patches with other shapes.
#include <cstring>

#include "tests/ga/operations/support.hpp"

extern "C" double ga_ddot_patch_(const long* a, const char* ta, const long* ailo, const long* aihi,
                                 const long* ajlo, const long* ajhi, const long* b, const char* tb,
                                 const long* bilo, const long* bihi, const long* bjlo,
                                 const long* bjhi, std::size_t ta_length, std::size_t tb_length);

namespace tessera::test {
namespace {

// The functions of a type.
template <class T>
struct Dots;
#define DOTS(type, letter)                                                                   \
  template <>                                                                                \
  struct Dots<type> {                                                                        \
    static auto whole(int a, int b) { return GA_##letter##dot(a, b); }                       \
    static auto patch(int a, char ta, Patch& pa, int b, char tb, Patch& pb) {                \
      return NGA_##letter##dot_patch(a, ta, pa.lo.data(), pa.hi.data(), b, tb, pb.lo.data(), \
                                     pb.hi.data());                                          \
    }                                                                                        \
  };
DOTS(int, I)
DOTS(long, L)
DOTS(long long, Ll)
DOTS(float, F)
DOTS(double, D)
DOTS(std::complex<float>, C)
DOTS(std::complex<double>, Z)
#undef DOTS

template <class T, class Result>
T number_of(const Result& result) {
  static_assert(sizeof(T) == sizeof(Result));
  T value;
  std::memcpy(static_cast<void*>(&value), &result, sizeof value);
  return value;
}

template <class T>
T dot_of(const Array<T>& a, const std::vector<std::size_t>& in_a, const Array<T>& b,
         const std::vector<std::size_t>& in_b) {
  T sum{};
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    sum += a[in_a[i]] * b[in_b[i]];
  }
  return sum;
}

void dots_of_arrays() {
  for_all_types([]<class T>() {
    for (const Layout layout : all_layouts) {
      const Array<T> a({5, 7}, layout);
      const Array<T> b({5, 7}, random_layout());
      const auto all = positions(a.dims, whole_of(a.dims));
      CHECK(number_of<T>(Dots<T>::whole(a.handle, b.handle)) == dot_of(a, all, b, all));
      CHECK(number_of<T>(Dots<T>::whole(a.handle, a.handle)) == dot_of(a, all, a, all));
    }
  });
}

// With one of both transposed, all dimensions of that operand are reversed; with both, none.
void dots_of_patches() {
  for_all_types([]<class T>() {
    for (int trial = 0; trial < 8; ++trial) {
      const Array<T> a({5, 6, 3}, random_layout());
      const Array<T> b({8, 7}, random_layout());
      const char a_trans = random_between(0, 1) == 0 ? 'n' : 't';
      const char b_trans = random_between(0, 1) == 0 ? 'N' : 'T';
      Patch a_box = random_patch(a.dims, {3, 4, 2});
      Patch b_box = random_patch(b.dims, {4, 6});
      const bool is_reversed = (a_trans == 't') != (b_trans == 'T');
      const T found =
          number_of<T>(Dots<T>::patch(a.handle, a_trans, a_box, b.handle, b_trans, b_box));
      CHECK(found == dot_of(a, positions(a.dims, a_box), b, positions(b.dims, b_box, is_reversed)));
    }
  });
}

void by_fortran() {
  const Array<double> a({4, 5});
  const Array<double> b({5, 4});
  const long handles[] = {a.handle, b.handle};
  const long one = 1;
  const long four = 4;
  const long three = 3;
  // Fortran's a(1:4, 1:3) and b(1:3, 1:4).
  const double found = ga_ddot_patch_(&handles[0], "n", &one, &four, &one, &three, &handles[1], "t",
                                      &one, &three, &one, &four, 1, 1);
  CHECK_REAL(found, dot_of(a, positions(a.dims, {{0, 0}, {2, 3}}), b,
                           positions(b.dims, {{0, 0}, {3, 2}}, true)));
}

void reports_bad_dots() {
  const Array<double> reals({6});
  const Array<float> floats({6});
  const Array<double> longer({7});
  CHECK_FAILS("call the function of the array's type", GA_Idot(reals.handle, reals.handle));
  CHECK_FAILS("has elements of type", GA_Ddot(reals.handle, floats.handle));
  CHECK_FAILS("elements, but", GA_Ddot(reals.handle, longer.handle));
}

}  // namespace

const Case dot_cases[] = {{"whole", dots_of_arrays},
                          {"patches", dots_of_patches},
                          {"by_fortran", by_fortran},
                          {"reports_what_does_not_fit", reports_bad_dots},
                          {nullptr, nullptr}};

}  // namespace tessera::test
