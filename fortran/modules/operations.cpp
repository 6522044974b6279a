// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/operations.h"

#include <fmt/format.h>

#include <optional>

#include "fortran/c/arrays.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/fortran_operands.hpp"

namespace tessera::fapi {
namespace {

/// A function of the C interface and its Fortran name.
template <class Function>
struct Operation {
  const char* name;
  Function* call;
};

// The module has the same numbers for these tables. Rows and columns change places.
constexpr std::array<Operation<int(tessera_part)>, 5> unary = {{
    {"tessera_part%zero", tessera_array_zero},
    {"tessera_part%absolute", tessera_array_absolute},
    {"tessera_part%reciprocal", tessera_array_reciprocal},
    {"tessera_part%zero_diagonal", tessera_array_zero_diagonal},
    {"tessera_part%symmetrize", tessera_array_symmetrize},
}};
constexpr std::array<Operation<int(tessera_part, const void*)>, 5> with_number = {{
    {"tessera_part%fill", tessera_array_fill},
    {"tessera_part%scale", tessera_array_scale},
    {"tessera_part%add_constant", tessera_array_add_constant},
    {"tessera_part%shift_diagonal", tessera_array_shift_diagonal},
    {"tessera_part%fill_diagonal", tessera_array_fill_diagonal},
}};
constexpr std::array<Operation<int(tessera_part, tessera_part)>, 7> binary = {{
    {"tessera_part%copy", tessera_array_copy},
    {"tessera_part%copy_in_order", tessera_array_copy_in_order},
    {"tessera_part%add_diagonal", tessera_array_add_diagonal},
    {"tessera_part%set_diagonal", tessera_array_set_diagonal},
    {"tessera_part%get_diagonal", tessera_array_get_diagonal},
    {"tessera_part%scale_rows", tessera_array_scale_columns},
    {"tessera_part%scale_columns", tessera_array_scale_rows},
}};
constexpr int copies = 2;  // the second operand leads
constexpr std::array<Operation<int(tessera_part, tessera_part, tessera_part)>, 5> ternary = {{
    {"tessera_part%multiply", tessera_array_multiply},
    {"tessera_part%divide", tessera_array_divide},
    {"tessera_part%maximum", tessera_array_maximum},
    {"tessera_part%minimum", tessera_array_minimum},
    {"tessera_part%scan_copy", tessera_array_scan_copy},
}};
constexpr std::array<Operation<int(tessera_part, tessera_part, tessera_part, int64_t*)>, 2> packs =
    {{
        {"tessera_part%pack", tessera_array_pack},
        {"tessera_part%unpack", tessera_array_unpack},
    }};
using Norm = Operation<int(tessera_part, int, double*)>;
constexpr std::array<Norm, 3> matrix_norms = {{
    {"tessera_part%norm2", tessera_array_norm2},
    {"tessera_part%norm1", tessera_array_norm_infinity},
    {"tessera_part%norm_infinity", tessera_array_norm1},
}};
// For operands without rows and columns: vectors, and operands that C refuses by name.
constexpr std::array<Norm, 3> other_norms = {{
    {"tessera_part%norm2", tessera_array_norm2},
    {"tessera_part%norm1", tessera_array_norm1},
    {"tessera_part%norm_infinity", tessera_array_norm_infinity},
}};
constexpr std::array<Operation<int(tessera_part, tessera_part, int, void*)>, 2> dots = {{
    {"tessera_part%dot", tessera_array_dot},
    {"tessera_part%dot_conjugated", tessera_array_dot_conjugated},
}};

template <class Table>
auto at(const Table& table, int number) {
  return table[static_cast<std::size_t>(number)];
}

}  // namespace

extern "C" {

int tessera_f_unary(int op, const Operand* a) {
  FortranOperands<1> given({a}, 0);
  return given.run(at(unary, op).name, {}, [&] { return at(unary, op).call(given[0]); });
}

int tessera_f_with_number(int op, const Operand* a, const Descriptor* number) {
  FortranOperands<1> given({a}, 0);
  return given.run(at(with_number, op).name, {{"the number", number}},
                   [&] { return at(with_number, op).call(given[0], given.number(0)); });
}

int tessera_f_binary(int op, const Operand* a, const Operand* b) {
  FortranOperands<2> given({a, b}, op < copies ? 1 : 0);
  return given.run(at(binary, op).name, {},
                   [&] { return at(binary, op).call(given[0], given[1]); });
}

int tessera_f_ternary(int op, const Operand* a, const Operand* b, const Operand* result) {
  FortranOperands<3> given({a, b, result}, 2);
  return given.run(at(ternary, op).name, {},
                   [&] { return at(ternary, op).call(given[0], given[1], given[2]); });
}

int tessera_f_add(const Descriptor* alpha, const Operand* a, const Descriptor* beta,
                  const Operand* b, const Operand* result) {
  FortranOperands<3> given({a, b, result}, 2);
  return given.run("tessera_part%add", {{"alpha", alpha}, {"beta", beta}}, [&] {
    return tessera_array_add(given.number(0), given[0], given.number(1), given[1], given[2]);
  });
}

int tessera_f_median(const Operand* a, const Operand* b, const Operand* c, const Operand* result) {
  FortranOperands<4> given({a, b, c, result}, 3);
  return given.run("tessera_part%median", {},
                   [&] { return tessera_array_median(given[0], given[1], given[2], given[3]); });
}

int tessera_f_fill_random(const Operand* a, const Descriptor* seed, const Descriptor* low,
                          const Descriptor* high) {
  FortranOperands<1> given({a}, 0);
  std::int64_t key = 0;
  std::array<double, 2> bounds = {};
  const auto look = [&](const arrays::ArrayBase&) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(key, integer_of(seed, "seed"));
    TESSERA_ASSIGN_OR_RETURN(bounds[0], real_of(low, "low"));
    TESSERA_ASSIGN_OR_RETURN(bounds[1], real_of(high, "high"));
    return {};
  };
  const auto act = [&] {
    return tessera_array_fill_random(given[0], static_cast<std::uint64_t>(key), bounds[0],
                                     bounds[1]);
  };
  return given.run("tessera_part%fill_random", {}, act, look);
}

int tessera_f_sum(const Operand* a, int reproducible, const Descriptor* sum) {
  FortranOperands<1> given({a}, 0);
  return given.run("tessera_part%sum", {{"value", sum, true}},
                   [&] { return tessera_array_sum(given[0], reproducible, given.result(0)); });
}

int tessera_f_dot(int op, const Operand* a, const Operand* b, int reproducible,
                  const Descriptor* dot) {
  FortranOperands<2> given({a, b}, 0);
  return given.run(at(dots, op).name, {{"value", dot, true}}, [&] {
    return at(dots, op).call(given[0], given[1], reproducible, given.result(0));
  });
}

/// op 3 is the largest absolute value.
int tessera_f_norm(int op, const Operand* a, int reproducible, double* norm) {
  FortranOperands<1> given({a}, 0);
  if (op == std::ssize(matrix_norms)) {
    return given.run("tessera_part%norm_max", {},
                     [&] { return tessera_array_norm_max(given[0], norm); });
  }
  return given.run(at(matrix_norms, op).name, {}, [&] {
    const auto& norms = given.array(0).ndims() == 2 ? matrix_norms : other_norms;
    return at(norms, op).call(given[0], reproducible, norm);
  });
}

int tessera_f_select(int is_max, const Operand* a, const Descriptor* value, Descriptor* index) {
  const char* const name = is_max != 0 ? "tessera_part%select_max" : "tessera_part%select_min";
  FortranOperands<1> given({a}, 0);
  std::array<std::int64_t, TESSERA_MAX_DIMS> found = {};
  const int code = given.run(name, {{"value", value, true}}, [&] {
    return is_max != 0 ? tessera_array_select_max(given[0], given.result(0), found.data())
                       : tessera_array_select_min(given[0], given.result(0), found.data());
  });
  if (code != TESSERA_OK || index == nullptr) {
    return code;
  }
  return capi::call(name, [&] {
    const auto ndims = given.array(0).ndims();
    Numbers place = reversed(Numbers(found.begin(), found.begin() + ndims));
    for (std::int64_t& number : place) {
      ++number;
    }
    return write_integers(place, index, "index");
  });
}

int tessera_f_step_max(const Operand* x, const Operand* dx, double* step) {
  FortranOperands<2> given({x, dx}, 0);
  return given.run("tessera_part%step_max", {},
                   [&] { return tessera_array_step_max(given[0], given[1], step); });
}

/// The smallest, the smallest positive, and the largest step.
int tessera_f_step_bounds(const Operand* x, const Operand* dx, const Operand* lower,
                          const Operand* upper, double* steps) {
  FortranOperands<4> given({x, dx, lower, upper}, 0);
  return given.run("tessera_part%step_bounds", {}, [&] {
    return tessera_array_step_bounds(given[0], given[1], given[2], given[3], &steps[0], &steps[1],
                                     &steps[2]);
  });
}

int tessera_f_enumerate(const Operand* a, const Descriptor* start, const Descriptor* step) {
  FortranOperands<1> given({a}, 0);
  return given.run("tessera_part%enumerate", {{"start", start}, {"step", step}}, [&] {
    return tessera_array_enumerate(given[0], given.number(0), given.number(1));
  });
}

int tessera_f_scan_add(const Operand* from, const Operand* mask, const Operand* to, int kind) {
  FortranOperands<3> given({from, mask, to}, 2);
  return given.run("tessera_part%scan_add", {},
                   [&] { return tessera_array_scan_add(given[0], given[1], given[2], kind); });
}

int tessera_f_pack(int op, const Operand* from, const Operand* mask, const Operand* to,
                   Descriptor* count) {
  FortranOperands<3> given({from, mask, to}, 2);
  std::int64_t number = 0;
  const char* const name = at(packs, op).name;
  const auto look = [&](const arrays::ArrayBase&) {
    return count == nullptr ? rma::Status() : check_room(count, 1, "count");
  };
  const auto act = [&] { return at(packs, op).call(given[0], given[1], given[2], &number); };
  const int code = given.run(name, {}, act, look);
  if (code != TESSERA_OK || count == nullptr) {
    return code;
  }
  return capi::call(name, [&] { return write_integers(Numbers{number}, count, "count"); });
}

/// To standard output if `path` is null.
int tessera_f_print(const Operand* a, const char* path, int64_t root, int64_t digits,
                    int64_t most_lines) {
  FortranOperands<1> given({a}, 0);
  tessera_print_options options;
  tessera_print_options_init(&options);
  options.root = root;
  options.digits = digits;
  options.most_lines = most_lines;
  return given.run("tessera_part%print", {}, [&] {
    return path == nullptr ? tessera_array_print(given[0], nullptr, &options)
                           : tessera_array_print_to(given[0], path, &options);
  });
}

/// Stores bounds unchecked: the operation that takes the part checks them.
void tessera_f_part(const Descriptor* lo, const Descriptor* hi, Operand* part) {
  keep_bounds(lo, part->lo_count, part->lo);
  keep_bounds(hi, part->hi_count, part->hi);
}

}  // extern "C"

}  // namespace tessera::fapi
