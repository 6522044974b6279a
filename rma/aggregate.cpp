// SPDX-License-Identifier: BSD-3-Clause
#include "rma/aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/named.hpp"
#include "rma/job.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/protocol/actions.hpp"
#include "rma/protocol/overlap.hpp"
#include "rma/transfer.hpp"

namespace tessera::rma {

struct Aggregate::Added {
  /// Each list holds operations on one region.
  struct List {
    RegionId region;
    std::vector<Fragment> fragments;
  };
  std::optional<Op> op;
  WorldRank rank;
  std::optional<Scale> scale;
  std::vector<List> lists;
  std::size_t pieces = 0;
  Handle sent;  ///< covers operations that were too many to keep

  Status admit(Op wanted, WorldRank target, const Scale* factor);
  std::vector<Fragment>& list_of(RegionId region);
  Handle send(Job& job, Overlap overlap);
  [[nodiscard]] Handle start(Job& job, const RemoteAddress& at, Fragments fragments) const;
  [[nodiscard]] Handle start_in_order(Job& job, const RemoteAddress& at, Fragments fragments) const;
  [[nodiscard]] bool writes_overlap(const Job& job, Fragments fragments) const;
};

namespace {

// The slice offset of a run that begins `distance` bytes from an address.
Result<std::uint64_t> offset_of(const RemoteAddress& at, std::int64_t distance) {
  std::uint64_t offset = 0;
  if (__builtin_add_overflow(at.offset, distance, &offset)) {
    return Status::error_at(at.rank, Code::out_of_range,
                            fmt::format("a run begins {} bytes from offset {} of rank {}'s slice",
                                        distance, at.offset, at.rank.value));
  }
  return offset;
}

// Grows by doubling, as push_back() does.
void make_room(std::vector<Fragment>& list, std::size_t more) {
  if (list.capacity() - list.size() < more) {
    list.reserve(std::max(list.size() + more, 2 * list.capacity()));
  }
}

// These change nothing if they fail.
Status append(std::vector<Fragment>& list, const RemoteAddress& at, void* local,
              const CopyShape& given) {
  TESSERA_RETURN_IF_ERROR(given.check());
  const CopyShape shape = given.normalised();
  if (kernels::is_empty(shape)) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(offset_of(at, shape.remote_extent().lowest).status());
  make_room(list, static_cast<std::size_t>(shape.runs()));
  auto* const bytes = static_cast<std::byte*>(local);
  kernels::for_each_run(shape, [&](std::int64_t here, std::int64_t there) {
    list.push_back({bytes + here, at.offset + static_cast<std::uint64_t>(there), shape.run_bytes});
  });
  return {};
}

// The most frequent case by far.
Status append(std::vector<Fragment>& list, const RemoteAddress& at, void* local,
              std::size_t bytes) {
  if (bytes > 0) {
    list.push_back({local, at.offset, bytes});
  }
  return {};
}

Status append(std::vector<Fragment>& list, const RemoteAddress& at, Fragments fragments) {
  const std::size_t before = list.size();
  make_room(list, fragments.size());
  for (const Fragment& each : fragments) {
    std::uint64_t offset = 0;
    if (__builtin_add_overflow(at.offset, each.remote_offset, &offset)) {
      list.resize(before);
      return Status::error(Code::invalid_argument,
                           fmt::format("a fragment at offset {} + {} overflows 64 bits", at.offset,
                                       each.remote_offset));
    }
    list.push_back({each.local, offset, each.bytes});
  }
  return {};
}

using detail::readable;

}  // namespace

Status Aggregate::Added::admit(Op wanted, WorldRank target, const Scale* factor) {
  if (!op) {
    op = wanted;
    rank = target;
    scale = factor == nullptr ? std::optional<Scale>() : *factor;
    return {};
  }
  if (*op != wanted || rank != target) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("an aggregate of operations '{}' to rank {} cannot take '{}' to "
                           "rank {}",
                           to_string(*op), rank.value, to_string(wanted), target.value))
        .hint("start() this aggregate first, or use another one");
  }
  if (factor != nullptr && *scale != *factor) {
    return Status::error(Code::invalid_argument,
                         "an aggregate of accumulates takes one type and factor only")
        .hint("start() this aggregate first, or use another one");
  }
  return {};
}

// Usually there is one list. An empty one may be of a region that was freed meanwhile.
std::vector<Fragment>& Aggregate::Added::list_of(RegionId region) {
  auto found = std::find_if(lists.rbegin(), lists.rend(), [&](const List& each) {
    return each.region == region || each.fragments.empty();
  });
  if (found == lists.rend()) {
    return lists.emplace_back(List{region, {}}).fragments;
  }
  found->region = region;
  return found->fragments;
}

Handle Aggregate::Added::start(Job& job, const RemoteAddress& at, Fragments fragments) const {
  return *op == Op::put   ? put_async(job, at, fragments)
         : *op == Op::get ? get_async(job, at, fragments)
                          : accumulate_async(job, at, fragments, *scale);
}

bool Aggregate::Added::writes_overlap(const Job& job, Fragments fragments) const {
  const auto check = [&] {
    return *op == Op::put   ? detail::check_remote_overlap(fragments)
           : *op == Op::get ? detail::check_local_overlap(fragments)
                            : Status();
  };
  return job.settings().check_overlap != 0 &&
         !detail::catch_bad_alloc(check).ok();  // without memory, the order is kept
}

// Splits the list into halves while it overlaps; waits for one half before it starts the other.
Handle Aggregate::Added::start_in_order(Job& job, const RemoteAddress& at,
                                        Fragments fragments) const {
  if (fragments.size() < 2 || !writes_overlap(job, fragments)) {
    return start(job, at, fragments);
  }
  const std::size_t half = fragments.size() / 2;
  if (Status first = start_in_order(job, at, fragments.first(half)).wait(); !first.ok()) {
    return Handle::failed(job, at.rank, std::move(first));
  }
  return start_in_order(job, at, fragments.subspan(half));
}

Handle Aggregate::Added::send(Job& job, Overlap overlap) {
  Handle all = std::exchange(sent, {});
  for (const List& list : lists) {
    if (list.fragments.empty()) {
      continue;  // its region may have been freed
    }
    const RemoteAddress at{rank, list.region, 0};
    all.collect(overlap == Overlap::in_order ? start_in_order(job, at, list.fragments)
                                             : start(job, at, list.fragments));
  }
  // Keeps the capacity: the next batch is probably as large.
  for (List& list : lists) {
    list.fragments.clear();
  }
  if (lists.size() > 1) {
    lists.clear();
  }
  pieces = 0;
  return all;
}

Aggregate::Aggregate(Job& job, Overlap overlap) noexcept : job_(&job), overlap_(overlap) {}
Aggregate::Aggregate(Aggregate&&) noexcept = default;

Aggregate& Aggregate::operator=(Aggregate&& other) noexcept {
  if (this != &other) {
    if (added_) {
      const Handle left = start();
    }
    job_ = other.job_;
    overlap_ = other.overlap_;
    added_ = std::move(other.added_);
  }
  return *this;
}

Aggregate::~Aggregate() {
  if (added_) {
    const Handle left = start();  // its destructor waits
  }
}

std::size_t Aggregate::pieces() const noexcept {
  return added_ ? added_->pieces : 0;
}

Handle Aggregate::start() {
  if (!added_) {
    return {};
  }
  Handle all = added_->send(*job_, overlap_);
  added_->op.reset();
  return all;
}

// `what` is (local pointer, bytes), (local pointer, shape) or (fragments).
template <class... What>
Status Aggregate::try_to_add(Op op, const Scale* scale, const RemoteAddress& at,
                             const What&... what) {
  TESSERA_RETURN_IF_ERROR(added_->admit(op, at.rank, scale));
  std::vector<Fragment>& list = added_->list_of(at.region);
  const std::size_t before = list.size();
  TESSERA_RETURN_IF_ERROR(append(list, at, what...));
  added_->pieces += list.size() - before;
  return {};
}

template <class... What>
Status Aggregate::add(Op op, const Scale* scale, const RemoteAddress& at, const What&... what) {
  const bool is_first = !added_ || !added_->op;
  Status status = detail::named(job_->state(), [&]() -> Status {
    if (!added_) {
      added_ = std::make_unique<Added>();
    }
    return try_to_add(op, scale, at, what...);
  });
  if (!status.ok()) {
    if (is_first && added_) {
      added_->op.reset();
    }
    return status;
  }
  if (added_->pieces >= max_pieces) {
    added_->sent = added_->send(*job_, overlap_);
  }
  return {};
}

Status Aggregate::put(RemoteAddress to, const void* from, std::size_t bytes) {
  return add(Op::put, nullptr, to, readable(from), bytes);
}
Status Aggregate::put(RemoteAddress to, const void* from, const CopyShape& shape) {
  return add(Op::put, nullptr, to, readable(from), shape);
}
Status Aggregate::put(RemoteAddress to, Fragments fragments) {
  return add(Op::put, nullptr, to, fragments);
}

Status Aggregate::get(RemoteAddress from, void* to, std::size_t bytes) {
  return add(Op::get, nullptr, from, to, bytes);
}
Status Aggregate::get(RemoteAddress from, void* to, const CopyShape& shape) {
  return add(Op::get, nullptr, from, to, shape);
}
Status Aggregate::get(RemoteAddress from, Fragments fragments) {
  return add(Op::get, nullptr, from, fragments);
}

Status Aggregate::accumulate(RemoteAddress to, const void* from, std::size_t bytes,
                             const Scale& scale) {
  return add(Op::accumulate, &scale, to, readable(from), bytes);
}
Status Aggregate::accumulate(RemoteAddress to, const void* from, const CopyShape& shape,
                             const Scale& scale) {
  return add(Op::accumulate, &scale, to, readable(from), shape);
}
Status Aggregate::accumulate(RemoteAddress to, Fragments fragments, const Scale& scale) {
  return add(Op::accumulate, &scale, to, fragments);
}

}  // namespace tessera::rma
