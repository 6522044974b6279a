// SPDX-License-Identifier: BSD-3-Clause
//
// Headers and integrals in the formats of programs: apps/ccsd/README.md has a table with a row for
// each of these tests. The layouts are those of the programs; the numbers are ours.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/ccsd/fcidump.hpp"
#include "tests/apps/ccsd/fcidump_text.hpp"
#include "tests/support/checks.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::test::fails;
using rma::test::ok;
using Kind = FcidumpEntry::Kind;

/// Four orbitals and four electrons.
void expect_read(const std::string& header, const std::string& integrals = "") {
  const Text file(header + integrals +
                  "1.0 1 1 0 0\n1.5 2 2 0 0\n2.0 3 3 0 0\n2.5 4 4 0 0\n0.5 0 0 0 0\n");
  EXPECT_TRUE(ok(file.status)) << header;
  EXPECT_EQ(file.head.orbitals, 4) << header;
  EXPECT_EQ(file.head.electrons, 4) << header;
  EXPECT_GE(file.entries.size(), 5U) << header;
}

void expect_refused(const std::string& header, const std::string& complaint) {
  EXPECT_TRUE(fails(Text(header).status, Code::invalid_argument, {"test.fcidump:", complaint}))
      << header;
}

TEST(FcidumpOf, Molpro) {
  const std::string header =
      " &FCI NORB=  4,NELEC=  4,MS2= 0,\n  ORBSYM=1,1,1,1,\n  ISYM=1,\n"
      "  OCC=  2,  0,  0,  0,  0,  0,  0,  0,\n  CLOSED=  2,  0,  0,  0,  0,  0,  0,  0,\n"
      "  FROZEN=  0,  0,  0,  0,  0,  0,  0,  0,\n"
      "  FOCK=     -1.014687185395,     -0.148902436125,      0.058293693840,\n"
      "      0.158293693907,\n /\n";
  expect_read(
      header,
      "  0.5536140872437706E+00   1   1   1   1\n  0.1200070583790584E-15   2   1   1   1\n");
  expect_refused(" &FCI NORB=  4,NELEC=  4,MS2= 2,\n  ORBSYM=1,1,1,1,\n  ISYM=1,\n  IUHF=1,\n /\n",
                 ":4:3: IUHF=1: unrestricted");
}

// The doubly occupied orbitals of files that are sorted by symmetry.
TEST(FcidumpOf, MolproWithSymmetry) {
  using Orbitals = std::vector<std::int64_t>;
  const auto occupied = [](const std::string& names) {
    return Text("&FCI NORB=4,NELEC=4,ORBSYM=1,1,2,2," + names + " /\n").head.occupied;
  };
  EXPECT_EQ(occupied("OCC=1,1,0,0,CLOSED=1,1,0,0"), (Orbitals{0, 2}));
  EXPECT_EQ(occupied("OCC=1,1"), (Orbitals{0, 2}));
  EXPECT_EQ(occupied("CLOSED=0,2,6*0"), (Orbitals{2, 3}));
  EXPECT_EQ(occupied("CLOSED=2"), (Orbitals{0, 1}));
  // With omitted orbitals, active spaces, or invalid numbers: the header does not give the occupied
  // ones.
  for (const char* names : {"OCC=2,1,CLOSED=2,1", "OCC=2,2,CLOSED=1,0", "OCC=3,-1", "OCC=0,0,2",
                            "ISYM=1", "OCC=9223372036854775807,9223372036854775807"}) {
    EXPECT_EQ(occupied(names), Orbitals()) << names;
  }
  EXPECT_EQ(Text("&FCI NORB=4,NELEC=4,OCC=2 /\n").head.occupied, Orbitals());
}

// Symmetries may be of linear molecules or atoms, which have more than eight.
TEST(FcidumpOf, Pyscf) {
  const std::string integrals =
      " 0.6757101548035161    1    1    1    1\n -1.2e-15    2    1    1    1\n";
  expect_read(" &FCI NORB=   4,NELEC= 4,MS2=0,\n  ORBSYM=1,1,1,1,\n  ISYM=1,\n &END\n", integrals);
  expect_read(" &FCI NORB=   4,NELEC= 4,MS2=0,\n  ORBSYM=0,5,10,11\n  ISYM=0,\n &END\n", integrals);
  expect_refused(
      " &FCI NORB=   8,NELEC= 4,MS2=0,\n  ORBSYM=1,1,1,1,1,1,1,1\n  ISYM=1, UHF=TRUE\n &END\n",
      ":3:11: UHF=TRUE: unrestricted");
}

// Orbital energies, and the point group.
TEST(FcidumpOf, Psi4) {
  expect_read(
      "&FCI\nNORB=4,\nNELEC=4,\nMS2=0,\nUHF=.FALSE.,\nORBSYM=1,1,2,3,\nISYM=1,\nPNTGRP=C2V,\n&"
      "END\n",
      "  4.74665350177668532439E+00    1    1    1    1\n -2.02427543000000000000E+01    1    0    "
      "0    0\n");
}

// This header has no commas after some values; a list may begin on the next line.
TEST(FcidumpOf, Neci) {
  expect_read(
      " &FCI NORB=           4 ,NELEC=           4 MS2=           0 ,\n"
      "  ORBSYM=\n                      1,                      1,                      1,\n"
      "                      1,\n  ISYM=           1 UHF=.FALSE.\n"
      "  SYML=-20,-20,2,2,\n  SYMLZ=-20,-20,1,1,\n &END\n");
  expect_read(
      "&FCI\n NORB=4,\n NELEC=4,\n PROPBITLEN=15\n NPROP = 1 1 1\n TREL=.FALSE.\n ST=0,\n III=0,\n "
      "/\n");
  expect_refused(" &FCI NORB= 4,NELEC= 4,ORBSYM= 1, 1, 1, 1, \n ISYM= 0 ,\n TREL=.TRUE.\n &END\n",
                 ":3:2: TREL=.TRUE.: relativistic");
  expect_refused("&FCI\n NORB=4,\n NELEC=4,\n ST=1,\n III=0,\n /\n",
                 ":4:2: ST=1: similarity-transformed");
  expect_refused(
      " &FCI  NORB= 4 NELEC= 4,MS2= 0,\n  ORBSYM=1,1,4,4,\n  ISYM=1 UHF=.FALSE.\n"
      "  SYMLZ= 0, 0,-1, 1,\n &END\n",
      ":4:3: SYMLZ has -1: integrals of orbitals with a momentum about an axis, which are complex");
  expect_refused("&FCI NORB=4,NELEC=4,\n NPROP =           2           2           1\n /\n",
                 ":2:2: NPROP has 2: integrals of more than one k-point");
}

// The first program that read them: its own run options are among the names.
TEST(FcidumpOf, KnowlesAndHandy) {
  expect_read(
      "$FCI NORB=4,NELEC=4,MS2=0,ISYM=1,ORBSYM=4*1,IPRTIM=2,IPRINT=-1,IPRDIA=2,IPRHAM=2,\n"
      " MEMORY=10000000,CORE=0.0,MAXIT=25,THR=1D-5,THRRES=0.05,NROOT=1 $END\n");
  expect_refused("&FCI NORB=4,NELEC=4,INT=10 /\n", ":1:21: INT=10: integrals in another file");
}

// Integrals in files of NumPy.
TEST(FcidumpOf, ElemCo) {
  expect_read(
      "&FCI\n NORB=4,\n NELEC=4,\n MS2=0,\n ISYM=1,\n ORBSYM=1,1,1,1,\n OCC=2,\n CLOSED=2,\n "
      "IUHF=0,\n /\n");
  expect_refused(
      "&FCI\n NORB=4,\n NELEC=4,\n NPY2=\"int2.npy\",\n NPY1=\"int1.npy\",\n ENUC=9.1,\n /\n",
      "integrals in another file are not supported");
}

// Blanks and commas at random; a slash alone as the end.
TEST(FcidumpOf, OthersWithIrregularHeaders) {
  expect_read("&FCI NORB=4,NELEC=4,MS2=0,\n ORBSYM=1,1,\n 1,\n\n 1,\n ISYM=1,IUHF=0,\n&END\n");
  expect_read(
      " &FCI NORB=           4 , NELEC=           4 , MS2=           0 ,\n ORBSYM=1,1,1,1,\n "
      "ISYM=0,\n /\n");
  expect_read("&FCI NORB=4, NELEC=4, MS2=0,\nORBSYM=  1  1  1  1\nISYM=1\n&END\n");
  expect_read(
      " &FCI NORB=  4,NELEC=  4,MS2= 0,\n  ORBSYM=1,1,1,1,\n  ISYM=1,\n /                  i   a   "
      "j   b\n");
  // As Fortran writes a namelist, with arrays in their full length.
  expect_read(
      "&FCI\n NORB=          4,\n NELEC=          4,\n MS2=          0,\n ORBSYM= 4*1          ,\n "
      " 996*0          ,\n"
      " ISYM=          1,\n UHF=F,\n /\n");
}

TEST(FcidumpOf, Block2) {
  const std::string start =
      " &FCI NORB=   4,NELEC=   4,MS2=   0,\n  ORBSYM=1,1,1,1,\n  ISYM=   1,\n";
  expect_read(start + " &END\n", "  0.5000000000000000   1   1   1   1\n");
  expect_refused(start + "  IUHF=1,\n &END\n", ":4:3: IUHF=1: unrestricted");
  expect_refused(start + "  ITGENERAL=1,\n &END\n", ":4:3: ITGENERAL=1: unsymmetric two-electron");
}

// In fields of three or four columns, numbers with as many digits leave no blank.
TEST(FcidumpOf, OrbitalsWithoutBlanksBetweenThem) {
  for (const char* line :
       {"  0.5536140872437706E+00 1001001001\n", "  0.5536140872437706E+00 100  1  1\n"}) {
    const Text file(std::string("&FCI NORB=100,NELEC=4 /\n") + line);
    EXPECT_TRUE(fails(file.status, Code::invalid_argument,
                      {"test.fcidump:2: found ", " fields, expected 5: a value and four orbitals",
                       "write blanks between the numbers of orbitals, if there are none"}));
  }
}

// The same integrals after two numbers instead of a header.
TEST(FcidumpOf, Mrcc) {
  const Text file("    4    4\n 1 1 1 1\n  150000\n 0.5 1 1 1 1\n");
  EXPECT_TRUE(fails(file.status, Code::invalid_argument,
                    {"test.fcidump:1: an FCIDUMP file begins with &FCI",
                     "it may be MRCC's fort.55, which has no header and is not supported"}));
}

}  // namespace
}  // namespace tessera::apps::ccsd
