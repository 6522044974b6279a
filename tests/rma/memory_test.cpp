// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>

#include "tests/support/effort.hpp"

namespace tessera::rma {
namespace {

// Returns what `ask` returns while no descriptor is free.
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
  const Result<AvailableMemory> available = find_available_memory();
  ASSERT_TRUE(available.ok()) << available.status().describe();
  EXPECT_GT(available->bytes, 0U);
  EXPECT_LE(available->bytes, total_memory_bytes());
  EXPECT_GT(available_memory_bytes(), 0U);
}

TEST(Memory, ReportsWhatLimitsIt) {
  constexpr std::uint64_t mib = 1U << 20U;
  EXPECT_EQ((AvailableMemory{176 * mib, 0}).describe(), "176.0 MiB are available");
  EXPECT_EQ((AvailableMemory{176 * mib, 300 * mib}).describe(),
            "176.0 MiB are available of the 300.0 MiB of its control group");
}

TEST(Memory, KnowsTheLimitOnAddressSpace) {
  if (test::is_sanitized) {
    GTEST_SKIP() << "a sanitizer needs address space of its own";
  }
  rlimit usual{};
  getrlimit(RLIMIT_AS, &usual);
  constexpr rlim_t all = rlim_t{1} << 46U;
  const rlimit limited{all, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const auto before = address_space_limit();
  constexpr std::size_t bytes = std::size_t{1} << 30U;
  void* const taken = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto after = address_space_limit();
  munmap(taken, bytes);
  setrlimit(RLIMIT_AS, &usual);
  ASSERT_TRUE(before && after && taken != MAP_FAILED);
  EXPECT_EQ(before->limit, all);
  EXPECT_GE(before->left() - after->left(), bytes);
  EXPECT_EQ(address_space_limit().has_value(), usual.rlim_cur != RLIM_INFINITY);
}

// Without a descriptor the control group's limit cannot be read either, so the machine's memory is
// not a valid answer.
TEST(Memory, IsUnknownIfNoDescriptorIsFree) {
  const Status status = without_descriptors([] { return find_available_memory().status(); });
  EXPECT_EQ(status.code(), Code::limit_exceeded);
  EXPECT_EQ(status.message(),
            "cannot read how much memory is available: Too many open files (this process "
            "may have 0)\n"
            "  hint: raise the limit on open files (ulimit -n)");
  EXPECT_EQ(without_descriptors(available_memory_bytes), 0U);
}

TEST(SystemErrors, NameTheLimitAndTheRemedy) {
  EXPECT_EQ(without_descriptors([] { return describe_system_error(EMFILE); }),
            "Too many open files (this process may have 0)");
  EXPECT_STREQ(remedy_for_system_error(EMFILE), "raise the limit on open files (ulimit -n)");
  std::uint64_t files = 0;
  std::ifstream("/proc/sys/fs/file-max") >> files;
  EXPECT_EQ(describe_system_error(ENFILE),
            "Too many open files in system (the system may have " + std::to_string(files) + ")");
  EXPECT_NE(std::string(remedy_for_system_error(ENFILE)).find("fs.file-max"), std::string::npos);
  for (const int error : {ENOMEM, ENOBUFS}) {
    EXPECT_NE(describe_system_error(error).find(" are available"), std::string::npos);
    EXPECT_NE(std::string(remedy_for_system_error(error)).find("free memory"), std::string::npos);
  }
  EXPECT_NE(describe_system_error(EFBIG).find(human_bytes(max_file_bytes())), std::string::npos);
  EXPECT_EQ(describe_system_error(ENOENT), "No such file or directory");
  EXPECT_STREQ(remedy_for_system_error(ENOENT), "");
}

}  // namespace
}  // namespace tessera::rma
