// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/race_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <new>
#include <set>
#include <span>
#include <utility>

#include "arrays/detail/access_record.hpp"
#include "arrays/detail/block_snapshot.hpp"
#include "arrays/detail/order_graph.hpp"
#include "arrays/detail/race_search.hpp"
#include "rma/base/call_site.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/label.hpp"
#include "rma/order_observer.hpp"
#include "rma/phase.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

constexpr std::string_view remedy = "put a sync between them, or a lock, a flag or a notification";

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// What orders the members of a team in its collectives, for arrays of other teams. Teams of the
// same members have one number.
std::uint64_t number_of_team(const rma::detail::TeamState& team) {
  constexpr std::uint64_t teams = 4;
  std::uint64_t number = teams;
  for (const rma::WorldRank member : rma::detail::members_of(team)) {
    number = rma::Label::mix(number, static_cast<std::uint32_t>(member.value));
  }
  return number;
}

std::string text_of(const AccessRecord& access, rma::WorldRank rank) {
  return fmt::format("{} of {} by rank {}", to_string(access.kind),
                     access.steps.is_empty() ? to_string(access.box)
                                             : to_string(Section(access.box, access.steps)),
                     rank.value);
}

std::string text_of(const Race& race, const std::string& array) {
  return fmt::format("race in {}: {} and {} share {}, and nothing orders them", array,
                     text_of(race.first, race.first_rank), text_of(race.second, race.second_rank),
                     to_string(race.common));
}

}  // namespace

/// A local access that has not ended.
struct RaceLog::Use {
  std::uint64_t number = 0;
  std::uint32_t epoch = 0;  ///< epoch in which it began
  AccessRecord begin;       ///< time, order and call site when it began
  std::vector<Box> blocks = {};
  std::vector<BlockSnapshot> snapshots = {};  ///< copies of the blocks, if it may write
};

/// The logs of a job. Ownership: the job owns it; arrays own their logs.
class RaceCheck : public rma::OrderObserver {
 public:
  RaceCheck(const rma::Job& job, bool fails)
      : job_(rma::Job::unowned(job.state())), fails_(fails) {}

  [[nodiscard]] std::uint64_t orders() const noexcept { return orders_.load(); }
  [[nodiscard]] std::uint32_t phase() const noexcept { return rma::detail::current_phase(job_); }

  void add(const std::shared_ptr<RaceLog>& log) {
    const std::lock_guard guard(mutex_);
    std::erase_if(logs_, [](const auto& each) { return each.expired(); });
    logs_.push_back(log);
    const std::lock_guard orders_guard(orders_mutex_);
    orders_by_team_.try_emplace(log->team_);
  }

  void on_order(const rma::OrderCall& call) noexcept override {
    const std::lock_guard guard(orders_mutex_);
    const std::uint64_t number = orders_.fetch_add(1);
    for (auto& [team, table] : orders_by_team_) {
      table.add(call, number);
    }
  }

  // For arrays of other teams, this team's collective orders some of their members.
  void on_meeting(const rma::detail::TeamState& team) noexcept override {
    const std::lock_guard guard(mutex_);
    for (const auto& each : logs_) {
      if (const auto log = each.lock(); log && log->team_ == &team) {
        log->end_epoch();
      }
    }
    begin_epoch(team);
    on_order({rma::OrderCall::Kind::both, number_of_team(team)});
    for (const auto& each : logs_) {
      if (const auto log = each.lock(); log && log->team_ == &team) {
        log->begin_epoch();
      }
    }
  }

  Status before_barrier(rma::Team& team) override {
    Status race;
    const rma::LabelScope scope(team, {.verb = "barrier"});
    TESSERA_RETURN_IF_ERROR(check(team, race));
    return race;
  }

  // Of all the team's arrays, so that its ordering calls aren't needed afterwards.
  Status check(rma::Team& team, Status& race) {
    return rma::detail::catch_bad_alloc([&] {
      const std::vector<std::shared_ptr<RaceLog>> logs = logs_of(team);
      return logs.empty() ? Status() : check_logs(team, logs, race);
    });
  }

 private:
  void begin_epoch(const rma::detail::TeamState& team) noexcept {
    const std::lock_guard guard(orders_mutex_);
    if (const auto table = orders_by_team_.find(&team); table != orders_by_team_.end()) {
      table->second.begin_epoch();
    }
  }

  Status check_logs(rma::Team& team, std::span<const std::shared_ptr<RaceLog>> logs, Status& race) {
    on_meeting(*team.shared_state());
    MemberLog mine;
    for (const auto& log : logs) {
      take(*log, mine.accesses);
    }
    take_orders(team, mine);
    std::set<RaceKind> known = known_races();
    TESSERA_ASSIGN_OR_RETURN(const auto races, find_races(job_, team, mine, known));
    for (const Race& each : races) {
      TESSERA_ASSIGN_OR_RETURN(const std::string first,
                               place_of(team, each.first, each.first_rank));
      TESSERA_ASSIGN_OR_RETURN(const std::string second,
                               place_of(team, each.second, each.second_rank));
      tell(each,
           fmt::format("{}: {}; {}: {}", to_string(each.first.kind), first,
                       to_string(each.second.kind), second),
           logs, race);
    }
    for (const auto& log : logs) {
      log->drop_changes();
    }
    const std::lock_guard guard(mutex_);
    known_.merge(known);
    return {};
  }

  // If races are errors, they are reported each time.
  [[nodiscard]] std::set<RaceKind> known_races() {
    const std::lock_guard guard(mutex_);
    return fails_ ? std::set<RaceKind>() : known_;
  }

  // Only logs of arrays that exist: a local access may own the log of an array that was freed.
  [[nodiscard]] std::vector<std::shared_ptr<RaceLog>> logs_of(const rma::Team& team) {
    std::vector<std::shared_ptr<RaceLog>> found;
    const std::lock_guard guard(mutex_);
    for (const auto& each : logs_) {
      auto log = each.lock();
      if (log && log->team_ == team.shared_state().get() && log->is_open()) {
        found.push_back(std::move(log));
      }
    }
    return found;
  }

  void take(RaceLog& log, std::vector<LoggedAccess>& all) {
    const std::lock_guard guard(log.mutex_);
    if (!log.array_) {
      return;
    }
    all.reserve(all.size() + log.list_->records().size());
    for (const AccessRecord& access : log.list_->records()) {
      all.push_back({log.array_->number, log.array_->is_strict, access, log.epoch_ - access.epoch});
    }
    log.list_->clear();
    if (std::exchange(log.has_dropped_records_, false) &&
        !std::exchange(log.has_reported_drop_, true)) {
      job_.log().warning(
          fmt::format("the race check of {} is incomplete: this rank used more than {} boxes of it "
                      "between two syncs",
                      log.array_->text, AccessList::max_records));
    }
  }

  void take_orders(const rma::Team& team, MemberLog& log) {
    const std::lock_guard guard(orders_mutex_);
    OrderTable& table = orders_by_team_[team.shared_state().get()];
    log.has_all_orders = table.is_complete();
    log.orders = table.take();
  }

  // Collective. Where a rank made an access. Only that rank can look it up.
  Result<std::string> place_of(rma::Team& team, const AccessRecord& access, rma::WorldRank rank) {
    constexpr std::size_t room = 256;
    std::array<char, room> text{};
    if (rank == job_.rank()) {
      const std::string phase = rma::detail::path_of_phase(job_, access.phase);
      const std::string place =
          fmt::format("{}{}{}", rma::detail::describe(access.site),
                      phase.empty() ? "" : fmt::format(" in phase '{}'", phase),
                      access.has_other_sites ? ", and elsewhere" : "");
      std::copy_n(place.data(), std::min(place.size(), room - 1), text.data());
    }
    TESSERA_RETURN_IF_ERROR(
        team.broadcast(std::as_writable_bytes(std::span(text)), team.team_rank(rank)));
    return std::string(text.data());
  }

  void tell(const Race& race, const std::string& places,
            std::span<const std::shared_ptr<RaceLog>> logs, Status& first) {
    for (const auto& log : logs) {
      const std::lock_guard guard(log->mutex_);
      if (!log->array_ || log->array_->number != race.array) {
        continue;
      }
      const std::string text = text_of(race, log->array_->text);
      if (fails_ && first.ok()) {
        first =
            Status::error(Code::invalid_argument, fmt::format("{}; {}", text, places)).hint(remedy);
      }
      if (!fails_ && race.finder == job_.rank()) {
        job_.log().warning(fmt::format("{}; {}; {}", text, remedy, places));
      }
    }
  }

  rma::Job job_;
  bool fails_;
  std::atomic<std::uint64_t> orders_{0};
  std::mutex mutex_;         // locked before the mutex of a log
  std::mutex orders_mutex_;  // locked last
  std::map<const rma::detail::TeamState*, OrderTable> orders_by_team_;
  std::vector<std::weak_ptr<RaceLog>> logs_;
  std::set<RaceKind> known_;
};

RaceLog::RaceLog(RaceCheck& check, const rma::detail::TeamState* team)
    : check_(check), team_(team), list_(std::make_unique<AccessList>()) {}

RaceLog::~RaceLog() = default;

Result<std::shared_ptr<RaceLog>> RaceLog::create(const rma::Job& job, const rma::Team& team) {
  const std::string& wanted = job.settings().check;
  if (wanted == "off") {
    return std::shared_ptr<RaceLog>();
  }
  rma::OrderObserver* observer = job.order_observer();
  if (observer == nullptr) {
    rma::Job same = job;
    observer = &same.observe_order(std::make_unique<RaceCheck>(job, wanted == "races-fail"));
  }
  auto& check = static_cast<RaceCheck&>(*observer);
  std::shared_ptr<RaceLog> log(new RaceLog(check, team.shared_state().get()));
  check.add(log);
  return log;
}

Status RaceLog::check(rma::Team& team, const rma::Label& label, Status& race) {
  const rma::LabelScope scope(team, label);
  return check_.check(team, race);
}

void RaceLog::open(LoggedArray array) {
  const std::lock_guard guard(mutex_);
  array_.emplace(std::move(array));
}

bool RaceLog::is_open() noexcept {
  const std::lock_guard guard(mutex_);
  return array_.has_value();
}

void RaceLog::close() noexcept {
  const std::lock_guard guard(mutex_);
  array_.reset();
  *list_ = {};
  uses_.clear();
  rooms_.clear();
}

// If memory runs out, the access is not recorded.
template <class Body>
void RaceLog::guarded(Body&& body) noexcept {
  const std::lock_guard guard(mutex_);
  if (!array_) {
    return;
  }
  try {
    body();
  } catch (const std::bad_alloc&) {
    has_dropped_records_ = true;
  }
}

void RaceLog::note(AccessKind kind, const Box& box) noexcept {
  guarded([&] {
    const bool may_be_flag = kind == AccessKind::put || kind == AccessKind::get;
    if (array_->has_flags && may_be_flag && box.volume() == 1) {
      using Order = rma::OrderCall::Kind;
      const rma::RemoteAddress word = array_->address_of(box.lo());
      check_.on_order({kind == AccessKind::put ? Order::release : Order::acquire,
                       rma::detail::number_of_word(word)});
      if (kind == AccessKind::get) {
        check_.on_order({Order::acquire, rma::detail::number_of_raised(word)});
      }
      add(make_record(AccessKind::atomic, box));
    } else {
      add(make_record(kind, box));
    }
  });
}

void RaceLog::note(AccessKind kind, const Section& section) noexcept {
  guarded([&] {
    AccessRecord one = make_record(kind, section.box());
    one.steps = section.steps();
    add(one);
  });
}

void RaceLog::note(AccessKind kind, const FieldBox& fields) noexcept {
  guarded([&] {
    AccessRecord one = make_record(kind, fields.box);
    one.first_byte = static_cast<std::uint32_t>(fields.field.offset);
    one.end_byte = static_cast<std::uint32_t>(fields.field.offset + fields.field.bytes);
    add(one);
  });
}

// In the order of their positions, so that neighbours form boxes.
void RaceLog::note(AccessKind kind, std::vector<Index> elements) noexcept {
  guarded([&] {
    std::sort(elements.begin(), elements.end(), [](const Index& a, const Index& b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    });
    AccessRecord one = make_record(kind, {});
    for (const Index& element : elements) {
      one.box = Box::at(element);
      add(one);
    }
  });
}

AccessRecord RaceLog::make_record(AccessKind kind, const Box& box) const noexcept {
  const std::int64_t now = now_ns();
  return {.box = box,
          .end_byte = static_cast<std::uint32_t>(array_->element_bytes),
          .kind = kind,
          .phase = check_.phase(),
          .orders = check_.orders(),
          .last_orders = check_.orders(),
          .first_ns = now,
          .last_ns = now,
          .site = rma::detail::find_call_site()};
}

void RaceLog::add(AccessRecord access) {
  if (access.box.is_empty()) {
    return;
  }
  access.epoch = epoch_;
  access.acquired = check_.orders() > epoch_orders_;
  if (!list_->add(access)) {
    has_dropped_records_ = true;
  }
}

std::uint64_t RaceLog::begin_use(bool may_write, std::optional<std::int64_t> block) noexcept {
  std::uint64_t number = 0;
  guarded([&] {
    Use use{
        .number = ++last_use_, .epoch = epoch_, .begin = make_record(AccessKind::local_read, {})};
    const Distribution& distribution = array_->distribution;
    const std::int64_t count = distribution.block_count(array_->self);
    const std::int64_t first = block.value_or(0);
    for (std::int64_t at = first; at < (block ? std::min(first + 1, count) : count); ++at) {
      const Patch patch = distribution.block(array_->self, at);
      use.blocks.push_back(patch.box);
      if (may_write) {
        SnapshotRoom room;
        if (!rooms_.empty()) {
          room = std::move(rooms_.back());
          rooms_.pop_back();
        }
        use.snapshots.emplace_back(patch, array_->slice, array_->element_bytes, std::move(room));
      }
    }
    uses_.push_back(std::move(use));
    number = last_use_;
  });
  return number;
}

void RaceLog::end_use(std::uint64_t number) noexcept {
  guarded([&] {
    const auto ended = std::find_if(uses_.begin(), uses_.end(),
                                    [&](const Use& use) { return use.number == number; });
    if (ended == uses_.end()) {
      return;
    }
    Use use = std::move(*ended);
    uses_.erase(ended);
    add_changes(use, true);
    for (BlockSnapshot& snapshot : use.snapshots) {
      rooms_.push_back(snapshot.take_room());
    }
    for (const Box& block : use.blocks) {
      if (use.epoch == epoch_) {
        add(record_during_use(use, AccessKind::local_read, block));
      }
    }
  });
}

// An access at any time since the access began, or since the last collective.
AccessRecord RaceLog::record_during_use(const Use& use, AccessKind kind,
                                        const Box& box) const noexcept {
  AccessRecord changed = make_record(kind, box);
  changed.site = use.begin.site;
  changed.phase = use.begin.phase;
  changed.first_ns = use.begin.first_ns;
  changed.orders = std::max(use.begin.orders, epoch_orders_);
  return changed;
}

void RaceLog::add_changes(Use& use, bool is_last) {
  const AccessRecord changed = record_during_use(use, AccessKind::local_write, {});
  for (BlockSnapshot& snapshot : use.snapshots) {
    snapshot.take_changes(
        [&](const Box& part) {
          AccessRecord one = changed;
          one.box = part;
          add(one);
        },
        is_last);
  }
}

// Marks the accesses since the last collective that later calls may have ordered before another
// rank's operations.
void RaceLog::end_epoch() noexcept {
  guarded([&] {
    for (Use& use : uses_) {
      add_changes(use);
    }
  });
  const std::lock_guard guard(mutex_);
  for (AccessRecord& each : list_->records()) {
    each.released = each.released || (each.epoch == epoch_ && check_.orders() > each.orders);
  }
  ++epoch_;
}

// Puts of other ranks before this check may have changed elements after this rank compared them.
// They are no longer logged, so the changes are dropped.
void RaceLog::drop_changes() noexcept {
  guarded([&] {
    for (Use& use : uses_) {
      for (BlockSnapshot& shadow : use.snapshots) {
        shadow.take_changes([](const Box& /*part*/) {});
      }
    }
  });
}

void RaceLog::begin_epoch() noexcept {
  const std::lock_guard guard(mutex_);
  epoch_orders_ = check_.orders();
}

}  // namespace tessera::arrays::detail
