// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/fcidump_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/ccsd/orbital_space.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

/// Names with their values, in upper case and without blanks.
using Namelist = std::map<std::string, std::string>;

// They tell of symmetry or of properties, which change no integral.
constexpr std::array<std::string_view, 7> ignored_names{"ORBSYM", "ISYM",  "NPROP", "PROPBITLEN",
                                                        "SYML",   "SYMLZ", "ST"};

Status refuse(std::string reason) {
  return Status::error(Code::invalid_argument, std::move(reason));
}

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

// The name that stands before the `=` at `equals`, blanks between them left out.
std::size_t start_of_name(std::string_view text, std::size_t equals) {
  std::size_t end = equals;
  while (end > 0 && is_blank(text[end - 1])) {
    --end;
  }
  while (end > 0 && text[end - 1] != ',' && !is_blank(text[end - 1])) {
    --end;
  }
  return end;
}

Result<Namelist> parse_namelist(std::string_view text) {
  Namelist list;
  std::size_t equals = text.find('=');
  if (!upper_without_blanks(text.substr(0, equals == std::string_view::npos
                                               ? text.size()
                                               : start_of_name(text, equals)))
           .empty()) {
    return refuse("the header has text that belongs to no name");
  }
  while (equals != std::string_view::npos) {
    const std::size_t name_start = start_of_name(text, equals);
    const std::size_t next = text.find('=', equals + 1);
    const std::size_t value_end =
        next == std::string_view::npos ? text.size() : start_of_name(text, next);
    std::string name = upper_without_blanks(text.substr(name_start, equals - name_start));
    std::string value = upper_without_blanks(text.substr(equals + 1, value_end - equals - 1));
    while (!value.empty() && value.back() == ',') {
      value.pop_back();
    }
    if (!list.emplace(name, std::move(value)).second) {
      return refuse(fmt::format("the header has {} twice", name));
    }
    equals = next;
  }
  return list;
}

Result<std::int64_t> number_of(const Namelist& list, const std::string& name,
                               std::optional<std::int64_t> otherwise = {}) {
  const auto entry = list.find(name);
  if (entry == list.end()) {
    if (otherwise) {
      return *otherwise;
    }
    return refuse(fmt::format("the header has no {}", name));
  }
  const std::string& text = entry->second;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) {
    return refuse(fmt::format("{}={} is not a whole number", name, text));
  }
  return number;
}

// Fortran's truth: .TRUE., .T., T, TRUE; and 1, as some programs write.
bool is_true(std::string_view value) {
  value.remove_prefix(!value.empty() && value.front() == '.' ? 1 : 0);
  return !value.empty() && (value.front() == 'T' || value == "1");
}

Status check_flags(const Namelist& list) {
  for (const auto& [name, value] : list) {
    if (name == "UHF" || name == "IUHF") {
      if (is_true(value)) {
        return refuse(fmt::format("{}={}: unrestricted integrals are not supported", name, value));
      }
    } else if (name == "TREL") {
      if (is_true(value)) {
        return refuse(fmt::format("{}={}: relativistic integrals are not supported", name, value));
      }
    } else if (name != "NORB" && name != "NELEC" && name != "MS2" &&
               std::find(ignored_names.begin(), ignored_names.end(), name) == ignored_names.end()) {
      return refuse(fmt::format("the header has the unknown name {}", name))
          .hint("remove it if it changes no integral");
    }
  }
  return {};
}

}  // namespace

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::size_t find_header_end(const std::string& line) {
  const std::string capitals = upper(line);
  return std::min({capitals.find("&END"), capitals.find("$END"), capitals.find('/')});
}

Result<FcidumpHeader> parse_header(const std::string& text) {
  TESSERA_ASSIGN_OR_RETURN(const Namelist list, parse_namelist(text));
  TESSERA_RETURN_IF_ERROR(check_flags(list));
  FcidumpHeader header;
  TESSERA_ASSIGN_OR_RETURN(header.orbitals, number_of(list, "NORB"));
  TESSERA_ASSIGN_OR_RETURN(header.electrons, number_of(list, "NELEC"));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t unpaired, number_of(list, "MS2", 0));
  if (header.orbitals < 1 || header.orbitals > most_orbitals) {
    return refuse(fmt::format("NORB={} is not between 1 and {}", header.orbitals, most_orbitals));
  }
  if (unpaired != 0) {
    return refuse(fmt::format("MS2={}: open shells are not supported", unpaired));
  }
  if (header.electrons < 1 || header.electrons > 2 * header.orbitals) {
    return refuse(fmt::format("NELEC={} electrons do not fit {} orbitals", header.electrons,
                              header.orbitals));
  }
  if (header.electrons % 2 != 0) {
    return refuse(
        fmt::format("NELEC={}: an odd number of electrons is no closed shell", header.electrons));
  }
  return header;
}

}  // namespace tessera::apps::ccsd
