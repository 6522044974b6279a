// SPDX-License-Identifier: BSD-3-Clause
//
// Debian's h5py as an oracle: Python programs that read and write the file of a test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>
#include <utility>

#include "tests/arrays/files/checkpoint_support.hpp"

namespace tessera::arrays::test {

struct Outcome {
  int exit_code = -1;
  std::string output;
};

inline Outcome run_command(const std::string& command) {
  Outcome outcome;
  std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return outcome;
  }
  char part[4096];
  while (const std::size_t count = std::fread(part, 1, sizeof part, pipe)) {
    outcome.output.append(part, count);
  }
  const int status = ::pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// `path` is the name of run.h5 in the folder.
inline Outcome run_python(const SharedFolder& folder, const std::string& program) {
  const std::string script = folder.file("script.py");
  write_contents(script,
                 "import h5py, numpy as np\npath = '" + folder.file("run.h5") + "'\n" + program);
  return run_command("/usr/bin/python3 " + script);
}

inline bool has_h5py() {
  return run_command("/usr/bin/python3 -c 'import h5py, numpy'").exit_code == 0;
}

/// Rank 0 acts while the others wait. Collective.
template <class Action>
void on_first(rma::Job& job, Action&& action) {
  if (job.rank().value == 0) {
    std::forward<Action>(action)();
  }
  EXPECT_TRUE(rma::test::ok(job.barrier()));
}

/// The program ends without an error. Collective.
inline void expect_python(rma::Job& job, const SharedFolder& folder, const std::string& program) {
  on_first(job, [&] {
    const Outcome said = run_python(folder, program);
    EXPECT_EQ(said.exit_code, 0) << said.output;
  });
}

/// Skips if there is no HDF5 or no h5py.
class WithH5py : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_hdf5()) {
      GTEST_SKIP() << "built without HDF5";
    }
    if (!has_h5py()) {
      GTEST_SKIP() << "this machine has no h5py for /usr/bin/python3 (Debian's python3-h5py)";
    }
  }
};

}  // namespace tessera::arrays::test
