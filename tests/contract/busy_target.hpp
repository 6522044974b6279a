// SPDX-License-Identifier: BSD-3-Clause
//
// BusyTarget: rank 0 stays in one long call and writes to its own memory when it enters the call
// and when it leaves it. All other ranks operate on it meanwhile, and can see whether it was still
// in the call.
//
// In progress_test.cpp the target leaves a short call from time to time. There, a library that
// makes progress only when the target calls it could pass by chance.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "tests/contract/every_operation.hpp"

namespace tessera::rma::test {

class BusyTarget {
 public:
  /// Collective. Requires: two ranks or more.
  explicit BusyTarget(Job& job)
      : job_(job),
        region_(Region::allocate(job.world(), slice_bytes).value()),
        own_(region_.local()),
        locks_(LockSet::create(job.world(), 1).value()),
        origins_(job.world().split(is_target() ? -1 : 0, job.rank().value).value()) {}

  [[nodiscard]] bool is_target() const { return job_.rank().value == 0; }
  /// All ranks except the target.
  [[nodiscard]] Team& origins() { return origins_; }

  /// Called by the target: makes that call, which must not call Tessera.
  void be_in(const std::function<void()>& call) {
    ++round_;
    own_word(entered_offset).store(round_);
    call();
    own_word(left_offset).store(round_);
  }

  /// Called by the origins when the target is about to make its call: performs every operation.
  /// Returns true if no origin saw the target leave the call.
  bool operate() {
    ++round_;
    const auto is_in = [&] { return read(entered_offset) == round_; };
    EXPECT_TRUE(eventually(is_in));
    operate_on(job_, region_, locks_, target);
    const std::int32_t is_out = read(left_offset) == round_ ? 1 : 0;
    return origins_.allreduce(is_out, Reduction::max).value() == 0;
  }

  /// Called by an origin as its last operation: adds one to the target's seen().
  void show() {
    EXPECT_TRUE(ok(fetch_add<std::int64_t>(job_, region_.at(target, seen_offset), 1)));
  }
  /// Called by the target: the number of calls of show() so far. Does not call Tessera.
  [[nodiscard]] std::int64_t seen() { return own_word(seen_offset).load(); }

 private:
  static constexpr TeamRank target{0};
  static constexpr std::size_t slice_bytes = 4096;
  static constexpr std::uint64_t entered_offset = 0;
  static constexpr std::uint64_t left_offset = 8;
  static constexpr std::uint64_t seen_offset = 16;

  [[nodiscard]] std::atomic_ref<std::int64_t> own_word(std::uint64_t offset) {
    return std::atomic_ref(*reinterpret_cast<std::int64_t*>(own_ + offset));
  }
  [[nodiscard]] std::int64_t read(std::uint64_t offset) {
    return get_value<std::int64_t>(job_, region_.at(target, offset)).value();
  }

  Job& job_;
  Region region_;
  std::byte* own_;
  LockSet locks_;
  Team origins_;
  std::int64_t round_ = 0;
};

}  // namespace tessera::rma::test
