// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace tessera::apps::spmv {
Parsed<double> parse_whole_as_real(std::string_view text) {
  constexpr std::int64_t most = std::int64_t{1} << std::numeric_limits<double>::digits;
  const Parsed<std::int64_t> whole = parse_whole(text);
  if (!whole.ok()) {
    return {0, whole.fault};
  }
  if (whole.value > most || whole.value < -most) {
    return {0, quoted(text) + " has more digits than a double holds"};
  }
  return {static_cast<double>(whole.value), ""};
}

namespace {

// Reads a format from left to right.
class FormatReader {
 public:
  explicit FormatReader(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] bool take(std::string_view letters) {
    if (at_ < text_.size() && letters.find(text_[at_]) != std::string_view::npos) {
      ++at_;
      return true;
    }
    return false;
  }
  // Bounded, so that products of two fit 32 bits.
  std::optional<std::int32_t> number() {
    constexpr std::int32_t most = 9999;
    std::int32_t value = 0;
    const auto [stop, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < -most || value > most) {
      return std::nullopt;
    }
    at_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }
  [[nodiscard]] char last() const { return text_[at_ - 1]; }
  [[nodiscard]] bool is_at_end() const { return at_ == text_.size(); }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// The part within the outer parentheses. Numbers before P are scales, others repetitions.
bool read_descriptor(FormatReader& reader, FortranFormat& format, int depth) {
  std::optional<std::int32_t> number = reader.number();
  constexpr std::int32_t most_scale = 99;  // more would make all numbers zero, or too large
  if (number && reader.take("P")) {
    format.scale = *number;
    if (std::abs(format.scale) > most_scale) {
      return false;
    }
    static_cast<void>(reader.take(","));
    number = reader.number();
  }
  if (number && reader.take("X")) {
    format.skipped = *number;
    if (format.skipped < 1 || !reader.take(",")) {
      return false;
    }
    number = reader.number();
  }
  // Columns are skipped once: in front of several fields they would not be in front of each.
  if (number && (*number < 1 || (*number > 1 && format.skipped > 0))) {
    return false;
  }
  format.per_line *= number.value_or(1);
  if (depth == 0 && format.skipped == 0 && reader.take("(")) {
    return read_descriptor(reader, format, depth + 1) && reader.take(")");
  }
  if (!reader.take("IDEFG")) {
    return false;
  }
  format.is_whole = reader.last() == 'I';
  if (reader.last() == 'E') {
    static_cast<void>(reader.take("SN"));  // scientific, engineering: differ only when written
  }
  format.width = reader.number().value_or(0);
  if (reader.take(".")) {
    format.digits = reader.number().value_or(-1);
    if (reader.take("E") && !reader.number()) {
      return false;
    }
  }
  return format.width > 0 && format.digits >= 0 && format.per_line > 0;
}

std::string without_blanks(std::string_view text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept),
               [](char c) { return c != ' ' && c != '\t'; });
  return kept;
}

}  // namespace

Parsed<FortranFormat> parse_format(std::string_view text) {
  constexpr std::int32_t longest_line = 1024;
  std::string plain = without_blanks(text);
  std::transform(plain.begin(), plain.end(), plain.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  FormatReader reader(plain);
  FortranFormat format;
  format.per_line = 1;
  const bool is_read = reader.take("(") && read_descriptor(reader, format, 0) && reader.take(")");
  if (!is_read || !reader.is_at_end()) {
    return {{}, quoted(plain) + " is no format of the kind (16I5) or (1P3D24.15)"};
  }
  if (format.column_of(format.per_line) - format.skipped > longest_line) {
    return {{}, fmt::format("{} has lines of more than {} columns", quoted(plain), longest_line)};
  }
  return {format, ""};
}

Parsed<std::int64_t> parse_fortran_whole(std::string_view field) {
  const std::string digits = without_blanks(field);
  if (digits.empty()) {
    return {0, "is blank where a whole number should be"};
  }
  return parse_whole(digits);
}

Parsed<double> parse_fortran_real(std::string_view field, const FortranFormat& format) {
  std::string digits = with_exponent_of_c(without_blanks(field));
  if (digits.empty()) {
    return {0, "is blank where a number should be"};
  }
  const std::size_t exponent = digits.find('e');
  const bool has_point = digits.find('.') != std::string::npos;
  const std::int32_t shift =
      (has_point ? 0 : format.digits) + (exponent == std::string::npos ? format.scale : 0);
  const bool is_a_number = digits.find_first_of("0123456789") != std::string::npos;
  if (shift != 0 && exponent == std::string::npos && is_a_number) {
    digits += fmt::format("e{}", -shift);
  }
  Parsed<double> parsed = parse_real(digits);
  if (!parsed.ok()) {
    return {0, quoted(field) + parsed.fault.substr(parsed.fault.rfind('\'') + 1)};
  }
  if (shift != 0 && exponent != std::string::npos) {
    parsed.value /= std::pow(10.0, shift);
  }
  return parsed;
}

}  // namespace tessera::apps::spmv
