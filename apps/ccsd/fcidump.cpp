// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/fcidump.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/ccsd/fcidump_header.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;
using Kind = FcidumpEntry::Kind;

constexpr std::size_t field_count = 5;  // a value and four orbitals
constexpr std::string_view header_start = "&FCI";
constexpr std::string_view other_header_start = "$FCI";  // as compilers before Fortran 90 wrote it
// A header lists a symmetry for each orbital; beyond this the file is something else.
constexpr std::size_t most_header_characters = std::size_t{1} << 20;

/// The fields of a line; `count` goes on where there are too many.
struct Fields {
  std::array<std::string_view, field_count> field;
  std::size_t count = 0;
};

Fields split(std::string_view line) {
  Fields fields;
  constexpr std::string_view blanks = " \t\r\n";
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    if (fields.count < field_count) {
      fields.field[fields.count] = line.substr(at, end - at);
    }
    ++fields.count;
    at = line.find_first_not_of(blanks, end);
  }
  return fields;
}

/// A real number as Fortran writes it: 1.0, -1.5E-3, +2.D+01. False: it is none.
bool parse_real(std::string_view field, double& value) {
  std::string text(field);
  for (char& c : text) {
    c = c == 'D' || c == 'd' ? 'E' : c;
  }
  // Infinity and nan are numbers to strtod, but not to users.
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && !text.empty();
}

}  // namespace

Status Fcidump::refuse(const std::string& reason) const {
  return Status::error(Code::invalid_argument,
                       fmt::format("{}:{}: {}", path_, line_number_, reason));
}

Status Fcidump::check_read() const {
  if (file_.bad()) {
    return Status::error(Code::unreachable, fmt::format("cannot read {} beyond line {}: {}", path_,
                                                        line_number_, std::strerror(errno)));
  }
  return {};
}

bool Fcidump::next_line(std::string& line) {
  if (!std::getline(file_, line)) {
    return false;
  }
  ++line_number_;
  return true;
}

Result<Fcidump> Fcidump::open(const std::string& path) {
  std::ifstream file(path);
  // A folder opens, too, but nothing can be read from it.
  if (!file || (file.peek() == std::ifstream::traits_type::eof() && file.bad())) {
    return Status::error(Code::unreachable,
                         fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  file.clear();
  Fcidump dump(path, std::move(file));
  TESSERA_RETURN_IF_ERROR(dump.read_header());
  return dump;
}

Status Fcidump::take_header(const std::string& text) {
  auto header = parse_header(text);
  if (!header.ok()) {
    return std::move(header).status().context(fmt::format("{}:{}", path_, line_number_));
  }
  header_ = *header;
  return {};
}

Status Fcidump::read_header() {
  std::string text;  // behind "&FCI"
  bool has_begun = false;
  for (std::string line; next_line(line);) {
    if (!has_begun) {
      const std::size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos) {
        continue;
      }
      const std::string start = upper(line.substr(begin, header_start.size()));
      if (start != header_start && start != other_header_start) {
        return refuse("an FCIDUMP file begins with &FCI");
      }
      line.erase(0, begin + start.size());
      has_begun = true;
    }
    const std::size_t end = find_header_end(line);
    text += line.substr(0, end);
    text += '\n';
    if (end != std::string::npos) {
      return take_header(text);
    }
    if (text.size() > most_header_characters) {
      return refuse(fmt::format("the header has no &END and no / in its first {} characters",
                                most_header_characters));
    }
  }
  TESSERA_RETURN_IF_ERROR(check_read());
  return refuse("the file ends within its header: there is no &END and no /");
}

Result<FcidumpEntry> Fcidump::parse_entry(const std::string& line) const {
  const Fields fields = split(line);
  if (line.find('(') != std::string::npos) {
    return refuse("complex values are not supported");
  }
  if (fields.count != field_count) {
    return refuse(fmt::format("expected a value and four orbitals, found {} of these five{}",
                              fields.count, file_.eof() ? "; the file is truncated" : ""));
  }
  FcidumpEntry entry;
  if (!parse_real(fields.field[0], entry.value)) {
    return refuse(fmt::format("'{}' is not a real number", fields.field[0]));
  }
  if (!std::isfinite(entry.value)) {
    return refuse(fmt::format("the value {} is not finite", fields.field[0]));
  }
  std::array<std::int64_t, 4> orbital{};
  for (std::size_t i = 0; i < orbital.size(); ++i) {
    const std::string_view text = fields.field[i + 1];
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), orbital[i]);
    if (error != std::errc{} || stop != text.data() + text.size()) {
      return refuse(fmt::format("'{}' is not the number of an orbital", text));
    }
    if (orbital[i] < 0 || orbital[i] > header_.orbitals) {
      return refuse(
          fmt::format("orbital {} is out of range; there are {}", orbital[i], header_.orbitals));
    }
  }
  const auto [p, q, r, s] = orbital;
  const bool are_first = p > 0 && q > 0;
  if (are_first && r > 0 && s > 0) {
    entry.kind = Kind::two_electron;
  } else if (are_first && r == 0 && s == 0) {
    entry.kind = Kind::one_electron;
  } else if (p > 0 && q == 0 && r == 0 && s == 0) {
    entry.kind = Kind::orbital_energy;
  } else if (p != 0 || q != 0 || r != 0 || s != 0) {
    return refuse(fmt::format("the orbitals {} {} {} {} name no integral", p, q, r, s));
  }
  entry.p = p - 1;
  entry.q = q - 1;
  entry.r = r - 1;
  entry.s = s - 1;
  return entry;
}

Status Fcidump::for_each(const Visitor& visit) {
  // Every program writes these last; with orbitals in any order they tell that nothing is missing.
  bool has_core_energy = false;
  std::vector<bool> has_diagonal(static_cast<std::size_t>(header_.orbitals));
  for (std::string line; next_line(line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    TESSERA_ASSIGN_OR_RETURN(const FcidumpEntry entry, parse_entry(line));
    has_core_energy |= entry.kind == Kind::core_energy;
    if (entry.kind == Kind::one_electron && entry.p == entry.q) {
      has_diagonal[static_cast<std::size_t>(entry.p)] = true;
    }
    if (const Status status = visit(entry); !status.ok()) {
      return refuse(status.message());
    }
  }
  TESSERA_RETURN_IF_ERROR(check_read());
  for (std::size_t p = 0; p < has_diagonal.size(); ++p) {
    if (!has_diagonal[p]) {
      return refuse(
          fmt::format("the one-electron integral {0} {0} 0 0 is missing: the file is "
                      "truncated",
                      p + 1));
    }
  }
  if (!has_core_energy) {
    return refuse("the core energy, 0 0 0 0, is missing: the file is truncated");
  }
  return {};
}

}  // namespace tessera::apps::ccsd
