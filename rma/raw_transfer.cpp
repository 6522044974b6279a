// SPDX-License-Identifier: BSD-3-Clause
#include "rma/raw_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "rma/engine/job_state.hpp"
#include "rma/engine/named.hpp"
#include "rma/engine/region_state.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/protocol/actions.hpp"
#include "rma/protocol/mapped_word.hpp"
#include "rma/protocol/overlap.hpp"
#include "rma/protocol/raw_address.hpp"
#include "rma/transfer.hpp"

namespace tessera::rma {
namespace {

using detail::AccumulateAction;
using detail::CachedSlice;
using detail::GetAction;
using detail::is_private_memory;
using detail::JobState;
using detail::PutAction;
using kernels::Direction;

std::uint64_t offset_in(const CachedSlice& entry, const void* pointer) noexcept {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) - entry.raw);
}

// The path for single words of put and get. `local` is written only if the direction says so.
[[gnu::always_inline]] inline bool try_word(const JobState& job, Direction direction, Op op,
                                            RawAddress at, void* local, std::size_t bytes) {
  if (bytes != detail::word_bytes) {
    return false;
  }
  const detail::CachedLocation location = find_cached(job, at);
  return detail::is_mapped_word(location.slice, op, location.offset, local, bytes) &&
         detail::move_mapped_word(*location.slice, direction, op, location.pointer, local);
}

// Moves one run to or from a mapped slice that was used before. False: not done, no error found.
template <class Action>
[[gnu::always_inline]] inline bool try_run(const JobState& job, const Action& action, RawAddress at,
                                           void* local, std::size_t bytes) {
  const detail::CachedLocation location = find_cached(job, at);
  if (!location.is_mapped(Action::op, bytes) || local == nullptr || !action.is_whole(bytes))
      [[unlikely]] {
    return false;
  }
  location.slice->count(Action::op, bytes);
  action.run(location.pointer - location.offset, location.offset, local, bytes,
             job.slices().stripes_of(*location.slice));
  return true;
}

CopyShape shape_of(std::size_t bytes) {
  return CopyShape::contiguous(bytes);
}
CopyShape shape_of(const CopyShape& shape) {
  return shape;
}

// A transfer between two addresses of this process, neither of them in a region.
template <class Action>
Status move_within_process(const JobState& job, const Action& action, const void* pointer,
                           void* local, const CopyShape& given) {
  const CopyShape shape = given.normalised();
  TESSERA_RETURN_IF_ERROR(action.check(shape.run_bytes));
  if (local == nullptr || pointer == nullptr) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} of {} bytes with a null pointer", to_string(Action::op),
                                     shape.total_bytes()));
  }
  auto* const there = static_cast<std::byte*>(const_cast<void*>(pointer));
  action.shape(there, 0, local, shape, job.slices().stripes().slice(detail::no_region, job.rank()));
  if (CachedSlice* const entry = job.slices().counting_entry(job.rank())) {
    entry->count(Action::op, shape.total_bytes(), 1,
                 shape.levels == 0 ? Form::contiguous : Form::strided);
  }
  return {};
}

// Does `act`, a function of rma/transfer.hpp, for an address that find() did not find.
template <class Action, class Act>
Status act_on_unknown_address(Job& job, const Action& action, RawAddress at, void* local,
                              const CopyShape& shape, const Act& act) {
  TESSERA_RETURN_IF_ERROR(shape.check());
  if (shape.total_bytes() == 0) {
    return {};
  }
  auto translation = job.translate(at.rank, at.pointer);
  if (translation.ok()) {
    return act(*translation);
  }
  return is_private_memory(job.state(), at)
             ? move_within_process(job.state(), action, at.pointer, local, shape)
             : std::move(translation).status();
}

// `what` is bytes or a shape.
template <class Action, class What, class Act>
Status run(Job& job, const Action& action, RawAddress at, void* local, const What& what,
           const Act& act) {
  const RemoteAddress remote = find(job.state(), at);
  if (remote.region.value != 0) [[likely]] {
    return act(remote);
  }
  return detail::named(job.state(), [&] {
    return act_on_unknown_address(job, action, at, local, shape_of(what), act);
  });
}

// The same for functions that return a handle.
template <class Action, class What, class Act>
Handle start(Job& job, const Action& action, RawAddress at, void* local, const What& what,
             const Act& act) {
  const RemoteAddress remote = find(job.state(), at);
  if (remote.region.value != 0) [[likely]] {
    return act(remote);
  }
  Handle started;
  const auto keep = [&](RemoteAddress found) {
    started = act(found);
    return Status();
  };
  Status status = detail::named(job.state(), [&] {
    return act_on_unknown_address(job, action, at, local, shape_of(what), keep);
  });
  return status.ok() ? std::move(started) : Handle::failed(job, at.rank, std::move(status));
}

using detail::readable;

template <class What>
Status put_general(Job& job, RawAddress to, const void* from, const What& what) {
  return run(job, PutAction(), to, readable(from), what,
             [&](RemoteAddress at) { return put(job, at, from, what); });
}
template <class What>
Handle start_put(Job& job, RawAddress to, const void* from, const What& what) {
  return start(job, PutAction(), to, readable(from), what,
               [&](RemoteAddress at) { return put_async(job, at, from, what); });
}
template <class What>
Status get_general(Job& job, RawAddress from, void* to, const What& what) {
  return run(job, GetAction(), from, to, what,
             [&](RemoteAddress at) { return get(job, at, to, what); });
}
template <class What>
Handle start_get(Job& job, RawAddress from, void* to, const What& what) {
  return start(job, GetAction(), from, to, what,
               [&](RemoteAddress at) { return get_async(job, at, to, what); });
}
// Out of line: the callers' fast path does not need its stack frame.
template <class What>
[[gnu::noinline]] Status accumulate_general(Job& job, RawAddress to, const void* from,
                                            const What& what, const Scale& scale) {
  return run(job, AccumulateAction(scale), to, readable(from), what,
             [&](RemoteAddress at) { return accumulate(job, at, from, what, scale); });
}
template <class What>
[[gnu::noinline]] Handle start_accumulate(Job& job, RawAddress to, const void* from,
                                          const What& what, const Scale& scale) {
  return start(job, AccumulateAction(scale), to, readable(from), what,
               [&](RemoteAddress at) { return accumulate_async(job, at, from, what, scale); });
}

// For runs that are not aligned words; out of line to keep the fastest path short.
[[gnu::noinline]] Status put_run(Job& job, RawAddress to, const void* from, std::size_t bytes) {
  if (try_run(job.state(), PutAction(), to, readable(from), bytes)) [[likely]] {
    return {};
  }
  return put_general(job, to, from, bytes);
}
[[gnu::noinline]] Handle start_put_run(Job& job, RawAddress to, const void* from,
                                       std::size_t bytes) {
  if (try_run(job.state(), PutAction(), to, readable(from), bytes)) [[likely]] {
    return {};
  }
  return start_put(job, to, from, bytes);
}
[[gnu::noinline]] Status get_run(Job& job, RawAddress from, void* to, std::size_t bytes) {
  if (try_run(job.state(), GetAction(), from, to, bytes)) [[likely]] {
    return {};
  }
  return get_general(job, from, to, bytes);
}
[[gnu::noinline]] Handle start_get_run(Job& job, RawAddress from, void* to, std::size_t bytes) {
  if (try_run(job.state(), GetAction(), from, to, bytes)) [[likely]] {
    return {};
  }
  return start_get(job, from, to, bytes);
}

}  // namespace

Status put(Job& job, RawAddress to, const void* from, std::size_t bytes) {
  if (try_word(job.state(), Direction::to_remote, Op::put, to, readable(from), bytes)) {
    return {};
  }
  return put_run(job, to, from, bytes);
}
Status put(Job& job, RawAddress to, const void* from, const CopyShape& shape) {
  return put_general(job, to, from, shape);
}
Handle put_async(Job& job, RawAddress to, const void* from, std::size_t bytes) {
  if (try_word(job.state(), Direction::to_remote, Op::put, to, readable(from), bytes)) {
    return {};
  }
  return start_put_run(job, to, from, bytes);
}
Handle put_async(Job& job, RawAddress to, const void* from, const CopyShape& shape) {
  return start_put(job, to, from, shape);
}

Status get(Job& job, RawAddress from, void* to, std::size_t bytes) {
  if (try_word(job.state(), Direction::from_remote, Op::get, from, to, bytes)) {
    return {};
  }
  return get_run(job, from, to, bytes);
}
Status get(Job& job, RawAddress from, void* to, const CopyShape& shape) {
  return get_general(job, from, to, shape);
}
Handle get_async(Job& job, RawAddress from, void* to, std::size_t bytes) {
  if (try_word(job.state(), Direction::from_remote, Op::get, from, to, bytes)) {
    return {};
  }
  return start_get_run(job, from, to, bytes);
}
Handle get_async(Job& job, RawAddress from, void* to, const CopyShape& shape) {
  return start_get(job, from, to, shape);
}

Status accumulate(Job& job, RawAddress to, const void* from, std::size_t bytes,
                  const Scale& scale) {
  if (try_run(job.state(), AccumulateAction(scale), to, readable(from), bytes)) [[likely]] {
    return {};
  }
  return accumulate_general(job, to, from, bytes, scale);
}
Status accumulate(Job& job, RawAddress to, const void* from, const CopyShape& shape,
                  const Scale& scale) {
  return accumulate_general(job, to, from, shape, scale);
}
Handle accumulate_async(Job& job, RawAddress to, const void* from, std::size_t bytes,
                        const Scale& scale) {
  if (try_run(job.state(), AccumulateAction(scale), to, readable(from), bytes)) [[likely]] {
    return {};
  }
  return start_accumulate(job, to, from, bytes, scale);
}
Handle accumulate_async(Job& job, RawAddress to, const void* from, const CopyShape& shape,
                        const Scale& scale) {
  return start_accumulate(job, to, from, shape, scale);
}

namespace {

// The side that is written, where runs must not overlap.
std::span<void* const> written(const RunList& list, Direction direction) {
  return direction == Direction::to_remote ? list.remote : list.local;
}

bool has_null(std::span<void* const> runs) {
  return std::find(runs.begin(), runs.end(), nullptr) != runs.end();
}

// The slice in which all runs of a list begin and end, if it is mapped here; else null.
CachedSlice* mapped_slice_of(const JobState& job, Op op, WorldRank rank, const RunList& list) {
  const RegionId region = job.slices().addresses().find(list.remote.front());
  CachedSlice* const entry = region.value == 0 ? nullptr : job.slices().cached(rank, region);
  if (entry == nullptr || entry->start_of(op) == nullptr || list.bytes > entry->bytes) {
    return nullptr;
  }
  const std::uint64_t last = entry->bytes - list.bytes;
  const bool fits = std::all_of(list.remote.begin(), list.remote.end(),
                                [&](const void* each) { return offset_in(*entry, each) <= last; });
  return fits ? entry : nullptr;
}

// Moves one list in one mapped slice whose runs clearly do not overlap. False: not done, no error
// found.
bool try_list(const JobState& job, Direction direction, Op op, WorldRank rank,
              const RunList& list) {
  const auto target = written(list, direction);
  const auto source = direction == Direction::to_remote ? list.local : list.remote;
  if (list.bytes == 0 || target.empty() || target.size() != source.size() ||
      !detail::are_surely_disjoint(target, list.bytes) ||
      (direction == Direction::to_remote && has_null(source))) {
    return false;
  }
  CachedSlice* const entry = mapped_slice_of(job, op, rank, list);
  if (entry == nullptr) {
    return false;
  }
  entry->count(op, target.size() * list.bytes, target.size(), Form::scattered);
  for (std::size_t i = 0; i < target.size(); ++i) {
    kernels::move_small(target[i], source[i], list.bytes);
  }
  return true;
}

// The runs that lie in one region. Number 0: in no region but in this process; offsets are then
// addresses.
struct RegionList {
  RegionId region;
  std::vector<Fragment> fragments;
};
using RegionLists = std::vector<RegionList>;

// Sorts runs by their regions. Adjacent runs of a list usually lie in the same slice; the last
// slice is remembered and tried first.
class RegionSorter {
 public:
  RegionSorter(const Job& job, WorldRank rank) : job_(job), rank_(rank) {}

  /// Errors: as Job::translate; invalid_argument if the two sides have different numbers of runs.
  Status add(const RunList& list) {
    if (list.remote.size() != list.local.size()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("a list of {} remote and {} local runs", list.remote.size(),
                                       list.local.size()));
    }
    if (list.bytes == 0) {
      return {};
    }
    for (std::size_t i = 0; i < list.remote.size(); ++i) {
      std::uint64_t offset = kernels::address_of(list.remote[i]) - start_;
      if (offset >= bytes_) {
        TESSERA_ASSIGN_OR_RETURN(offset, retarget(list.remote[i], list.remote.size()));
      }
      sorted_[current_].fragments.push_back({list.local[i], offset, list.bytes});
    }
    return {};
  }

  [[nodiscard]] const RegionLists& sorted() const noexcept { return sorted_; }

 private:
  // Makes the slice that contains the run the current one, with room for all runs of its list;
  // returns the run's offset.
  Result<std::uint64_t> retarget(const void* run, std::size_t runs) {
    auto translation = job_.translate(rank_, run);
    RemoteAddress at{rank_, detail::no_region, kernels::address_of(run)};
    bytes_ = 0;
    if (translation.ok()) {
      at = *translation;
      detail::RegionState& region = *job_.state().slices().regions().find(at.region);
      bytes_ = region.bytes(region.team_state().team_rank(rank_));
    } else if (!is_private_memory(job_.state(), {rank_, run})) {
      return std::move(translation).status();
    }
    start_ = kernels::address_of(run) - at.offset;
    const auto known = std::find_if(sorted_.begin(), sorted_.end(), [&](const RegionList& each) {
      return each.region == at.region;
    });
    current_ = static_cast<std::size_t>(known - sorted_.begin());
    if (known == sorted_.end()) {
      sorted_.push_back({at.region, {}});
      sorted_.back().fragments.reserve(runs);
    }
    return at.offset;
  }

  const Job& job_;
  WorldRank rank_;
  RegionLists sorted_;
  std::size_t current_ = 0;
  std::uintptr_t start_ = 0;  // start and size of the current slice; size 0: none
  std::size_t bytes_ = 0;
};

template <class Action>
Status move_within_process(const JobState& job, const Action& action, Fragments runs) {
  for (const Fragment& each : runs) {
    TESSERA_RETURN_IF_ERROR(move_within_process(job, action,
                                                std::bit_cast<const void*>(each.remote_offset),
                                                each.local, CopyShape::contiguous(each.bytes)));
  }
  return {};
}

// As [ARMCIMPI12] §VI.B requires: in the list's order, so that the last bytes written remain.
template <class Act>
Handle one_after_another(Job& job, RemoteAddress at, Fragments fragments, const Act& act) {
  for (const Fragment& each : fragments) {
    if (Status status = act(at, Fragments(&each, 1)).wait(); !status.ok()) {
      return Handle::failed(job, at.rank, std::move(status));
    }
  }
  return {};
}

template <class Action>
bool writes_overlap(const JobState& job, Fragments fragments) {
  return job.settings().check_overlap != 0 && !Action::check_fragments(fragments).ok();
}

// Starts `act` for the fragments of each region.
template <class Action, class Act>
Handle start_lists(Job& job, const Action& action, WorldRank rank, RunLists lists, const Act& act) {
  Handle handle;
  Status status = detail::named(job.state(), [&]() -> Status {
    RegionSorter sorter(job, rank);
    for (const RunList& list : lists) {
      TESSERA_RETURN_IF_ERROR(sorter.add(list));
    }
    Status first;
    for (const auto& [region, fragments] : sorter.sorted()) {
      if (region != detail::no_region) {
        const RemoteAddress at{rank, region, 0};
        handle.collect(writes_overlap<Action>(job.state(), fragments)
                           ? one_after_another(job, at, fragments, act)
                           : act(at, Fragments(fragments)));
        continue;
      }
      Status moved = move_within_process(job.state(), action, fragments);
      first = first.ok() ? std::move(moved) : std::move(first);
    }
    return first;
  });
  if (!status.ok()) {
    handle.collect(Handle::failed(job, rank, std::move(status)));
  }
  return handle;
}

// Calls add(address, fragments) for the runs of each region.
template <class Add>
Status add_sorted_lists(Job& job, WorldRank rank, RunLists lists, const Add& add) {
  RegionSorter sorter(job, rank);
  for (const RunList& list : lists) {
    TESSERA_RETURN_IF_ERROR(sorter.add(list));
  }
  const auto& sorted = sorter.sorted();
  if (std::any_of(sorted.begin(), sorted.end(),
                  [](const RegionList& each) { return each.region == detail::no_region; })) {
    return Status::error_at(
        rank, Code::out_of_range,
        "an aggregate takes runs in regions only, not in other memory of this process");
  }
  for (const auto& [region, fragments] : sorted) {
    TESSERA_RETURN_IF_ERROR(add(RemoteAddress{rank, region, 0}, Fragments(fragments)));
  }
  return {};
}

template <class Add>
Status add_lists(Job& job, WorldRank rank, RunLists lists, const Add& add) {
  return detail::named(job.state(), [&] { return add_sorted_lists(job, rank, lists, add); });
}

bool try_lists(Job& job, Direction direction, Op op, WorldRank rank, RunLists lists) {
  return lists.size() == 1 && try_list(job.state(), direction, op, rank, lists.front());
}

}  // namespace

Status put(Job& job, WorldRank to, RunLists lists) {
  return put_async(job, to, lists).wait();
}
Status get(Job& job, WorldRank from, RunLists lists) {
  return get_async(job, from, lists).wait();
}
Status accumulate(Job& job, WorldRank to, RunLists lists, const Scale& scale) {
  return accumulate_async(job, to, lists, scale).wait();
}

Handle put_async(Job& job, WorldRank to, RunLists lists) {
  if (try_lists(job, Direction::to_remote, Op::put, to, lists)) {
    return {};
  }
  return start_lists(job, PutAction(), to, lists, [&](RemoteAddress at, Fragments fragments) {
    return put_async(job, at, fragments);
  });
}
Handle get_async(Job& job, WorldRank from, RunLists lists) {
  if (try_lists(job, Direction::from_remote, Op::get, from, lists)) {
    return {};
  }
  return start_lists(job, GetAction(), from, lists, [&](RemoteAddress at, Fragments fragments) {
    return get_async(job, at, fragments);
  });
}
Handle accumulate_async(Job& job, WorldRank to, RunLists lists, const Scale& scale) {
  return start_lists(job, AccumulateAction(scale), to, lists,
                     [&](RemoteAddress at, Fragments fragments) {
                       return accumulate_async(job, at, fragments, scale);
                     });
}

Status put(Aggregate& kept, Job& job, WorldRank to, RunLists lists) {
  return add_lists(job, to, lists,
                   [&](RemoteAddress at, Fragments fragments) { return kept.put(at, fragments); });
}
Status get(Aggregate& kept, Job& job, WorldRank from, RunLists lists) {
  return add_lists(job, from, lists,
                   [&](RemoteAddress at, Fragments fragments) { return kept.get(at, fragments); });
}
Status accumulate(Aggregate& kept, Job& job, WorldRank to, RunLists lists, const Scale& scale) {
  return add_lists(job, to, lists, [&](RemoteAddress at, Fragments fragments) {
    return kept.accumulate(at, fragments, scale);
  });
}

}  // namespace tessera::rma
