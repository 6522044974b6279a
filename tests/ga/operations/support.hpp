// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays of Global Arrays beside a serial model, which every process keeps and changes in the same
// way. Everything is in C's terms: indices from 0, the last dimension fastest, ends included.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "ga.h"
#include "macdecls.h"
#include "tests/armci/check.h"

// The macros of check.h are for C, too.
#pragma GCC diagnostic ignored "-Wold-style-cast"

namespace tessera::test {

extern const Case whole_cases[];
extern const Case copy_cases[];
extern const Case element_cases[];
extern const Case step_cases[];
extern const Case dot_cases[];
extern const Case matrix_cases[];
extern const Case vector_cases[];
extern const Case scalar_cases[];

/// As the library was built: GA's Fortran INTEGER.
using FortranInteger = long;

template <class T>
struct TypeCode;
template <>
struct TypeCode<int> {
  static constexpr int value = C_INT;
};
template <>
struct TypeCode<long> {
  static constexpr int value = C_LONG;
};
template <>
struct TypeCode<long long> {
  static constexpr int value = C_LONGLONG;
};
template <>
struct TypeCode<float> {
  static constexpr int value = C_FLOAT;
};
template <>
struct TypeCode<double> {
  static constexpr int value = C_DBL;
};
template <>
struct TypeCode<std::complex<float>> {
  static constexpr int value = C_SCPL;
};
template <>
struct TypeCode<std::complex<double>> {
  static constexpr int value = C_DCPL;
};

/// Calls act.operator()<T>() for each type.
template <class Act>
void for_real_types(const Act& act) {
  act.template operator()<int>();
  act.template operator()<long>();
  act.template operator()<float>();
  act.template operator()<double>();
}
template <class Act>
void for_all_types(const Act& act) {
  for_real_types(act);
  act.template operator()<long long>();
  act.template operator()<std::complex<float>>();
  act.template operator()<std::complex<double>>();
}

/// Numbers that are the same on all processes.
inline std::mt19937& generator() {
  static std::mt19937 numbers(20261130);
  return numbers;
}
inline int random_between(int lo, int hi) {
  return lo + static_cast<int>(generator()() % static_cast<unsigned>(hi - lo + 1));
}
/// A small whole number, so that sums and products are exact.
template <class T>
T random_number() {
  const int real = random_between(-20, 20);
  if constexpr (requires { typename T::value_type; }) {
    return {static_cast<typename T::value_type>(real),
            static_cast<typename T::value_type>(random_between(-20, 20))};
  } else {
    return static_cast<T>(real);
  }
}

using Dims = std::vector<int>;

struct Patch {
  Dims lo;
  Dims hi;
};
/// A patch of the given lengths at a random place of an array.
Patch random_patch(const Dims& dims, const Dims& lengths);
/// A patch of random lengths.
Patch random_patch(const Dims& dims);
Patch whole_of(const Dims& dims);
/// The positions of a patch's elements in an array of these lengths; the last dimension fastest, or
/// the first.
std::vector<std::size_t> positions(const Dims& dims, const Patch& patch, bool is_reversed = false);

enum class Layout : std::uint8_t { regular, irregular, cyclic, scalapack, tiled };
inline constexpr Layout all_layouts[] = {Layout::regular, Layout::irregular, Layout::cyclic,
                                         Layout::scalapack, Layout::tiled};
Layout random_layout();
/// Collective over the group. A new array; -1 means the default group.
int create_array(int type, const Dims& dims, Layout layout, int group = -1);

template <class T>
class Array {
 public:
  /// Collective over the group. An array of random numbers.
  explicit Array(Dims lengths, Layout layout = Layout::regular, int group = -1)
      : dims(std::move(lengths)),
        handle(create_array(TypeCode<T>::value, dims, layout, group)),
        values(positions(dims, whole_of(dims)).size()),
        group_(group) {
    for (T& value : values) {
      value = random_number<T>();
    }
    store();
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { GA_Destroy(handle); }

  /// Collective. Gives the array the model's elements.
  void store() {
    sync();
    if (GA_Pgroup_nodeid(GA_Get_pgroup(handle)) == 0) {
      Patch all = whole_of(dims);
      Dims lengths = leading();
      NGA_Put(handle, all.lo.data(), all.hi.data(), values.data(), lengths.data());
    }
    sync();
  }
  /// The array's elements.
  [[nodiscard]] std::vector<T> load() const {
    std::vector<T> elements(values.size());
    Patch all = whole_of(dims);
    Dims lengths = leading();
    NGA_Get(handle, all.lo.data(), all.hi.data(), elements.data(), lengths.data());
    return elements;
  }
  /// Collective. Checks that the array has the model's elements.
  bool check(const char* file, int line) const {
    const std::vector<T> elements = load();
    const bool holds = check_bytes(elements.data(), values.data(), values.size() * sizeof(T),
                                   "the array's elements", file, line) != 0;
    sync();
    return holds;
  }
  void sync() const { GA_Pgroup_sync(GA_Get_pgroup(handle)); }

  [[nodiscard]] T& operator[](std::size_t position) { return values[position]; }
  [[nodiscard]] const T& operator[](std::size_t position) const { return values[position]; }

  Dims dims;
  int handle;
  std::vector<T> values;

 private:
  [[nodiscard]] Dims leading() const {
    Dims lengths(dims.begin() + 1, dims.end());
    lengths.push_back(1);  // not read
    return lengths;
  }
  int group_;
};

/// What the calls of `act` print about errors on this process.
std::string errors_of(const std::function<void()>& act);

}  // namespace tessera::test

#define CHECK_ARRAY(array) (array).check(__FILE__, __LINE__)
#define CHECK_FAILS(words, ...)                                                               \
  check_true(tessera::test::errors_of([&] { __VA_ARGS__; }).find(words) != std::string::npos, \
             "an error with: " words, __FILE__, __LINE__)
