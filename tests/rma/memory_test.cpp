// SPDX-License-Identifier: BSD-3-Clause
#include "rma/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>

namespace tessera::rma {
namespace {

// What `ask` returns where no descriptor is free.
template <class Ask>
auto without_descriptors(Ask&& ask) {
  rlimit usual{};
  getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit none{0, usual.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  auto answer = ask();
  setrlimit(RLIMIT_NOFILE, &usual);
  return answer;
}

TEST(Memory, IsAvailableWithinTheTotal) {
  const Result<std::uint64_t> available = find_available_memory();
  ASSERT_TRUE(available.ok()) << available.status().describe();
  EXPECT_GT(*available, 0U);
  EXPECT_LE(*available, total_memory_bytes());
  EXPECT_GT(available_memory_bytes(), 0U);
}

// The control group's limit is in files, too: the machine's memory is not what may be taken.
TEST(Memory, IsUnknownWhereNoDescriptorIsFree) {
  const Status status = without_descriptors([] { return find_available_memory().status(); });
  EXPECT_EQ(status.code(), Code::limit_exceeded);
  EXPECT_EQ(status.message(),
            "cannot read how much memory is available: Too many open files\n"
            "  hint: raise the limit on open files (ulimit -n)");
  EXPECT_EQ(without_descriptors(available_memory_bytes), 0U);
}

}  // namespace
}  // namespace tessera::rma
