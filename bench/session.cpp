// SPDX-License-Identifier: BSD-3-Clause
#include "bench/session.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>

namespace tessera::bench {

FloorOptions Session::floor_options() const {
  FloorOptions floor_options;
  floor_options.capacity_bytes =
      std::max(floor_options.capacity_bytes, static_cast<std::size_t>(options_.max_size));
  floor_options.cold = options_.cold;
  floor_options.cold_bytes = options_.cold_bytes();
  return floor_options;
}

const std::vector<std::unique_ptr<Floor>>& Session::library_floors() {
  if (!has_floors_) {
    has_floors_ = true;
    for (const auto make : {make_mpi_floor, make_armci_floor}) {
      std::string missing;
      if (auto floor = make(crew_, floor_options(), missing)) {
        library_floors_.push_back(std::move(floor));
      } else {
        remark("missing: " + missing);
      }
    }
  }
  return library_floors_;
}

Table Session::table(std::string title, std::size_t subject, Quantity quantity,
                     std::string size_name) const {
  Heading heading;
  heading.title = std::move(title);
  heading.quantity = quantity;
  heading.subject = subject;
  heading.full = options_.full;
  heading.size_name = std::move(size_name);
  return {std::cout, heading, report_.run()};
}

std::vector<Measured> Session::measure(Table& table, const Subject& subject, std::int64_t line,
                                       const std::vector<Candidate>& candidates,
                                       const MeasureOptions& options) const {
  auto measured = measure_interleaved(crew_, candidates, options);
  add(table, subject, line, measured);
  return measured;
}

void Session::add(Table& table, const Subject& subject, std::int64_t line,
                  const std::vector<Measured>& measured) const {
  add(table, subject, fmt::format("{}", line), measured);
}

void Session::add(Table& table, const Subject& subject, const std::string& line,
                  const std::vector<Measured>& measured) const {
  if (!is_leader()) {
    return;
  }
  report_.add(to_records(subject, measured));
  if (!options_.quiet) {
    table.add(line, measured);
  }
}

void Session::record(Record record) const {
  if (is_leader()) {
    report_.add({std::move(record)});
  }
}

void Session::remark(const std::string& text) const {
  if (is_leader() && !options_.quiet) {
    std::cout << "# " << text << '\n';
  }
}

MeasureOptions together(MeasureOptions options) {
  constexpr double clock_readings = 2000;  // some 40 µs
  options.timer_multiple = clock_readings;
  return options;
}

MeasureOptions side_by_side(MeasureOptions options) {
  constexpr double clock_readings = 100'000;  // some 2 ms
  options.timer_multiple = clock_readings;
  return options;
}

}  // namespace tessera::bench
