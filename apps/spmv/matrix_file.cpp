// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "apps/common/agreement.hpp"
#include "apps/spmv/matrix_entries.hpp"
#include "rma/team.hpp"

namespace tessera::apps::spmv {
namespace {

using rma::Result;
using rma::Status;

// Reads the words of a line one by one.
class LineReader {
 public:
  LineReader(std::string_view line, std::int64_t number) : line_(line), number_(number) {}

  // False at the end of the line.
  bool next() {
    at_ = std::min(line_.find_first_not_of(" \t", at_ + word_.size()), line_.size());
    const std::size_t end = std::min(line_.find_first_of(" \t", at_), line_.size());
    word_ = line_.substr(at_, end - at_);
    return !word_.empty();
  }
  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] TextFault fault(std::string reason) const {
    return {number_, static_cast<std::int64_t>(at_) + 1, std::move(reason)};
  }

  // The next word as an index from 1 to `most`, converted to count from 0.
  std::optional<TextFault> read_index(std::string_view what, std::int64_t most,
                                      std::int64_t size_line, std::int64_t& index) {
    if (!next()) {
      return fault(fmt::format("the line ends where a {} should follow", what));
    }
    const auto parsed = parse_integer(word_);
    if (!parsed.ok()) {
      return fault(parsed.fault);
    }
    if (parsed.value < 1 || parsed.value > most) {
      return fault(fmt::format("{} {} is outside 1 to {}, the size in line {}", what, parsed.value,
                               most, size_line));
    }
    index = parsed.value - 1;
    return std::nullopt;
  }

  std::optional<TextFault> read_value(const MatrixHeader& header, double* parts) {
    for (std::int64_t i = 0; i < parts_of(header.field); ++i) {
      if (!next()) {
        return fault("the line ends where a value should follow");
      }
      // Also with Fortran's exponents, because Fortran programs write many files.
      const auto parsed = header.field == Field::integer ? parse_integer_as_real(word_)
                                                         : apps::parse_fortran_real(word_);
      if (!parsed.ok()) {
        return fault(parsed.fault);
      }
      if (header.is_unsigned && parsed.value < 0) {
        return fault(
            fmt::format("{} is negative, but the first line says unsigned-integer", quoted(word_)));
      }
      parts[i] = parsed.value;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_at_end() const { return is_blank(line_.substr(at_ + word_.size())); }

  std::optional<TextFault> expect_end() {
    return next() ? std::optional(fault(fmt::format("'{}' is an extra word on this line", word_)))
                  : std::nullopt;
  }

 private:
  std::string_view line_;
  std::int64_t number_;
  std::size_t at_ = 0;
  std::string_view word_;
};

template <class T>
std::optional<TextFault> read_entry(const MatrixHeader& header, LineReader& reader,
                                    const EntrySink<T>& sink) {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::array<double, 2> parts = {1.0, 0.0};
  if (auto fault = reader.read_index("row", header.rows, header.size_line, row)) {
    return fault;
  }
  const LineReader at_row = reader;
  if (auto fault = reader.read_index("column", header.columns, header.size_line, column)) {
    return fault;
  }
  if (auto fault = reader.read_value(header, parts.data())) {
    return fault;
  }
  if (auto fault = reader.expect_end()) {
    return fault;
  }
  std::string wrong = give(header.symmetry, row, column, value_of<T>(parts.data()), sink);
  return wrong.empty() ? std::nullopt : std::optional(at_row.fault(std::move(wrong)));
}

// For a lower half stored column by column: the number of the first element of a column.
std::int64_t half_start(const MatrixHeader& header, std::int64_t column) {
  const std::int64_t left_out = header.symmetry == Symmetry::skew_symmetric ? column : 0;
  return column * header.rows - column * (column - 1) / 2 - left_out;
}

struct ElementIndex {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

// The indices of an element, by its number in an array file.
ElementIndex index_in_array(const MatrixHeader& header, std::int64_t number) {
  if (header.symmetry == Symmetry::general) {
    return {number % header.rows, number / header.rows};
  }
  std::int64_t low = 0;
  std::int64_t high = header.columns;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (half_start(header, middle) <= number ? low : high) = middle;
  }
  const std::int64_t below = header.symmetry == Symmetry::skew_symmetric ? 1 : 0;
  return {low + below + number - half_start(header, low), low};
}

// The element of an array file with this number. Requires: the line has another word.
template <class T>
std::optional<TextFault> read_element(const MatrixHeader& header, LineReader& reader,
                                      std::int64_t element, const EntrySink<T>& sink) {
  std::array<double, 2> parts{};
  if (element >= header.entries) {
    return TextFault{reader.number(), 0,
                     fmt::format("the file has more than the {} elements that line {} announces",
                                 header.entries, header.size_line)};
  }
  if (auto fault = reader.read_value(header, parts.data())) {
    return fault;
  }
  const ElementIndex at = index_in_array(header, element);
  const T value = value_of<T>(parts.data());
  std::string wrong = value == T{} ? "" : give(header.symmetry, at.row, at.column, value, sink);
  return wrong.empty() ? std::nullopt : std::optional(reader.fault(std::move(wrong)));
}

}  // namespace

Result<MatrixFile> MatrixFile::open(rma::Job& job, const std::string& file) {
  MatrixFile opened(job, file);
  rma::Team team = job.world();
  Status status;
  if (team.rank().value == 0) {
    auto stream = LineStream::open(file);
    status = stream.status();
    if (stream.ok()) {
      opened.stream_.emplace(std::move(stream).take());
      auto header = read_header(*opened.stream_);
      status = header.status();
      opened.header_ = header.ok() ? *header : MatrixHeader();
    }
  }
  TESSERA_RETURN_IF_ERROR(agree_on_input(team, status));
  TESSERA_RETURN_IF_ERROR(team.broadcast_value(opened.header_, rma::TeamRank{0}));
  return opened;
}

Result<std::int64_t> MatrixFile::distribute(const PieceReader& reader) {
  return distribute_lines(job_, name_, stream_ ? &*stream_ : nullptr, header_.start, reader);
}

// Collective. Checks the number of entries that all ranks found against the head.
Status MatrixFile::check_count(std::int64_t found_here, std::int64_t lines) {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t found,
                           job_.world().allreduce(found_here, rma::Reduction::sum));
  if (found < header_.entries) {
    return to_status(name_, {lines, 0,
                             fmt::format("the file ends here with {} entries, but line {} says {}",
                                         found, header_.size_line, header_.entries)});
  }
  if (found > header_.entries) {
    return to_status(name_,
                     {header_.size_line, 0,
                      fmt::format("says {} entries, but there are {}", header_.entries, found)});
  }
  return {};
}

template <class T>
Status MatrixFile::read_coordinates(const EntrySink<T>& sink) {
  // The memory is planned for the head's number: a file with far more entries is not read to its
  // end.
  const std::int64_t most = 2 * header_.entries + 10'000;
  const std::optional<TextFault> too_many =
      TextFault{header_.size_line, 0,
                fmt::format("says {} entries, but there are over {}", header_.entries, most)};
  std::int64_t found = 0;
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t lines, distribute([&](const TextPiece& piece) {
                             return for_each_line(piece,
                                                  [&](std::string_view line, std::int64_t number) {
                                                    if (is_blank(line) || is_comment(line)) {
                                                      return std::optional<TextFault>();
                                                    }
                                                    if (++found > most) {
                                                      return too_many;
                                                    }
                                                    LineReader reader(line, number);
                                                    return read_entry(header_, reader, sink);
                                                  });
                           }));
  return check_count(found, lines);
}

// Elements may be on any number of lines: the number of words before a piece determines which
// elements it has.
template <class T>
Status MatrixFile::read_array(const EntrySink<T>& sink) {
  std::int64_t found = 0;
  std::int64_t next = 0;
  const auto read_line = [&](std::string_view line, std::int64_t number) {
    std::optional<TextFault> fault;
    LineReader reader(line, number);
    while (!fault && !is_comment(line) && !reader.is_at_end()) {
      fault = read_element(header_, reader, next++, sink);
      ++found;
    }
    return fault;
  };
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t lines, distribute([&](const TextPiece& piece) {
                             next = (piece.words_before - header_.start.words) /
                                    parts_of(header_.field);
                             return for_each_line(piece, read_line);
                           }));
  return check_count(found, lines);
}

template <class T>
Status MatrixFile::read(const EntrySink<T>& sink) {
  switch (header_.layout) {
    case Layout::coordinate:
      return read_coordinates(sink);
    case Layout::array:
      return read_array(sink);
    case Layout::compressed_columns:
      break;
  }
  return read_compressed_columns(job_, name_, header_, stream_ ? &*stream_ : nullptr, sink);
}

template Status MatrixFile::read<double>(const EntrySink<double>& sink);
template Status MatrixFile::read<std::complex<double>>(const EntrySink<std::complex<double>>& sink);

}  // namespace tessera::apps::spmv
