// SPDX-License-Identifier: BSD-3-Clause
//
// Small FCIDUMP files for tests, and reading all of them.
#pragma once

#include <string>
#include <vector>

#include "apps/ccsd/fcidump.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps::ccsd {

inline constexpr const char* header = "&FCI NORB=2,NELEC=2,MS2=0,ORBSYM=1,1,ISYM=1 /\n";
inline constexpr const char* ending = "1.5 1 1 0 0\n2.5 2 2 0 0\n0.5 0 0 0 0\n";

/// A file of some text, read to its end.
class Text {
 public:
  explicit Text(const std::string& text) : path_(folder_.file("test.fcidump")) {
    test::write_contents(path_, text);
    auto opened = Fcidump::open(path_);
    status = opened.status();
    if (opened.ok()) {
      head = opened->header();
      status = opened->for_each([this](const FcidumpEntry& entry) {
        entries.push_back(entry);
        return rma::Status();
      });
    }
  }

  rma::Status status;
  FcidumpHeader head;
  std::vector<FcidumpEntry> entries;

 private:
  test::TemporaryFolder folder_;
  std::string path_;
};

}  // namespace tessera::apps::ccsd
