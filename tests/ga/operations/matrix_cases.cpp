// SPDX-License-Identifier: BSD-3-Clause
//
// Transposition, diagonals, rows and columns, norms, and selection.
#include <cmath>

#include "tests/ga/operations/support.hpp"

extern "C" {
void ga_scale_rows_(const long* array, const long* factors);
void ga_scale_cols_(const long* array, const long* factors);
void nga_select_elem_(const long* array, const char* which, void* value, long* at,
                      std::size_t length);
}

namespace tessera::test {
namespace {

void transpose() {
  for_all_types([]<class T>() {
    for (const Layout layout : all_layouts) {
      const Array<T> from({5, 7}, random_layout());
      Array<T> to({7, 5}, layout);
      GA_Transpose(from.handle, to.handle);
      const auto reads = positions(from.dims, whole_of(from.dims), true);
      for (std::size_t i = 0; i < reads.size(); ++i) {
        to[i] = from[reads[i]];
      }
      CHECK_ARRAY(to);
    }
  });
  const Array<double> from({5, 7});
  Array<double> to({5, 7});
  CHECK_FAILS("extent", GA_Transpose(from.handle, to.handle));
  CHECK_ARRAY(to);
}

// Matrices of the first two dimensions in C, the last two in Fortran.
void symmetrize() {
  for (const int planes : {1, 3}) {
    for (const Layout layout : all_layouts) {
      const Dims dims = planes == 1 ? Dims{6, 6} : Dims{6, 6, planes};
      Array<double> array(dims, layout);
      const std::vector<double> before = array.values;
      GA_Symmetrize(array.handle);
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j < 6; ++j) {
          for (std::size_t k = 0; k < static_cast<std::size_t>(planes); ++k) {
            const auto depth = static_cast<std::size_t>(planes);
            array[(i * 6 + j) * depth + k] =
                (before[(i * 6 + j) * depth + k] + before[(j * 6 + i) * depth + k]) / 2;
          }
        }
      }
      CHECK_ARRAY(array);
    }
  }
  Array<double> oblong({4, 5});
  CHECK_FAILS("not square", GA_Symmetrize(oblong.handle));
  CHECK_ARRAY(oblong);
}

void diagonals() {
  for_all_types([]<class T>() {
    for (const Dims& dims : {Dims{6, 6}, Dims{4, 7}, Dims{7, 4}}) {
      Array<T> array(dims, random_layout());
      Array<T> vector({std::min(dims[0], dims[1])}, random_layout());
      const auto at = [&](std::size_t i) -> T& {
        return array[i * static_cast<std::size_t>(dims[1]) + i];
      };
      GA_Add_diagonal(array.handle, vector.handle);
      for (std::size_t i = 0; i < vector.values.size(); ++i) {
        at(i) = static_cast<T>(at(i) + vector[i]);
      }
      CHECK_ARRAY(array);
      T shift = random_number<T>();
      GA_Shift_diagonal(array.handle, &shift);
      for (std::size_t i = 0; i < vector.values.size(); ++i) {
        at(i) = static_cast<T>(at(i) + shift);
      }
      CHECK_ARRAY(array);
      GA_Set_diagonal(array.handle, vector.handle);
      for (std::size_t i = 0; i < vector.values.size(); ++i) {
        at(i) = vector[i];
      }
      CHECK_ARRAY(array);
      Array<T> other({std::min(dims[0], dims[1])}, random_layout());
      GA_Get_diag(array.handle, other.handle);
      other.values = vector.values;
      CHECK_ARRAY(other);
      GA_Zero_diagonal(array.handle);
      for (std::size_t i = 0; i < vector.values.size(); ++i) {
        at(i) = T{};
      }
      CHECK_ARRAY(array);
    }
  });
  Array<double> array({4, 4});
  const Array<double> vector({5});
  CHECK_FAILS("the diagonal of", GA_Add_diagonal(array.handle, vector.handle));
  CHECK_ARRAY(array);
}

// Rows are those of the caller's language: Fortran's rows are C's columns.
void rows_and_columns() {
  for_all_types([]<class T>() {
    Array<T> array({4, 6}, random_layout());
    const Array<T> four({4}, random_layout());
    const Array<T> six({6}, random_layout());
    const long handle = array.handle;
    const long by_four = four.handle;
    const long by_six = six.handle;
    const auto scale = [&](bool by_row) {
      for (std::size_t i = 0; i < 24; ++i) {
        array[i] = static_cast<T>(array[i] * (by_row ? four[i / 6] : six[i % 6]));
      }
      CHECK_ARRAY(array);
      for (std::size_t i = 0; i < 24; ++i) {
        array[i] = random_number<T>();
      }
      array.store();
    };
    GA_Scale_rows(array.handle, four.handle);
    scale(true);
    GA_Scale_cols(array.handle, six.handle);
    scale(false);
    ga_scale_rows_(&handle, &by_six);
    scale(false);
    ga_scale_cols_(&handle, &by_four);
    scale(true);
  });
  Array<double> array({4, 6});
  const Array<double> six({6});
  CHECK_FAILS("extent", GA_Scale_rows(array.handle, six.handle));
  CHECK_ARRAY(array);
}

// Of all elements as one vector, as GA computes them.
void norms() {
  for_all_types([]<class T>() {
    for (const Dims& dims : {Dims{17}, Dims{5, 6}}) {
      for (const Layout layout : all_layouts) {
        const Array<T> array(dims, layout);
        double sum = 0;
        double most = 0;
        for (const T& value : array.values) {
          const auto absolute = static_cast<double>(std::abs(value));
          sum += absolute;
          most = std::max(most, absolute);
        }
        double norm = -1;
        GA_Norm1(array.handle, &norm);
        CHECK(std::abs(norm - sum) <= 1e-12 * sum);
        GA_Norm_infinity(array.handle, &norm);
        CHECK(std::abs(norm - most) <= 1e-6 * most);
      }
    }
  });
}

void select_elem() {
  for_real_types([]<class T>() {
    for (const Layout layout : all_layouts) {
      Array<T> array({5, 6, 2}, layout);
      array[17] = 100;
      array[42] = -100;
      array.store();
      T value = 0;
      int at[3] = {};
      char most[] = "max";
      NGA_Select_elem(array.handle, most, &value, at);
      CHECK(value == 100);
      CHECK_EQUAL((at[0] * 6 + at[1]) * 2 + at[2], 17);
      const long handle = array.handle;
      long place[3] = {};
      nga_select_elem_(&handle, "min", &value, place, 3);
      CHECK(value == -100);
      // Fortran's first dimension is C's last; its indices begin at 1.
      CHECK_EQUAL(((place[2] - 1) * 6 + place[1] - 1) * 2 + place[0] - 1, 42);
      char unknown[] = "median";
      CHECK_FAILS("the operator 'median' is unknown",
                  NGA_Select_elem(array.handle, unknown, &value, at));
    }
  });
  Array<std::complex<double>> numbers({9});
  numbers[4] = {60, -80};
  numbers.store();
  std::complex<double> value;
  int at = -1;
  char most[] = "max";
  NGA_Select_elem(numbers.handle, most, &value, &at);
  CHECK(value == numbers[4]);
  CHECK_EQUAL(at, 4);
}

}  // namespace

const Case matrix_cases[] = {{"transpose", transpose}, {"symmetrize", symmetrize},
                             {"diagonals", diagonals}, {"rows_and_columns", rows_and_columns},
                             {"norms", norms},         {"select_elem", select_elem},
                             {nullptr, nullptr}};

}  // namespace tessera::test
