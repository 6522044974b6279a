// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "apps/spmv/numbers.hpp"

namespace tessera::apps::spmv {
namespace {

using rma::Result;
using rma::Status;

// Up to this size, row numbers and entries fit into 64 bits.
constexpr std::int64_t max_rows = std::int64_t{1} << 40;

bool is_inside(std::int64_t coordinate, std::int64_t edge) {
  return coordinate >= 0 && coordinate < edge;
}

// The sum of the element matrices of a node's four squares; for −∇² they do not depend on the mesh.
void emit_fe2d_row(std::int64_t edge, std::int64_t row, const EntrySink<double>& sink) {
  constexpr double itself = 8.0 / 3.0;
  constexpr double neighbour = -1.0 / 3.0;
  const std::int64_t y = row / edge;
  const std::int64_t x = row % edge;
  for (std::int64_t dy = -1; dy <= 1; ++dy) {
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      if (is_inside(y + dy, edge) && is_inside(x + dx, edge)) {
        sink(row, row + dy * edge + dx, dy == 0 && dx == 0 ? itself : neighbour);
      }
    }
  }
}

void emit_stencil27_row(std::int64_t edge, std::int64_t row, const EntrySink<double>& sink) {
  const std::int64_t z = row / (edge * edge);
  const std::int64_t y = row / edge % edge;
  const std::int64_t x = row % edge;
  for (std::int64_t dz = -1; dz <= 1; ++dz) {
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        if (is_inside(z + dz, edge) && is_inside(y + dy, edge) && is_inside(x + dx, edge)) {
          const std::int64_t column = row + (dz * edge + dy) * edge + dx;
          sink(row, column, column == row ? 26.0 : -1.0);
        }
      }
    }
  }
}

// Multiplied by h². The flow goes to larger x and y, so the upwind neighbours come before.
void emit_convection_row(const Generator& generator, std::int64_t row,
                         const EntrySink<double>& sink) {
  const std::int64_t edge = generator.edge;
  const double h = 1.0 / static_cast<double>(edge + 1);
  const double along_x = generator.strength * h;
  const double along_y = generator.strength * h / 2;
  const std::int64_t y = row / edge;
  const std::int64_t x = row % edge;
  if (y > 0) {
    sink(row, row - edge, -1 - along_y);
  }
  if (x > 0) {
    sink(row, row - 1, -1 - along_x);
  }
  sink(row, row, 4 + along_x + along_y);
  if (x + 1 < edge) {
    sink(row, row + 1, -1.0);
  }
  if (y + 1 < edge) {
    sink(row, row + edge, -1.0);
  }
}

void emit_random_row(const Generator& generator, std::int64_t row, const EntrySink<double>& sink) {
  const auto rows = static_cast<std::uint64_t>(generator.edge);
  std::uint64_t state =
      mixed(static_cast<std::uint64_t>(generator.seed)) ^ mixed(static_cast<std::uint64_t>(row));
  for (std::int64_t i = 0; i < generator.dense; ++i) {
    state = mixed(state + 1);
    const auto column = static_cast<std::int64_t>(state % rows);
    state = mixed(state + 1);
    const double value = static_cast<double>(state >> 11U) * 0x1p-52 - 1;  // from −1 to 1
    sink(row, column, value);
  }
  sink(row, row, static_cast<double>(generator.dense) + 1);
}

struct KnownGenerator {
  std::string_view name;
  std::size_t max_numbers;
};
constexpr std::array known_kinds = {KnownGenerator{"fe2d", 1}, KnownGenerator{"stencil27", 1},
                                    KnownGenerator{"convection", 2}, KnownGenerator{"random", 3}};

Status refused(const std::string& text, std::string_view why) {
  return Status::error(rma::Code::invalid_argument, fmt::format("generator {}: {}", text, why))
      .hint("the generators are fe2d:N, stencil27:N, convection:N[,P] and random:N[,K[,SEED]]");
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

Result<std::int64_t> count_of(const std::string& text, const std::string& number,
                              std::int64_t least, std::int64_t most) {
  const auto parsed = parse_integer(number);
  if (!parsed.ok()) {
    return refused(text, parsed.fault);
  }
  if (parsed.value < least || parsed.value > most) {
    return refused(text, fmt::format("{} is outside {} to {}", parsed.value, least, most));
  }
  return parsed.value;
}

// The longest edge whose square or cube is a possible number of rows.
std::int64_t max_edge(GeneratorKind kind) {
  switch (kind) {
    case GeneratorKind::stencil27:
      return 10'000;
    case GeneratorKind::random:
      return max_rows;
    default:
      return std::int64_t{1} << 20;
  }
}

Status read_second(const std::string& text, const std::string& number, Generator& generator) {
  if (generator.kind == GeneratorKind::convection) {
    const auto parsed = parse_real(number);
    if (!parsed.ok() || parsed.value < 0) {
      return refused(text, parsed.ok() ? "P must not be negative" : parsed.fault);
    }
    generator.strength = parsed.value;
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(generator.dense, count_of(text, number, 0, generator.edge));
  return {};
}

}  // namespace

std::uint64_t mixed(std::uint64_t number) noexcept {
  number += 0x9e37'79b9'7f4a'7c15U;
  number = (number ^ (number >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
  number = (number ^ (number >> 27U)) * 0x94d0'49bb'1331'11ebU;
  return number ^ (number >> 31U);
}

std::int64_t Generator::rows() const noexcept {
  switch (kind) {
    case GeneratorKind::stencil27:
      return edge * edge * edge;
    case GeneratorKind::random:
      return edge;
    default:
      return edge * edge;
  }
}

std::int64_t Generator::most_in_row() const noexcept {
  switch (kind) {
    case GeneratorKind::fe2d:
      return 9;
    case GeneratorKind::stencil27:
      return 27;
    case GeneratorKind::convection:
      return 5;
    case GeneratorKind::random:
      break;
  }
  return dense + 1;
}

void Generator::give_row(std::int64_t row, const EntrySink<double>& sink) const {
  switch (kind) {
    case GeneratorKind::fe2d:
      return emit_fe2d_row(edge, row, sink);
    case GeneratorKind::stencil27:
      return emit_stencil27_row(edge, row, sink);
    case GeneratorKind::convection:
      return emit_convection_row(*this, row, sink);
    case GeneratorKind::random:
      return emit_random_row(*this, row, sink);
  }
}

Result<Generator> parse_generator(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (std::size_t kind = 0; kind < known_kinds.size(); ++kind) {
    if (known_kinds[kind].name != name || colon == std::string::npos) {
      continue;
    }
    const std::vector<std::string> numbers = split(std::string_view(text).substr(colon + 1));
    if (numbers.size() > known_kinds[kind].max_numbers) {
      return refused(text, fmt::format("has {} numbers; {} takes at most {}", numbers.size(), name,
                                       known_kinds[kind].max_numbers));
    }
    Generator generator;
    generator.kind = static_cast<GeneratorKind>(kind);
    TESSERA_ASSIGN_OR_RETURN(generator.edge,
                             count_of(text, numbers[0], 1, max_edge(generator.kind)));
    if (numbers.size() > 1) {
      TESSERA_RETURN_IF_ERROR(read_second(text, numbers[1], generator));
    } else {
      generator.dense = std::min(generator.dense, generator.edge);
    }
    if (numbers.size() > 2) {
      TESSERA_ASSIGN_OR_RETURN(generator.seed, count_of(text, numbers[2], 0, max_rows));
    }
    return generator;
  }
  return refused(text, "this generator does not exist");
}

}  // namespace tessera::apps::spmv
