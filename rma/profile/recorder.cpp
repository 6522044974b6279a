// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/recorder.hpp"

#include <algorithm>
#include <new>

namespace tessera::rma::detail {

std::string_view to_string(Wait wait) noexcept {
  constexpr std::array<std::string_view, wait_count> names{
      "put",     "get",       "accumulate", "atomic", "handle",   "fence", "lock", "notice",
      "barrier", "broadcast", "allgather",  "reduce", "exchange", "agree", "team", "memory"};
  const auto index = static_cast<std::size_t>(wait);
  return index < names.size() ? names[index] : "unknown";
}

void Recorder::record_done(Wait wait) noexcept {
  if (is_open() && depth == 0) {
    tallies_[static_cast<std::size_t>(wait)].count.fetch_add(1, std::memory_order_relaxed);
  }
}

void Recorder::raise_to(std::atomic<std::uint64_t>& maximum, std::uint64_t value) noexcept {
  std::uint64_t seen = maximum.load(std::memory_order_relaxed);
  while (seen < value && !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

WaitTally& Recorder::tally_of(const std::string& label, std::uint32_t& index) {
  const auto next = static_cast<std::uint32_t>(labels_.size());
  const auto [found, is_new] = label_indices_.try_emplace(label, next);
  if (is_new) {
    labels_.push_back({.label = found->first, .tally = {}});
  }
  index = found->second;
  return labels_[index].tally;
}

void Recorder::keep(TimedWait wait, const Label* label, bool is_outermost) noexcept {
  if (!is_open()) {
    return;
  }
  try {
    const std::string text = label == nullptr ? std::string() : label->short_text();
    if (is_outermost && phases_ != nullptr && PhaseLog::is_in_any()) {
      phases_->add_wait(wait.wait, wait.bytes, wait.duration, text);
    }
    const std::lock_guard guard(mutex_);
    if (label != nullptr) {
      std::uint32_t index = 0;
      WaitTally& tally = tally_of(text, index);
      const auto ticks = static_cast<std::uint64_t>(wait.duration);
      tally.count += 1;
      tally.bytes += wait.bytes;
      tally.total_ns += ticks;
      tally.longest_ns = std::max(tally.longest_ns, ticks);
      wait.label = index + 1;
    }
    if (max_events_ == 0) {
      return;
    }
    if (events_.size() >= max_events_) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    wait.thread = thread_index();
    events_.push_back(wait);
  } catch (const std::bad_alloc&) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
}

// Requires: mutex_ is locked.
std::uint32_t Recorder::thread_index() {
  const auto next = static_cast<std::uint32_t>(threads_.size());
  return threads_.try_emplace(std::this_thread::get_id(), next).first->second;
}

std::uint32_t Recorder::number_of_thread() {
  const std::lock_guard guard(mutex_);
  return thread_index();
}

void Recorder::keep_phase(std::int64_t begin, std::int64_t duration, std::uint32_t thread,
                          std::uint32_t phase) noexcept {
  if (max_events_ == 0) {
    return;
  }
  const std::lock_guard guard(mutex_);
  try {
    if (phase_events_.size() < max_events_) {
      phase_events_.push_back({.begin = begin,
                               .duration = duration,
                               .thread = thread,
                               .label = phase,
                               .is_phase = true});
      return;
    }
  } catch (const std::bad_alloc&) {
  }
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<LabelledWait> Recorder::labelled() const {
  const TickScale scale = clock_.scale();
  const auto ns = [&scale](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(scale.span_ns(static_cast<std::int64_t>(ticks)));
  };
  const std::lock_guard guard(mutex_);
  std::vector<LabelledWait> all = labels_;
  for (LabelledWait& each : all) {
    each.tally.total_ns = ns(each.tally.total_ns);
    each.tally.longest_ns = ns(each.tally.longest_ns);
  }
  return all;
}

WaitTallies Recorder::tallies() const noexcept {
  const TickScale scale = clock_.scale();
  const auto ns = [&scale](const std::atomic<std::uint64_t>& ticks) {
    return static_cast<std::uint64_t>(scale.span_ns(static_cast<std::int64_t>(ticks.load())));
  };
  WaitTallies all;
  std::transform(tallies_.begin(), tallies_.end(), all.begin(), [&ns](const AtomicTally& each) {
    return WaitTally{each.count.load(), each.bytes.load(), ns(each.total_ticks),
                     ns(each.max_ticks)};
  });
  return all;
}

std::vector<WaitEvent> Recorder::take_events() {
  const TickScale scale = clock_.scale();
  const std::lock_guard guard(mutex_);
  events_.insert(events_.end(), phase_events_.begin(), phase_events_.end());
  phase_events_ = {};
  std::vector<WaitEvent> taken(events_.size());
  std::transform(events_.begin(), events_.end(), taken.begin(), [&scale](const TimedWait& each) {
    return WaitEvent{.begin_ns = scale.time_ns(each.begin),
                     .duration_ns = scale.span_ns(each.duration),
                     .bytes = each.bytes,
                     .peer = each.peer,
                     .thread = each.thread,
                     .label = each.label,
                     .wait = each.wait,
                     .is_phase = each.is_phase};
  });
  events_ = {};
  return taken;
}

}  // namespace tessera::rma::detail
