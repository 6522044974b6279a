// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/layered_segment.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/protocol/actions.hpp"
#include "rma/protocol/locate.hpp"
#include "rma/protocol/mapped_word.hpp"
#include "rma/protocol/remote.hpp"

namespace tessera::rma {
namespace {

using detail::AccumulateAction;
using detail::CachedSlice;
using detail::GetAction;
using detail::JobState;
using detail::Located;
using detail::PutAction;
using detail::StripeLocks;
using kernels::Direction;

Status null_buffer(Op op, std::size_t bytes) {
  return Status::error(
      Code::invalid_argument,
      fmt::format("{} of {} bytes with a null local buffer", to_string(op), bytes));
}

// Counts an operation on a mapped slice, also an irregular one.
void count(const JobState& job, const RemoteAddress& at, Op op, const Tally& tally, Form form) {
  if (CachedSlice* const line = job.slices().cached(at.rank, at.region)) {
    line->count(op, tally.bytes, tally.operations, form);
  } else {
    job.slices().counters().add(at.rank, at.region, op, tally, form);
  }
}

Form form_of(const CopyShape& normalised) {
  return normalised.levels == 0 ? Form::contiguous : Form::strided;
}
Form form_of(Fragments) {
  return Form::scattered;
}
Form form_of(void*, const CopyShape& normalised) {
  return form_of(normalised);
}

// Looked up once for each entry of the slice cache.
Result<detail::Route*> route_to(JobState& job, const RemoteAddress& at) {
  CachedSlice* const line = job.slices().cached(at.rank, at.region);
  if (line != nullptr && detail::remote_of(*line).route != nullptr) {
    return detail::remote_of(*line).route;
  }
  TESSERA_ASSIGN_OR_RETURN(detail::Route * route, job.routes().to(at.rank));
  if (line != nullptr) {
    detail::remote_of(*line).route = route;
  }
  return route;
}

// The text before a rank in the message about a long wait.
constexpr std::string_view words_of(Op op) noexcept {
  return op == Op::get ? "a get from" : op == Op::put ? "a put to" : "an accumulate to";
}

// Receives the end of the parts of a transfer that are not done at once. Uses the completion of a
// blocking call, or that of an operation; creates either when it is first needed.
class PendingTransfer {
 public:
  PendingTransfer(JobState& job, WorldRank peer, bool blocking)
      : job_(job), peer_(peer), blocking_(blocking) {}

  Completion& completion() {
    if (blocking_) {
      return own_ ? *own_ : own_.emplace();
    }
    if (!operation_) {
      operation_ = detail::make_operation(job_, peer_);
      operation_->set_what(what_);
      job_.outstanding().add(operation_);
    }
    return operation_->completion();
  }
  Status finish() {
    Status status = own_ ? job_.transports().finish(*own_, {what_, peer_}) : Status();
    wait_.reset();
    return status;
  }
  /// Starts the time that the call, or the holder of its handle, waits.
  void begin_wait(Op op, std::uint64_t bytes) {
    what_ = words_of(op);
    if (blocking_ && job_.recorder() != nullptr) {
      wait_.emplace(job_.recorder(), static_cast<detail::Wait>(op), peer_, bytes);
    }
  }
  std::shared_ptr<detail::Operation> operation() && { return std::move(operation_); }

 private:
  JobState& job_;
  WorldRank peer_;
  bool blocking_;
  std::string_view what_ = "an operation on";
  std::optional<Completion> own_;
  std::optional<detail::WaitScope> wait_;
  std::shared_ptr<detail::Operation> operation_;
};

// If the endpoint completes the transfer within the call, no completion is reported, so no
// operation is created. Requires: the shape is normalised.
template <class Action>
Result<bool> try_complete_now(const Action& action, Endpoint& endpoint, const Target& to,
                              void* local, const CopyShape& shape) {
  return shape.levels == 0 ? action.now(endpoint, to, local, shape.run_bytes)
                           : action.now(endpoint, to, local, shape);
}
template <class Action>
Result<bool> try_complete_now(const Action&, Endpoint&, const Target&, Fragments) {
  return false;
}

// Uses the remembered route if the endpoint can complete the transfer within the call; false: use
// the general path. The transfer accesses `extent` and moves `bytes` in runs of `run_bytes`; `what`
// is its bytes or its shape.
template <class Action, class What>
Result<bool> try_cached_route(JobState& job, const Action& action, const RemoteAddress& at,
                              void* local, const What& what, CopyShape::Extent extent,
                              std::size_t run_bytes, std::size_t bytes) {
  CachedSlice* const line = find_cached(job.slices().regions(), at.rank, at.region);
  if (line == nullptr) {
    return false;
  }
  const detail::RemoteSlice& remote = detail::remote_of(*line);
  const auto end = static_cast<std::int64_t>(line->bytes);
  const auto offset = static_cast<std::int64_t>(at.offset);
  const bool is_in_slice =
      offset >= 0 && offset <= end && extent.lowest >= -offset && extent.highest <= end - offset;
  if (remote.endpoint == nullptr || !is_in_slice || bytes == 0 || local == nullptr ||
      !action.is_whole(run_bytes)) {
    return false;
  }
  const Target target{remote.segment, remote.member, at.offset, at.region};
  Result<bool> is_done = action.now(*remote.endpoint, target, local, what);
  if (is_done.ok() && *is_done) {
    line->count(Action::op, bytes, 1,
                std::is_same_v<What, CopyShape> ? Form::strided : Form::contiguous);
  }
  return is_done;
}
template <class Action>
Result<bool> try_cached_route(JobState& job, const Action& action, const RemoteAddress& at,
                              void* local, std::size_t bytes) {
  constexpr std::size_t most = INT64_MAX;
  const CopyShape::Extent extent{0, static_cast<std::int64_t>(std::min(bytes, most))};
  return try_cached_route(job, action, at, local, bytes, extent, bytes, bytes);
}
template <class Action>
Result<bool> try_cached_route(JobState& job, const Action& action, const RemoteAddress& at,
                              void* local, const CopyShape& given) {
  if (!given.check().ok()) {
    return false;
  }
  const CopyShape shape = given.normalised();
  return shape.levels == 0 ? try_cached_route(job, action, at, local, shape.run_bytes)
                           : try_cached_route(job, action, at, local, shape, shape.remote_extent(),
                                              shape.run_bytes, shape.total_bytes());
}

StripeLocks::Slice stripes_of(const JobState& job, const Located& target, const RemoteAddress& at) {
  const StripeLocks::Slice locked = job.slices().stripes().slice(at.region, at.rank);
  return target.region->options().conflicts == Conflicts::possible ? locked
                                                                   : locked.without_locks();
}

// Hands checked arguments to the peer's endpoint: (local pointer, shape), or fragments.
template <class Action, class... What>
Status transfer_remote(JobState& job, const Action& action, const Located& target,
                       const RemoteAddress& at, const Tally& tally, PendingTransfer& pending,
                       const What&... what) {
  const bool is_update = Action::op == Op::accumulate && target.region->has_remote_updates();
  TESSERA_ASSIGN_OR_RETURN(const detail::Route* const route,
                           is_update ? job.routes().update_to(at.rank) : route_to(job, at));
  const bool strict = target.region->options().atomics == Atomics::strict;
  const detail::RemotePath path{job,
                                *route->endpoint,
                                route->transport->capabilities(),
                                job.slices().stripes().slice(at.region, at.rank),
                                strict,
                                at.rank};
  const Target to{detail::segment_for(route->transport, job.transports().between_nodes(),
                                      target.region->segment()),
                  target.member, at.offset, at.region};
  job.slices().cache_route(at, *target.region, path.endpoint, to);
  bool is_done = false;
  if (!action.takes_turns(job)) {
    TESSERA_ASSIGN_OR_RETURN(is_done, try_complete_now(action, path.endpoint, to, what...));
  }
  if (!is_done) {
    pending.begin_wait(Action::op, tally.bytes);
    action.remote(path, to, what..., pending.completion());
  }
  count(job, at, Action::op, tally, form_of(what...));
  return {};
}

// Does `work`, with the target's accumulate ticket if the action needs one.
template <class Action, class Work>
Status with_ticket(JobState& job, const Action& action, WorldRank target, const Work& work) {
  return do_with_ticket(action.takes_turns(job) ? job.accumulate_tickets() : nullptr, target, work);
}

// Requires: the shape is normalised.
template <class Action>
Status transfer_shape(JobState& job, const Action& action, const RemoteAddress& at, void* local,
                      const CopyShape& shape, PendingTransfer& pending) {
  TESSERA_RETURN_IF_ERROR(shape.check());
  TESSERA_RETURN_IF_ERROR(action.check(shape.run_bytes));
  TESSERA_ASSIGN_OR_RETURN(const Located target,
                           locate(job, Action::op, at, shape.remote_extent()));
  const std::size_t bytes = shape.total_bytes();
  if (bytes == 0) {
    return {};
  }
  if (local == nullptr) {
    return null_buffer(Action::op, bytes);
  }
  return with_ticket(job, action, at.rank, [&]() -> Status {
    if (target.slice == nullptr) {
      return transfer_remote(job, action, target, at, Tally{1, bytes}, pending, local, shape);
    }
    action.shape(target.slice, at.offset, local, shape, stripes_of(job, target, at));
    count(job, at, Action::op, {1, bytes}, form_of(shape));
    return {};
  });
}

// The bytes that a list accesses at the target, and how many it moves.
struct ListExtent {
  CopyShape::Extent extent;
  std::uint64_t pieces = 0;  // non-empty pieces
  std::uint64_t bytes = 0;
};

// Errors: an overflow of offset + bytes, a null pointer, a piece that is not a whole number of
// elements.
template <class Action>
Result<ListExtent> extent_of(Fragments fragments, const Action& action) {
  ListExtent all;
  for (const Fragment& each : fragments) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(each.remote_offset, each.bytes, &end) || end > INT64_MAX) {
      return Status::error(Code::invalid_argument,
                           fmt::format("a fragment of {} bytes at offset {} overflows 63 bits",
                                       each.bytes, each.remote_offset));
    }
    if (each.local == nullptr && each.bytes > 0) {
      return null_buffer(Action::op, each.bytes);
    }
    if (!action.is_whole(each.bytes)) {
      return action.check(each.bytes);
    }
    all.extent.highest = std::max(all.extent.highest, static_cast<std::int64_t>(end));
    all.pieces += each.bytes > 0 ? 1 : 0;
    all.bytes += each.bytes;
  }
  return all;
}

template <class Action>
Status transfer_fragments(JobState& job, const Action& action, const RemoteAddress& at,
                          Fragments fragments, PendingTransfer& pending) {
  TESSERA_ASSIGN_OR_RETURN(const ListExtent all, extent_of(fragments, action));
  TESSERA_ASSIGN_OR_RETURN(const Located target, locate(job, Action::op, at, all.extent));
  if (job.settings().check_overlap != 0) {
    TESSERA_RETURN_IF_ERROR(Action::check_fragments(fragments));
  }
  if (all.pieces == 0) {
    return {};
  }
  const Tally tally{all.pieces, all.bytes};
  std::vector<Fragment> without_empty;
  if (target.slice == nullptr && all.pieces < fragments.size()) {
    std::copy_if(fragments.begin(), fragments.end(), std::back_inserter(without_empty),
                 [](const Fragment& each) { return each.bytes > 0; });
    fragments = without_empty;
  }
  return with_ticket(job, action, at.rank, [&]() -> Status {
    if (target.slice == nullptr) {
      return transfer_remote(job, action, target, at, tally, pending, fragments);
    }
    action.fragments(target.slice, at.offset, fragments, stripes_of(job, target, at));
    count(job, at, Action::op, tally, form_of(fragments));
    return {};
  });
}

// Moves one run at once if it is in a mapped slice and has no error; false: use the general path.
template <class Action>
[[gnu::always_inline]] inline bool try_cached_run(JobState& job, const Action& action,
                                                  RemoteAddress at, void* local,
                                                  std::size_t bytes) {
  CachedSlice* const line = job.slices().cached(at.rank, at.region);
  std::byte* const slice =
      line == nullptr ? nullptr : line->start_for(Action::op, at.offset, bytes);
  if (slice == nullptr || local == nullptr || !action.is_whole(bytes)) [[unlikely]] {
    return false;
  }
  line->count(Action::op, bytes);
  action.run(slice, at.offset, local, bytes, job.slices().stripes_of(*line));
  return true;
}

// The extent of `count` runs of `run` bytes that are `stride` apart: `reach` from the first start
// to the last, `extent` with the last run. False if they don't fit 63 bits.
bool measure_rows(std::int64_t count, std::int64_t stride, std::int64_t run, std::int64_t& reach,
                  std::int64_t& extent) {
  return !__builtin_mul_overflow(count - 1, stride, &reach) &&
         !(reach < 0 ? __builtin_sub_overflow(run, reach, &extent)
                     : __builtin_add_overflow(run, reach, &extent));
}

// The same for shapes of one level, which most patches of arrays have.
template <class Action>
bool try_cached_rows(JobState& job, const Action& action, const RemoteAddress& at, void* local,
                     const CopyShape& shape) {
  if (shape.levels != 1 || shape.run_bytes == 0 || shape.level[0].count <= 0 ||
      shape.run_bytes > INT64_MAX) {
    return false;
  }
  const auto& [rows, local_stride, remote_stride] = shape.level[0];
  const auto run = static_cast<std::int64_t>(shape.run_bytes);
  std::int64_t bytes = 0;
  std::int64_t reach = 0;
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(rows, run, &bytes) ||
      !measure_rows(rows, local_stride, run, reach, extent) ||
      !measure_rows(rows, remote_stride, run, reach, extent)) {
    return false;
  }
  if (local_stride == run && remote_stride == run) {
    return try_cached_run(job, action, at, local, static_cast<std::size_t>(bytes));
  }
  const RemoteAddress lowest = at + static_cast<std::uint64_t>(std::min<std::int64_t>(reach, 0));
  CachedSlice* const line = job.slices().cached(at.rank, at.region);
  std::byte* const slice = line == nullptr ? nullptr
                                           : line->start_for(Action::op, lowest.offset,
                                                             static_cast<std::size_t>(extent));
  if (slice == nullptr || local == nullptr || !action.is_whole(shape.run_bytes)) {
    return false;
  }
  line->count(Action::op, static_cast<std::size_t>(bytes), 1, Form::strided);
  action.shape(slice, at.offset, local, shape, job.slices().stripes_of(*line));
  return true;
}

template <class Action>
bool plainly(JobState& job, const Action& action, const RemoteAddress& at, void* local,
             std::size_t bytes) {
  return try_cached_run(job, action, at, local, bytes);
}
template <class Action>
bool plainly(JobState& job, const Action& action, const RemoteAddress& at, void* local,
             const CopyShape& shape) {
  return try_cached_rows(job, action, at, local, shape);
}
template <class Action>
bool plainly(JobState&, const Action&, const RemoteAddress&, Fragments) {
  return false;
}

template <class Action>
Status transfer(JobState& job, const Action& action, const RemoteAddress& at, void* local,
                std::size_t bytes, PendingTransfer& pending) {
  return transfer_shape(job, action, at, local, CopyShape::contiguous(bytes), pending);
}
template <class Action>
Status transfer(JobState& job, const Action& action, const RemoteAddress& at, void* local,
                const CopyShape& shape, PendingTransfer& pending) {
  TESSERA_RETURN_IF_ERROR(shape.check());
  return transfer_shape(job, action, at, local, shape.normalised(), pending);
}
template <class Action>
Status transfer(JobState& job, const Action& action, const RemoteAddress& at, Fragments fragments,
                PendingTransfer& pending) {
  return transfer_fragments(job, action, at, fragments, pending);
}

// The general paths: out of line, so that the fast ones need no stack.
template <class Action, class... What>
[[gnu::noinline]] Status checked_transfer(JobState& job, Action action, RemoteAddress at,
                                          What... what) {
  PendingTransfer pending(job, at.rank, true);
  Status status =
      detail::catch_bad_alloc([&] { return transfer(job, action, at, what..., pending); });
  Status late = pending.finish();
  return job.name_rank(status.ok() ? std::move(late) : std::move(status));
}

// First tries the remembered route for transfers with one shape. `What` is the type that is passed
// on.
template <class Action, class Local, class What>
[[gnu::noinline]] Status transfer_unmapped(JobState& job, Action action, RemoteAddress at,
                                           Local local, What what) {
  Result<bool> is_done =
      detail::catch_bad_alloc([&] { return try_cached_route(job, action, at, local, what); });
  if (!is_done.ok()) [[unlikely]] {
    return job.name_rank(std::move(is_done).status());
  }
  return *is_done ? Status() : checked_transfer<Action, Local, What>(job, action, at, local, what);
}
template <class Action, class List>
Status transfer_unmapped(JobState& job, Action action, RemoteAddress at, List fragments) {
  return checked_transfer<Action, List>(job, action, at, fragments);
}

template <class Action, class... What>
[[gnu::noinline]] Handle start_checked_transfer(Job& job, Action action, RemoteAddress at,
                                                What... what) {
  PendingTransfer pending(job.state(), at.rank, false);
  Status status =
      detail::catch_bad_alloc([&] { return transfer(job.state(), action, at, what..., pending); });
  Handle handle(std::move(pending).operation());
  if (!handle.has_ended()) {
    job.state()
        .transports()
        .wake_progress();  // operations that are on their way already need no wake-up
  }
  if (!status.ok()) {
    handle.collect(Handle::failed(job, at.rank, job.name_rank(std::move(status))));
  }
  return handle;
}

// The same without waiting: a transfer that was completed at once has no handle.
template <class Action, class Local, class What>
[[gnu::noinline]] Handle start_unmapped(Job& job, Action action, RemoteAddress at, Local local,
                                        What what) {
  JobState& state = job.state();
  Result<bool> is_done =
      detail::catch_bad_alloc([&] { return try_cached_route(state, action, at, local, what); });
  if (!is_done.ok()) [[unlikely]] {
    return Handle::failed(job, at.rank, state.name_rank(std::move(is_done).status()));
  }
  return *is_done ? Handle()
                  : start_checked_transfer<Action, Local, What>(job, action, at, local, what);
}
template <class Action, class List>
Handle start_unmapped(Job& job, Action action, RemoteAddress at, List fragments) {
  return start_checked_transfer<Action, List>(job, action, at, fragments);
}

// Shapes are passed by reference, all other arguments in registers.
template <class T>
using Passed = std::conditional_t<(sizeof(T) > 2 * sizeof(void*)), const T&, T>;

// `what` is (local pointer, bytes), (local pointer, shape) or (fragments).
template <class Action, class... What>
inline Status blocking(Job& job, Action action, RemoteAddress at, const What&... what) {
  if (!action.takes_turns(job.state()) && plainly(job.state(), action, at, what...)) [[likely]] {
    return {};
  }
  return transfer_unmapped<Action, Passed<What>...>(job.state(), action, at, what...);
}

template <class Action, class... What>
inline Handle started(Job& job, Action action, RemoteAddress at, const What&... what) {
  if (!action.takes_turns(job.state()) && plainly(job.state(), action, at, what...)) [[likely]] {
    return {};
  }
  return start_unmapped<Action, Passed<What>...>(job, action, at, what...);
}

// put() and get() of one run, except their fastest path.
template <class Action>
[[gnu::noinline]] Status blocking_run(Job& job, RemoteAddress at, void* local, std::size_t bytes) {
  return blocking(job, Action(), at, local, bytes);
}

// Sources are only read; the actions share one signature with get, which writes.
void* readable(const void* from) {
  return const_cast<void*>(from);
}

}  // namespace

Status put(Job& job, RemoteAddress to, const void* from, std::size_t bytes) {
  CachedSlice* const line = find_cached(job.state().slices().regions(), to.rank, to.region);
  if (detail::try_word(line, Direction::to_remote, Op::put, to.offset, readable(from), bytes)) {
    return {};
  }
  return blocking_run<PutAction>(job, to, readable(from), bytes);
}
Status put(Job& job, RemoteAddress to, const void* from, const CopyShape& shape) {
  return blocking(job, PutAction(), to, readable(from), shape);
}
Status put(Job& job, RemoteAddress to, Fragments fragments) {
  return blocking(job, PutAction(), to, fragments);
}

Status get(Job& job, RemoteAddress from, void* to, std::size_t bytes) {
  CachedSlice* const line = find_cached(job.state().slices().regions(), from.rank, from.region);
  if (detail::try_word(line, Direction::from_remote, Op::get, from.offset, to, bytes)) {
    return {};
  }
  return blocking_run<GetAction>(job, from, to, bytes);
}
Status get(Job& job, RemoteAddress from, void* to, const CopyShape& shape) {
  return blocking(job, GetAction(), from, to, shape);
}
Status get(Job& job, RemoteAddress from, Fragments fragments) {
  return blocking(job, GetAction(), from, fragments);
}

Status accumulate(Job& job, RemoteAddress to, const void* from, std::size_t bytes,
                  const Scale& scale) {
  return blocking(job, AccumulateAction(scale), to, readable(from), bytes);
}
Status accumulate(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                  const Scale& scale) {
  return blocking(job, AccumulateAction(scale), to, readable(from), shape);
}
Status accumulate(Job& job, RemoteAddress to, Fragments fragments, const Scale& scale) {
  return blocking(job, AccumulateAction(scale), to, fragments);
}

Handle put_async(Job& job, RemoteAddress to, const void* from, std::size_t bytes) {
  return started(job, PutAction(), to, readable(from), bytes);
}
Handle put_async(Job& job, RemoteAddress to, const void* from, const CopyShape& shape) {
  return started(job, PutAction(), to, readable(from), shape);
}
Handle put_async(Job& job, RemoteAddress to, Fragments fragments) {
  return started(job, PutAction(), to, fragments);
}
Handle get_async(Job& job, RemoteAddress from, void* to, std::size_t bytes) {
  return started(job, GetAction(), from, to, bytes);
}
Handle get_async(Job& job, RemoteAddress from, void* to, const CopyShape& shape) {
  return started(job, GetAction(), from, to, shape);
}
Handle get_async(Job& job, RemoteAddress from, Fragments fragments) {
  return started(job, GetAction(), from, fragments);
}
Handle accumulate_async(Job& job, RemoteAddress to, const void* from, std::size_t bytes,
                        const Scale& scale) {
  return started(job, AccumulateAction(scale), to, readable(from), bytes);
}
Handle accumulate_async(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                        const Scale& scale) {
  return started(job, AccumulateAction(scale), to, readable(from), shape);
}
Handle accumulate_async(Job& job, RemoteAddress to, Fragments fragments, const Scale& scale) {
  return started(job, AccumulateAction(scale), to, fragments);
}

}  // namespace tessera::rma
