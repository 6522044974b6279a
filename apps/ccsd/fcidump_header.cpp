// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/fcidump_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/ccsd/orbital_space.hpp"
#include "apps/common/numbers.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

/// In upper case, with the position of its name.
struct Value {
  std::string text;
  std::size_t at = 0;
};

struct Namelist {
  const HeaderText& header;
  std::map<std::string, Value> values = {};

  /// An error at a position of the header's text.
  [[nodiscard]] Status refuse(std::size_t at, const std::string& reason) const {
    const std::string_view before = std::string_view(header.text).substr(0, at);
    const auto line = header.line + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n');
    const std::size_t column =
        line_start == std::string_view::npos ? header.column + at : at - line_start;
    return Status::error(Code::invalid_argument,
                         fmt::format("{}:{}:{}: {}", header.file, line, column, reason));
  }
  /// An error at a name; at the end of the header if the name is missing.
  [[nodiscard]] Status refuse(const std::string& name, const std::string& reason) const {
    const auto found = values.find(name);
    return refuse(found == values.end() ? header.text.size() : found->second.at, reason);
  }
};

enum class Meaning : std::uint8_t {
  used,        // by parse_header() and its functions
  ignored,     // no integral depends on it
  flag,        // must be false
  zero,        // must be 0
  other_file,  // names another file with integrals
};
struct KnownName {
  std::string_view name;
  Meaning meaning = Meaning::used;
  std::string_view what = {};  // the unsupported feature
};

// The names that programs write; see apps/ccsd/README.md. SYMLZ and NPROP are checked, because they
// show complex orbitals.
constexpr std::array known_names = std::to_array<KnownName>({
    {"NORB"},
    {"NELEC"},
    {"MS2"},
    {"ORBSYM"},
    {"ISYM"},
    {"OCC"},
    {"CLOSED"},
    {"SYMLZ"},
    {"NPROP"},
    // Symmetry, and what is computed from the integrals.
    {"FROZEN", Meaning::ignored},
    {"FOCK", Meaning::ignored},
    {"PNTGRP", Meaning::ignored},
    {"PROPBITLEN", Meaning::ignored},
    {"SYML", Meaning::ignored},
    {"MULT", Meaning::ignored},
    // Options of the program that defined the format.
    {"IPRINT", Meaning::ignored},
    {"IPRTIM", Meaning::ignored},
    {"IPRDIA", Meaning::ignored},
    {"IPRHAM", Meaning::ignored},
    {"MEMORY", Meaning::ignored},
    {"MAXIT", Meaning::ignored},
    {"THR", Meaning::ignored},
    {"THRRES", Meaning::ignored},
    {"NROOT", Meaning::ignored},
    {"UHF", Meaning::flag, "unrestricted"},
    {"IUHF", Meaning::flag, "unrestricted"},
    {"TREL", Meaning::flag, "relativistic"},
    // In these files (pq|rs) differs from (qp|rs), and omitted integrals are not those of another
    // permutation.
    {"ST", Meaning::flag, "similarity-transformed"},
    {"IGENERAL", Meaning::flag, "unsymmetric one-electron"},
    {"ITGENERAL", Meaning::flag, "unsymmetric two-electron"},
    // Other values would change the core energy or the integrals.
    {"III", Meaning::zero, "only 0 is supported"},
    {"CORE", Meaning::zero, "the core energy is read only from the line 0 0 0 0"},
    {"ENUC", Meaning::zero, "the core energy is read only from the line 0 0 0 0"},
    {"INT", Meaning::other_file},
    {"ONEFIL", Meaning::other_file},
    {"TWOFIL", Meaning::other_file},
    {"NPY1", Meaning::other_file},
    {"NPY1A", Meaning::other_file},
    {"NPY1B", Meaning::other_file},
    {"NPY2", Meaning::other_file},
    {"NPY2AA", Meaning::other_file},
    {"NPY2AB", Meaning::other_file},
    {"NPY2BB", Meaning::other_file},
});

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

// The start of the name before the `=` at `equals`, with blanks between them.
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
                       "the header has text without a name");
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
  const Parsed<std::int64_t> number = parse_integer(text);
  if (!number.ok()) {
    return list.refuse(name, fmt::format("{}={} is not a whole number", name, shown(text)));
  }
  return number.value;
}

// Fortran's logical values: .TRUE., .T., T, TRUE; and 1, as some programs write. Empty: neither.
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

// Refuses a name that selects an unsupported feature, unless it is false.
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

// The same unless it is 0.
Status check_zero(const Namelist& list, const KnownName& known) {
  const std::string name(known.name);
  const std::string& value = list.values.at(name).text;
  const Parsed<double> number = parse_fortran_real(value);
  if (!number.ok()) {
    return list.refuse(name, fmt::format("{}={} is not a number", name, shown(value)));
  }
  return number.value == 0 ? Status()
                           : list.refuse(name, fmt::format("{}={}: {}", name, value, known.what))
                                 .hint(fmt::format("remove {} if it changes no integral", name));
}

Status check_name(const Namelist& list, const std::string& name) {
  const auto known = std::ranges::find(known_names, name, &KnownName::name);
  if (known == known_names.end()) {
    return list.refuse(name, fmt::format("the header has the unknown name {}", shown(name)))
        .hint("remove it if it changes no integral");
  }
  switch (known->meaning) {
    case Meaning::flag:
      return check_false(list, name, known->what);
    case Meaning::zero:
      return check_zero(list, *known);
    case Meaning::other_file:
      return list.refuse(name, fmt::format("{}={}: integrals in another file are not supported",
                                           name, shown(list.values.at(name).text)));
    default:
      return {};
  }
}

// In the order of the header; returns the first error.
Status check_names(const Namelist& list) {
  std::map<std::size_t, std::string_view> names;
  for (const auto& [name, value] : list.values) {
    names.emplace(value.at, name);
  }
  for (const auto& [at, name] : names) {
    TESSERA_RETURN_IF_ERROR(check_name(list, std::string(name)));
  }
  return {};
}

/// An item of a list, "5" or "3*5".
struct Item {
  std::int64_t count = 1;
  std::int64_t value = 0;
};

std::optional<Item> parse_item(std::string_view text) {
  const std::size_t star = text.find('*');
  const auto value = parse_integer(text.substr(star == std::string_view::npos ? 0 : star + 1));
  const auto count = star == std::string_view::npos ? Parsed<std::int64_t>{1, ""}
                                                    : parse_integer(text.substr(0, star));
  const bool is_item = value.ok() && count.ok() && count.value > 0;
  return is_item ? std::optional(Item{count.value, value.value}) : std::nullopt;
}

// The list of a name; empty if the name is missing.
Result<std::vector<Item>> items_of(const Namelist& list, const std::string& name) {
  constexpr std::string_view separators = ", \t\r\n";
  std::vector<Item> items;
  const auto entry = list.values.find(name);
  const std::string_view text =
      entry == list.values.end() ? std::string_view() : entry->second.text;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    const std::optional<Item> item = parse_item(text.substr(at, end - at));
    if (!item) {
      return list.refuse(name, fmt::format("{}: {} is not a whole number", name,
                                           quoted(text.substr(at, end - at))));
    }
    items.push_back(*item);
    at = text.find_first_not_of(separators, end);
  }
  return items;
}

// The symmetry of each orbital, if given. Another number than that of orbitals means that lines
// were lost, or NORB changed. Fortran fills its array with zeros, as in "7*1, 993*0".
Result<std::vector<std::int64_t>> read_symmetries(const Namelist& list, std::int64_t orbitals) {
  const std::string name = "ORBSYM";
  TESSERA_ASSIGN_OR_RETURN(const auto items, items_of(list, name));
  std::int64_t count = 0;
  std::vector<std::int64_t> symmetries;
  for (const Item& item : items) {
    const bool is_filling = item.count > 1 && item.value == 0;
    count += std::min(item.count,
                      is_filling ? std::max<std::int64_t>(orbitals - count, 0) : max_orbitals + 1);
    if (count > max_orbitals) {
      return list.refuse(name, fmt::format("{} has more than {} symmetries for {} orbitals", name,
                                           max_orbitals, orbitals));
    }
    symmetries.resize(static_cast<std::size_t>(count), item.value);
  }
  if (list.values.contains(name) && count != orbitals) {
    return list.refuse(
        name, fmt::format("{} has {} symmetries for {} orbitals, NORB", name, count, orbitals));
  }
  return symmetries;
}

// Orbitals of a linear molecule with a momentum about its axis, ±m, are complex. Writers give −20
// to orbitals without one, and real orbitals have |m|.
Status check_momenta(const Namelist& list) {
  constexpr std::int64_t no_momentum = -20;
  const std::string name = "SYMLZ";
  TESSERA_ASSIGN_OR_RETURN(const auto items, items_of(list, name));
  for (const Item& item : items) {
    if (item.value < 0 && item.value != no_momentum) {
      return list
          .refuse(name, fmt::format("{} has {}: integrals of orbitals with a momentum about an "
                                    "axis, which are complex, are not supported",
                                    name, item.value))
          .hint("remove SYMLZ if the orbitals are real");
    }
  }
  return {};
}

// The number of k-points along each axis must be 1.
Status check_k_points(const Namelist& list) {
  const std::string name = "NPROP";
  TESSERA_ASSIGN_OR_RETURN(const auto items, items_of(list, name));
  for (const Item& item : items) {
    if (item.value > 1) {
      return list.refuse(name, fmt::format("{} has {}: integrals of more than one k-point are not "
                                           "supported",
                                           name, item.value));
    }
  }
  return {};
}

// The occupied orbitals from a list of numbers for each symmetry, in the order of orbitals. Empty
// if their sum is not the number of electron pairs: some programs also count omitted orbitals.
std::vector<std::int64_t> first_of_symmetries(const std::vector<Item>& counts,
                                              const std::vector<std::int64_t>& symmetries,
                                              std::int64_t pairs) {
  std::vector<std::int64_t> left;
  for (const Item& item : counts) {
    left.resize(left.size() + static_cast<std::size_t>(std::min<std::int64_t>(item.count, 8)),
                std::clamp<std::int64_t>(item.value, 0, max_orbitals));
  }
  if (std::accumulate(left.begin(), left.end(), std::int64_t{0}) != pairs) {
    return {};
  }
  std::vector<std::int64_t> orbitals;
  for (std::size_t p = 0; p < symmetries.size(); ++p) {
    const std::int64_t symmetry = symmetries[p] - 1;
    if (symmetry >= 0 && symmetry < std::ssize(left) &&
        left[static_cast<std::size_t>(symmetry)]-- > 0) {
      orbitals.push_back(static_cast<std::int64_t>(p));
    }
  }
  return std::ssize(orbitals) == pairs ? orbitals : std::vector<std::int64_t>();
}

// The doubly occupied orbitals, if Molpro's names give them.
Result<std::vector<std::int64_t>> read_occupied(const Namelist& list,
                                                const std::vector<std::int64_t>& symmetries,
                                                std::int64_t pairs) {
  for (const std::string name : {"CLOSED", "OCC"}) {
    TESSERA_ASSIGN_OR_RETURN(const auto counts, items_of(list, name));
    auto orbitals = first_of_symmetries(counts, symmetries, pairs);
    if (!orbitals.empty()) {
      return orbitals;
    }
  }
  return std::vector<std::int64_t>();
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
  char quote = '\0';  // the open quotation mark
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
  char quote = '\0';  // the open quotation mark
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != '\0' || c == '\'' || c == '"') {
      quote = quote == '\0' ? c : (c == quote ? '\0' : quote);
    } else if (c == '/') {
      return {at, at + 1};
    } else if ((c == '&' || c == '$') && upper(line.substr(at + 1, 3)) == "END") {
      return {at, at + 4};
    }
  }
  return {};
}

Result<FcidumpHeader> parse_header(const HeaderText& text) {
  TESSERA_ASSIGN_OR_RETURN(const Namelist list, parse_namelist(text));
  TESSERA_RETURN_IF_ERROR(check_names(list));
  FcidumpHeader header;
  TESSERA_ASSIGN_OR_RETURN(header.orbitals, number_of(list, "NORB"));
  TESSERA_ASSIGN_OR_RETURN(header.electrons, number_of(list, "NELEC"));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t unpaired, number_of(list, "MS2", 0));
  if (header.orbitals < 1 || header.orbitals > max_orbitals) {
    return list.refuse(
        "NORB", fmt::format("NORB={} is not between 1 and {}", header.orbitals, max_orbitals));
  }
  if (unpaired != 0) {
    return list.refuse("MS2", fmt::format("MS2={}: open shells are not supported", unpaired));
  }
  if (header.electrons < 1 || header.electrons > 2 * header.orbitals) {
    return list.refuse("NELEC", fmt::format("NELEC={} electrons do not fit into {} orbitals",
                                            header.electrons, header.orbitals));
  }
  if (header.electrons % 2 != 0) {
    return list.refuse("NELEC",
                       fmt::format("NELEC={}: an odd number of electrons is not a closed shell",
                                   header.electrons));
  }
  TESSERA_RETURN_IF_ERROR(check_state_symmetry(list));
  TESSERA_ASSIGN_OR_RETURN(const auto symmetries, read_symmetries(list, header.orbitals));
  TESSERA_RETURN_IF_ERROR(check_momenta(list));
  TESSERA_RETURN_IF_ERROR(check_k_points(list));
  TESSERA_ASSIGN_OR_RETURN(header.occupied, read_occupied(list, symmetries, header.electrons / 2));
  return header;
}

}  // namespace tessera::apps::ccsd
