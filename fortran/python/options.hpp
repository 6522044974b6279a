// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Optional arguments of functions that make arrays, from their keywords.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/index.hpp"
#include "fortran/python/errors.hpp"
#include "fortran/python/selection.hpp"
#include "rma/base/rank.hpp"

namespace tessera::python {

/// A list of ranks. Throws WrongType, or InvalidArgument for numbers that cannot be ranks.
std::vector<rma::TeamRank> parse_ranks(py::handle given, const char* what);
/// "C" or "F". Throws InvalidArgument.
arrays::MemoryOrder parse_order(const std::string& text);

/// Takes the options that a function knows; finish() refuses the others by name.
class Options {
 public:
  Options(const char* function, const py::kwargs& given, int ndims)
      : function_(function), given_(given), ndims_(ndims) {}

  /// None if it was not given, or is None.
  py::object take(const char* name);
  /// Lists with one number for each dimension, or one number for all.
  void take_list(const char* name, arrays::Extents& to);
  void take_number(const char* name, std::int64_t& to);
  void take_flag(const char* name, bool& to);
  void take_text(const char* name, std::string& to);
  void take_order(arrays::MemoryOrder& to);
  /// Throws WrongType if there is an option that no function above took.
  void finish() const;

 private:
  const char* function_;
  py::kwargs given_;
  int ndims_;
  std::vector<std::string> known_;
};

}  // namespace tessera::python
