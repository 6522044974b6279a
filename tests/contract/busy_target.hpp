// SPDX-License-Identifier: BSD-3-Clause
//
// BusyTarget: rank 0 is in one long call, and says in its own memory when it goes in and when it
// has come out; all others operate on it meanwhile, and can tell whether it still was in that call.
//
// Unlike progress_test.cpp, where the target comes out of a short call every now and then: there a
// library that gets on only when the target happens to call something could get through.
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
  /// The others, without the target.
  [[nodiscard]] Team& origins() { return origins_; }

  /// By the target: makes that call, and none to Tessera.
  void be_in(const std::function<void()>& call) {
    ++round_;
    own_word(entered_offset).store(round_);
    call();
    own_word(left_offset).store(round_);
  }

  /// By the others: all operations, when the target is about to make its call. Returns whether none
  /// of the origins has seen that it came out again.
  bool operate() {
    ++round_;
    const auto is_in = [&] { return read(entered_offset) == round_; };
    EXPECT_TRUE(eventually(is_in));
    operate_on(job_, region_, locks_, target);
    const std::int32_t is_out = read(left_offset) == round_ ? 1 : 0;
    return origins_.allreduce(is_out, Reduction::max).value() == 0;
  }

  /// Adds one to what the target sees by seen(), by the last operation of an origin.
  void show() {
    EXPECT_TRUE(ok(fetch_add<std::int64_t>(job_, region_.at(target, seen_offset), 1)));
  }
  /// By the target: how often it was shown something. No call to Tessera.
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
