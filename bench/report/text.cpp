// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace tessera::bench::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// The length in bytes of the character that begins with `lead`; 0 if none does.
std::size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead < 0xE0) {
    return 2;
  }
  if (lead >= 0xE0 && lead < 0xF0) {
    return 3;
  }
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

bool is_allowed(std::uint32_t code) {
  constexpr std::uint32_t blank = 0x20;
  if (code < blank) {
    return code == '\t' || code == '\n' || code == '\r';
  }
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  return code != 0x7F && !is_surrogate && code != 0xFFFE && code != 0xFFFF && code < 0x110000;
}

/// The length of the character at the beginning of `text` if XML may hold it; otherwise 0.
std::size_t good_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = length_by_lead(lead);
  if (length == 0 || length > text.size()) {
    return 0;
  }
  std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) {
      return 0;
    }
    code = code << 6U | (byte & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  return code >= least[length] && is_allowed(code) ? length : 0;
}

/// Three significant digits, no zeros after the decimal point.
std::string short_number(double value) {
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

struct Prefix {
  double factor;
  std::string_view symbol;
};

/// Uses the largest of `prefixes`, which are ascending, that isn't above the value.
template <std::size_t N>
std::string with_prefix(double value, const std::array<Prefix, N>& prefixes) {
  const Prefix* best = prefixes.data();
  for (const Prefix& each : prefixes) {
    constexpr double rounding = 1 - 1e-9;
    best = std::abs(value) >= each.factor * rounding ? &each : best;
  }
  return fmt::format("{} {}", short_number(value / best->factor), best->symbol);
}

/// An axis has room for six digits only.
std::string percent_label(double value) {
  constexpr double thousand = 1e3;
  constexpr double million = 1e6;
  if (std::abs(value) >= million) {
    return short_number(value / million) + "M %";
  }
  return std::abs(value) >= 100 * thousand ? short_number(value / thousand) + "k %"
                                           : short_number(value) + " %";
}

constexpr std::array<Prefix, 5> bytes_prefixes = {{{1, "B"},
                                                   {1024, "KiB"},
                                                   {1024.0 * 1024, "MiB"},
                                                   {1024.0 * 1024 * 1024, "GiB"},
                                                   {1024.0 * 1024 * 1024 * 1024, "TiB"}}};
constexpr std::array<Prefix, 4> time_prefixes = {
    {{1e-3, "ns"}, {1, "µs"}, {1e3, "ms"}, {1e6, "s"}}};
constexpr std::array<Prefix, 4> speed_prefixes = {
    {{1e-3, "kB/s"}, {1, "MB/s"}, {1e3, "GB/s"}, {1e6, "TB/s"}}};
constexpr std::array<Prefix, 3> message_prefixes = {{{1e-6, "/s"}, {1e-3, "k/s"}, {1, "M/s"}}};

}  // namespace

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = good_length(text);
    switch (length == 0 ? '\0' : text.front()) {
      case '\0':
        safe += replacement;
        break;
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return safe;
}

std::string label(double value, Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return with_prefix(value, bytes_prefixes);
    case Unit::time:
      return value == 0 ? "0" : with_prefix(value, time_prefixes);
    case Unit::speed:
      return value == 0 ? "0" : with_prefix(value, speed_prefixes);
    case Unit::messages:
      return value == 0 ? "0" : with_prefix(value, message_prefixes);
    case Unit::percent:
      return percent_label(value);
    case Unit::ratio:
    case Unit::count:
    case Unit::powers:
      return short_number(value);
  }
  return "";
}

std::string_view symbol(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "B";
    case Unit::time:
      return "µs";
    case Unit::speed:
      return "MB/s";
    case Unit::messages:
      return "M/s";
    case Unit::percent:
      return "%";
    case Unit::ratio:
    case Unit::count:
    case Unit::powers:
      return "";
  }
  return "";
}

std::string plain(double value) {
  constexpr double million = 1e6;
  return std::abs(value) >= million ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string brief(double value) {
  constexpr double ten_thousand = 1e4;
  return std::abs(value) >= ten_thousand ? fmt::format("{:.0f}", value)
                                         : fmt::format("{:.4g}", value);
}

std::string brief(Interval interval) {
  return fmt::format("[{}, {}]", brief(interval.lo), brief(interval.hi));
}

std::string code(std::string_view text) {
  std::string words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words +=
        fmt::format("{}<span>{}</span>", words.empty() ? "" : " ", escape(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "<code>" + words + "</code>";
}

}  // namespace tessera::bench::report
