// SPDX-License-Identifier: BSD-3-Clause
#include "rma/notify.hpp"

#include <fmt/format.h>

#include <atomic>

#include "rma/atomic.hpp"
#include "rma/coalescing_scope.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/named.hpp"
#include "rma/interruption.hpp"
#include "rma/node/agent_host.hpp"
#include "rma/progress/long_wait.hpp"
#include "rma/protocol/locate.hpp"
#include "rma/transfer.hpp"

namespace tessera::rma {
namespace {

using detail::JobState;

Status check_flag(const RemoteAddress& flag) {
  if (flag.offset % sizeof(std::int32_t) != 0) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("flag at offset {}, which is not aligned to 4 bytes", flag.offset));
  }
  return {};
}

// The counter of notifications from `sender` to this rank.
const std::atomic<std::uint64_t>& received(const JobState& job, WorldRank sender) {
  const detail::NodeMemory& memory = job.node().memory();
  const int local_rank = job.node().local_rank_of(sender);
  return local_rank >= 0 ? memory.notices(job.node().local_rank(), local_rank)
                         : memory.remote_notices(job.node().local_rank(), sender);
}

bool is_gone(const JobState& job, WorldRank rank) {
  const int local_rank = job.node().local_rank_of(rank);
  return local_rank >= 0 ? job.node().is_gone(local_rank) : job.link()->is_gone(rank);
}

Result<detail::Located> locate_flag(JobState& job, const RemoteAddress& flag) {
  TESSERA_RETURN_IF_ERROR(check_flag(flag));
  return locate(job, Op::put, flag, {0, sizeof(std::int32_t)});
}

std::atomic_ref<std::int32_t> word_at(std::byte* address) {
  return std::atomic_ref<std::int32_t>(*reinterpret_cast<std::int32_t*>(address));
}

// Operations of ranks of other nodes arrive here through the rank that runs this node's agent.
bool has_lost_route_from(const JobState& job, WorldRank rank) {
  return job.node().local_rank_of(rank) < 0 && detail::has_lost_agent_host(job.node());
}

Status lost(WorldRank rank, std::string_view missing) {
  return Status::error_at(rank, Code::peer_lost,
                          fmt::format("rank {} is gone: {}", rank.value, missing));
}

// The error after a wait for `writer` that cannot succeed.
Status wait_failed(const JobState& job, WorldRank writer, std::string_view missing) {
  if (Interruption::is_requested()) {
    return Status::error(Code::timed_out, fmt::format("the wait for rank {} was interrupted: {}",
                                                      writer.value, missing));
  }
  if (!has_lost_route_from(job, writer) || is_gone(job, writer)) {
    return lost(writer, missing);
  }
  const WorldRank host = detail::agent_host_of(job.node());
  return Status::error_at(
      host, Code::peer_lost,
      fmt::format("rank {} died; it ran this node's agent, so nothing from rank {} can arrive any "
                  "more: {}",
                  host.value, writer.value, missing));
}

// Sleeps until `ready()`, or until `writer` can no longer cause it, or until this thread is
// interrupted; returns ready(). First sends what this thread holds back, as the writer may wait for
// it. Logs a long wait with the text of `describe()`.
template <class Ready, class Describe>
bool listen(JobState& job, WorldRank writer, Ready&& ready, Describe&& describe) {
  if (ready()) {
    return true;
  }
  if (job.link() != nullptr) {
    job.link()->send_held();
  }
  detail::LongWait long_wait(job.settings());
  return job.node().listen_until(ready, [&] {
    report_if_long(long_wait, job.log(), describe);
    return has_lost_route_from(job, writer) || is_gone(job, writer) || Interruption::is_requested();
  });
}

// Sleeps until the flag satisfies `is_wanted`, or `writer` is lost; returns the last value read.
template <class IsWanted>
Result<std::int32_t> wait_on_flag(JobState& job, const RemoteAddress& flag, WorldRank writer,
                                  const Label* known, IsWanted&& is_wanted) {
  TESSERA_RETURN_IF_ERROR(check_flag(flag));
  if (flag.rank != job.rank()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format(
            "rank {} waits for a flag of rank {}; a flag must be in the waiting rank's slice",
            job.rank().value, flag.rank.value));
  }
  TESSERA_RETURN_IF_ERROR(job.check_rank(writer));
  TESSERA_ASSIGN_OR_RETURN(const detail::Located located,
                           locate(job, Op::get, flag, {0, sizeof(std::int32_t)}));
  std::byte* const address = located.region->segment().local() + flag.offset;
  std::int32_t seen = 0;
  const auto is_set = [&] {
    seen = word_at(address).load(std::memory_order_acquire);
    return is_wanted(seen);
  };
  const Label label = known == nullptr ? located.region->label("flag") : *known;
  const detail::WaitScope wait(job.recorder(), detail::Wait::notice, writer, 0, &label);
  listen(job, writer, is_set, [&] {
    return fmt::format("for rank {} to set the flag at offset {} of {}, which is {}", writer.value,
                       flag.offset, located.region->describe(), seen);
  });
  if (OrderObserver* const observer = job.observers().current()) [[unlikely]] {
    observer->on_order({OrderCall::Kind::acquire, detail::number_of_word(flag)});
    observer->on_order({OrderCall::Kind::acquire, detail::number_of_flag(flag, seen)});
  }
  return seen;
}

// Returns the number of notifications that were sent to the rank.
Result<std::uint64_t> send_notification(Job& job, WorldRank rank) {
  JobState& state = job.state();
  TESSERA_RETURN_IF_ERROR(state.check_running());
  TESSERA_RETURN_IF_ERROR(state.check_rank(rank));
  const int local_rank = state.node().local_rank_of(rank);
  if (local_rank < 0) {
    // After the operations in flight; the connection keeps the order of the rest.
    TESSERA_RETURN_IF_ERROR(job.wait_rank(rank));
    state.slices().counters().add(rank, detail::no_region, Op::notify, {1, 0});
    return state.link()->notify(rank);
  }
  if (state.node().is_gone(local_rank)) {
    return lost(rank, "it cannot be notified");
  }
  TESSERA_RETURN_IF_ERROR(job.fence(rank));
  std::atomic<std::uint64_t>& sent =
      state.node().memory().notices(local_rank, state.node().local_rank());
  const std::uint64_t count = sent.fetch_add(1) + 1;
  state.node().ring(local_rank);
  state.slices().counters().add(rank, detail::no_region, Op::notify, {1, 0});
  return count;
}

}  // namespace

Status put_with_flag(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                     RemoteAddress flag, std::int32_t value) {
  return detail::named(job.state(), [&]() -> Status {
    if (flag.rank != to.rank) {
      return Status::error(Code::invalid_argument,
                           fmt::format("the data are for rank {}, but their flag is on rank {}",
                                       to.rank.value, flag.rank.value));
    }
    // Checked first: nothing is sent if either is wrong.
    TESSERA_RETURN_IF_ERROR(locate_flag(job.state(), flag).status());
    const bool is_elsewhere = job.state().node().local_rank_of(to.rank) < 0;
    if (is_elsewhere && shape.total_bytes() <= max_bytes_with_flag) {
      const auto start = [&] { return put_async(job, to, from, shape); };
      return start_with_flag(job, std::cref(start), flag, value);
    }
    TESSERA_RETURN_IF_ERROR(put(job, to, from, shape));
    return raise_flag(job, flag, value);
  });
}

Status start_with_flag(Job& job, const std::function<Handle()>& start, RemoteAddress flag,
                       std::int32_t value) {
  Handle data;
  Status raised;
  {
    const CoalescingScope one_message(job);
    data = start();
    if (data.has_ended()) {
      TESSERA_RETURN_IF_ERROR(data.wait());  // the puts may have been refused
    }
    raised = raise_flag(job, flag, value);
  }
  Status copied = data.wait();
  return copied.ok() ? raised : copied;
}

Status raise_flag(Job& job, RemoteAddress flag, std::int32_t value) {
  return detail::named(job.state(), [&]() -> Status {
    JobState& state = job.state();
    if (OrderObserver* const observer = state.observers().current()) [[unlikely]] {
      observer->on_order({OrderCall::Kind::release, detail::number_of_raised(flag)});
      observer->on_order({OrderCall::Kind::release, detail::number_of_flag(flag, value)});
    }
    TESSERA_ASSIGN_OR_RETURN(const detail::Located word, locate_flag(state, flag));
    const int local_rank = state.node().local_rank_of(flag.rank);
    if (local_rank < 0 && state.link()->can_raise_flags()) {
      // The connection keeps the order. Fences go by routes; this one makes them cover the flag.
      TESSERA_RETURN_IF_ERROR(state.routes().to(flag.rank).status());
      return state.link()->raise_flag(flag.rank, flag.region, flag.offset, value);
    }
    if (word.slice != nullptr) {
      word_at(word.slice + flag.offset).store(value, std::memory_order_release);
    } else {
      TESSERA_RETURN_IF_ERROR(job.fence(flag.rank));
      // Not a put: only an atomic store publishes the earlier data to the rank that reads the flag.
      TESSERA_RETURN_IF_ERROR(swap(job, flag, value).status());
    }
    if (local_rank < 0) {
      return state.link()->ring(flag.rank);
    }
    state.node().ring(local_rank);
    return {};
  });
}

Status wait_for_flag(Job& job, RemoteAddress flag, std::int32_t value, WorldRank writer) {
  return detail::named(job.state(), [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::int32_t last,
                             wait_on_flag(job.state(), flag, writer, nullptr,
                                          [&](std::int32_t seen) { return seen == value; }));
    return last == value
               ? Status()
               : wait_failed(job.state(), writer, fmt::format("the flag is not {}", value));
  });
}

Result<std::int32_t> wait_for_flag_change(Job& job, RemoteAddress flag, std::int32_t value,
                                          WorldRank writer, const Label* label) {
  return detail::named(job.state(), [&]() -> Result<std::int32_t> {
    TESSERA_ASSIGN_OR_RETURN(const std::int32_t last,
                             wait_on_flag(job.state(), flag, writer, label,
                                          [&](std::int32_t seen) { return seen != value; }));
    if (last == value) {
      return wait_failed(job.state(), writer, fmt::format("the flag is still {}", value));
    }
    return last;
  });
}

Result<std::uint64_t> notify(Job& job, WorldRank rank) {
  return detail::named(job.state(), [&]() -> Result<std::uint64_t> {
    TESSERA_ASSIGN_OR_RETURN(const std::uint64_t count, send_notification(job, rank));
    job.state().observers().report_order(OrderCall::Kind::release, [&] {
      return detail::number_of_notification(job.rank(), rank, count);
    });
    return count;
  });
}

Result<std::uint64_t> wait_for_notifications(Job& job, WorldRank rank, std::uint64_t count) {
  return detail::named(job.state(), [&]() -> Result<std::uint64_t> {
    JobState& state = job.state();
    TESSERA_RETURN_IF_ERROR(state.check_running());
    TESSERA_RETURN_IF_ERROR(state.check_rank(rank));
    const std::atomic<std::uint64_t>& sent = received(state, rank);
    const Label label{.verb = "wait_for_notifications"};
    const detail::WaitScope wait(state.recorder(), detail::Wait::notice, rank, 0, &label);
    const auto describe = [&] {
      return fmt::format("for notifications of rank {}, which has sent {} of {}", rank.value,
                         sent.load(), count);
    };
    if (!listen(
            state, rank, [&] { return sent.load() >= count; }, describe)) {
      return wait_failed(state, rank,
                         fmt::format("it sent {} of {} notifications", sent.load(), count));
    }
    const std::uint64_t seen = sent.load();
    state.observers().report_order(OrderCall::Kind::acquire, [&] {
      return detail::number_of_notification(rank, job.rank(), seen);
    });
    return seen;
  });
}

}  // namespace tessera::rma
