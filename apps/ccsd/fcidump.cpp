// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/fcidump.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/ccsd/fcidump_header.hpp"
#include "apps/common/byte_order_mark.hpp"
#include "apps/common/numbers.hpp"
#include "rma/base/memory.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;
using Kind = FcidumpEntry::Kind;

constexpr std::size_t field_count = 5;  // a value and four orbitals
constexpr std::string_view header_start = "&FCI";
constexpr std::string_view other_header_start = "$FCI";  // the form of compilers before Fortran 90
// A header lists a symmetry for each orbital; a longer header means another kind of file.
constexpr std::size_t max_header_characters = std::size_t{1} << 20;
// A value and four orbitals need a tenth of this.
constexpr std::size_t max_line_length = 1024;
// Some programs omit small integrals.
constexpr const char* hint_on_zero = "write the zero if it is zero";

/// The fields of a line; `count` counts extra fields, too.
struct Fields {
  std::array<std::string_view, field_count> field;
  std::size_t count = 0;
};

Fields split(std::string_view line) {
  Fields fields;
  constexpr std::string_view blanks = ", \t\r\n";  // also commas, as in Fortran's lists
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

// The column of a field of `line`, from 1.
std::size_t column_of(std::string_view field, std::string_view line) {
  return static_cast<std::size_t>(field.data() - line.data()) + 1;
}

// The numbers of orbitals and of electrons, as MRCC writes them on the first line.
bool is_start_of_fort_55(std::string_view line) {
  const Fields fields = split(line);
  return fields.count == 2 && parse_integer(fields.field[0]).ok() &&
         parse_integer(fields.field[1]).ok();
}

// Within a line, not at its end.
bool has_carriage_return(std::string_view line) {
  const std::size_t last = line.find_last_not_of('\r');
  return last != std::string_view::npos &&
         line.substr(0, last).find('\r') != std::string_view::npos;
}

}  // namespace

Status Fcidump::refuse(const std::string& reason, std::size_t column) const {
  const std::string column_text = column == 0 ? "" : fmt::format("{}:", column);
  return Status::error(Code::invalid_argument,
                       fmt::format("{}:{}:{} {}", path_, line_number_, column_text, reason));
}

Result<std::optional<std::string_view>> Fcidump::next_line(std::size_t most) {
  buffer_.resize(std::max(buffer_.size(), most + 1));  // the stream writes a zero after a line
  file_.getline(buffer_.data(), static_cast<std::streamsize>(most + 1));
  if (file_.bad()) {
    return Status::error(Code::unreachable, fmt::format("cannot read {} beyond line {}: {}", path_,
                                                        line_number_, std::strerror(errno)));
  }
  const auto taken = static_cast<std::size_t>(file_.gcount());
  if (file_.eof() && taken == 0) {
    return std::optional<std::string_view>();
  }
  ++line_number_;
  const bool has_end = !file_.eof() && !file_.fail();
  std::string_view line(buffer_.data(), has_end ? taken - 1 : taken);
  if (has_carriage_return(line)) {
    return Status::error(Code::unsupported,
                         fmt::format("{}:{}: lines end with CR alone, as on old Macintoshes", path_,
                                     line_number_))
        .hint("tr '\\r' '\\n' <FILE >NEW");
  }
  if (file_.fail() && !file_.eof()) {
    return refuse(fmt::format("the line has more than {} characters", most));
  }
  contents_.add(line);
  contents_.add("\n");
  return std::optional(line_number_ == 1 ? without_byte_order_mark(line) : line);
}

Result<Fcidump> Fcidump::open(const std::string& path) {
  const auto unreadable = [&](std::string_view reason) {
    return Status::error(Code::unreachable, fmt::format("cannot read {}: {}", path, reason));
  };
  // All ranks read the file, so it cannot be a pipe; and opening a pipe would wait for its writer.
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    return unreadable(rma::describe_system_error(errno));
  }
  if (!S_ISREG(facts.st_mode)) {
    return unreadable("is not a regular file");
  }
  std::ifstream file(path);
  if (!file) {
    return unreadable(rma::describe_system_error(errno));
  }
  Fcidump dump(path, std::move(file));
  TESSERA_RETURN_IF_ERROR(dump.read_header());
  return dump;
}

Status Fcidump::read_header() {
  const auto has_no_end = fmt::format("the header has no &END and no / in its first {} characters",
                                      max_header_characters);
  HeaderText header{path_};  // after "&FCI"
  bool has_begun = false;
  std::size_t left = max_header_characters;
  while (left > 0) {
    const auto next = next_line(left);
    if (!next.ok()) {
      return next.status().code() == Code::invalid_argument ? refuse(has_no_end) : next.status();
    }
    if (!*next) {
      return line_number_ == 0
                 ? Status::error(Code::invalid_argument, path_ + ": the file is empty")
                 : refuse("the file ends within its header: there is no &END and no /");
    }
    left -= std::min(left, (*next)->size() + 1);
    std::string_view line = without_comment(**next);
    if (!has_begun) {
      const std::size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos) {
        continue;
      }
      const std::string start = upper(line.substr(begin, header_start.size()));
      const std::string_view following = line.substr(begin + start.size(), 1);
      if ((start != header_start && start != other_header_start) ||
          (!following.empty() && std::isalnum(static_cast<unsigned char>(following[0])) != 0)) {
        Status status = refuse("an FCIDUMP file begins with &FCI");
        if (is_start_of_fort_55(line)) {
          return std::move(status).hint(
              "it may be MRCC's fort.55, which has no header and is not supported");
        }
        return status;
      }
      line.remove_prefix(begin + start.size());
      header.line = line_number_;
      header.column = begin + start.size() + 1;
      has_begun = true;
    }
    const HeaderEnd end = find_header_end(line);
    header.text += line.substr(0, end.first);
    if (end.first != std::string_view::npos) {
      // Fortran ignores the rest: it may be a legend of the columns, but not an integral.
      const std::string_view rest = line.substr(end.last);
      const std::size_t stray = line.find_first_not_of(" \t\r", end.last);
      if (rest.find_first_of("0123456789") != std::string_view::npos) {
        return refuse("there is text with numbers after the header's end, on the same line",
                      static_cast<std::size_t>(line.data() - (**next).data()) + stray + 1)
            .hint("begin the integrals on a new line");
      }
      TESSERA_ASSIGN_OR_RETURN(header_, parse_header(header));
      return {};
    }
    header.text += '\n';
  }
  return refuse(has_no_end);
}

Result<std::int64_t> Fcidump::parse_orbital(std::string_view text, std::size_t column) const {
  const Parsed<std::int64_t> orbital = parse_integer(text);
  if (!orbital.ok()) {
    return refuse(fmt::format("{} is not the number of an orbital", quoted(text)), column);
  }
  if (orbital.value < 0 || orbital.value > header_.orbitals) {
    return refuse(
        fmt::format("orbital {} is out of range; the file has {}", orbital.value, header_.orbitals),
        column);
  }
  return orbital.value;
}

Result<FcidumpEntry> Fcidump::parse_entry(std::string_view line) const {
  const Fields fields = split(line);
  const std::size_t parenthesis = line.find('(');
  if (parenthesis != std::string_view::npos) {
    return refuse("complex values are not supported", parenthesis + 1);
  }
  if (fields.count != field_count) {
    // Fields of three or four columns have no blank between such numbers.
    const bool may_touch =
        fields.count > 1 && fields.count < field_count && header_.orbitals >= 100;
    Status status = refuse(fmt::format("found {} {}, expected {}: a value and four orbitals{}",
                                       fields.count, fields.count == 1 ? "field" : "fields",
                                       field_count, file_.eof() ? "; the file is truncated" : ""));
    return may_touch ? std::move(status).hint(
                           "write blanks between the numbers of orbitals, if there are none")
                     : status;
  }
  FcidumpEntry entry;
  const Parsed<double> value = parse_fortran_real(fields.field[0]);
  if (!value.ok()) {
    return refuse(value.fault, column_of(fields.field[0], line));
  }
  entry.value = value.value;
  std::array<std::int64_t, field_count - 1> orbital{};
  for (std::size_t i = 0; i < orbital.size(); ++i) {
    const std::string_view text = fields.field[i + 1];
    TESSERA_ASSIGN_OR_RETURN(orbital[i], parse_orbital(text, column_of(text, line)));
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
    return refuse(fmt::format("the orbitals {} {} {} {} do not name an integral", p, q, r, s));
  }
  entry.p = p - 1;
  entry.q = q - 1;
  entry.r = r - 1;
  entry.s = s - 1;
  return entry;
}

Status Fcidump::for_each(const Visitor& visit) {
  // Every program writes the core energy last; in files with orbitals in any order it shows that
  // the file is complete.
  bool has_core_energy = false;
  std::vector<bool> has_diagonal(static_cast<std::size_t>(header_.orbitals));
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(const auto next, next_line(max_line_length));
    if (!next) {
      break;
    }
    const std::string_view line = without_comment(*next);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
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
  for (std::size_t p = 0; p < has_diagonal.size(); ++p) {
    if (!has_diagonal[p]) {
      return refuse(fmt::format("the one-electron integral {0} {0} 0 0 is missing: the file is "
                                "truncated",
                                p + 1))
          .hint(hint_on_zero);
    }
  }
  if (!has_core_energy) {
    return refuse("the core energy, 0 0 0 0, is missing: the file is truncated").hint(hint_on_zero);
  }
  return {};
}

}  // namespace tessera::apps::ccsd
