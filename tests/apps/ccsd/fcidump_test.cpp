// SPDX-License-Identifier: BSD-3-Clause
//
// The reader of FCIDUMP files: supported formats, and the errors for all others.
#include "apps/ccsd/fcidump.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/apps/ccsd/fcidump_text.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Status;
using rma::test::fails;
using rma::test::ok;
using tessera::test::TemporaryFolder;
using Kind = FcidumpEntry::Kind;

TEST(Fcidump, ReadsHeadersOnOneLineAndOnMany) {
  for (const std::string text :
       {"&FCI NORB=2,NELEC=2,MS2=0,ORBSYM=1,1,ISYM=1 /\n", "&FCI NORB=2,NELEC=2,&END\n",
        "&fci norb = 2, nelec=\n 2 ,MS2= 0\n&end\n",
        " &FCI\n NORB=  2,\n NELEC= 2,\n MS2=0,\n UHF=.FALSE.,\n ORBSYM=1,1,\n ISYM=1,\n&END\n",
        "\n$FCI NORB 2\n = 2 NELEC=2 $END\n"}) {
    const Text file(text + ending);
    if (text.find("NORB 2") != std::string::npos) {
      EXPECT_TRUE(fails(file.status, Code::invalid_argument, {"text without a name"}));
      continue;
    }
    EXPECT_TRUE(ok(file.status)) << text;
    EXPECT_EQ(file.head.orbitals, 2) << text;
    EXPECT_EQ(file.head.electrons, 2) << text;
    EXPECT_EQ(file.entries.size(), 3U) << text;
  }
}

// A legend has no digits; an integral has some.
TEST(Fcidump, RefusesNumbersAfterTheHeadersEnd) {
  for (const std::string end : {"&END", "$END", "/"}) {
    const std::string start = "&FCI NORB=2,NELEC=2 " + end;
    for (const char* legend : {" \t\r", "      i   a   j   b", " (value, orbitals)"}) {
      const Text file(start + legend + "\n" + ending);
      EXPECT_TRUE(ok(file.status)) << end << legend;
      EXPECT_EQ(file.entries.size(), 3U);
    }
    const Text file(start + " 0.25 1 1 1 1\n" + ending);
    EXPECT_TRUE(fails(file.status, Code::invalid_argument,
                      {"test.fcidump:1:" + std::to_string(start.size() + 2) +
                           ": there is text with numbers after the header's end",
                       "begin the integrals on a new line"}));
  }
}

TEST(Fcidump, NamesLineEndsThatItDoesNotRead) {
  for (std::string text : {std::string(header) + ending, std::string(header) + std::string(ending) +
                                                             std::string(1 << 21, '\n')}) {
    std::replace(text.begin(), text.end(), '\n', '\r');
    EXPECT_TRUE(fails(Text(text).status, Code::unsupported,
                      {"test.fcidump:1: lines end with CR alone", "tr '\\r' '\\n'"}));
  }
}

TEST(Fcidump, PassesOverAByteOrderMark) {
  const Text file("\xEF\xBB\xBF" + std::string(header) + ending);
  EXPECT_TRUE(ok(file.status));
  EXPECT_EQ(file.entries.size(), 3U);
}

TEST(Fcidump, TakesNumbersWithAPlus) {
  const Text file("&FCI NORB=+2,NELEC=+2,MS2=+0 /\n" + std::string("0.25 +1 1 1 1\n") + ending);
  EXPECT_TRUE(ok(file.status));
  EXPECT_EQ(file.head.electrons, 2);
}

TEST(Fcidump, ReportsIntegralsOfEachKindInAnyOrder) {
  const Text file(std::string(header) +
                  "0.5 0 0 0 0\n\n 1.5D+00 1 1 0 0\r\n+25-1 2 2 0 0\n\t-1d-3 2 1 2 1\n"
                  "-0.75 1 0 0 0\n");
  ASSERT_TRUE(ok(file.status));
  ASSERT_EQ(file.entries.size(), 5U);
  EXPECT_EQ(file.entries[0].kind, Kind::core_energy);
  EXPECT_EQ(file.entries[0].value, 0.5);
  EXPECT_EQ(file.entries[1].kind, Kind::one_electron);
  EXPECT_EQ(file.entries[1].value, 1.5);
  EXPECT_EQ(file.entries[2].value, 2.5);
  EXPECT_EQ(file.entries[3].kind, Kind::two_electron);
  EXPECT_EQ(file.entries[3].value, -1e-3);
  EXPECT_EQ(file.entries[3].p, 1);
  EXPECT_EQ(file.entries[3].q, 0);
  EXPECT_EQ(file.entries[4].kind, Kind::orbital_energy);
}

struct BadHeader {
  const char* text;
  std::string complaint;
};

void expect_complaints(const std::vector<BadHeader>& headers) {
  for (const BadHeader& each : headers) {
    EXPECT_TRUE(
        fails(Text(each.text).status, Code::invalid_argument, {"test.fcidump:", each.complaint}));
  }
}

TEST(Fcidump, RefusesHeadersByName) {
  expect_complaints(
      {{"&FCI NELEC=2 /\n", "the header has no NORB"},
       {"&FCI NORB=2 /\n", "the header has no NELEC"},
       {"&FCI NORB=2,NELEC=two /\n", "NELEC=TWO is not a whole number"},
       {"&FCI NORB=2,NELEC=3 /\n", "NELEC=3: an odd number of electrons"},
       {"&FCI NORB=2,NELEC=2,MS2=2 /\n", "MS2=2: open shells are not supported"},
       {"&FCI NORB=2,NELEC=6 /\n", "NELEC=6 electrons do not fit into 2 orbitals"},
       {"&FCI NORB=0,NELEC=0 /\n", "NORB=0 is not between"},
       {"&FCI NORB=2,NELEC=2,UHF=.TRUE. /\n", "UHF=.TRUE.: unrestricted integrals"},
       {"&FCI NORB=2,NELEC=2,IUHF=2 /\n", "IUHF=2 is neither true nor false"},
       {"&FCI NORB=2,NELEC=2,IUHF=-1 /\n", "IUHF=-1 is neither true nor false"},
       {"&FCI NORB=2,NELEC=2,UHF=YES /\n", "UHF=YES is neither true nor false"},
       {"&FCI NORB=2,NELEC=2,UHF=.YES. /\n", "UHF=.YES. is neither true nor false"},
       {"&FCI NORB=2,NELEC=1 0 /\n", "NELEC=1 0 is not a whole number"},
       {"&FCI NORB=2,NELEC=1\n0 /\n", "NELEC=1?0 is not a whole number"},
       {"&FCI NORB=2,NELEC=2,IUHF=1 /\n", "IUHF=1: unrestricted integrals"},
       {"&FCI NORB=2,NELEC=2,TREL=.T. /\n", "relativistic integrals are not supported"},
       {"&FCI NORB=2,NELEC=2,ST=1 /\n", "ST=1: similarity-transformed integrals"},
       {"&FCI NORB=2,NELEC=2,ST=.TRUE. /\n", "ST=.TRUE.: similarity-transformed integrals"},
       {"&FCI NORB=2,NELEC=2,ST=2 /\n", "ST=2 is neither true nor false"},
       {"&FCI NORB=2,NELEC=2,ISYM=2 /\n", "ISYM=2: a closed shell is totally symmetric"},
       {"&FCI NORB=2,NELEC=2,ISYM=A /\n", "ISYM=A is not a whole number"},
       {"&FCI NORB=2,NELEC=2,SPIN=1 /\n", "the unknown name SPIN"},
       {"&FCI NORB=2,NELEC=2,IGENERAL=1 /\n", "IGENERAL=1: unsymmetric one-electron integrals"},
       {"&FCI NORB=2,NELEC=2,III=3 /\n", "III=3: only 0 is supported"},
       {"&FCI NORB=2,NELEC=2,III=x /\n", "III=X is not a number"},
       {"&FCI NORB=2,NELEC=2,CORE=8.5D0 /\n",
        "CORE=8.5D0: the core energy is read only from the line 0 0 0 0"},
       {"&FCI NORB=2,NELEC=2,NPY2='a/b.npy' /\n",
        "NPY2='A/B.NPY': integrals in another file are not supported"},
       {"&FCI NORB=2,NELEC=2,SYMLZ=0,-1 /\n",
        "SYMLZ has -1: integrals of orbitals with a momentum about an axis"},
       {"&FCI NORB=2,NELEC=2,NPROP=2 2 1 /\n",
        "NPROP has 2: integrals of more than one k-point are not supported"},
       {"&FCI NORB=2,NELEC=2,NPROP=a /\n", "NPROP: 'A' is not a whole number"},
       {"&FCI NORB=2,NELEC=2,OCC=a /\n", "OCC: 'A' is not a whole number"},
       {"&FCI NORB=2,NELEC=2,=1 /\n", "the header has a = without a name before it"},
       {"&FCI NORB=2,NORB=2,NELEC=2 /\n", "the header has NORB twice"},
       {"&FCI NORB=2,\nNELEC=2,\n", ":2: the file ends within its header"},
       {"HELLO\n", ":1: an FCIDUMP file begins with &FCI"},
       {"&FCINORB=2,NELEC=2 /\n", ":1: an FCIDUMP file begins with &FCI"},
       {"", "test.fcidump: the file is empty"}});
}

TEST(Fcidump, CountsTheSymmetriesOfOrbitals) {
  const auto status_of = [](const std::string& symmetries) {
    return Text("&FCI NORB=2,NELEC=2,ORBSYM=" + symmetries + " ISYM=0,ST=0 /\n" + ending).status;
  };
  for (const char* good : {"1,2,", "1 2", "1\n2,", "1,\n\n 2,\n", "2*1,", "1*1,1*2,", "0,0",
                           "10,11", "1,2, 998*0,", "1000*0,"}) {
    EXPECT_TRUE(ok(status_of(good))) << good;
  }
  for (const auto& [bad, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"1,", "ORBSYM has 1 symmetries for 2 orbitals"},
           {"1,1,1,", "ORBSYM has 3 symmetries for 2 orbitals"},
           {"3*1,", "ORBSYM has 3 symmetries for 2 orbitals"},
           {",", "ORBSYM has 0 symmetries for 2 orbitals"},
           {"1, 998*1,", "ORBSYM has 999 symmetries for 2 orbitals"},
           {"1,1,0,", "ORBSYM has 3 symmetries for 2 orbitals"},
           {"9223372036854775807*1,9223372036854775807*1,", "ORBSYM has more than 32767 symm"},
           {"1,A1,", "ORBSYM: 'A1' is not a whole number"},
           {"1,-1*1,", "ORBSYM: '-1*1' is not a whole number"},
           {"1,2*,", "ORBSYM: '2*' is not a whole number"}}) {
    EXPECT_TRUE(fails(status_of(bad), Code::invalid_argument, {"test.fcidump:1:21: " + complaint}));
  }
}

TEST(Fcidump, PassesOverCommentsInHeaders) {
  for (const std::string text :
       {"! of water\n&FCI NORB=2, ! orbitals = 2 / &END\n NELEC=2,\n! ISYM=7\n&END ! integrals\n",
        "&FCI NORB=2,NELEC=2 / ! it's all\n", "&FCI!\nNORB=2,NELEC=2!,MS2=2\n/!\n"}) {
    const Text file(text + ending);
    EXPECT_TRUE(ok(file.status)) << text;
    EXPECT_EQ(file.head.electrons, 2) << text;
    EXPECT_EQ(file.entries.size(), 3U) << text;
  }
  // Between quotes a `!` begins no comment.
  EXPECT_TRUE(fails(Text("&FCI TITLE='a!b',NORB=2,NELEC=2 /\n").status, Code::invalid_argument,
                    {"test.fcidump:1:6: the header has the unknown name TITLE"}));
}

TEST(Fcidump, ReadsLinesAsFortranDoes) {
  const Text file(std::string(header) +
                  "0.25,1,1,1,1\n 1.5, 1 1 ,0,0, ! (1|h|1)\n2.5 2 2 0 0!\n! all of them\n"
                  "0.5 0 0 0 0 ! nuclei\n");
  ASSERT_TRUE(ok(file.status));
  ASSERT_EQ(file.entries.size(), 4U);
  EXPECT_EQ(file.entries[0].value, 0.25);
  EXPECT_EQ(file.entries[1].kind, Kind::one_electron);
}

// Errors have the position of the name, or of the header's end if the name is missing.
TEST(Fcidump, ReportsWhereAHeaderIsWrong) {
  expect_complaints(
      {{"&FCI NORB=2,UHF=.TRUE.,NELEC=2 /\n", "test.fcidump:1:13: UHF=.TRUE.: unrestricted"},
       {"\n  &FCI NORB=0,NELEC=2 /\n", "test.fcidump:2:8: NORB=0 is not between"},
       {"&FCI\n NORB=2,\n\n  MS2 = 2,\nNELEC=2,\n&END\n", "test.fcidump:4:3: MS2=2: open shells"},
       {"&FCI NORB=2,\nNELEC=3,\n/\n", "test.fcidump:2:1: NELEC=3: an odd number"},
       {"&FCI NORB=2,\n NORB=3,NELEC=2 /\n", "test.fcidump:2:2: the header has NORB twice"},
       {"&FCI NORB=2,\n =3,NELEC=2 /\n", "test.fcidump:2:2: the header has a = without a name"},
       {"&FCI\n one NORB=2,NELEC=2 /\n", "test.fcidump:2:2: the header has text without a name"},
       {"&FCI NORB=2,\n ORBSYM=1,1,\n &END\n", "test.fcidump:3:2: the header has no NELEC"}});
}

TEST(Fcidump, DoesNotSearchTheWholeFileForAHeadersEnd) {
  std::string text = "&FCI NORB=2,NELEC=2,\n";
  while (text.size() < std::size_t{3} << 20U) {
    text += "0.25 1 1 1 1\n";
  }
  const Text file(text);
  EXPECT_TRUE(fails(file.status, Code::invalid_argument,
                    {"the header has no &END and no / in its first 1048576 characters"}));
}

TEST(Fcidump, ALineHasItsBounds) {
  const std::string blanks(1012, ' ');
  EXPECT_TRUE(ok(Text(header + ("0.25 1 1 1 1" + blanks) + "\n" + ending).status));
  const Text file(header + ("0.25 1 1 1 1" + blanks) + " \n" + ending);
  EXPECT_TRUE(fails(file.status, Code::invalid_argument,
                    {"test.fcidump:2: the line has more than 1024 characters"}));
  const Text without_end(header + std::string(std::size_t{3} << 20U, '1'));
  EXPECT_TRUE(fails(without_end.status, Code::invalid_argument,
                    {"test.fcidump:2: the line has more than 1024 characters"}));
}

// 32767 orbitals have their symmetries on one line, as some programs write it.
TEST(Fcidump, AHeadersLineMayBeLong) {
  std::string symmetries = "1";
  for (int orbital = 2; orbital <= 32767; ++orbital) {
    symmetries += ",1";
  }
  const TemporaryFolder folder;
  const std::string path = folder.file("test.fcidump");
  tessera::test::write_contents(path, "&FCI NORB=32767,NELEC=2,ORBSYM=" + symmetries + ",\n/\n");
  EXPECT_TRUE(ok(Fcidump::open(path)));
}

TEST(Fcidump, AHeaderWithoutEndTakesNoMemory) {
  for (const std::string start : {"", "&FCI NORB=2,NELEC=2,"}) {
    const Text file(start + std::string(std::size_t{3} << 20U, 'x'));
    EXPECT_TRUE(fails(file.status, Code::invalid_argument,
                      {"test.fcidump:1: the header has no &END and no / in its first 1048576 "
                       "characters"}));
  }
  EXPECT_TRUE(fails(Fcidump::open("/dev/zero"), Code::unreachable,
                    {"cannot read /dev/zero: is not a regular file"}));
}

// Otherwise the message would contain names as long as the header, and as many.
TEST(Fcidump, AHeaderOfNothingButEqualsSignsIsRefusedAtOnce) {
  const Text file("&FCI " + std::string(1'000'000, '=') + " /\n");
  EXPECT_TRUE(fails(file.status, Code::invalid_argument, {"a = without a name before it"}));
}

TEST(Fcidump, RefusesLinesByTheirNumber) {
  struct Case {
    const char* line;
    const char* reason;
  };
  for (const Case& each : std::vector<Case>{
           {"1.0 1 1 1\n", ":2: found 4 fields, expected 5: a value and four orbitals"},
           {"1.0 1 1 1 1 1\n", "found 6 fields, expected 5"},
           {"1.0 1 1 ! 1 1\n", "found 3 fields, expected 5"},
           {",\n", "found 0 fields, expected 5"},
           {"(1.0,0.0) 1 1 1 1\n", ":2:1: complex values are not supported"},
           {"nan 1 1 1 1\n", ":2:1: 'nan' is not finite"},
           {"-Infinity 1 1 1 1\n", "'-Infinity' is not finite"},
           {"1e999 1 1 1 1\n", "'1e999' is too large for a double (at most 1.8e+308)"},
           {"****** 1 1 1 1\n", "'******' is not a number"},
           {"1.0x 1 1 1 1\n", "'1.0x' is not a number"},
           {" 0x10 1 1 1 1\n", ":2:2: '0x10' is not a number"},
           {"0x1p3 1 1 1 1\n", "'0x1p3' is not a number"},
           {"1.0D 1 1 1 1\n", "'1.0D' is not a number"},
           {"1.0 0x1 1 1 1\n", ":2:5: '0x1' is not the number of an orbital"},
           {"1.0 3 1 1 1\n", ":2:5: orbital 3 is out of range; the file has 2"},
           {"1.0 -1 1 1 1\n", "orbital -1 is out of range"},
           {"1.0 1.5 1 1 1\n", "'1.5' is not the number of an orbital"},
           {"1.0 1 1 1 0\n", "1 1 1 0 do not name an integral"},
           {"1.0 0 1 0 0\n", "0 1 0 0 do not name an integral"}}) {
    const Text file(std::string(header) + each.line + ending);
    EXPECT_TRUE(fails(file.status, Code::invalid_argument, {"test.fcidump:2:", each.reason}));
  }
}

TEST(Fcidump, ReportsATruncatedFile) {
  const std::string whole = std::string(header) + "0.25 1 1 1 1\n" + ending;
  EXPECT_TRUE(ok(Text(whole).status));
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    const Text file(whole.substr(0, length));
    EXPECT_TRUE(fails(file.status, Code::invalid_argument, {"test.fcidump"})) << length;
  }
  EXPECT_TRUE(fails(Text(std::string(header) + "1.5 1 1 0 0\n").status, Code::invalid_argument,
                    {"2 2 0 0 is missing: the file is truncated", "write the zero if it is zero"}));
  EXPECT_TRUE(fails(Text(std::string(header) + "1.5 1 1 0 0\n2.5 2 2 0 0\n").status,
                    Code::invalid_argument,
                    {"the core energy, 0 0 0 0, is missing", "write the zero if it is zero"}));
}

TEST(Fcidump, NamesTheLineThatTheReceiverRefuses) {
  TemporaryFolder folder;
  const std::string path = folder.file("test.fcidump");
  tessera::test::write_contents(path, std::string(header) + ending);
  auto file = Fcidump::open(path);
  ASSERT_TRUE(ok(file));
  const Status status = file->for_each([](const FcidumpEntry& entry) {
    return entry.p == 1 ? Status::error(Code::invalid_argument, "not this one") : Status();
  });
  EXPECT_TRUE(fails(status, Code::invalid_argument, {"test.fcidump:3: not this one"}));
}

TEST(Fcidump, APipeIsNotWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(fails(Fcidump::open(folder.file("pipe")), Code::unreachable,
                    {"pipe: is not a regular file"}));
}

TEST(Fcidump, AMissingFileIsNamed) {
  EXPECT_TRUE(fails(Fcidump::open("/nowhere/h2o.fcidump"), Code::unreachable,
                    {"cannot read /nowhere/h2o.fcidump: No such file"}));
  const TemporaryFolder folder;
  EXPECT_FALSE(Fcidump::open(folder.path()).ok());
}

}  // namespace
}  // namespace tessera::apps::ccsd
