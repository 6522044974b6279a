// SPDX-License-Identifier: BSD-3-Clause
//
// FileSizeLimit: during its lifetime, no file may grow beyond this number of bytes, in any thread
// of the process. SIGXFSZ ends a process that tries; checkpoints check the limit before they write.
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
