// SPDX-License-Identifier: BSD-3-Clause
//
// Printing in GA's shape, so that outputs of programs can be compared. Arrays are shown as Fortran
// sees them.
#include <fmt/format.h>

#include <complex>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "fortran/ga/cut.hpp"
#include "fortran/ga/dispatch.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/texts.hpp"

namespace tessera::ga {

namespace {

template <class T>
constexpr bool is_complex_number = rma::ComplexElement<T>;

/// From this on, numbers are printed with exponents.
constexpr double large = 100'000.0;

template <class T>
std::string text_of_entry(T value) {
  if constexpr (is_complex_number<T>) {
    const auto re = static_cast<double>(value.real());
    const auto im = static_cast<double>(value.imag());
    return re < large && im < large ? fmt::format(" {:11.5f},{:11.5f}", re, im)
                                    : fmt::format(" {:.5e},{:.5e}", re, im);
  } else if constexpr (std::is_same_v<T, double>) {
    return value < large ? fmt::format(" {:11.5f}", value) : fmt::format(" {:.5e}", value);
  } else if constexpr (std::is_same_v<T, float>) {
    return fmt::format(" {:11.5f}", value);
  } else {
    return fmt::format(" {:8}", value);
  }
}

template <class T>
std::string text_of_element(T value) {
  if constexpr (is_complex_number<T>) {
    const auto re = static_cast<double>(value.real());
    const auto im = static_cast<double>(value.imag());
    return re < large && im < large ? fmt::format("({:f},{:f})", re, im)
                                    : fmt::format("({:e},{:e})", re, im);
  } else if constexpr (std::is_same_v<T, double>) {
    return value < large ? fmt::format("{:f}", value) : fmt::format("{:e}", value);
  } else if constexpr (std::is_same_v<T, float>) {
    return fmt::format("{:f}", value);
  } else {
    return fmt::format("{}", value);
  }
}

/// The numbers of columns above their entries, and a line.
template <class T>
std::string header_of(std::int64_t first, std::int64_t end) {
  std::string numbers;
  std::string line = "\n      ";
  for (std::int64_t column = first; column < end; ++column) {
    if constexpr (is_complex_number<T>) {
      numbers += fmt::format("{:22}  ", column);
      line += " -----------------------";
    } else if constexpr (std::is_same_v<T, double>) {
      numbers += fmt::format("{:10}  ", column);
      line += " -----------";
    } else {
      numbers += fmt::format("{:7}  ", column);
      line += " --------";
    }
  }
  const std::string_view margin = is_complex_number<T>        ? ""
                                  : std::is_same_v<T, double> ? "   "
                                                              : "     ";
  return fmt::format("\n{}{}{}\n", margin, numbers, line);
}

/// Prints a patch of one array.
template <class T>
class Printer {
 public:
  Printer(std::FILE* file, const Record& record, const Box& box)
      : file_(file),
        array_(static_cast<const arrays::Array<T>&>(record.array())),
        name_(record.plan.name),
        box_(box) {}

  Status print(bool is_pretty) {
    // The dimensions that vary slowest, beyond a matrix, from the first one in Fortran's order on.
    const int ndims = box_.ndims();
    Box slice = box_;
    for (int dim = 0; dim < ndims - 2; ++dim) {
      slice.set(dim, box_.lo(dim), box_.lo(dim) + 1);
    }
    bool has_more = true;
    while (has_more) {
      TESSERA_RETURN_IF_ERROR(is_pretty ? print_matrix(slice) : print_elements(slice));
      has_more = advance(slice);
    }
    return {};
  }

 private:
  static constexpr std::int64_t columns_at_once = std::is_same_v<T, std::complex<float>> ? 3 : 6;

  bool advance(Box& slice) const {
    for (int dim = box_.ndims() - 3; dim >= 0; --dim) {
      const std::int64_t next = slice.lo(dim) + 1;
      if (next < box_.hi(dim)) {
        slice.set(dim, next, next + 1);
        return true;
      }
      slice.set(dim, box_.lo(dim), box_.lo(dim) + 1);
    }
    return false;
  }

  Status print_matrix(const Box& slice) {
    const int ndims = slice.ndims();
    const int rows = ndims - 1;
    if (ndims > 2) {
      std::string bounds = fmt::format("{}:{},{}:{}", slice.lo(rows) + 1, slice.hi(rows),
                                       slice.lo(rows - 1) + 1, slice.hi(rows - 1));
      for (int dim = ndims - 3; dim >= 0; --dim) {
        bounds += fmt::format(",{}", slice.lo(dim) + 1);
      }
      fmt::print(file_, "\n -- patch: {}[{}]\n", name_, bounds);
    }
    if (ndims == 1) {
      return print_rows(slice);
    }
    for (std::int64_t first = slice.lo(rows - 1); first < slice.hi(rows - 1);
         first += columns_at_once) {
      Box part = slice;
      part.set(rows - 1, first, std::min(first + columns_at_once, slice.hi(rows - 1)));
      fmt::print(file_, "{}", header_of<T>(first + 1, part.hi(rows - 1) + 1));
      TESSERA_RETURN_IF_ERROR(print_rows(part));
    }
    return {};
  }

  /// Rows of at most a few columns.
  Status print_rows(const Box& part) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<T> values, array_.get(part));
    const int last = part.ndims() - 1;
    const std::int64_t rows = part.extent(last);
    const std::int64_t columns = part.ndims() == 1 ? 1 : part.extent(last - 1);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::string line = fmt::format("{:4}  ", part.lo(last) + row + 1);
      for (std::int64_t column = 0; column < columns; ++column) {
        line += text_of_entry(values[static_cast<std::size_t>(column * rows + row)]);
      }
      fmt::print(file_, "{}\n", line);
    }
    return {};
  }

  Status print_elements(const Box& slice) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<T> values, array_.get(slice));
    Index step = Index::zeros(slice.ndims());
    for (const T& value : values) {
      std::string indices;
      for (int dim = slice.ndims() - 1; dim >= 0; --dim) {
        indices += fmt::format("{}{}", slice.lo(dim) + step[dim] + 1, dim == 0 ? "" : ",");
      }
      fmt::print(file_, "{}({}) = {}\n", name_, indices, text_of_element(value));
      arrays::advance(step, slice.extents(), arrays::MemoryOrder::row_major);
    }
    return {};
  }

  std::FILE* file_;
  const arrays::Array<T>& array_;
  const std::string& name_;
  Box box_;
};

Status print_to(std::FILE* file, Record& record, const Box& box, bool is_pretty) {
  Group& group = record.group();
  TESSERA_RETURN_IF_ERROR(group.check_member());
  TESSERA_ASSIGN_OR_RETURN(const auto type, element_type(record.type()));
  TESSERA_RETURN_IF_ERROR(pgroup_sync(group));
  Status printed;
  if (group.rank == 0) {
    fmt::print(file, "\n global array: {}[{}],  handle: {} \n", record.plan.name,
               text_of_bounds(box, Style::fortran), record.handle());
    printed = rma::dispatch(type, [&]<class T>(Tag<T>) -> Status {
      return Printer<T>(file, record, box).print(is_pretty);
    });
    std::fflush(file);
  }
  Status met = pgroup_sync(group);
  return printed.ok() ? std::move(met) : std::move(printed);
}

}  // namespace

std::string_view gas_name_of(Type type) noexcept {
  switch (type) {
    case Type::c_int:
      return "integer";
    case Type::c_scpl:
      return "float (single) complex";
    case Type::c_dcpl:
      return "double complex";
    default:
      return to_string(type);
  }
}

std::string text_of_extents(const Extents& extents, Style style, std::string_view between) {
  const Extents shown = style == Style::fortran ? extents.reversed() : extents;
  return fmt::format("{}", fmt::join(shown, between));
}

std::string text_of_bounds(const Box& box, Style style) {
  std::string text;
  const int ndims = box.ndims();
  const std::int64_t first = style == Style::fortran ? 1 : 0;
  for (int dim = 0; dim < ndims; ++dim) {
    const int own = style == Style::fortran ? ndims - 1 - dim : dim;
    const std::int64_t lo = box.is_empty() ? first - 1 : box.lo(own) + first;
    const std::int64_t hi = box.is_empty() ? first - 2 : box.hi(own) - 1 + first;
    text += fmt::format("{}{}:{}", dim == 0 ? "" : ",", lo, hi);
  }
  return text;
}

Status print(Record& record) {
  return print_to(stdout, record, record.box(), true);
}

Status print_file(std::FILE* file, Record& record) {
  return print_to(file, record, record.box(), true);
}

Status print_patch(Record& record, const Box& box, bool is_pretty) {
  return print_to(stdout, record, box, is_pretty);
}

Status print_patch_file(std::FILE* file, Record& record, const Box& box, bool is_pretty) {
  return print_to(file, record, box, is_pretty);
}

namespace {

/// Each process with its block.
void print_processes(const Record& record, Style style) {
  for (std::int64_t rank = 0; rank < record.group().size(); ++rank) {
    fmt::print("Process={}\t owns array section: [{}] \n", rank,
               text_of_bounds(box_of_process(record, rank), style));
  }
}

/// Each process with its blocks, of a cyclic or tiled array.
void print_blocks(const Record& record, Style style) {
  constexpr std::string_view names[] = {"regular", "block-cyclic", "ScaLAPACK", "Tiled",
                                        "Tiled Irregular"};
  const bool has_grid = record.plan.layout != ArrayLayout::block_cyclic;
  const Extents blocks = record.starts.blocks(record.ndims());
  const std::int64_t total = arrays::volume(blocks);
  const std::int64_t processes = record.group().size();
  fmt::print("\nDistribution is {}\n\n", names[static_cast<std::size_t>(record.plan.layout)]);
  if (has_grid) {
    fmt::print("Number of blocks in each dimension: [{}]\n\nProcessor grid dimensions: [{}]\n\n",
               text_of_extents(blocks, style, ","), text_of_extents(record.plan.grid, style, ","));
  } else {
    fmt::print("Total of {} blocks on {} processors\n", total, processes);
  }
  std::vector<std::vector<std::int64_t>> numbers(static_cast<std::size_t>(processes));
  for (std::int64_t number = 0; number < total; ++number) {
    const Box box = box_of_process(record, number);
    const auto owner = box.is_empty() ? rma::TeamRank{0} : record.array().owner(box.lo());
    numbers[static_cast<std::size_t>(owner.value)].push_back(number);
  }
  for (std::int64_t rank = 0; rank < processes; ++rank) {
    fmt::print("Distribution on process {}\n", rank);
    for (const std::int64_t number : numbers[static_cast<std::size_t>(rank)]) {
      const std::string section = text_of_bounds(box_of_process(record, number), style);
      if (has_grid) {
        const Extents at = Extents::from(coordinates_in(blocks, number));
        fmt::print(" idx: {} Block=[{}]\t corresponds to array section: [{}] \n", number,
                   text_of_extents(at, style, ","), section);
      } else {
        fmt::print("  Block={}\t corresponds to array section: [{}] \n", number, section);
      }
    }
  }
}

}  // namespace

Status print_distribution(Style style, Record& record) {
  Group& group = record.group();
  TESSERA_RETURN_IF_ERROR(group.check_member());
  TESSERA_RETURN_IF_ERROR(pgroup_sync(group));
  if (group.rank == 0) {
    fmt::print("Array Handle={} Name:'{}' Data Type:{}\nArray Dimensions:{}\n", record.handle(),
               record.plan.name, gas_name_of(record.type()),
               text_of_extents(record.extents(), style, "x"));
    const bool is_regular = record.plan.layout == ArrayLayout::regular;
    is_regular ? print_processes(record, style) : print_blocks(record, style);
    std::fflush(stdout);
  }
  return pgroup_sync(group);
}

}  // namespace tessera::ga
