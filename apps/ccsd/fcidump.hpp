// SPDX-License-Identifier: BSD-3-Clause
//
// Fcidump: a file of molecular integrals (Knowles and Handy, Comput. Phys. Commun. 54, 75 (1989)).
//
//     &FCI NORB=7, NELEC=10, MS2=0, ORBSYM=1,1,1,1,1,1,1, ISYM=1, &END
//       4.74665350177668532439E+00   1   1   1   1      (11|11), spatial orbitals from 1
//      -3.27112131461000000000E+01   1   1   0   0      ⟨1|h|1⟩
//      -2.02427543000000000000E+01   1   0   0   0      an orbital energy: not needed
//       8.00236706181076939970E+00   0   0   0   0      energy of nuclei and omitted electrons
//
// Supported are restricted, real, closed-shell files. The header is on one line or many, ended by
// &END or /, with blanks anywhere; after its end the line may have a legend without digits.
// Exponents have E or D. Fields are separated by blanks or commas. Integrals may be in any order,
// each at least once among its eight equal permutations. A `!` begins a comment, as in Fortran.
// Lines end with LF or CR LF. Everything else is refused with its name; README.md has a table of
// the header's names.
//
// The file is streamed: the memory is one buffer of 1 MiB. A header may have that length; later
// lines have at most 1024 characters. Errors name the file, the line, the column of a number and
// the reason: invalid_argument (the contents cannot be used), unreachable (the file cannot be
// read).
// Threads: one. Ownership: move-only; closes its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/same_file.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::ccsd {

/// One line of the file. Orbitals are counted from 0.
struct FcidumpEntry {
  enum class Kind : std::uint8_t { two_electron, one_electron, orbital_energy, core_energy };
  Kind kind = Kind::core_energy;
  double value = 0.0;
  std::int64_t p = 0;  ///< (pq|rs), ⟨p|h|q⟩, or the energy of p
  std::int64_t q = 0;
  std::int64_t r = 0;
  std::int64_t s = 0;
};

struct FcidumpHeader {
  std::int64_t orbitals = 0;
  std::int64_t electrons = 0;  ///< even, at most twice the orbitals
  /// The doubly occupied orbitals, from 0, if CLOSED or OCC names the right number of them.
  std::vector<std::int64_t> occupied = {};
};

class Fcidump {
 public:
  using Visitor = std::function<rma::Status(const FcidumpEntry&)>;

  /// Local. Opens a file and reads its header.
  static rma::Result<Fcidump> open(const std::string& path);

  [[nodiscard]] const FcidumpHeader& header() const noexcept { return header_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The number of the last line read, from 1.
  [[nodiscard]] std::int64_t line() const noexcept { return line_number_; }
  /// Identifies the part read so far, for comparison among ranks.
  [[nodiscard]] FileMark mark() const noexcept {
    return {true, static_cast<std::uint64_t>(line_number_), contents_.value()};
  }

  /// Local. Calls `visit` for each line after the header; once. Errors of `visit` get the file and
  /// line. Errors: also invalid_argument for a truncated file.
  rma::Status for_each(const Visitor& visit);

 private:
  Fcidump(std::string path, std::ifstream file) : path_(std::move(path)), file_(std::move(file)) {}
  /// None at the end of the file. Errors: invalid_argument for a line of more than `most`
  /// characters. Valid until the next call.
  rma::Result<std::optional<std::string_view>> next_line(std::size_t most);
  rma::Status read_header();
  /// `column` counts from 1; 0: the line.
  [[nodiscard]] rma::Status refuse(const std::string& reason, std::size_t column = 0) const;
  [[nodiscard]] rma::Result<FcidumpEntry> parse_entry(std::string_view line) const;
  [[nodiscard]] rma::Result<std::int64_t> parse_orbital(std::string_view text,
                                                        std::size_t column) const;

  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  FcidumpHeader header_;
  ContentHash contents_;
  std::int64_t line_number_ = 0;
};

}  // namespace tessera::apps::ccsd
