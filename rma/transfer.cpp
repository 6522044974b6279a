// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transfer.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/protocol/direct.hpp"
#include "rma/protocol/locate.hpp"
#include "rma/protocol/overlap.hpp"
#include "rma/protocol/remote.hpp"

namespace tessera::rma {
namespace {

using detail::JobState;
using detail::Located;
using kernels::Direction;

Status null_buffer(Op op, std::size_t bytes) {
  return Status::error(Code::invalid_argument,
                       fmt::format("{} of {} bytes with a null local buffer", to_string(op),
                                   bytes));
}

// The mapped slice that `at` and `bytes` lie in, when it is a plain one; null sends the operation
// to the careful path.
std::byte* plain_slice(const JobState& job, const RemoteAddress& at, std::size_t bytes) {
  const detail::RegionEntry* entry = job.regions.find(at.region);
  return entry == nullptr ? nullptr : entry->slice(at, bytes);
}

// What the three kinds of transfer have in common: how they are checked, and by what they are done
// directly and remotely.
class PutAction {
 public:
  static constexpr Op op = Op::put;
  static constexpr auto check_fragments = detail::check_remote_overlap;
  static Status check(const CopyShape&) { return {}; }
  static void direct(const Located& target, const RemoteAddress& at, void* local,
                     const CopyShape& shape, const detail::StripeLocks::Slice&) {
    kernels::copy_shape(static_cast<std::byte*>(local), target.slice + at.offset, shape,
                        Direction::to_remote);
  }
  static void remote(const detail::RemotePath& path, const Target& target, void* local,
                     const CopyShape& shape, Completion& done) {
    put_remote(path, target, local, shape, done);
  }
};

class GetAction {
 public:
  static constexpr Op op = Op::get;
  static constexpr auto check_fragments = detail::check_local_overlap;
  static Status check(const CopyShape&) { return {}; }
  static void direct(const Located& target, const RemoteAddress& at, void* local,
                     const CopyShape& shape, const detail::StripeLocks::Slice&) {
    kernels::copy_shape(static_cast<std::byte*>(local), target.slice + at.offset, shape,
                        Direction::from_remote);
  }
  static void remote(const detail::RemotePath& path, const Target& target, void* local,
                     const CopyShape& shape, Completion& done) {
    get_remote(path, local, target, shape, done);
  }
};

class AccumulateAction {
 public:
  explicit AccumulateAction(const Scale& scale) : scale_(scale) {}
  static constexpr Op op = Op::accumulate;
  static Status check_fragments(Fragments) { return {}; }
  [[nodiscard]] Status check(const CopyShape& shape) const {
    if (!is_valid(scale_.type())) {
      return Status::error(Code::invalid_argument,
                           fmt::format("accumulate of element type {}, which does not exist",
                                       static_cast<int>(scale_.type())));
    }
    const std::size_t element = size_of(scale_.type());
    if (shape.run_bytes % element != 0) {
      return Status::error(Code::invalid_argument,
                           fmt::format("accumulate of runs of {} bytes, which are not whole {} "
                                       "elements of {} bytes",
                                       shape.run_bytes, to_string(scale_.type()), element));
    }
    return {};
  }
  void direct(const Located& target, const RemoteAddress& at, void* local, const CopyShape& shape,
              const detail::StripeLocks::Slice& stripes) const {
    accumulate_direct(target.slice, at.offset, static_cast<const std::byte*>(local), shape, scale_,
                      stripes);
  }
  void remote(const detail::RemotePath& path, const Target& target, void* local,
              const CopyShape& shape, Completion& done) const {
    accumulate_remote(path, target, local, shape, scale_, done);
  }

 private:
  const Scale& scale_;
};

// Where the parts of a transfer that are not done at once are told of: a blocking call's own
// completion, or that of an operation that is made when it is first needed.
class Parts {
 public:
  Parts(JobState& job, WorldRank peer, bool blocking) : job_(job), peer_(peer), blocking_(blocking) {}

  Completion& completion() {
    if (blocking_) {
      return own_;
    }
    if (!operation_) {
      operation_ = std::make_shared<detail::Operation>(job_, peer_);
      job_.outstanding.add(operation_);
    }
    return operation_->completion();
  }
  Status finish() { return detail::finish(job_, own_); }
  std::shared_ptr<detail::Operation> operation() && { return std::move(operation_); }

 private:
  JobState& job_;
  WorldRank peer_;
  bool blocking_;
  Completion own_;
  std::shared_ptr<detail::Operation> operation_;
};

// Does one shape. Requires: it was checked against `target`.
template <class Action>
Status transfer_located(JobState& job, const Action& action, const Located& target,
                        const RemoteAddress& at, void* local, const CopyShape& shape,
                        Parts& parts) {
  const std::size_t bytes = shape.total_bytes();
  if (bytes == 0) {
    return {};
  }
  if (local == nullptr) {
    return null_buffer(Action::op, bytes);
  }
  const auto stripes = job.stripes->slice(at.region, at.rank);
  if (target.slice != nullptr) {
    action.direct(target, at, local, shape, stripes);
    count(job.counters, at.rank, target.slice, Action::op, bytes);
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(detail::Route * route, job.route_to(at.rank));
  const bool strict = (target.entry->flags & detail::strict_atomics_flag) != 0;
  const detail::RemotePath path{job, *route->endpoint, route->transport->capabilities(), stripes,
                                strict};
  action.remote(path, Target{&target.region->segment(), target.member, at.offset}, local, shape,
                parts.completion());
  OpTallies tallies{};
  tallies[static_cast<std::size_t>(Action::op)] = {1, bytes};
  job.counters->add(at.rank, tallies);
  return {};
}

template <class Action>
Status transfer_shape(JobState& job, const Action& action, const RemoteAddress& at, void* local,
                      const CopyShape& given, Parts& parts) {
  TESSERA_RETURN_IF_ERROR(given.check());
  const CopyShape shape = given.normalised();
  TESSERA_RETURN_IF_ERROR(action.check(shape));
  TESSERA_ASSIGN_OR_RETURN(const Located target,
                           locate(job, Action::op, at, shape.remote_extent()));
  return transfer_located(job, action, target, at, local, shape, parts);
}

// The span of target bytes that a list touches. Requires: no offset + bytes overflows.
Result<CopyShape::Extent> extent_of(Fragments fragments, Op op) {
  CopyShape::Extent extent;
  for (const Fragment& each : fragments) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(each.remote_offset, each.bytes, &end) || end > INT64_MAX) {
      return Status::error(Code::invalid_argument,
                           fmt::format("a fragment of {} bytes at offset {} overflows 63 bits",
                                       each.bytes, each.remote_offset));
    }
    if (each.local == nullptr && each.bytes > 0) {
      return null_buffer(op, each.bytes);
    }
    extent.highest = std::max(extent.highest, static_cast<std::int64_t>(end));
  }
  return extent;
}

template <class Action>
Status transfer_fragments(JobState& job, const Action& action, const RemoteAddress& at,
                          Fragments fragments, Parts& parts) {
  TESSERA_ASSIGN_OR_RETURN(const CopyShape::Extent extent, extent_of(fragments, Action::op));
  TESSERA_ASSIGN_OR_RETURN(const Located target, locate(job, Action::op, at, extent));
  if (job.settings.check_overlap != 0) {
    TESSERA_RETURN_IF_ERROR(Action::check_fragments(fragments));
  }
  for (const Fragment& each : fragments) {
    TESSERA_RETURN_IF_ERROR(action.check(CopyShape::contiguous(each.bytes)));
  }
  for (const Fragment& each : fragments) {
    TESSERA_RETURN_IF_ERROR(transfer_located(job, action, target, at + each.remote_offset,
                                             each.local, CopyShape::contiguous(each.bytes),
                                             parts));
  }
  return {};
}

template <class Action, class... What>
Status blocking(JobState& job, const Action& action, const RemoteAddress& at, What&&... what) {
  Parts parts(job, at.rank, true);
  Status status;
  if constexpr (sizeof...(What) == 1) {
    status = transfer_fragments(job, action, at, what..., parts);
  } else {
    status = transfer_shape(job, action, at, what..., parts);
  }
  Status late = parts.finish();
  return status.ok() ? std::move(late) : std::move(status);
}

template <class Action, class... What>
Handle started(Job& job, const Action& action, const RemoteAddress& at, What&&... what) {
  Parts parts(job.state(), at.rank, false);
  Status status;
  if constexpr (sizeof...(What) == 1) {
    status = transfer_fragments(job.state(), action, at, what..., parts);
  } else {
    status = transfer_shape(job.state(), action, at, what..., parts);
  }
  Handle handle(std::move(parts).operation());
  if (!status.ok()) {
    handle.collect(Handle::failed(job, std::move(status)));
  }
  return handle;
}

// Sources are only read; the actions share one signature with get, which writes.
void* readable(const void* from) { return const_cast<void*>(from); }

}  // namespace

Status put(Job& job, RemoteAddress to, const void* from, std::size_t bytes) {
  JobState& state = job.state();
  std::byte* const slice = plain_slice(state, to, bytes);
  if (slice == nullptr || from == nullptr) [[unlikely]] {
    return blocking(state, PutAction(), to, readable(from), CopyShape::contiguous(bytes));
  }
  kernels::copy_small(slice + to.offset, from, bytes);
  count(state.counters, to.rank, slice, Op::put, bytes);
  return {};
}

Status get(Job& job, RemoteAddress from, void* to, std::size_t bytes) {
  JobState& state = job.state();
  const std::byte* const slice = plain_slice(state, from, bytes);
  if (slice == nullptr || to == nullptr) [[unlikely]] {
    return blocking(state, GetAction(), from, to, CopyShape::contiguous(bytes));
  }
  kernels::copy_small(to, slice + from.offset, bytes);
  count(state.counters, from.rank, slice, Op::get, bytes);
  return {};
}

Status accumulate(Job& job, RemoteAddress to, const void* from, std::size_t bytes,
                  const Scale& scale) {
  return blocking(job.state(), AccumulateAction(scale), to, readable(from),
                  CopyShape::contiguous(bytes));
}

Status put(Job& job, RemoteAddress to, const void* from, const CopyShape& shape) {
  return blocking(job.state(), PutAction(), to, readable(from), shape);
}
Status put(Job& job, RemoteAddress to, Fragments fragments) {
  return blocking(job.state(), PutAction(), to, fragments);
}
Status get(Job& job, RemoteAddress from, void* to, const CopyShape& shape) {
  return blocking(job.state(), GetAction(), from, to, shape);
}
Status get(Job& job, RemoteAddress from, Fragments fragments) {
  return blocking(job.state(), GetAction(), from, fragments);
}
Status accumulate(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                  const Scale& scale) {
  return blocking(job.state(), AccumulateAction(scale), to, readable(from), shape);
}
Status accumulate(Job& job, RemoteAddress to, Fragments fragments, const Scale& scale) {
  return blocking(job.state(), AccumulateAction(scale), to, fragments);
}

Handle put_async(Job& job, RemoteAddress to, const void* from, std::size_t bytes) {
  return started(job, PutAction(), to, readable(from), CopyShape::contiguous(bytes));
}
Handle put_async(Job& job, RemoteAddress to, const void* from, const CopyShape& shape) {
  return started(job, PutAction(), to, readable(from), shape);
}
Handle put_async(Job& job, RemoteAddress to, Fragments fragments) {
  return started(job, PutAction(), to, fragments);
}
Handle get_async(Job& job, RemoteAddress from, void* to, std::size_t bytes) {
  return started(job, GetAction(), from, to, CopyShape::contiguous(bytes));
}
Handle get_async(Job& job, RemoteAddress from, void* to, const CopyShape& shape) {
  return started(job, GetAction(), from, to, shape);
}
Handle get_async(Job& job, RemoteAddress from, Fragments fragments) {
  return started(job, GetAction(), from, fragments);
}
Handle accumulate_async(Job& job, RemoteAddress to, const void* from, std::size_t bytes,
                        const Scale& scale) {
  return started(job, AccumulateAction(scale), to, readable(from), CopyShape::contiguous(bytes));
}
Handle accumulate_async(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                        const Scale& scale) {
  return started(job, AccumulateAction(scale), to, readable(from), shape);
}
Handle accumulate_async(Job& job, RemoteAddress to, Fragments fragments, const Scale& scale) {
  return started(job, AccumulateAction(scale), to, fragments);
}

}  // namespace tessera::rma
