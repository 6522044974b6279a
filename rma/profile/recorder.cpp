// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/recorder.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::detail {
namespace {

// How many waits the thread is in, of all jobs.
thread_local int depth = 0;

void raise_to(std::atomic<std::uint64_t>& most, std::uint64_t value) noexcept {
  std::uint64_t seen = most.load(std::memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::string_view to_string(Wait wait) noexcept {
  constexpr std::array<std::string_view, wait_count> names{
      "put",     "get",       "accumulate", "atomic", "handle", "fence", "lock",  "notice",
      "barrier", "broadcast", "allgather",  "reduce", "agree",  "team",  "memory"};
  const auto index = static_cast<std::size_t>(wait);
  return index < names.size() ? names[index] : "unknown";
}

void Recorder::note_done(Wait wait) noexcept {
  if (is_open() && depth == 0) {
    tallies_[static_cast<std::size_t>(wait)].count.fetch_add(1, std::memory_order_relaxed);
  }
}

void Recorder::add(const WaitEvent& event) noexcept {
  AtomicTally& tally = tallies_[static_cast<std::size_t>(event.wait)];
  const auto duration = static_cast<std::uint64_t>(event.duration_ns);
  tally.count.fetch_add(1, std::memory_order_relaxed);
  tally.bytes.fetch_add(event.bytes, std::memory_order_relaxed);
  tally.total_ns.fetch_add(duration, std::memory_order_relaxed);
  raise_to(tally.longest_ns, duration);
}

void Recorder::keep(WaitEvent event) noexcept {
  const std::lock_guard guard(mutex_);
  if (events_.size() >= most_events_) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const auto next = static_cast<std::uint32_t>(threads_.size());
  event.thread = threads_.try_emplace(std::this_thread::get_id(), next).first->second;
  events_.push_back(event);
}

WaitTallies Recorder::tallies() const noexcept {
  WaitTallies all;
  std::transform(tallies_.begin(), tallies_.end(), all.begin(), [](const AtomicTally& each) {
    return WaitTally{each.count.load(), each.bytes.load(), each.total_ns.load(),
                     each.longest_ns.load()};
  });
  return all;
}

std::vector<WaitEvent> Recorder::take_events() {
  const std::lock_guard guard(mutex_);
  return std::exchange(events_, {});
}

void WaitScope::begin(Wait wait, WorldRank peer, std::uint64_t bytes) noexcept {
  if (!recorder_->is_open()) {
    recorder_ = nullptr;
    return;
  }
  ++depth;
  event_ = {.begin_ns = profile_clock_ns(), .bytes = bytes, .peer = peer.value, .wait = wait};
}

void WaitScope::end() noexcept {
  event_.duration_ns = profile_clock_ns() - event_.begin_ns;
  --depth;
  if (!recorder_->is_open()) {
    return;
  }
  if (depth == 0) {
    recorder_->add(event_);
  }
  if (recorder_->most_events_ > 0) {
    recorder_->keep(event_);
  }
}

}  // namespace tessera::rma::detail
