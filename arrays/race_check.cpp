// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/race_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <new>
#include <set>
#include <span>
#include <utility>

#include "arrays/detail/access_record.hpp"
#include "arrays/detail/block_snapshot.hpp"
#include "arrays/detail/call_site.hpp"
#include "arrays/detail/order_graph.hpp"
#include "arrays/detail/race_search.hpp"
#include "rma/base/processor_counter.hpp"
#include "rma/label.hpp"
#include "rma/order_observer.hpp"
#include "rma/phase.hpp"
#include "rma/team_number.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

constexpr std::string_view remedy = "put a sync between them, or a lock, a flag or a notification";

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
  /// On the clock of this machine, in its unit.
  [[nodiscard]] std::int64_t now() const noexcept {
    return has_counter_ ? rma::detail::processor_counter() : rma::detail::steady_clock_ns();
  }

  void add(const std::shared_ptr<RaceLog>& log) {
    const std::lock_guard guard(mutex_);
    std::erase_if(logs_, [](const auto& each) { return each.expired(); });
    logs_.push_back(log);
    const std::lock_guard orders_guard(orders_mutex_);
    std::erase_if(orders_by_team_, [&](const auto& each) { return !is_logged(each.first); });
    orders_by_team_.try_emplace(log->team_);
  }

  void on_order(const rma::OrderCall& call) noexcept override {
    const std::lock_guard guard(orders_mutex_);
    const std::uint64_t number = orders_.fetch_add(1);
    for (auto& [team, table] : orders_by_team_) {
      table.add(call, number);
    }
  }

  // A collective of one team also orders some members of other teams: begin_epoch() records it as
  // an ordering call for these.
  void on_meeting(const rma::detail::TeamState& team) noexcept override {
    const std::lock_guard guard(mutex_);
    for (const auto& each : logs_) {
      if (const auto log = each.lock(); log && log->team_ == &team) {
        log->end_epoch();
      }
    }
    begin_epoch(team);
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

  // Checks all arrays of the team together, so that recorded ordering calls can be dropped.
  Status check(rma::Team& team, Status& race) {
    return team.do_together([&] {
      const std::vector<std::shared_ptr<RaceLog>> logs = logs_of(team);
      return logs.empty() ? Status() : check_logs(team, logs, race);
    });
  }

 private:
  void begin_epoch(const rma::detail::TeamState& team) noexcept {
    const std::lock_guard guard(orders_mutex_);
    const std::uint64_t number = orders_.fetch_add(1);
    std::uint64_t object = 0;
    for (auto& [each, table] : orders_by_team_) {
      if (each == &team) {
        table.begin_epoch();
        continue;
      }
      if (object == 0) {
        object = rma::detail::number_of_team(rma::detail::members_of(team));
      }
      table.add({rma::OrderCall::Kind::both, object}, number);
    }
  }

  // Requires: mutex_ is locked.
  [[nodiscard]] bool is_logged(const rma::detail::TeamState* team) const noexcept {
    return std::any_of(logs_.begin(), logs_.end(), [&](const auto& each) {
      const auto log = each.lock();
      return log && log->team_ == team;
    });
  }

  Status check_logs(rma::Team& team, std::span<const std::shared_ptr<RaceLog>> logs, Status& race) {
    on_meeting(*team.shared_state());
    MemberLog mine;
    mine.arrays.reserve(logs.size());
    for (const auto& log : logs) {
      mine.arrays.push_back(take(*log));
    }
    take_orders(team, mine);
    std::set<RaceKind> known = known_races();
    TESSERA_ASSIGN_OR_RETURN(const auto races, find_races(job_, team, mine, known));
    for (const Race& each : races) {
      TESSERA_ASSIGN_OR_RETURN(const std::string first,
                               site_of(team, logs, each.array, each.first, each.first_rank));
      TESSERA_ASSIGN_OR_RETURN(const std::string second,
                               site_of(team, logs, each.array, each.second, each.second_rank));
      report(each,
             fmt::format("{}: {}; {}: {}", to_string(each.first.kind), first,
                         to_string(each.second.kind), second),
             logs, race);
    }
    for (std::size_t at = 0; at < logs.size(); ++at) {
      logs[at]->drop_changes();
      give_back(*logs[at], std::move(mine.arrays[at].accesses));
    }
    if (!races.empty()) {
      const std::lock_guard guard(mutex_);
      known_.merge(known);
    }
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

  ArrayLog take(RaceLog& log) {
    std::string incomplete;
    ArrayLog taken;
    {
      const std::lock_guard guard(log.mutex_);
      if (!log.array_) {
        return taken;
      }
      if (log.has_dropped_records_ && !log.has_reported_drop_) {
        incomplete = log.array_->text;
        log.has_reported_drop_ = true;
      }
      log.has_dropped_records_ = false;
      taken = {.array = log.array_->number,
               .is_strict = log.array_->is_strict,
               .epoch = log.epoch_,
               .accesses = log.list_->take()};
    }
    if (!incomplete.empty()) {
      job_.log().warning(
          fmt::format("the race check of {} is incomplete: this rank used more than {} boxes of it "
                      "between two syncs",
                      incomplete, AccessList::max_records));
    }
    return taken;
  }

  static void give_back(RaceLog& log, std::vector<AccessRecord> taken) noexcept {
    const std::lock_guard guard(log.mutex_);
    if (log.array_) {
      log.list_->give_back(std::move(taken));
    }
  }

  void take_orders(const rma::Team& team, MemberLog& log) {
    const std::lock_guard guard(orders_mutex_);
    OrderTable& table = orders_by_team_[team.shared_state().get()];
    log.has_all_orders = table.is_complete();
    log.orders = table.take();
  }

  // Collective. The call site and the phase of an access, as text. Only the access's own rank can
  // find them; it sends them to all.
  Result<std::string> site_of(rma::Team& team, std::span<const std::shared_ptr<RaceLog>> logs,
                              std::uint64_t array, const AccessRecord& access,
                              rma::WorldRank rank) {
    constexpr std::size_t room = 256;
    std::array<char, room> text{};
    if (rank == job_.rank()) {
      CallSite site;
      for (const auto& log : logs) {
        const std::lock_guard guard(log->mutex_);
        site = log->array_ && log->array_->number == array ? log->list_->sites().site(access.site)
                                                           : site;
      }
      const std::string phase = rma::detail::path_of_phase(job_, access.phase);
      const std::string found = fmt::format(
          "{}{}{}", describe(site), phase.empty() ? "" : fmt::format(" in phase '{}'", phase),
          access.has_other_sites ? ", and elsewhere" : "");
      std::copy_n(found.data(), std::min(found.size(), room - 1), text.data());
    }
    TESSERA_RETURN_IF_ERROR(
        team.broadcast(std::as_writable_bytes(std::span(text)), team.team_rank(rank)));
    return std::string(text.data());
  }

  // Holds no lock while the message is logged: the program's log sink may use arrays.
  void report(const Race& race, const std::string& sites,
              std::span<const std::shared_ptr<RaceLog>> logs, Status& first) {
    std::string array;
    for (const auto& log : logs) {
      const std::lock_guard guard(log->mutex_);
      array = log->array_ && log->array_->number == race.array ? log->array_->text : array;
    }
    const std::string text = text_of(race, array);
    if (fails_ && first.ok()) {
      first =
          Status::error(Code::invalid_argument, fmt::format("{}; {}", text, sites)).hint(remedy);
    }
    if (!fails_ && race.finder == job_.rank()) {
      job_.log().warning(fmt::format("{}; {}; {}", text, remedy, sites));
    }
  }

  rma::Job job_;
  bool fails_;
  bool has_counter_ = rma::detail::kernel_trusts_counter();
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

// Records elements in the order of their indices, so that neighbours are merged to boxes.
void RaceLog::note(AccessKind kind, std::vector<Index> elements) noexcept {
  std::sort(elements.begin(), elements.end(), [](const Index& a, const Index& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  guarded([&] {
    AccessRecord one = make_record(kind, {});
    for (const Index& element : elements) {
      one.box = Box::at(element);
      add(one);
    }
  });
}

AccessRecord RaceLog::make_record(AccessKind kind, const Box& box) const noexcept {
  const std::int64_t now = check_.now();
  const std::uint64_t orders = check_.orders();
  return {.box = box,
          .end_byte = static_cast<std::uint32_t>(array_->element_bytes),
          .kind = kind,
          .site = list_->sites().number_of(find_call_site()),
          .phase = check_.phase(),
          .orders = orders,
          .last_orders = orders,
          .first_time = now,
          .last_time = now};
}

void RaceLog::add(AccessRecord access) {
  if (access.box.is_empty()) {
    return;
  }
  access.epoch = epoch_;
  access.acquired = access.last_orders > epoch_orders_;
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

// An access that may have happened at any time since the local access began, or since the last
// collective if that was later.
AccessRecord RaceLog::record_during_use(const Use& use, AccessKind kind,
                                        const Box& box) const noexcept {
  AccessRecord changed = make_record(kind, box);
  changed.site = use.begin.site;
  changed.phase = use.begin.phase;
  changed.first_time = use.begin.first_time;
  changed.orders = std::max(use.begin.orders, epoch_orders_);
  return changed;
}

void RaceLog::add_changes(Use& use, bool is_last) {
  AccessRecord changed = record_during_use(use, AccessKind::local_write, {});
  for (BlockSnapshot& snapshot : use.snapshots) {
    snapshot.take_changes(
        [&](const Box& part) {
          changed.box = part;
          add(changed);
        },
        is_last);
  }
}

// Marks accesses of the epoch if this rank made an ordering call after them: the call may have
// ordered them before another rank's operations.
void RaceLog::end_epoch() noexcept {
  guarded([&] {
    for (Use& use : uses_) {
      add_changes(use);
    }
  });
  const std::lock_guard guard(mutex_);
  const std::uint64_t orders = check_.orders();
  for (AccessRecord& each : list_->records_of_epoch()) {
    each.released = each.released || orders > each.orders;
  }
  list_->begin_epoch();
  ++epoch_;
}

// Puts of other ranks before this check may have changed elements after this rank compared them.
// They are no longer logged, so the changes are dropped.
void RaceLog::drop_changes() noexcept {
  guarded([&] {
    for (Use& use : uses_) {
      for (BlockSnapshot& snapshot : use.snapshots) {
        snapshot.take_changes([](const Box& /*part*/) {});
      }
    }
  });
}

void RaceLog::begin_epoch() noexcept {
  const std::lock_guard guard(mutex_);
  epoch_orders_ = check_.orders();
}

}  // namespace tessera::arrays::detail
