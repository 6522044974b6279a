// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/phase_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "rma/engine/slice_cache.hpp"
#include "rma/profile/recorder.hpp"

namespace tessera::rma::detail {

/// The open phases of a thread, of all jobs, outer ones first. They end with the thread.
class OpenPhases {
 public:
  using Open = PhaseLog::Open;

  OpenPhases() = default;
  ~OpenPhases() {
    while (!all_.empty()) {
      remove(all_.size() - 1);
    }
  }
  OpenPhases(const OpenPhases&) = delete;
  OpenPhases& operator=(const OpenPhases&) = delete;

  static OpenPhases& of_thread() {
    static thread_local OpenPhases phases;
    return phases;
  }

  Open& add(std::unique_ptr<Open> open) {
    std::erase_if(all_, [](const auto& each) { return each->has_ended.load(); });
    all_.push_back(std::move(open));
    relink();
    return *all_.back();
  }
  /// Ends the phase, and those of the same job within it. Returns false if this thread has none.
  bool remove(const PhaseLog& log, std::uint64_t number) noexcept {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& each) {
      return each->log.get() == &log && each->number == number;
    });
    if (found == all_.end()) {
      return false;
    }
    const auto first = static_cast<std::size_t>(found - all_.begin());
    for (std::size_t at = all_.size(); at-- > first;) {
      if (all_[at]->log.get() == &log) {
        remove(at);
      }
    }
    return true;
  }

 private:
  void remove(std::size_t at) noexcept {
    const std::unique_ptr<Open> open = std::move(all_[at]);
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(at));
    {
      const std::lock_guard guard(open->log->mutex_);
      open->log->finish(*open, false);
    }
    relink();
  }
  void relink() noexcept {
    const Open* outer = nullptr;
    for (const auto& each : all_) {
      each->outer = outer;
      outer = each.get();
    }
    PhaseLog::innermost = outer;
  }

  std::vector<std::unique_ptr<Open>> all_;
};

namespace {

// The phase that stands for all further ones, if there are too many.
constexpr std::string_view further_phases = "(further phases)";

}  // namespace

const PhaseLog::Open* PhaseLog::innermost_of_thread() const noexcept {
  const Open* open = innermost;
  while (open != nullptr && (open->log.get() != this || open->has_ended.load())) {
    open = open->outer;
  }
  return open;
}

std::uint32_t PhaseLog::current() const noexcept {
  const Open* const open = innermost_of_thread();
  return open == nullptr ? 0 : open->phase;
}

// Requires: mutex_ is locked.
std::uint32_t PhaseLog::phase_of(std::uint32_t outer, std::string_view name) {
  const auto found = phases_.find({outer, std::string(name)});
  if (found != phases_.end()) {
    return found->second;
  }
  if (entries_.size() >= max_phases && name != further_phases) {
    return phase_of(0, further_phases);
  }
  std::string path =
      outer == 0 ? std::string(name) : fmt::format("{}/{}", entries_[outer - 1].path, name);
  entries_.emplace_back().path = std::move(path);
  const auto phase = static_cast<std::uint32_t>(entries_.size());
  phases_.emplace(std::pair(outer, std::string(name)), phase);
  return phase;
}

// What the thread counted so far belongs to the phases that were open.
std::uint64_t PhaseLog::begin(std::string_view name) noexcept {
  flush_counts();
  try {
    auto open = std::make_unique<Open>();
    open->log = shared_from_this();
    open->name = name.empty() ? "(no name)" : name;
    const std::uint32_t outer = current();
    OpenPhases& of_thread = OpenPhases::of_thread();
    const std::lock_guard guard(mutex_);
    if (is_closed_) {
      return 0;
    }
    if (recorder_ != nullptr) {
      recorder_->expect_phases();
      open->begin = recorder_->now();
      open->thread = recorder_->number_of_thread();
    }
    open_.reserve(open_.size() + 1);
    open->phase = phase_of(outer, open->name);
    open->number = ++last_number_;
    Open& begun = of_thread.add(std::move(open));
    open_.push_back(&begun);
    return begun.number;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void PhaseLog::end(std::uint64_t number) noexcept {
  flush_counts();
  if (number == 0 || (innermost != nullptr && OpenPhases::of_thread().remove(*this, number))) {
    return;
  }
  const std::lock_guard guard(mutex_);
  const auto elsewhere = std::find_if(open_.begin(), open_.end(),
                                      [=](const Open* each) { return each->number == number; });
  if (elsewhere != open_.end()) {
    finish(**elsewhere, false);
  }
}

// For a phase that has ended already it does nothing.
void PhaseLog::finish(Open& open, bool is_left_open) noexcept {
  const auto found = std::find(open_.begin(), open_.end(), &open);
  if (found == open_.end()) {
    return;
  }
  open_.erase(found);
  if (recorder_ != nullptr) {
    const std::int64_t duration = std::max<std::int64_t>(recorder_->now() - open.begin, 0);
    recorder_->keep_phase(open.begin, duration, open.thread, open.phase);
    WaitTally& time = entries_[open.phase - 1].time;
    time.count += 1;
    time.total_ns += static_cast<std::uint64_t>(duration);
    time.longest_ns = std::max(time.longest_ns, static_cast<std::uint64_t>(duration));
    entries_[open.phase - 1].left_open += is_left_open ? 1 : 0;
  }
  open.has_ended.store(true);
}

Status PhaseLog::end_innermost(std::string_view name) {
  const Open* const open = innermost_of_thread();
  if (open != nullptr && (name.empty() || open->name == name)) {
    end(open->number);
    return {};
  }
  return Status::error(
             Code::invalid_argument,
             open == nullptr
                 ? fmt::format("end of phase '{}': this thread is in no phase", name)
                 : fmt::format("end of phase '{}': the innermost phase of this thread is '{}'",
                               name, path_of(open->phase)))
      .hint("end phases on the thread that began them, the innermost one first");
}

void PhaseLog::close() noexcept {
  const std::lock_guard guard(mutex_);
  is_closed_ = true;
  while (!open_.empty()) {
    finish(*open_.back(), true);
  }
  recorder_ = nullptr;
}

// Requires: mutex_ is locked. A phase within itself has two entries, so none is visited twice,
// except the one of further phases.
template <class Body>
void PhaseLog::for_each_entry_of_thread(Body&& body) {
  std::uint32_t last = 0;
  for (const Open* open = innermost; open != nullptr; open = open->outer) {
    if (open->log.get() == this && !open->has_ended.load() && open->phase != last) {
      last = open->phase;
      body(entries_[last - 1]);
    }
  }
}

void PhaseLog::add_wait(Wait wait, std::uint64_t bytes, std::int64_t ticks,
                        const std::string& label) {
  const auto add = [&](WaitTally& tally) {
    tally.count += 1;
    tally.bytes += bytes;
    tally.total_ns += static_cast<std::uint64_t>(ticks);
    tally.longest_ns = std::max(tally.longest_ns, static_cast<std::uint64_t>(ticks));
  };
  const std::lock_guard guard(mutex_);
  for_each_entry_of_thread([&](Entry& entry) {
    add(entry.waits[static_cast<std::size_t>(wait)]);
    if (!label.empty()) {
      add(entry.calls[label]);
    }
  });
}

void PhaseLog::add_operations(std::size_t name, Op op, const Tally& tally) {
  const std::lock_guard guard(mutex_);
  for_each_entry_of_thread(
      [&](Entry& entry) { entry.operations[name][static_cast<std::size_t>(op)] += tally; });
}

std::string PhaseLog::path_of(std::uint32_t phase) const {
  const std::lock_guard guard(mutex_);
  return phase == 0 || phase > entries_.size() ? std::string() : entries_[phase - 1].path;
}

std::vector<std::string> PhaseLog::paths() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> all;
  for (const Entry& each : entries_) {
    all.push_back(each.path);
  }
  return all;
}

std::vector<PhaseTotals> PhaseLog::totals(const TickScale& scale,
                                          const std::vector<std::string>& names) const {
  const auto in_ns = [&scale](WaitTally tally) {
    tally.total_ns =
        static_cast<std::uint64_t>(scale.span_ns(static_cast<std::int64_t>(tally.total_ns)));
    tally.longest_ns =
        static_cast<std::uint64_t>(scale.span_ns(static_cast<std::int64_t>(tally.longest_ns)));
    return tally;
  };
  const std::lock_guard guard(mutex_);
  std::vector<PhaseTotals> all;
  for (const Entry& entry : entries_) {
    PhaseTotals& phase = all.emplace_back();
    phase.path = entry.path;
    phase.time = in_ns(entry.time);
    phase.left_open = entry.left_open;
    std::transform(entry.waits.begin(), entry.waits.end(), phase.waits.begin(), in_ns);
    for (const auto& [label, tally] : entry.calls) {
      phase.calls.push_back({label, in_ns(tally)});
    }
    for (const auto& [name, by_op] : entry.operations) {
      phase.operations.push_back({name < names.size() ? names[name] : std::string(), by_op});
    }
  }
  return all;
}

}  // namespace tessera::rma::detail
