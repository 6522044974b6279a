// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/engine/job_state.hpp"
#include "rma/engine/named.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/protocol/actions.hpp"
#include "rma/protocol/locate.hpp"
#include "rma/protocol/mapped_word.hpp"
#include "rma/protocol/route.hpp"

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

// What one call moves: one run or a shape, or a list of fragments.
struct Transfer {
  RemoteAddress at;
  void* local = nullptr;  // for `shape`
  CopyShape shape = {};   // normalised
  Fragments fragments = {};
  bool is_list = false;  // `fragments` says what is moved

  [[nodiscard]] Form form() const noexcept {
    return is_list ? Form::scattered : shape.levels == 0 ? Form::contiguous : Form::strided;
  }
};

// The text before a rank in the message about a long wait.
constexpr std::string_view words_of(Op op) noexcept {
  return op == Op::get ? "a get from" : op == Op::put ? "a put to" : "an accumulate to";
}

// Receives the end of the parts of a transfer that are not done at once. Uses the completion of a
// blocking call, or that of an operation; creates either when it is first needed.
class PendingTransfer {
 public:
  /// `operation`: where the caller wants it; null: the call blocks.
  PendingTransfer(JobState& job, WorldRank peer, std::shared_ptr<detail::Operation>* operation)
      : job_(job), peer_(peer), operation_(operation) {}
  PendingTransfer(const PendingTransfer&) = delete;
  PendingTransfer& operator=(const PendingTransfer&) = delete;
  /// Waits for the parts of a blocking call that an exception leaves.
  ~PendingTransfer() {
    if (own_) [[unlikely]] {
      finish().ignore("the exception says more");
    }
  }

  Completion& completion() {
    if (operation_ == nullptr) {
      return own_ ? *own_ : own_.emplace();
    }
    if (*operation_ == nullptr) {
      auto made = detail::make_operation(job_, peer_);
      made->set_what(what_);
      job_.outstanding().add(made);
      *operation_ = std::move(made);
    }
    return (*operation_)->completion();
  }
  Status finish() {
    Status status = own_ ? job_.transports().finish(*own_, {what_, peer_}) : Status();
    own_.reset();
    wait_.reset();
    return status;
  }
  /// Starts the time that the call, or the holder of its handle, waits.
  void begin_wait(Op op, std::uint64_t bytes) {
    what_ = words_of(op);
    if (operation_ == nullptr && job_.recorder() != nullptr) {
      wait_.emplace(job_.recorder(), static_cast<detail::Wait>(op), peer_, bytes);
    }
  }

 private:
  JobState& job_;
  WorldRank peer_;
  std::shared_ptr<detail::Operation>* operation_;
  std::string_view what_ = "an operation on";
  std::optional<Completion> own_;
  std::optional<detail::WaitScope> wait_;
};

// Asks the endpoint to complete a run or a shape within the call: no completion is reported then,
// and no operation is created. False: it cannot.
template <class Action>
Result<bool> try_now(const Action& action, Endpoint& endpoint, const Target& to,
                     const Transfer& transfer) {
  const CopyShape& shape = transfer.shape;
  return shape.levels == 0 ? action.now(endpoint, to, transfer.local, shape.run_bytes)
                           : action.now(endpoint, to, transfer.local, shape);
}

// The same by the remembered route, before the region is looked up. A run's size is not yet
// checked.
template <class Action>
Result<bool> try_cached_route(JobState& job, const Action& action, const Transfer& transfer) {
  const CopyShape& shape = transfer.shape;
  if (transfer.is_list || transfer.local == nullptr || shape.run_bytes == 0 ||
      shape.run_bytes > INT64_MAX || !action.is_whole(shape.run_bytes)) {
    return false;
  }
  const bool is_run = shape.levels == 0;
  const CopyShape::Extent extent =
      is_run ? CopyShape::Extent{0, static_cast<std::int64_t>(shape.run_bytes)}
             : shape.remote_extent();
  const auto now = [&](Endpoint& endpoint, const Target& to) {
    return try_now(action, endpoint, to, transfer);
  };
  return detail::try_cached_route(job, transfer.at, extent, now, Action::op,
                                  is_run ? shape.run_bytes : shape.total_bytes(), transfer.form());
}

// Hands a checked transfer to the peer's endpoint.
template <class Action>
Status transfer_remote(JobState& job, const Action& action, const Located& located,
                       const Transfer& transfer, const Tally& tally, PendingTransfer& pending) {
  TESSERA_ASSIGN_OR_RETURN(const detail::RemoteAccess remote,
                           find_route(job, Action::op, transfer.at, located));
  bool is_done = false;
  if (!transfer.is_list) {
    TESSERA_ASSIGN_OR_RETURN(is_done,
                             try_now(action, remote.path.endpoint, remote.target, transfer));
  }
  if (is_done) {
    return {};
  }
  pending.begin_wait(Action::op, tally.bytes);
  if (transfer.is_list) {
    action.remote(remote.path, remote.target, transfer.fragments, pending.completion());
  } else {
    action.remote(remote.path, remote.target, transfer.local, transfer.shape, pending.completion());
  }
  return {};
}

// Moves the bytes of a mapped slice.
template <class Action>
void transfer_mapped(const JobState& job, const Action& action, const Located& located,
                     const Transfer& transfer) {
  const std::uint64_t offset = transfer.at.offset;
  const StripeLocks::Slice locked =
      job.slices().stripes().slice(transfer.at.region, transfer.at.rank);
  const StripeLocks::Slice stripes =
      located.region->options().conflicts == Conflicts::possible ? locked : locked.without_locks();
  if (transfer.is_list) {
    action.fragments(located.slice, offset, transfer.fragments, stripes);
  } else {
    action.shape(located.slice, offset, transfer.local, transfer.shape, stripes);
  }
}

// Moves what was checked and is not empty.
template <class Action>
Status transfer_checked(JobState& job, const Action& action, const Located& located,
                        const Transfer& transfer, const Tally& tally, PendingTransfer& pending) {
  if (located.slice == nullptr) {
    TESSERA_RETURN_IF_ERROR(transfer_remote(job, action, located, transfer, tally, pending));
  } else {
    transfer_mapped(job, action, located, transfer);
  }
  count(job, transfer.at, Action::op, tally, transfer.form());
  return {};
}

template <class Action>
Status transfer_shape(JobState& job, const Action& action, const Transfer& transfer,
                      PendingTransfer& pending) {
  const CopyShape& shape = transfer.shape;
  TESSERA_RETURN_IF_ERROR(shape.check());
  TESSERA_RETURN_IF_ERROR(action.check(shape.run_bytes));
  TESSERA_ASSIGN_OR_RETURN(const Located located,
                           locate(job, Action::op, transfer.at, shape.remote_extent()));
  const std::size_t bytes = shape.total_bytes();
  if (bytes == 0) {
    return {};
  }
  if (transfer.local == nullptr) {
    return null_buffer(Action::op, bytes);
  }
  return transfer_checked(job, action, located, transfer, {1, bytes}, pending);
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
Status transfer_fragments(JobState& job, const Action& action, const Transfer& transfer,
                          PendingTransfer& pending) {
  const Fragments given = transfer.fragments;
  TESSERA_ASSIGN_OR_RETURN(const ListExtent all, extent_of(given, action));
  TESSERA_ASSIGN_OR_RETURN(const Located located, locate(job, Action::op, transfer.at, all.extent));
  if (job.settings().check_overlap != 0) {
    TESSERA_RETURN_IF_ERROR(Action::check_fragments(given));
  }
  if (all.pieces == 0) {
    return {};
  }
  const Tally tally{all.pieces, all.bytes};
  if (located.slice != nullptr || all.pieces == given.size()) {
    return transfer_checked(job, action, located, transfer, tally, pending);
  }
  std::vector<Fragment> without_empty;
  std::copy_if(given.begin(), given.end(), std::back_inserter(without_empty),
               [](const Fragment& each) { return each.bytes > 0; });
  return transfer_checked(job, action, located,
                          {.at = transfer.at, .fragments = without_empty, .is_list = true}, tally,
                          pending);
}

// The general path. Parts that are not done at its return end on `pending`.
template <class Action>
Status transfer_any(JobState& job, const Action& action, const Transfer& transfer,
                    PendingTransfer& pending) {
  return transfer.is_list ? transfer_fragments(job, action, transfer, pending)
                          : transfer_shape(job, action, transfer, pending);
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

// A blocking transfer that the fast paths below did not do.
template <class Action>
Status complete(JobState& job, const Action& action, const Transfer& transfer) {
  return detail::named(job, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const bool is_done, try_cached_route(job, action, transfer));
    if (is_done) {
      return {};
    }
    PendingTransfer pending(job, transfer.at.rank, nullptr);
    Status status = transfer_any(job, action, transfer, pending);
    Status late = pending.finish();
    return status.ok() ? std::move(late) : std::move(status);
  });
}

// The same without waiting. A transfer that was completed at once has no handle.
template <class Action>
Handle start(Job& job, const Action& action, const Transfer& transfer) {
  JobState& state = job.state();
  const WorldRank peer = transfer.at.rank;
  std::shared_ptr<detail::Operation> operation;  // of the parts that were started
  Status status = detail::named(state, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const bool is_done, try_cached_route(state, action, transfer));
    if (is_done) {
      return {};
    }
    PendingTransfer pending(state, peer, &operation);
    return transfer_any(state, action, transfer, pending);
  });
  Handle handle(std::move(operation));
  if (!handle.has_ended()) {
    state.transports().wake_progress();  // operations that are on their way already need no wake-up
  }
  if (!status.ok()) {
    handle.collect(Handle::failed(job, peer, std::move(status)));
  }
  return handle;
}

// Out of line, with all arguments in registers, so that the fast paths below need no stack.
template <class Action>
[[gnu::noinline]] Status complete_run(JobState& job, Action action, RemoteAddress at, void* local,
                                      std::size_t bytes) {
  return complete(job, action, {.at = at, .local = local, .shape = CopyShape::contiguous(bytes)});
}
template <class Action>
[[gnu::noinline]] Status complete_shape(JobState& job, Action action, RemoteAddress at, void* local,
                                        const CopyShape& shape) {
  return detail::named(job, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(shape.check());
    return complete(job, action, {.at = at, .local = local, .shape = shape.normalised()});
  });
}
template <class Action>
[[gnu::noinline]] Handle start_run(Job& job, Action action, RemoteAddress at, void* local,
                                   std::size_t bytes) {
  return start(job, action, {.at = at, .local = local, .shape = CopyShape::contiguous(bytes)});
}
template <class Action>
[[gnu::noinline]] Handle start_shape(Job& job, Action action, RemoteAddress at, void* local,
                                     const CopyShape& shape) {
  Status status = detail::named(job.state(), [&] { return shape.check(); });
  if (!status.ok()) {
    return Handle::failed(job, at.rank, std::move(status));
  }
  return start(job, action, {.at = at, .local = local, .shape = shape.normalised()});
}

// What put, get and accumulate do. A transfer in a mapped slice that this thread used before is
// done at once.
template <class Action>
inline Status blocking(Job& job, Action action, RemoteAddress at, void* local, std::size_t bytes) {
  JobState& state = job.state();
  if (try_cached_run(state, action, at, local, bytes)) [[likely]] {
    return {};
  }
  return complete_run(state, action, at, local, bytes);
}
template <class Action>
inline Status blocking(Job& job, Action action, RemoteAddress at, void* local,
                       const CopyShape& shape) {
  JobState& state = job.state();
  if (try_cached_rows(state, action, at, local, shape)) [[likely]] {
    return {};
  }
  return complete_shape(state, action, at, local, shape);
}
template <class Action>
inline Status blocking(Job& job, Action action, RemoteAddress at, Fragments fragments) {
  return complete(job.state(), action, {.at = at, .fragments = fragments, .is_list = true});
}

// What put_async, get_async and accumulate_async do.
template <class Action>
inline Handle started(Job& job, Action action, RemoteAddress at, void* local, std::size_t bytes) {
  JobState& state = job.state();
  if (try_cached_run(state, action, at, local, bytes)) [[likely]] {
    return {};
  }
  return start_run(job, action, at, local, bytes);
}
template <class Action>
inline Handle started(Job& job, Action action, RemoteAddress at, void* local,
                      const CopyShape& shape) {
  JobState& state = job.state();
  if (try_cached_rows(state, action, at, local, shape)) [[likely]] {
    return {};
  }
  return start_shape(job, action, at, local, shape);
}
template <class Action>
inline Handle started(Job& job, Action action, RemoteAddress at, Fragments fragments) {
  return start(job, action, {.at = at, .fragments = fragments, .is_list = true});
}

// put() and get() of one run, except their fastest path.
template <class Action>
[[gnu::noinline]] Status blocking_run(Job& job, RemoteAddress at, void* local, std::size_t bytes) {
  return blocking(job, Action(), at, local, bytes);
}

using detail::readable;

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
