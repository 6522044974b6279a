// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/matrix_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "apps/common/byte_order_mark.hpp"

namespace tessera::apps::spmv {
namespace {

using rma::Result;
using rma::Status;

constexpr std::array field_names = {std::string_view("real"), std::string_view("integer"),
                                    std::string_view("pattern"), std::string_view("complex")};
constexpr std::array symmetry_names = {std::string_view("general"), std::string_view("symmetric"),
                                       std::string_view("skew-symmetric"),
                                       std::string_view("hermitian")};

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return small;
}

struct Word {
  std::string text;
  std::int64_t column = 1;
};

std::vector<Word> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  std::vector<Word> words;
  std::size_t at = line.find_first_not_of(blanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back({std::string(line.substr(at, end - at)), static_cast<std::int64_t>(at) + 1});
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

// An error in the header, at the line that the stream returned last.
Status refused(const LineStream& stream, std::int64_t column, std::string reason) {
  return to_status(stream.file(), {stream.lines(), column, std::move(reason)});
}
Status not_read(const LineStream& stream, std::int64_t column, const std::string& reason) {
  return Status::error(rma::Code::unsupported,
                       to_status(stream.file(), {stream.lines(), column, reason}).message());
}

Result<std::string> line_of(LineStream& stream, std::string_view what) {
  TESSERA_ASSIGN_OR_RETURN(const auto line, stream.next_line());
  if (!line) {
    return to_status(stream.file(), {stream.lines(), 0,
                                     fmt::format("the file ends where {} should follow", what)});
  }
  return std::string(*line);
}

// The index of a word in a list, or an error with the list.
template <std::size_t count>
Result<std::size_t> choose(const LineStream& stream, const Word& word,
                           const std::array<std::string_view, count>& known) {
  const auto it = std::find(known.begin(), known.end(), lower(word.text));
  if (it == known.end()) {
    return refused(stream, word.column,
                   fmt::format("'{}' is not one of: {}", word.text, fmt::join(known, ", ")));
  }
  return static_cast<std::size_t>(it - known.begin());
}

// Also accepts "double", which fast_matrix_market and others write for "real", and
// "unsigned-integer", which SciPy writes.
Status read_field(const LineStream& stream, const Word& word, MatrixHeader& header) {
  constexpr std::array names = {field_names[0],
                                field_names[1],
                                field_names[2],
                                field_names[3],
                                std::string_view("double"),
                                std::string_view("unsigned-integer")};
  constexpr std::array fields = {Field::real,    Field::integer, Field::pattern,
                                 Field::complex, Field::real,    Field::integer};
  TESSERA_ASSIGN_OR_RETURN(const std::size_t found, choose(stream, word, names));
  header.field = fields[found];
  header.is_unsigned = names[found] == "unsigned-integer";
  return {};
}

// `column`: the location of the symmetry.
Status check_kind(const LineStream& stream, const MatrixHeader& header, std::int64_t column) {
  const bool is_complex = header.field == Field::complex;
  const bool is_pattern = header.field == Field::pattern;
  if (header.layout == Layout::array && is_pattern) {
    return refused(stream, column, "an array file has values: it cannot be a pattern");
  }
  if ((header.symmetry == Symmetry::hermitian && !is_complex) ||
      (header.symmetry == Symmetry::skew_symmetric && is_pattern)) {
    return refused(stream, column,
                   fmt::format("a {} matrix cannot be {}", to_string(header.field),
                               to_string(header.symmetry)));
  }
  return {};
}

// How many numbers an array file has: for symmetric matrices the lower half, column by column.
std::optional<std::int64_t> stored_of_array(const MatrixHeader& header) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(header.rows, header.columns, &all)) {
    return std::nullopt;
  }
  switch (header.symmetry) {
    case Symmetry::general:
      return all;
    case Symmetry::skew_symmetric:
      return (all - header.rows) / 2;
    default:
      return (all - header.rows) / 2 + header.rows;
  }
}

Status check_sizes(const LineStream& stream, const MatrixHeader& header) {
  if (header.symmetry != Symmetry::general && header.rows != header.columns) {
    return refused(stream, 0,
                   fmt::format("a {} matrix must be square, not {} x {}",
                               to_string(header.symmetry), header.rows, header.columns));
  }
  if ((header.rows == 0 || header.columns == 0) && header.entries > 0) {
    return refused(stream, 0,
                   fmt::format("{} entries are not possible in a matrix of {} x {}", header.entries,
                               header.rows, header.columns));
  }
  return {};
}

// `announced` is the minimum number of bytes after `line`, according to that line.
Status check_length(const LineStream& stream, std::int64_t line, double announced) {
  if (announced > stream.max_bytes()) {
    return to_status(stream.file(),
                     {line, 0, "announces more numbers than a file of this length can contain"});
  }
  return {};
}

// Numbers of one digit, each followed by a blank or the line's end, except the file's last.
double min_market_bytes(const MatrixHeader& header) {
  const int indices = header.layout == Layout::array ? 0 : 2;
  const int values = header.field == Field::pattern ? 0 : header.field == Field::complex ? 2 : 1;
  return 2.0 * (indices + values) * static_cast<double>(header.entries) - 1;
}

Status read_market_sizes(LineStream& stream, MatrixHeader& header) {
  std::string line;
  std::vector<Word> words;
  do {
    TESSERA_ASSIGN_OR_RETURN(line, line_of(stream, "the line with the sizes"));
    words = words_of(line);
  } while (words.empty() || is_comment(line));
  const bool is_array = header.layout == Layout::array;
  const std::string_view expected = is_array ? "rows columns" : "rows columns entries";
  if (words.size() != (is_array ? 2U : 3U)) {
    return refused(stream, 0,
                   fmt::format("the line with the sizes must have '{}', not {} words", expected,
                               words.size()));
  }
  std::array<std::int64_t, 3> sizes{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto parsed = parse_integer(words[i].text);
    if (!parsed.ok()) {
      return refused(stream, words[i].column, parsed.fault);
    }
    if (parsed.value < 0) {
      return refused(stream, words[i].column, "sizes must not be negative");
    }
    sizes[i] = parsed.value;
  }
  header.rows = sizes[0];
  header.columns = sizes[1];
  header.entries = sizes[2];
  TESSERA_RETURN_IF_ERROR(check_sizes(stream, header));
  if (is_array) {
    const auto stored = stored_of_array(header);
    if (!stored) {
      return refused(stream, 0, "the number of elements does not fit into 64 bits");
    }
    header.entries = *stored;
  }
  return check_length(stream, stream.lines(), min_market_bytes(header));
}

Result<MatrixHeader> read_market(LineStream& stream, const std::vector<Word>& words) {
  constexpr std::array objects = {std::string_view("matrix"), std::string_view("vector")};
  constexpr std::array layouts = {std::string_view("coordinate"), std::string_view("array")};
  if (words.size() != 5) {
    return refused(stream, 0,
                   fmt::format("the first line must have five words, '%%MatrixMarket matrix "
                               "coordinate|array FIELD SYMMETRY', not {}",
                               words.size()));
  }
  MatrixHeader header;
  TESSERA_ASSIGN_OR_RETURN(const std::size_t object, choose(stream, words[1], objects));
  if (objects[object] == "vector") {
    return not_read(stream, words[1].column,
                    "the file contains a vector; only matrices are supported");
  }
  TESSERA_ASSIGN_OR_RETURN(const std::size_t layout, choose(stream, words[2], layouts));
  TESSERA_RETURN_IF_ERROR(read_field(stream, words[3], header));
  TESSERA_ASSIGN_OR_RETURN(const std::size_t symmetry, choose(stream, words[4], symmetry_names));
  header.layout = static_cast<Layout>(layout);
  header.symmetry = static_cast<Symmetry>(symmetry);
  TESSERA_RETURN_IF_ERROR(check_kind(stream, header, words[4].column));
  TESSERA_RETURN_IF_ERROR(read_market_sizes(stream, header));
  header.size_line = stream.lines();
  return header;
}

// A line of a Harwell-Boeing head has its numbers in fields of 14 columns.
constexpr std::size_t head_width = 14;

std::string_view head_field(std::string_view line, std::size_t at) {
  return at < line.size() ? line.substr(at, head_width) : std::string_view();
}

// Whether the numbers are not in such fields, but only separated by blanks: then a field has two
// words, or a word stands before `first`.
bool has_free_numbers(std::string_view line, std::size_t first, std::size_t count) {
  if (first > 0 && words_of(line.substr(0, first)).size() > 1) {
    return true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (words_of(head_field(line, first + i * head_width)).size() > 1) {
      return true;
    }
  }
  return false;
}

// `count` numbers of a head's line from column `first`, counted from 0. Missing ones are zero: some
// are optional.
Result<std::vector<std::int64_t>> head_numbers(const LineStream& stream, std::string_view line,
                                               std::size_t first, std::size_t count) {
  std::vector<Word> fields;
  if (has_free_numbers(line, first, count)) {
    fields = words_of(line);
    fields.erase(fields.begin(), fields.begin() + (first > 0 ? 1 : 0));  // the type
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = first + i * head_width;
      fields.push_back({std::string(head_field(line, at)), static_cast<std::int64_t>(at) + 1});
    }
  }
  fields.resize(count);
  std::vector<std::int64_t> numbers;
  for (const Word& field : fields) {
    const bool is_blank = field.text.find_first_not_of(" \t") == std::string_view::npos;
    const auto parsed = is_blank ? Parsed<std::int64_t>() : parse_fortran_integer(field.text);
    if (!parsed.ok() || parsed.value < 0) {
      return refused(stream, field.column,
                     parsed.ok() ? "counts must not be negative" : parsed.fault);
    }
    numbers.push_back(parsed.value);
  }
  return numbers;
}

// For example "RUA": the kind of values, the symmetry, and whether the matrix is assembled.
Status read_type(const LineStream& stream, std::string_view type, MatrixHeader& header) {
  constexpr std::string_view fields = "ripc";  // in the order of Field
  constexpr std::string_view symmetries = "uszhr";
  const std::string small = lower(type);
  const bool is_type =
      small.size() == 3 &&
      (fields.find(small[0]) != std::string::npos || small[0] == 'q' || small[0] == 'x') &&
      symmetries.find(small[1]) != std::string::npos && (small[2] == 'a' || small[2] == 'e');
  if (!is_type) {
    return refused(stream, 1,
                   fmt::format("'{}' is not a matrix type like RUA, PSA or CHA: the file is "
                               "neither Matrix Market nor Harwell-Boeing",
                               type));
  }
  if (small[2] == 'e') {
    return not_read(stream, 1,
                    fmt::format("{} is an elemental matrix; only assembled ones, "
                                "whose type ends with A, are supported",
                                type));
  }
  if (fields.find(small[0]) == std::string::npos) {
    return not_read(stream, 1, fmt::format("{} has its values in another file", type));
  }
  switch (small[1]) {
    case 's':
      header.symmetry = Symmetry::symmetric;
      break;
    case 'z':
      header.symmetry = Symmetry::skew_symmetric;
      break;
    case 'h':
      header.symmetry = Symmetry::hermitian;
      break;
    default:
      header.symmetry = Symmetry::general;
  }
  header.field = static_cast<Field>(fields.find(small[0]));
  return check_kind(stream, header, 1);
}

struct SectionName {
  std::string_view what;
  bool is_integer = true;
};

Result<FortranFormat> read_format(const LineStream& stream, std::string_view line, std::size_t at,
                                  std::size_t width, SectionName name) {
  const std::string_view text = at < line.size() ? line.substr(at, width) : std::string_view();
  const auto column = static_cast<std::int64_t>(at) + 1;
  if (text.find_first_not_of(" \t") == std::string_view::npos) {
    return refused(stream, column, fmt::format("the format of {} is missing", name.what));
  }
  const auto parsed = parse_format(text);
  if (!parsed.ok()) {
    return refused(stream, column, parsed.fault);
  }
  if (parsed.value.is_integer && !name.is_integer) {
    return refused(stream, column, fmt::format("the format of {} is for whole numbers", name.what));
  }
  if (!parsed.value.is_integer && name.is_integer) {
    return refused(stream, column,
                   fmt::format("the format of {} is not for whole numbers", name.what));
  }
  return parsed.value;
}

// `said` is the section's length in the second line.
Status locate_section(const LineStream& stream, Section& section, std::string_view what,
                      std::int64_t said, std::int64_t& next_line) {
  const std::int64_t needed = section.format.lines_for(section.fields);
  if (said != needed) {
    return to_status(
        stream.file(),
        {2, 0,
         fmt::format("announces {} lines of {}; {} numbers, {} in each line, "
                     "need {}",
                     said, what, section.fields, section.format.fields_per_line, needed)});
  }
  section.first_line = next_line;
  section.lines = needed;
  next_line += needed;
  return {};
}

// Minimum length of a line with this many fields: none is blank, so it reaches to the last one.
double min_bytes(const FortranFormat& format, std::int64_t fields) {
  return fields == 0 ? 0.0 : static_cast<double>(format.field(fields - 1).column + 1);
}
// Minimum length of a section's text, without what may be omitted: blanks after the last field of a
// line.
double min_bytes(const Section& section) {
  if (section.fields == 0) {
    return 0;
  }
  const std::int64_t fields_per_line = section.format.fields_per_line;
  return static_cast<double>(section.fields / fields_per_line) *
             min_bytes(section.format, fields_per_line) +
         min_bytes(section.format, section.fields % fields_per_line);
}

Status read_formats(LineStream& stream, MatrixHeader& header) {
  TESSERA_ASSIGN_OR_RETURN(const std::string line, line_of(stream, "the line with the formats"));
  TESSERA_ASSIGN_OR_RETURN(header.pointers.format,
                           read_format(stream, line, 0, 16, {"pointers", true}));
  TESSERA_ASSIGN_OR_RETURN(header.indices.format,
                           read_format(stream, line, 16, 16, {"row numbers", true}));
  if (header.field != Field::pattern) {
    TESSERA_ASSIGN_OR_RETURN(
        header.values.format,
        read_format(stream, line, 32, 20, {"values", header.field == Field::integer}));
  }
  return {};
}

// The number of all lines after the head, with which the second line begins, must be the sum of its
// parts.
Status check_total(const LineStream& stream, const std::vector<std::int64_t>& lines) {
  const double sum = std::accumulate(lines.begin() + 1, lines.end(), 0.0);
  if (static_cast<double>(lines[0]) != sum) {
    return to_status(stream.file(),
                     {2, 1,
                      fmt::format("announces {} lines in total, but {:.0f} as the sum of its parts",
                                  lines[0], sum)});
  }
  return {};
}

Result<MatrixHeader> read_boeing(LineStream& stream) {
  MatrixHeader header;
  header.layout = Layout::compressed_columns;
  constexpr const char* second_line =
      "the second line of a Harwell-Boeing file (a Matrix Market file begins with %%MatrixMarket)";
  TESSERA_ASSIGN_OR_RETURN(const std::string cards, line_of(stream, second_line));
  auto lines = head_numbers(stream, cards, 0, 5);
  const std::int64_t cards_line = stream.lines();
  TESSERA_ASSIGN_OR_RETURN(const std::string kind, line_of(stream, "the type and the sizes"));
  TESSERA_RETURN_IF_ERROR(read_type(
      stream, std::string_view(kind).substr(0, std::min<std::size_t>(3, kind.size())), header));
  if (!lines.ok()) {
    return std::move(lines).status();
  }
  TESSERA_ASSIGN_OR_RETURN(const auto sizes, head_numbers(stream, kind, head_width, 3));
  header.rows = sizes[0];
  header.columns = sizes[1];
  header.entries = sizes[2];
  header.size_line = stream.lines();
  TESSERA_RETURN_IF_ERROR(check_sizes(stream, header));
  if (header.entries > std::int64_t{1} << 60 || header.columns > std::int64_t{1} << 60) {
    return refused(stream, 0, "the number of entries does not fit into 64 bits");
  }
  TESSERA_RETURN_IF_ERROR(read_formats(stream, header));
  if ((*lines)[4] > 0) {
    TESSERA_RETURN_IF_ERROR(line_of(stream, "the line about right-hand sides").status());
  }
  header.pointers.fields = header.columns + 1;
  header.indices.fields = header.entries;
  std::int64_t next = stream.lines() + 1;
  TESSERA_RETURN_IF_ERROR(locate_section(stream, header.pointers, "pointers", (*lines)[1], next));
  TESSERA_RETURN_IF_ERROR(locate_section(stream, header.indices, "row numbers", (*lines)[2], next));
  const bool has_values = header.field != Field::pattern;
  if (has_values ? (*lines)[3] == 0 && header.entries > 0 : (*lines)[3] > 0) {
    return to_status(stream.file(), {cards_line, 0,
                                     fmt::format("announces {}, but the type is {}",
                                                 has_values ? "no values" : "lines of values",
                                                 kind.substr(0, 3))});
  }
  if (has_values) {
    header.values.fields = header.field == Field::complex ? 2 * header.entries : header.entries;
    TESSERA_RETURN_IF_ERROR(locate_section(stream, header.values, "values", (*lines)[3], next));
  }
  header.right_side_lines = (*lines)[4];
  TESSERA_RETURN_IF_ERROR(check_length(
      stream, 2,
      min_bytes(header.pointers) + min_bytes(header.indices) + min_bytes(header.values)));
  TESSERA_RETURN_IF_ERROR(check_total(stream, *lines));
  return header;
}

}  // namespace

std::string_view to_string(Field field) noexcept {
  return field_names[static_cast<std::size_t>(field)];
}
std::string_view to_string(Symmetry symmetry) noexcept {
  return symmetry_names[static_cast<std::size_t>(symmetry)];
}
std::string_view to_string(Layout layout) noexcept {
  constexpr std::array names = {std::string_view("Matrix Market coordinate"),
                                std::string_view("Matrix Market array"),
                                std::string_view("Harwell-Boeing")};
  return names[static_cast<std::size_t>(layout)];
}

Result<MatrixHeader> read_header(LineStream& stream) {
  TESSERA_ASSIGN_OR_RETURN(const std::string first, line_of(stream, "a matrix"));
  const std::vector<Word> words = words_of(without_byte_order_mark(first));
  // Files of the Network Repository begin with one '%' instead of two.
  const std::string banner = words.empty() ? "" : lower(words[0].text);
  const bool is_market = banner == "%%matrixmarket" || banner == "%matrixmarket";
  auto header = is_market ? read_market(stream, words) : read_boeing(stream);
  if (header.ok()) {
    header->start = {stream.bytes(), stream.lines() + 1, stream.words(), stream.is_compressed()};
  }
  return header;
}

}  // namespace tessera::apps::spmv
