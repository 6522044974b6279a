// SPDX-License-Identifier: BSD-3-Clause
//
// FileSizeLimit: while it lives no file may grow beyond so many bytes, for all threads of the
// process. Whoever tries is ended by SIGXFSZ; checkpoints look at the limit before they write.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace tessera::test {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0); }

 private:
  rlimit before_ = {};
};

}  // namespace tessera::test
