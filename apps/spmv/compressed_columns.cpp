// SPDX-License-Identifier: BSD-3-Clause
//
// Harwell-Boeing and Rutherford-Boeing files have all pointers, then all rows, then all values. A
// rank that parses some rows needs columns and values that others parse. So the numbers first go
// into distributed vectors; then each rank reads its share of the entries from them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/spmv/matrix_entries.hpp"
#include "arrays/array.hpp"
#include "rma/team.hpp"

namespace tessera::apps::spmv {
namespace {

using arrays::Array;
using arrays::Box;
using rma::Result;
using rma::Status;

// Numbers moved in one operation.
constexpr std::int64_t batch = 1 << 15;

// A distributed vector that is written in runs of consecutive elements.
template <class T>
class RunWriter {
 public:
  explicit RunWriter(Array<T>& to) : to_(to) {}

  void write(std::int64_t index, T value) {
    if (index != first_ + std::ssize(run_) || std::ssize(run_) == batch) {
      flush();
      first_ = index;
    }
    run_.push_back(value);
  }
  void flush() {
    if (!run_.empty() && status_.ok()) {
      status_ = to_.put(Box({first_}, {first_ + std::ssize(run_)}), run_);
    }
    run_.clear();
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  Array<T>& to_;
  std::int64_t first_ = 0;
  std::vector<T> run_;
  Status status_;
};

// The location of a field of a section.
TextFault fault_at(const Section& section, std::int64_t field, std::string reason) {
  return {section.first_line + field / section.format.fields_per_line,
          section.format.field(field % section.format.fields_per_line).column + 1,
          std::move(reason)};
}

bool is_in(const Section& section, std::int64_t line) {
  return line >= section.first_line && line < section.first_line + section.lines;
}

// Calls `body(number of the field, text, location)` for the fields of one line.
template <class Body>
std::optional<TextFault> for_each_field(const Section& section, std::string_view line,
                                        std::int64_t number, Body&& body) {
  const std::int64_t first = (number - section.first_line) * section.format.fields_per_line;
  const std::int64_t count =
      std::min<std::int64_t>(section.format.fields_per_line, section.fields - first);
  for (std::int64_t i = 0; i < count; ++i) {
    const FortranField field = section.format.field(i);
    const auto at = static_cast<std::size_t>(field.column);
    const auto text = at < line.size() ? line.substr(at, static_cast<std::size_t>(field.width))
                                       : std::string_view();
    std::string wrong = body(first + i, text, field);
    if (!wrong.empty()) {
      return fault_at(section, first + i, std::move(wrong));
    }
  }
  return std::nullopt;
}

// Puts an integer from 1 to `most` into a vector, counted from 0.
std::string write_index(RunWriter<std::int64_t>& to, std::string_view what, std::int64_t most,
                        std::int64_t index, std::string_view text) {
  const auto parsed = parse_fortran_integer(text);
  if (!parsed.ok()) {
    return parsed.fault;
  }
  if (parsed.value < 1 || parsed.value > most) {
    return fmt::format("{} {} is outside 1 to {}", what, parsed.value, most);
  }
  to.write(index, parsed.value - 1);
  return {};
}

std::string write_value(RunWriter<double>& to, bool is_integer, std::int64_t index,
                        std::string_view text, const FortranField& field) {
  const auto parsed =
      is_integer ? parse_fortran_integer_as_real(text) : parse_fortran_real(text, field);
  to.write(index, parsed.value);
  return parsed.fault;
}

// The three vectors of a file. The third is empty if there are no values.
struct Columns {
  Array<std::int64_t> pointers;
  Array<std::int64_t> rows;
  Array<double> values;

  static Result<Columns> create(rma::Job& job, const MatrixHeader& header) {
    TESSERA_ASSIGN_OR_RETURN(auto pointers,
                             Array<std::int64_t>::create(job, {header.pointers.fields},
                                                         {.name = "column pointers of the file"}));
    TESSERA_ASSIGN_OR_RETURN(auto rows,
                             Array<std::int64_t>::create(job, {header.indices.fields},
                                                         {.name = "row numbers of the file"}));
    TESSERA_ASSIGN_OR_RETURN(auto values, Array<double>::create(job, {header.values.fields},
                                                                {.name = "values of the file"}));
    return Columns{std::move(pointers), std::move(rows), std::move(values)};
  }
};

// Elements of a distributed vector in increasing order of indices, read ahead in batches.
template <class T>
class SequentialReader {
 public:
  explicit SequentialReader(const Array<T>& from) : from_(from) {}

  // Requires: indices do not decrease. After an error all elements are zero.
  T operator()(std::int64_t index) {
    if (index >= first_ + std::ssize(read_)) {
      read_ahead(index);
    }
    return status_.ok() ? read_[static_cast<std::size_t>(index - first_)] : T{};
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void read_ahead(std::int64_t index) {
    const std::int64_t end = std::min(index + batch, from_.extents()[0]);
    first_ = index;
    read_.assign(static_cast<std::size_t>(end - index), T{});
    if (status_.ok()) {
      status_ = from_.get(Box({first_}, {end}), read_);
    }
  }

  const Array<T>& from_;
  std::int64_t first_ = 0;
  std::vector<T> read_;
  Status status_;
};

struct Range {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};

// A rank's share of `count` items.
Range share_of(std::int64_t count, const rma::Team& team) {
  const auto first_column = [&](std::int64_t rank) {
    return count / team.size() * rank + count % team.size() * rank / team.size();
  };
  return {first_column(team.rank().value), first_column(team.rank().value + 1)};
}

// This rank's share of the pointers: they begin with the first entry, end after the last one, and
// do not decrease.
std::optional<TextFault> check_pointers(const MatrixHeader& header,
                                        SequentialReader<std::int64_t> pointer, Range share) {
  const std::int64_t last = header.columns;
  std::int64_t before = share.lo == 0 ? 0 : pointer(share.lo - 1);
  for (std::int64_t i = share.lo; i < share.hi; ++i) {
    const std::int64_t here = pointer(i);
    if (here < before || (i == 0 && here != 0)) {
      return fault_at(header.pointers, i,
                      i == 0 ? fmt::format("the first pointer is {}; it must be 1", here + 1)
                             : fmt::format("pointer {} follows {}: pointers must not decrease",
                                           here + 1, before + 1));
    }
    if (i == last && here != header.entries) {
      return fault_at(
          header.pointers, i,
          fmt::format("the last pointer is {}; it must be the number of entries plus one, {}",
                      here + 1, header.entries + 1));
    }
    before = here;
  }
  return std::nullopt;
}

// Collective. Checks the pointers, which come before everything else in the file. An error in them
// is reported instead of the fault that a rank has `found` later in the file, for any number of
// ranks.
Status check_pointers_in_front(rma::Job& job, const std::string& file, const MatrixHeader& header,
                               const Columns& columns, const Result<std::int64_t>& lines,
                               const std::optional<TextFault>& found) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  rma::Team team = job.world();
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t first_fault,
                           team.allreduce(found ? found->line : none, rma::Reduction::min));
  const std::int64_t last = header.pointers.first_line + header.pointers.lines - 1;
  const bool are_read = lines.ok() ? *lines >= last : first_fault != none && first_fault > last;
  if (!are_read) {
    return {};
  }
  return agree_on_fault(team, file,
                        check_pointers(header, SequentialReader<std::int64_t>(columns.pointers),
                                       share_of(header.pointers.fields, team)));
}

// Collective. Fills the vectors.
Status parse_sections(rma::Job& job, const std::string& file, const MatrixHeader& header,
                      LineStream* at_first, Columns& columns) {
  RunWriter<std::int64_t> pointers(columns.pointers);
  RunWriter<std::int64_t> rows(columns.rows);
  RunWriter<double> values(columns.values);
  const std::int64_t last_line = header.start.line - 1 + header.pointers.lines +
                                 header.indices.lines + header.values.lines +
                                 header.right_side_lines;
  const auto read_line = [&](std::string_view line, std::int64_t number) {
    if (is_in(header.pointers, number)) {
      return for_each_field(header.pointers, line, number, [&](std::int64_t i, auto text, auto&) {
        return write_index(pointers, "pointer", header.entries + 1, i, text);
      });
    }
    if (is_in(header.indices, number)) {
      return for_each_field(header.indices, line, number, [&](std::int64_t i, auto text, auto&) {
        return write_index(rows, "row", header.rows, i, text);
      });
    }
    if (is_in(header.values, number)) {
      return for_each_field(
          header.values, line, number, [&](std::int64_t i, auto text, auto& field) {
            return write_value(values, header.values.format.is_integer, i, text, field);
          });
    }
    const bool is_after_last = number > last_line && !is_blank(line);
    return is_after_last
               ? std::optional(TextFault{number, 0,
                                         fmt::format("the section has more than the {} lines that "
                                                     "line 2 announces",
                                                     last_line - header.start.line + 1)})
               : std::optional<TextFault>();
  };
  std::optional<TextFault> found;
  const auto lines =
      distribute_lines(job, file, at_first, header.start, [&](const TextPiece& piece) {
        found = for_each_line(piece, read_line);
        return found;
      });
  pointers.flush();
  rows.flush();
  values.flush();
  if (!lines.ok() && lines.status().code() != rma::Code::invalid_argument) {
    return lines.status();
  }
  TESSERA_RETURN_IF_ERROR(columns.pointers.sync(pointers.status()));
  TESSERA_RETURN_IF_ERROR(check_pointers_in_front(job, file, header, columns, lines, found));
  TESSERA_RETURN_IF_ERROR(lines.status());
  TESSERA_RETURN_IF_ERROR(columns.rows.sync(rows.status()));
  TESSERA_RETURN_IF_ERROR(columns.values.sync(values.status()));
  if (*lines < last_line) {
    return to_status(
        file,
        {*lines, 0, fmt::format("the file ends here, but line 2 announces {} lines", last_line)});
  }
  return {};
}

// The column of an entry: the last one whose pointer is at or before it.
Result<std::int64_t> column_of(const Array<std::int64_t>& pointers, std::int64_t entry) {
  std::int64_t low = 0;
  std::int64_t high = pointers.extents()[0] - 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t start, pointers.get_element({middle}));
    (start <= entry ? low : high) = middle;
  }
  return low;
}

// One-sided. Passes this rank's share of the entries to the caller.
template <class T>
Status emit_share(const MatrixHeader& header, const Columns& columns, Range share,
                  const EntrySink<T>& sink, std::optional<TextFault>& fault) {
  if (share.lo == share.hi) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(std::int64_t column, column_of(columns.pointers, share.lo));
  SequentialReader<std::int64_t> pointer(columns.pointers);
  SequentialReader<std::int64_t> row(columns.rows);
  SequentialReader<double> value(columns.values);
  const std::int64_t parts = parts_of(header.field);
  for (std::int64_t entry = share.lo; entry < share.hi && !fault; ++entry) {
    while (column + 1 < header.columns && pointer(column + 1) <= entry && pointer.status().ok()) {
      ++column;
    }
    std::array<double, 2> numbers = {1.0, 0.0};
    for (std::int64_t part = 0; part < parts; ++part) {
      numbers[static_cast<std::size_t>(part)] = value(entry * parts + part);
    }
    const std::int64_t at = row(entry);
    std::string wrong = give(header.symmetry, at, column, value_of<T>(numbers.data()), sink);
    if (!wrong.empty()) {
      fault = fault_at(header.indices, entry, std::move(wrong));
    }
  }
  TESSERA_RETURN_IF_ERROR(pointer.status());
  TESSERA_RETURN_IF_ERROR(row.status());
  return value.status();
}

}  // namespace

template <class T>
Status read_compressed_columns(rma::Job& job, const std::string& file, const MatrixHeader& header,
                               LineStream* at_first, const EntrySink<T>& sink) {
  rma::Team team = job.world();
  TESSERA_ASSIGN_OR_RETURN(Columns columns, Columns::create(job, header));
  TESSERA_RETURN_IF_ERROR(parse_sections(job, file, header, at_first, columns));
  std::optional<TextFault> fault;
  const Status given = emit_share(header, columns, share_of(header.entries, team), sink, fault);
  TESSERA_RETURN_IF_ERROR(columns.rows.sync(given));
  return agree_on_fault(team, file, fault);
}

template Status read_compressed_columns<double>(rma::Job&, const std::string&, const MatrixHeader&,
                                                LineStream*, const EntrySink<double>&);
template Status read_compressed_columns<std::complex<double>>(
    rma::Job&, const std::string&, const MatrixHeader&, LineStream*,
    const EntrySink<std::complex<double>>&);

}  // namespace tessera::apps::spmv
