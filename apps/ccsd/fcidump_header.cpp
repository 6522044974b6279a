// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/fcidump_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/ccsd/orbital_space.hpp"
#include "apps/common/numbers.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

/// In upper case, and where its name stands.
struct Value {
  std::string text;
  std::size_t at = 0;
};

struct Namelist {
  const HeaderText& header;
  std::map<std::string, Value> values = {};

  /// What stands at a place of the header's text.
  [[nodiscard]] Status refuse(std::size_t at, const std::string& reason) const {
    const std::string_view before = std::string_view(header.text).substr(0, at);
    const auto line = header.line + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n');
    const std::size_t column =
        line_start == std::string_view::npos ? header.column + at : at - line_start;
    return Status::error(Code::invalid_argument,
                         fmt::format("{}:{}:{}: {}", header.file, line, column, reason));
  }
  /// The same of a name; of one that is missing, at the end.
  [[nodiscard]] Status refuse(const std::string& name, const std::string& reason) const {
    const auto found = values.find(name);
    return refuse(found == values.end() ? header.text.size() : found->second.at, reason);
  }
};

// They tell of symmetry or of properties, which change no integral; of the first two only whether
// they make sense is looked at.
constexpr std::array<std::string_view, 6> ignored_names{"ORBSYM",     "ISYM", "NPROP",
                                                        "PROPBITLEN", "SYML", "SYMLZ"};

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string upper_without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_blank(c)) {
      result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

// In capitals, without blanks and commas at its ends. Blanks within it stay: they end a number.
std::string upper_value(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (is_blank(text.back()) || text.back() == ',')) {
    text.remove_suffix(1);
  }
  return upper(text);
}

// The name that stands before the `=` at `equals`, blanks between them left out.
std::size_t start_of_name(std::string_view text, std::size_t equals) {
  std::size_t end = equals;
  while (end > 0 && is_blank(text[end - 1])) {
    --end;
  }
  while (end > 0 && text[end - 1] != ',' && text[end - 1] != '=' && !is_blank(text[end - 1])) {
    --end;
  }
  return end;
}

Result<Namelist> parse_namelist(const HeaderText& header) {
  Namelist list{header};
  const std::string_view text = header.text;
  std::size_t equals = text.find('=');
  const auto in_front =
      text.substr(0, equals == std::string_view::npos ? text.size() : start_of_name(text, equals));
  const auto stray = std::find_if_not(in_front.begin(), in_front.end(), is_blank);
  if (stray != in_front.end()) {
    return list.refuse(static_cast<std::size_t>(stray - in_front.begin()),
                       "the header has text that belongs to no name");
  }
  while (equals != std::string_view::npos) {
    const std::size_t name_start = start_of_name(text, equals);
    const std::size_t next = text.find('=', equals + 1);
    const std::size_t value_end =
        next == std::string_view::npos ? text.size() : start_of_name(text, next);
    std::string name = upper_without_blanks(text.substr(name_start, equals - name_start));
    std::string value = upper_value(text.substr(equals + 1, value_end - equals - 1));
    if (name.empty()) {
      return list.refuse(equals, "the header has a = without a name before it");
    }
    if (!list.values.emplace(name, Value{std::move(value), name_start}).second) {
      return list.refuse(name_start, fmt::format("the header has {} twice", shown(name)));
    }
    equals = next;
  }
  return list;
}

Result<std::int64_t> number_of(const Namelist& list, const std::string& name,
                               std::optional<std::int64_t> otherwise = {}) {
  const auto entry = list.values.find(name);
  if (entry == list.values.end()) {
    if (otherwise) {
      return *otherwise;
    }
    return list.refuse(name, fmt::format("the header has no {}", name));
  }
  const std::string& text = entry->second.text;
  const Parsed<std::int64_t> number = parse_whole(text);
  if (!number.ok()) {
    return list.refuse(name, fmt::format("{}={} is not a whole number", name, shown(text)));
  }
  return number.value;
}

// Fortran's truth: .TRUE., .T., T, TRUE; and 1, as some programs write. None: it is neither.
std::optional<bool> truth_of(std::string_view value) {
  value.remove_prefix(value.starts_with('.') ? 1 : 0);
  value.remove_suffix(value.ends_with('.') ? 1 : 0);
  if (value == "TRUE" || value == "T" || value == "1") {
    return true;
  }
  if (value == "FALSE" || value == "F" || value == "0") {
    return false;
  }
  return std::nullopt;
}

// Of a name that asks for what is not supported, unless it is false.
Status check_false(const Namelist& list, const std::string& name, std::string_view what) {
  const std::string& value = list.values.at(name).text;
  const std::optional<bool> truth = truth_of(value);
  if (!truth) {
    return list.refuse(name, fmt::format("{}={} is neither true nor false", name, shown(value)));
  }
  if (*truth) {
    return list.refuse(name,
                       fmt::format("{}={}: {} integrals are not supported", name, value, what));
  }
  return {};
}

Status check_flags(const Namelist& list) {
  for (const auto& [name, value] : list.values) {
    if (name == "UHF" || name == "IUHF") {
      TESSERA_RETURN_IF_ERROR(check_false(list, name, "unrestricted"));
    } else if (name == "TREL") {
      TESSERA_RETURN_IF_ERROR(check_false(list, name, "relativistic"));
    } else if (name == "ST") {
      // (pq|rs) is not (qp|rs) there, and what is left out is not what is written.
      TESSERA_RETURN_IF_ERROR(check_false(list, name, "similarity-transformed"));
    } else if (name != "NORB" && name != "NELEC" && name != "MS2" &&
               std::find(ignored_names.begin(), ignored_names.end(), name) == ignored_names.end()) {
      return list.refuse(name, fmt::format("the header has the unknown name {}", shown(name)))
          .hint("remove it if it changes no integral");
    }
  }
  return {};
}

// How many values an item of a list stands for: n of "n*1", one of "1". None: it is neither.
std::optional<std::int64_t> repetitions_of(std::string_view item) {
  const std::size_t star = item.find('*');
  if (!parse_whole(item.substr(star == std::string_view::npos ? 0 : star + 1)).ok()) {
    return std::nullopt;
  }
  if (star == std::string_view::npos) {
    return 1;
  }
  const Parsed<std::int64_t> count = parse_whole(item.substr(0, star));
  return count.ok() && count.value > 0 ? std::optional(count.value) : std::nullopt;
}

// Another number of symmetries than of orbitals tells that lines were lost, or NORB changed.
Status check_symmetries(const Namelist& list, std::int64_t orbitals) {
  const std::string name = "ORBSYM";
  const auto entry = list.values.find(name);
  if (entry == list.values.end()) {
    return {};
  }
  constexpr std::string_view separators = ", \t\r\n";
  const std::string_view text = entry->second.text;
  std::int64_t count = 0;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    const std::string_view item = text.substr(at, end - at);
    const std::optional<std::int64_t> more = repetitions_of(item);
    if (!more) {
      return list.refuse(name, fmt::format("{}: {} is not a whole number", name, quoted(item)));
    }
    count += std::min(*more, most_orbitals + 1);
    if (count > most_orbitals) {
      return list.refuse(name, fmt::format("{} has more than {} symmetries for {} orbitals", name,
                                           most_orbitals, orbitals));
    }
    at = text.find_first_not_of(separators, end);
  }
  return count == orbitals
             ? Status()
             : list.refuse(name, fmt::format("{} has {} symmetries for {} orbitals, NORB", name,
                                             count, orbitals));
}

Status check_state_symmetry(const Namelist& list) {
  const std::string name = "ISYM";
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t symmetry, number_of(list, name, 1));
  return symmetry <= 1
             ? Status()
             : list.refuse(name, fmt::format("{}={}: a closed shell is totally symmetric, {}=1",
                                             name, symmetry, name));
}

}  // namespace

std::string upper(std::string_view text) {
  std::string capitals(text);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return capitals;
}

std::string_view without_comment(std::string_view line) {
  char quote = '\0';  // that has been opened
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '!') {
      return line.substr(0, at);
    }
  }
  return line;
}

HeaderEnd find_header_end(std::string_view line) {
  const std::string capitals = upper(line);
  HeaderEnd end;
  for (const std::string_view mark : {"&END", "$END", "/"}) {
    const std::size_t at = capitals.find(mark);
    end = at < end.first ? HeaderEnd{at, at + mark.size()} : end;
  }
  return end;
}

Result<FcidumpHeader> parse_header(const HeaderText& text) {
  TESSERA_ASSIGN_OR_RETURN(const Namelist list, parse_namelist(text));
  TESSERA_RETURN_IF_ERROR(check_flags(list));
  FcidumpHeader header;
  TESSERA_ASSIGN_OR_RETURN(header.orbitals, number_of(list, "NORB"));
  TESSERA_ASSIGN_OR_RETURN(header.electrons, number_of(list, "NELEC"));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t unpaired, number_of(list, "MS2", 0));
  if (header.orbitals < 1 || header.orbitals > most_orbitals) {
    return list.refuse(
        "NORB", fmt::format("NORB={} is not between 1 and {}", header.orbitals, most_orbitals));
  }
  if (unpaired != 0) {
    return list.refuse("MS2", fmt::format("MS2={}: open shells are not supported", unpaired));
  }
  if (header.electrons < 1 || header.electrons > 2 * header.orbitals) {
    return list.refuse("NELEC", fmt::format("NELEC={} electrons do not fit {} orbitals",
                                            header.electrons, header.orbitals));
  }
  if (header.electrons % 2 != 0) {
    return list.refuse("NELEC",
                       fmt::format("NELEC={}: an odd number of electrons is not a closed shell",
                                   header.electrons));
  }
  TESSERA_RETURN_IF_ERROR(check_state_symmetry(list));
  TESSERA_RETURN_IF_ERROR(check_symmetries(list, header.orbitals));
  return header;
}

}  // namespace tessera::apps::ccsd
