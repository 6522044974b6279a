// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the seeds of fcidump_fuzzer.cpp. Run it after each change of the reader:
//
//     build/tests/bin/make_fcidump_seeds tests/fuzz/seeds/fcidump
#include <span>
#include <string>

#include "tests/fuzz/seed_folder.hpp"

namespace {

using tessera::rma::fuzz::SeedFolder;

void write(SeedFolder& folder, const std::string& name, const std::string& text) {
  folder.write(name, {}, std::as_bytes(std::span(text)));
}

void write_all(SeedFolder& folder) {
  const std::string integrals =
      " 0.25E+00 1 1 1 1\n-1d-3 2 1 2 1\n1.5,1,1,0,0 ! h\n+25-1 2 2 0 0\n-0.7 1 0 0 0\n0.5 0 0 0 "
      "0\n";
  write(folder, "one-line", "&FCI NORB=2,NELEC=2,MS2=0,ORBSYM=1,1,ISYM=1 /\n" + integrals);
  write(
      folder, "many-lines",
      "! note\n&fci\r\n norb = 2,\r\n nelec=\r\n 2 ,UHF=.FALSE.\r\n&end   i a j b\r\n" + integrals);
  write(folder, "molpro",
        " &FCI NORB=  2,NELEC=  2,MS2= 0,\n  ORBSYM=1,2,\n  ISYM=1,\n  OCC=  0,  1,  0,\n"
        "  CLOSED=  0,  1,  0,\n  FOCK=  0.5,  1E0,\n /\n" +
            integrals);
  write(folder, "neci",
        "$FCI NORB= 2 NELEC= 2 MS2= 0 ,ORBSYM=\n 2*1, 998*0\n ISYM= 1 UHF=F\n SYML=-20,2\n"
        " SYMLZ=-20,1\n NPROP = 1 1 1\n PROPBITLEN=15\n TREL=.F. ST=0 III=0 CORE=0D0 $END\n" +
            integrals);
  write(folder, "elsewhere", "&FCI NORB=2,NELEC=2,NPY2='a/b',ENUC=1.5 /\n");
  write(folder, "complex", "&FCI NORB=2,NELEC=2,SYMLZ=1,-1 /\n(0.5,0.1) 1 1 1 1\n");
  write(folder, "fort-55", " 2 2\n 1 1\n 150000\n 0.5 1 1 1 1\n");
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::rma::fuzz::write_seeds(argc, argv, "make_fcidump_seeds", write_all);
}
