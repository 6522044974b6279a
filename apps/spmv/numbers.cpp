// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace tessera::apps::spmv {
namespace {

// All digits of an integer stored in a double.
std::string all_digits(double value) {
  std::array<char, std::numeric_limits<double>::max_exponent10 + 2> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                     std::chars_format::fixed, 0);
  return {digits.data(), written.ptr};
}

}  // namespace

Parsed<double> parse_integer_as_real(std::string_view text) {
  const bool has_sign = text.size() > 1 && (text[0] == '+' || text[0] == '-');
  std::string_view digits = text.substr(has_sign ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return {0, apps::quoted(text) + " is not a whole number"};
  }
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const Parsed<double> nearest = parse_real(digits);
  if (!nearest.ok()) {
    return nearest;
  }
  if (const std::string held = all_digits(nearest.value); held != digits) {
    return {0, fmt::format("a double cannot represent {} exactly; the nearest number is {}{}",
                           apps::quoted(text), text[0] == '-' ? "-" : "", shown(held))};
  }
  return {text[0] == '-' ? -nearest.value : nearest.value, ""};
}

namespace {

constexpr std::int32_t longest_fortran_line = 1024;

// Parses a format from left to right, and collects the fields of a line.
class FormatReader {
 public:
  explicit FormatReader(std::string text) : text_(std::move(text)) {}

  // A list in parentheses. False: it is not a format; fault() may have a reason.
  [[nodiscard]] bool read() { return take("(") && read_list(0) && is_at_end() && is_complete(); }
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] bool is_at_end() const { return at_ == text_.size(); }
  [[nodiscard]] const FortranFormat& format() const { return format_; }

 private:
  bool take(std::string_view letters) {
    if (at_ < text_.size() && letters.find(text_[at_]) != std::string_view::npos) {
      ++at_;
      return true;
    }
    return false;
  }
  // Limited, so that products of two fit into 32 bits.
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
  // Whether a comma or the end of a list follows.
  [[nodiscard]] bool is_after_item() const {
    return at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ')');
  }
  bool fail(std::string fault) {
    fault_ = fault_.empty() ? std::move(fault) : fault_;
    return false;
  }
  bool read_list(int depth);
  bool read_group(std::int32_t repeat, int depth);
  bool read_fields(std::int32_t repeat);
  bool add(const FortranField& field);
  [[nodiscard]] bool is_complete() const { return format_.fields_per_line > 0; }

  static constexpr int max_items =
      4 * longest_fortran_line;  // groups may repeat items without columns

  std::string text_;
  std::size_t at_ = 0;
  std::string fault_;
  FortranFormat format_;
  std::int32_t column_ = 0;
  std::int32_t scale_ = 0;
  int items_ = 0;
};

// Items up to the closing parenthesis. Commas between them may be missing.
bool FormatReader::read_list(int depth) {
  constexpr std::int32_t max_scale =
      99;  // a larger scale would make all numbers zero, or too large
  while (!take(")")) {
    if (++items_ > max_items) {
      return false;
    }
    const std::optional<std::int32_t> count = number();
    if (count && take("P")) {
      scale_ = *count;
      if (std::abs(scale_) > max_scale) {
        return false;
      }
    } else if (count.value_or(1) < 1) {
      return false;
    } else if (take("X")) {
      column_ += count.value_or(1);
    } else if (take("(")) {
      // The lines after the first begin with the last group of the outermost list.
      if (depth == 0 && column_ > 0) {
        return fail("has columns before a group: its first line differs from the others");
      }
      if (!read_group(count.value_or(1), depth + 1)) {
        return false;
      }
    } else if (!read_fields(count.value_or(1))) {
      return false;
    }
    static_cast<void>(take(","));
  }
  return true;
}

bool FormatReader::read_group(std::int32_t repeat, int depth) {
  constexpr int max_depth = 8;
  const std::size_t start = at_;
  for (std::int32_t i = 0; i < repeat; ++i) {
    at_ = start;
    if (depth > max_depth || ++items_ > max_items || !read_list(depth)) {
      return false;
    }
  }
  return true;
}

// An edit descriptor of numbers, for example I5 or E24.16E3.
bool FormatReader::read_fields(std::int32_t repeat) {
  if (!take("IDEFG")) {
    return false;
  }
  const char kind = text_[at_ - 1];
  if (kind == 'E') {
    static_cast<void>(take("SN"));  // scientific, engineering: differ only on output
  }
  FortranField field{0, number().value_or(0), 0, scale_};
  if (field.width == 0 && is_after_item()) {
    return fail(
        "has fields without a width, for numbers separated by blanks; these are not supported");
  }
  if (take(".")) {
    field.digits = number().value_or(-1);
    if (take("E") && !number()) {
      return false;
    }
  }
  const bool is_integer = kind == 'I';
  if (field.width < 1 || field.digits < 0 ||
      (format_.fields_per_line > 0 && is_integer != format_.is_integer)) {
    return false;
  }
  field.digits = is_integer ? 0 : field.digits;
  format_.is_integer = is_integer;
  for (std::int32_t i = 0; i < repeat; ++i) {
    field.column = column_;
    if (!add(field)) {
      return false;
    }
    column_ += field.width;
  }
  return true;
}

bool FormatReader::add(const FortranField& field) {
  if (field.column + field.width > longest_fortran_line) {
    return fail(fmt::format("has lines of more than {} columns", longest_fortran_line));
  }
  ++format_.fields_per_line;
  if (format_.run_count > 0) {
    auto& run = format_.runs[static_cast<std::size_t>(format_.run_count - 1)];
    const auto distance = static_cast<std::int32_t>(field.column - run.first.column);
    const bool is_equal = field.width == run.first.width && field.digits == run.first.digits &&
                          field.scale == run.first.scale;
    if (is_equal && (run.count == 1 || distance == run.distance * run.count)) {
      run.distance = run.count == 1 ? distance : run.distance;
      ++run.count;
      return true;
    }
  }
  if (format_.run_count == FortranFormat::max_runs) {
    return fail(fmt::format("has more than {} kinds of fields in a line", format_.run_count));
  }
  format_.runs[static_cast<std::size_t>(format_.run_count++)] = {field, 0, 1};
  return true;
}

std::string without_blanks(std::string_view text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept),
               [](char c) { return c != ' ' && c != '\t'; });
  return kept;
}

}  // namespace

FortranField FortranFormat::field(std::int64_t number) const noexcept {
  std::size_t run = 0;
  while (number >= runs[run].count) {
    number -= runs[run++].count;
  }
  FortranField found = runs[run].first;
  found.column += number * runs[run].distance;
  return found;
}

Parsed<FortranFormat> parse_format(std::string_view text) {
  std::string plain = without_blanks(text);
  std::transform(plain.begin(), plain.end(), plain.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  FormatReader reader(plain);
  const bool is_read = reader.read();
  if (!reader.fault().empty()) {
    return {{}, fmt::format("{} {}", apps::quoted(plain), reader.fault())};
  }
  if (!is_read || !reader.is_at_end()) {
    return {{}, quoted(plain) + " is not a format such as (16I5) or (1P3D24.15)"};
  }
  return {reader.format(), ""};
}

Parsed<std::int64_t> parse_fortran_integer(std::string_view field) {
  const std::string digits = without_blanks(field);
  if (digits.empty()) {
    return {0, "is blank where a whole number should be"};
  }
  return parse_integer(digits);
}

Parsed<double> parse_fortran_integer_as_real(std::string_view field) {
  const std::string digits = without_blanks(field);
  if (digits.empty()) {
    return {0, "is blank where a whole number should be"};
  }
  return parse_integer_as_real(digits);
}

Parsed<double> parse_fortran_real(std::string_view text, const FortranField& field) {
  std::string digits = with_exponent_of_c(without_blanks(text));
  if (digits.empty()) {
    return {0, "is blank where a number should be"};
  }
  const std::size_t exponent = digits.find('e');
  const bool has_point = digits.find('.') != std::string::npos;
  const std::int32_t shift =
      (has_point ? 0 : field.digits) + (exponent == std::string::npos ? field.scale : 0);
  const bool is_a_number = digits.find_first_of("0123456789") != std::string::npos;
  if (shift != 0 && exponent == std::string::npos && is_a_number) {
    digits += fmt::format("e{}", -shift);
  }
  Parsed<double> parsed = parse_real(digits);
  if (!parsed.ok()) {
    return {0, quoted(text) + parsed.fault.substr(parsed.fault.rfind('\'') + 1)};
  }
  if (shift != 0 && exponent != std::string::npos) {
    parsed.value /= std::pow(10.0, shift);
  }
  return parsed;
}

}  // namespace tessera::apps::spmv
