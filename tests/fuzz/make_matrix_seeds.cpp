// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the seeds of matrix_fuzzer.cpp. Run it after each change of the readers:
//
//     build/tests/bin/make_matrix_seeds tests/fuzz/seeds/matrix
#include <span>
#include <string>

#include "tests/fuzz/seed_folder.hpp"

namespace {

using tessera::rma::fuzz::SeedFolder;

void write(SeedFolder& folder, const std::string& name, const std::string& text) {
  folder.write(name, {}, std::as_bytes(std::span(text)));
}

// The header of a Harwell-Boeing file of a 2 x 2 matrix, with the given numbers of lines of
// pointers, rows and values.
std::string boeing(const std::string& type, int entries, int value_lines,
                   const std::string& value_format, const std::string& rest,
                   const std::string& index_format = "(3I3)           ") {
  const auto number = [](int value) {
    const std::string digits = std::to_string(value);
    return std::string(14 - digits.size(), ' ') + digits;
  };
  return "title\n" + number(2 + value_lines) + number(1) + number(1) + number(value_lines) + "\n" +
         type + std::string(11, ' ') + number(2) + number(2) + number(entries) + number(0) + "\n" +
         index_format + index_format + value_format + "\n" + rest;
}

void write_all(SeedFolder& folder) {
  const std::string market = "%%MatrixMarket matrix ";
  write(folder, "coordinate",
        market + "coordinate real general\n% note\n2 2 2\n1 1 1.5\n2 1 -2e3\n");
  write(folder, "hermitian", market + "coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n");
  write(folder, "pattern", market + "coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
  write(folder, "integer", market + "coordinate integer skew-symmetric\r\n2 2 1\r\n2 1 7\r\n");
  write(folder, "array", market + "array real general\n2 2\n1\n0\n.5\n4\n");
  write(folder, "half-array", market + "array complex skew-symmetric\n3 3\n1 2\n3 4\n5 6\n");
  write(folder, "blanks",
        " \t" + market +
            " coordinate\treal general\n  % note\n\n  2 2\t2\n\t1 1 1.5\n \t% 7\n 2 1 -2e3\n");
  write(folder, "array-blanks",
        "%MatrixMarket matrix array double general\n 2 2\n  % 1\n 1 0\n\t%2\n .5\n 4\n");
  write(folder, "unsigned",
        market + "coordinate unsigned-integer general\n1 2 2\n1 1 18446744073709551616\n1 2 007\n");
  write(folder, "vector", "%%MatrixMarket vector array real general\n2\n1\n2\n");
  write(folder, "boeing-skipped",
        boeing("RSA", 3, 1, "(3(1P,E8.1,1X),0P)",
               "   1  3  4\n   1  2  2\n 1.5E+00 -2.E-103 3.0+001\n", "(1X,3I3)        "));
  write(folder, "boeing-kinds",
        boeing("RUA", 3, 1, "(F5.1,2X,2F5.1)", "  1  3   4\n  1  2   2\n  1.5    2.0  3.0\n",
               "(I3,I3,X,I3)    "));
  write(folder, "boeing-free",
        "title\n3 1 1 1\nRUA 2 2 3\n(3I3)           (3I3)           (3F6.1)\n  1  3  4\n  1  2  2\n"
        "   1.0   2.0   3.0\n");
  write(folder, "boeing-sides",
        "title\n             6             1             1             1             3\n"
        "RUA                        2             2             2             0\n"
        "(3I3)           (3I3)           (2F6.1)             (2F6.1)\n"
        "FGX                        1             0\n  1  2  3\n  1  2\n   1.0   2.0\n"
        "   1.0   1.0\n   0.0   0.0\n   1.0   0.5\n");
  write(folder, "boeing",
        boeing("RUA", 3, 1, "(1P3D9.2)", "  1  3  4\n  1  2  2\n 1.50D+00-2.00D-01   3.+10\n"));
  write(folder, "boeing-half",
        boeing("CSA", 2, 2, "(3F5.1)", "  1  3  3\n  1  2\n  1.0  2.0  3.0\n  4.0\n"));
  write(folder, "boeing-pattern", boeing("PUA", 2, 0, "", "  1  2  3\n  2  1\n"));
  write(folder, "boeing-whole", boeing("IRA", 2, 1, "(2I4)", "  1  2  3\n  2  1\n  -5   9\n"));
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::rma::fuzz::write_seeds(argc, argv, "make_matrix_seeds", write_all);
}
