// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace tessera::python {

using arrays::MemoryOrder;

std::vector<rma::TeamRank> parse_ranks(py::handle given, const char* what) {
  std::vector<rma::TeamRank> ranks;
  for (const std::int64_t number : parse_numbers(given, what)) {
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) {
      refuse(fmt::format("{}: {} is not a rank", what, number));
    }
    ranks.push_back(rma::TeamRank{static_cast<std::int32_t>(number)});
  }
  return ranks;
}

MemoryOrder parse_order(const std::string& text) {
  if (text == "C") {
    return MemoryOrder::row_major;
  }
  if (text == "F") {
    return MemoryOrder::column_major;
  }
  refuse(fmt::format("order='{}' is not a memory order", text),
         "'C' is row-major, 'F' is column-major");
}

py::object Options::take(const char* name) {
  known_.emplace_back(name);
  return given_.contains(name) ? py::object(given_[name]) : py::none();
}

void Options::take_list(const char* name, arrays::Extents& to) {
  const py::object given = take(name);
  if (!given.is_none()) {
    to = parse_list<arrays::Extents>(given, ndims_, name);
  }
}

void Options::take_number(const char* name, std::int64_t& to) {
  const py::object given = take(name);
  if (!given.is_none()) {
    to = parse_list<arrays::Extents>(given, 1, name)[0];
  }
}

void Options::take_flag(const char* name, bool& to) {
  const py::object given = take(name);
  if (given.is_none()) {
    return;
  }
  if (!py::isinstance<py::bool_>(given)) {
    refuse_type(
        fmt::format("{}: {}={} is neither True nor False", function_, name, repr_of(given)));
  }
  to = given.cast<bool>();
}

void Options::take_text(const char* name, std::string& to) {
  const py::object given = take(name);
  if (given.is_none()) {
    return;
  }
  if (!py::isinstance<py::str>(given)) {
    refuse_type(fmt::format("{}: {}={} is not a text", function_, name, repr_of(given)));
  }
  to = given.cast<std::string>();
}

void Options::take_order(MemoryOrder& to) {
  std::string text = to == MemoryOrder::row_major ? "C" : "F";
  take_text("order", text);
  to = parse_order(text);
}

void Options::finish() const {
  for (const auto& each : given_) {
    const auto name = each.first.cast<std::string>();
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      refuse_type(fmt::format("{} has no option '{}'", function_, name),
                  fmt::format("options: {}", fmt::join(known_, ", ")));
    }
  }
}

}  // namespace tessera::python
