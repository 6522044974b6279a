// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/registration.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/rma/verbs/registrar_rig.hpp"

namespace tessera::rma::verbs {
namespace {

using rma::test::fails;
using rma::test::ok;
using test::Mapping;
using test::stamp;

class Acquire : public test::RegistrarTest {};
class Pin : public test::RegistrarTest {};
class Fork : public test::RegistrarTest {};

// The exit code of a child that runs `body`, which returns whether all is right.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body() ? 0 : 1);
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST_F(Acquire, RegistersWholePages) {
  ASSERT_NO_FATAL_FAILURE(make());
  Mapping memory(4);
  const Registration registration = acquire(memory.page(1) + 100, page_bytes());
  EXPECT_EQ(registration.range(), memory.range(1, 2));
  EXPECT_EQ(library->live_bytes(), 2 * page_bytes());
  EXPECT_EQ(registrar->counters().registered_bytes, 2 * page_bytes());
}

TEST_F(Acquire, FindsWhatWasRegistered) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(8);
  const std::uint32_t key = acquire(memory, 0, 8).lkey();
  EXPECT_EQ(acquire(memory, 0, 8).lkey(), key);
  EXPECT_EQ(acquire(memory, 3, 2, Use::destination).lkey(), key);
  EXPECT_EQ(acquire(memory.page(5) + 7, 9).lkey(), key);
  EXPECT_EQ(library->registrations(), 1U);
  EXPECT_EQ(library->deregistrations(), 0U);
  EXPECT_EQ(cache().hits, 3U);
  EXPECT_EQ(cache().misses, 1U);
  EXPECT_EQ(cache().kept_bytes, 8 * page_bytes());
  registrar.reset();
  EXPECT_EQ(library->live_bytes(), 0U);
}

TEST_F(Acquire, ReleasesAtOnceWithoutACache) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  EXPECT_FALSE(registrar->is_caching());
  EXPECT_EQ(registrar->why_not_caching(), "switched off");
  Mapping memory(2);
  for (std::size_t i = 1; i <= 3; ++i) {
    {
      const Registration registration = acquire(memory, 0, 2);
      EXPECT_EQ(library->live_bytes(), memory.bytes());
    }
    EXPECT_EQ(library->deregistrations(), i);
  }
  EXPECT_EQ(registrar->counters().uncached, 3U);
  EXPECT_EQ(registrar->counters().registered_bytes, 0U);
}

TEST_F(Acquire, RefusesAnEmptyRange) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  Mapping memory(1);
  EXPECT_TRUE(fails(registrar->acquire(memory.page(), 0, Use::source), Code::invalid_argument,
                    {"0 bytes of memory cannot be registered"}));
  EXPECT_TRUE(
      fails(registrar->acquire(memory.page(), std::numeric_limits<std::size_t>::max(), Use::source),
            Code::invalid_argument, {"beyond the address space"}));
}

// --- the cache's contents

TEST_F(Acquire, TheLeastRecentlyUsedGoesFirst) {
  make({.cached_bytes = 1 << 20, .cached_regions = 3});
  if (IsSkipped()) {
    return;
  }
  Mapping memory(8);
  std::vector<std::uint32_t> keys;
  for (const std::size_t page : {0U, 2U, 4U}) {
    keys.push_back(acquire(memory, page, 1).lkey());
  }
  acquire(memory, 0, 1);  // now 2 is the oldest
  acquire(memory, 6, 1);
  EXPECT_TRUE(library->is_live(keys[0]));
  EXPECT_FALSE(library->is_live(keys[1]));
  EXPECT_TRUE(library->is_live(keys[2]));
  EXPECT_EQ(cache().evictions, 1U);
  EXPECT_EQ(cache().kept_regions, 3U);
}

TEST_F(Acquire, BytesAreLimitedToo) {
  make({.cached_bytes = 8 * page_bytes(), .cached_regions = 100});
  if (IsSkipped()) {
    return;
  }
  Mapping memory(32);
  for (std::size_t page = 0; page < 30; page += 4) {
    acquire(memory, page, 3);
    EXPECT_LE(cache().kept_bytes, 8 * page_bytes());
    EXPECT_EQ(library->live_bytes(), cache().kept_bytes);
  }
  acquire(memory, 0, 9);
  EXPECT_EQ(cache().kept_regions, 2U) << "a region that cannot fit evicts no other";
}

TEST_F(Acquire, WhatIsInUseIsNeverDroppedForRoom) {
  make({.cached_bytes = 1 << 20, .cached_regions = 2});
  if (IsSkipped()) {
    return;
  }
  Mapping memory(12);
  const Registration first = acquire(memory, 0, 1);
  const Registration second = acquire(memory, 2, 1);
  std::uint32_t third = 0;
  {
    const Registration registration = acquire(memory, 4, 1);
    third = registration.lkey();
    EXPECT_TRUE(library->is_live(third));
  }
  EXPECT_FALSE(library->is_live(third)) << "there was no room to keep it";
  EXPECT_TRUE(library->is_live(first.lkey()));
  EXPECT_TRUE(library->is_live(second.lkey()));
  EXPECT_EQ(cache().evictions, 0U);
  EXPECT_EQ(registrar->counters().uncached, 1U);
}

TEST_F(Acquire, ABufferThatGrowsIsOneRegion) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(64);
  for (std::size_t pages = 1; pages <= 64; pages *= 2) {
    acquire(memory, 0, pages);
    EXPECT_EQ(cache().kept_regions, 1U);
    EXPECT_EQ(library->live_bytes(), pages * page_bytes());
  }
}

TEST_F(Acquire, PiecesThatOverlapAreRegisteredTogether) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(16);
  acquire(memory, 0, 8);
  EXPECT_EQ(acquire(memory, 4, 8).range(), memory.range(0, 12));
  EXPECT_EQ(library->live_bytes(), 12 * page_bytes());
  EXPECT_EQ(acquire(memory, 11, 2).range(), memory.range(11, 2)) << "would be six times the work";
}

TEST_F(Acquire, AGrownRegionKeepsThoseInUse) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(16);
  std::optional<Registration> small = acquire(memory, 2, 2);
  const std::uint32_t key = small->lkey();
  acquire(memory, 0, 16);
  EXPECT_TRUE(library->is_live(key));
  small.reset();
  EXPECT_FALSE(library->is_live(key));
  EXPECT_EQ(library->live_bytes(), memory.bytes());
}

// --- memory that changes

TEST_F(Acquire, UnmappedMemoryIsForgotten) {
  make();
  if (IsSkipped()) {
    return;
  }
  void* at = nullptr;
  for (std::uint64_t round = 1; round <= 20; ++round) {
    Mapping memory(4, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED : 0), -1, at);
    at = memory.page();
    stamp(memory.page(2), round);
    const Registration registration = acquire(memory, 0, 4);
    EXPECT_EQ(library->stamp_in(registration.lkey(), memory.page(2)), round);
  }
  registrar->tidy();
  EXPECT_EQ(library->live_bytes(), 0U);
  EXPECT_EQ(cache().invalidations, 20U);
  EXPECT_EQ(cache().hits, 0U);
}

TEST_F(Acquire, MemoryUnmappedInUseGoesWithItsLastUser) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(4);
  std::optional<Registration> first = acquire(memory, 0, 4);
  std::optional<Registration> second = acquire(memory, 1, 1);
  const std::uint32_t key = first->lkey();
  memory.unmap();
  registrar->tidy();
  EXPECT_EQ(cache().kept_regions, 0U);
  first.reset();
  EXPECT_TRUE(library->is_live(key));
  second.reset();
  EXPECT_FALSE(library->is_live(key));
}

TEST_F(Acquire, DiscardedPagesAreForgotten) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(4);
  stamp(memory.page(1), 1);
  acquire(memory, 0, 4);
  ASSERT_EQ(madvise(memory.page(1), page_bytes(), MADV_DONTNEED), 0);
  stamp(memory.page(1), 2);
  const Registration registration = acquire(memory, 0, 4);
  EXPECT_EQ(library->stamp_in(registration.lkey(), memory.page(1)), 2U);
}

TEST_F(Acquire, MovedMemoryIsForgottenAndFoundAgain) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(4);
  Mapping target(4);
  stamp(memory.page(1), 1);
  const std::uint32_t key = acquire(memory, 0, 4).lkey();
  ASSERT_EQ(mremap(memory.page(), memory.bytes(), memory.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED,
                   target.page()),
            target.page());
  memory.forget();
  for (std::uint64_t hits = 0; hits < 3; ++hits) {
    const Registration registration = acquire(target, 0, 4);
    EXPECT_NE(registration.lkey(), key);
    EXPECT_EQ(library->stamp_in(registration.lkey(), target.page(1)), 1U);
    EXPECT_EQ(cache().hits, hits);
  }
  EXPECT_FALSE(library->is_live(key));
}

// --- memory of other kinds

TEST_F(Acquire, ConstantsAreSources) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(2, PROT_READ);
  {
    const Registration registration = acquire(memory, 0, 2);
    EXPECT_EQ(library->access_of(registration.lkey()), 0);
  }
  acquire(memory, 0, 2);
  EXPECT_EQ(cache().hits, 1U);
  EXPECT_TRUE(fails(registrar->acquire(memory.page(), 8, Use::destination), Code::unsupported,
                    {"the device cannot use these 4.0 KiB of memory", "Bad address"}));
}

TEST_F(Acquire, MemoryMadeWritableIsRegisteredAgain) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(4, PROT_READ);
  acquire(memory, 0, 4);
  ASSERT_EQ(mprotect(memory.page(), memory.bytes(), PROT_READ | PROT_WRITE), 0);
  const std::uint32_t key = acquire(memory, 1, 2, Use::destination).lkey();
  EXPECT_EQ(library->access_of(key), IBV_ACCESS_LOCAL_WRITE);
  EXPECT_EQ(acquire(memory, 1, 2, Use::destination).lkey(), key);
}

TEST_F(Acquire, UnmappedMemoryIsAnErrorThatLetsTheCallerCopy) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  Mapping memory(2, PROT_NONE);
  EXPECT_TRUE(fails(registrar->acquire(memory.page(), 8, Use::source), Code::unsupported,
                    {"the device cannot use"}));
  EXPECT_EQ(registrar->counters().registered_bytes, 0U);
}

TEST_F(Acquire, FilesAndSharedMemoryAreNotKept) {
  make();
  if (IsSkipped()) {
    return;
  }
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  Mapping program(1, PROT_READ, MAP_PRIVATE, file);
  Mapping shared(4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
  for (const Mapping* memory : {&program, &shared}) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(acquire(*memory, 0, 1));
      EXPECT_EQ(library->live_bytes(), 0U);
    }
  }
  EXPECT_EQ(cache().kept_regions, 0U);
  EXPECT_EQ(registrar->counters().uncached, 4U);
  close(file);
}

TEST_F(Acquire, HugePagesAreKeptInWholeOnes) {
  make();
  if (IsSkipped()) {
    return;
  }
  constexpr std::size_t huge = std::size_t{2} << 20;
  Mapping memory(2 * huge / page_bytes(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
  if (!memory.ok()) {
    GTEST_SKIP() << "two huge pages are not free";
  }
  EXPECT_EQ(acquire(memory, 3, 5).range().bytes(), huge);
  acquire(memory, 100, 1);
  EXPECT_EQ(cache().hits, 1U);
}

TEST_F(Acquire, WhatAnotherRegistrarWatchesIsNotKept) {
  make();
  if (IsSkipped()) {
    return;
  }
  auto other = Registrar::create(library, nullptr, {});
  ASSERT_TRUE(ok(other));
  Mapping memory(4);
  const std::uint32_t key = acquire(memory, 0, 4).lkey();
  EXPECT_TRUE(ok((*other)->acquire(memory.page(1), page_bytes(), Use::source)));
  EXPECT_EQ((*other)->counters().cache.kept_regions, 0U);
  memory.unmap();
  registrar->tidy();
  EXPECT_FALSE(library->is_live(key)) << "the first one still watches";
}

// --- limits

TEST_F(Acquire, DropsRegistrationsIfTheLimitOnLockedMemoryIsReached) {
  make();
  if (IsSkipped()) {
    return;
  }
  library->limit_bytes = 10 * page_bytes();
  Mapping memory(32);
  acquire(memory, 0, 4);
  acquire(memory, 8, 4);
  EXPECT_TRUE(acquire(memory, 16, 8));
  EXPECT_EQ(library->live_bytes(), 8 * page_bytes());
}

TEST_F(Acquire, ExplainsTheLimit) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  library->limit_bytes = 10 * page_bytes();
  Mapping memory(32);
  const Registration used = acquire(memory, 0, 8);
  EXPECT_TRUE(fails(registrar->acquire(memory.page(8), 16 * page_bytes(), Use::source),
                    Code::limit_exceeded,
                    {"cannot register 64.0 KiB", "beyond the 32.0 KiB", "limit on locked memory",
                     "ulimit -l", "/etc/security/limits.d", "LimitMEMLOCK", "SLURM"}));
}

TEST(Memlock, TheMessageNamesTheLimit) {
  EXPECT_TRUE(fails(cannot_register(1 << 20, ENOMEM, 5 << 20, {.bytes = 8 << 20}),
                    Code::limit_exceeded,
                    {"cannot register 1.0 MiB with the device beyond the 5.0 MiB",
                     "the limit on locked memory is 8.0 MiB"}));
  EXPECT_TRUE(fails(cannot_register(1, ENOMEM, 0, {.bytes = 8 << 20, .may_exceed = true}),
                    Code::limit_exceeded,
                    {"8.0 MiB, which CAP_IPC_LOCK should allow this process to exceed"}));
  EXPECT_TRUE(fails(cannot_register(1, ENOMEM, 0, {.bytes = std::nullopt}), Code::limit_exceeded,
                    {"there is no limit on locked memory"}));
}

TEST(Memlock, IsRaisedToTheHardLimit) {
  EXPECT_EQ(in_child([] {
              const rlimit low{.rlim_cur = 64 << 10, .rlim_max = 128 << 10};
              if (setrlimit(RLIMIT_MEMLOCK, &low) != 0) {
                return false;
              }
              const MemlockLimit limit = raise_memlock_limit();
              rlimit now{};
              getrlimit(RLIMIT_MEMLOCK, &now);
              return limit.bytes == std::size_t{128} << 10 && now.rlim_cur == 128 << 10;
            }),
            0);
}

// --- pinning

TEST_F(Pin, LastsAsLongAsTheRegistrationAndIsNeverFound) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  Mapping memory(4);
  {
    auto pinned = registrar->pin(memory.page(), 3 * page_bytes() + 1,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    ASSERT_TRUE(ok(pinned));
    EXPECT_EQ(library->access_of(pinned->lkey()), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT_EQ(pinned->range(), memory.range());
    EXPECT_NE(pinned->rkey(), pinned->lkey());
    EXPECT_NE(acquire(memory, 0, 1).lkey(), pinned->lkey());
  }
  EXPECT_EQ(library->live_bytes(), 0U);
}

TEST_F(Pin, MovesWithItsOwner) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  Mapping memory(4);
  Registration first = acquire(memory, 0, 1);
  Registration second = acquire(memory, 1, 1);
  const std::uint32_t key = second.lkey();
  first = std::move(second);
  EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): the test checks the moved-from state
  EXPECT_EQ(first.lkey(), key);
  EXPECT_EQ(library->live_bytes(), page_bytes());
  first = Registration();
  EXPECT_EQ(library->live_bytes(), 0U);
}

TEST_F(Pin, ExplainsTheLimit) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  library->limit_bytes = page_bytes();
  Mapping memory(2);
  EXPECT_TRUE(fails(registrar->pin(memory.page(), memory.bytes(), IBV_ACCESS_LOCAL_WRITE),
                    Code::limit_exceeded, {"cannot register 8.0 KiB", "ulimit -l"}));
}

// --- forks

TEST_F(Fork, AChildOwnsNothingAndFreesNothing) {
  make();
  if (IsSkipped()) {
    return;
  }
  Mapping memory(4);
  std::optional<Registration> used = acquire(memory, 0, 1);
  acquire(memory, 2, 1);
  auto pin = registrar->pin(memory.page(1), 8, 0);
  ASSERT_TRUE(ok(pin));
  EXPECT_EQ(in_child([&] {
              const RegistrationCounters counters = registrar->counters();
              const auto acquired = registrar->acquire(memory.page(2), 8, Use::source);
              const auto pinned = registrar->pin(memory.page(), 8, 0);
              used.reset();
              *pin = Registration();
              registrar->tidy();
              registrar.reset();
              memory.unmap();
              return counters.cache.kept_regions == 0 && counters.registered_bytes == 0 &&
                     fails(acquired, Code::unsupported, {"was forked"}) &&
                     fails(pinned, Code::unsupported, {"was forked"}) &&
                     library->deregistrations() == 0;
            }),
            0);
  acquire(memory, 2, 1);
  EXPECT_EQ(cache().hits, 1U) << "the parent continues as before";
  memory.unmap();
  registrar->tidy();
  EXPECT_EQ(cache().kept_regions, 0U) << "and sees only its own unmappings";
}

TEST_F(Fork, AChildThatLivesLongerDelaysNoRank) {
  make({.cached_bytes = 8 * page_bytes(), .cached_regions = 4});
  if (IsSkipped()) {
    return;
  }
  Mapping memory(32);
  Mapping target(8);
  for (std::size_t page = 0; page < 28; page += 3) {
    acquire(memory, page, 2 + page % 2);
  }
  munmap(memory.page(22), 3 * page_bytes());
  // The last one that was acquired, so it is kept.
  ASSERT_EQ(mremap(memory.page(27), 3 * page_bytes(), 3 * page_bytes(),
                   MREMAP_MAYMOVE | MREMAP_FIXED, target.page()),
            target.page());
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  registrar.reset();
  // The child still has the descriptor that these would wait for.
  memory.unmap();
  target.unmap();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(Fork, LibibverbsIsPreparedIfTheKernelIsNot) {
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  EXPECT_EQ(library->fork_inits, 0);
  library->fork_status = IBV_FORK_ENABLED;
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  EXPECT_EQ(library->fork_inits, 0);
  library->fork_status = IBV_FORK_DISABLED;
  ASSERT_NO_FATAL_FAILURE(make({.may_cache = false}));
  EXPECT_EQ(library->fork_inits, 1);
  library->fork_error = EINVAL;
  EXPECT_TRUE(fails(Registrar::create(library, nullptr, {}), Code::unsupported,
                    {"ibv_fork_init", "Invalid argument", "RDMAV_FORK_SAFE"}));
}

}  // namespace
}  // namespace tessera::rma::verbs
