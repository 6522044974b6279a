// SPDX-License-Identifier: BSD-3-Clause
#include "rma/atomic_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/engine/job_state.hpp"
#include "rma/engine/named.hpp"
#include "rma/protocol/direct.hpp"
#include "rma/protocol/locate.hpp"
#include "rma/protocol/remote.hpp"
#include "rma/protocol/route.hpp"

namespace tessera::rma {
namespace {

using detail::JobState;

// Atomics on one slice; their offsets count from its start.
struct SliceAtomics {
  WorldRank rank;
  RegionId region;
  AtomicList list;

  [[nodiscard]] RemoteAddress address(std::uint64_t offset) const noexcept {
    return {rank, region, offset};
  }
};

Status check_alignment(const AtomicList& list) {
  const auto bytes = static_cast<std::uint64_t>(list.bytes);
  const auto wrong =
      std::find_if(list.items.begin(), list.items.end(),
                   [&](const AtomicList::Item& each) { return each.offset % bytes != 0; });
  return wrong == list.items.end()
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("atomic operation on {} bytes at offset {}, which is not "
                                         "aligned to them",
                                         list.bytes, wrong->offset));
}

void change_mapped(JobState& job, const SliceAtomics& atomics, const detail::Located& located) {
  const bool is_strict = located.region->options().atomics == Atomics::strict;
  const auto stripes = job.slices().stripes().slice(atomics.region, atomics.rank);
  for (const AtomicList::Item& each : atomics.list.items) {
    std::optional<detail::RobustGuard> guard;
    if (is_strict) {
      guard.emplace(stripes.of(each.offset), stripes.context());
    }
    const AtomicRequest request = atomics.list.request(each);
    request.report(detail::atomic_direct(located.slice + each.offset, request));
  }
}

Status change_by_device(JobState& job, const SliceAtomics& atomics,
                        const detail::Located& located) {
  for (const AtomicList::Item& each : atomics.list.items) {
    const Target word{&located.region->segment(), located.member, each.offset, atomics.region};
    TESSERA_RETURN_IF_ERROR(
        detail::atomic_by_device(job, word, atomics.rank, atomics.list.request(each)));
  }
  return {};
}

// Creates an operation in `started` if the atomics may end later.
Status change_remote(JobState& job, const SliceAtomics& atomics, const detail::Located& located,
                     std::shared_ptr<detail::Operation>& started) {
  TESSERA_ASSIGN_OR_RETURN(const detail::RemoteAccess remote,
                           find_route(job, Op::atomic, atomics.address(0), located));
  auto made = detail::make_operation(job, atomics.rank);
  made->set_what("an atomic operation on");
  job.outstanding().add(made);
  started = std::move(made);
  atomics_remote(remote.path, remote.target, atomics.list, started->completion());
  return {};
}

// The word with the largest offset is inside the slice if all are.
Status start_on_slice(JobState& job, const SliceAtomics& atomics,
                      std::shared_ptr<detail::Operation>& started) {
  if (job.observers().current() != nullptr) [[unlikely]] {
    for (const AtomicList::Item& each : atomics.list.items) {
      job.observers().report_atomic(atomics.address(each.offset));
    }
  }
  TESSERA_RETURN_IF_ERROR(check_alignment(atomics.list));
  const auto last = std::max_element(
      atomics.list.items.begin(), atomics.list.items.end(),
      [](const AtomicList::Item& a, const AtomicList::Item& b) { return a.offset < b.offset; });
  TESSERA_ASSIGN_OR_RETURN(
      const detail::Located located,
      locate(job, Op::atomic, atomics.address(last->offset), {0, atomics.list.bytes}));
  const std::uint64_t count = atomics.list.items.size();
  job.slices().counters().add(atomics.rank, atomics.region, Op::atomic,
                              {count, count * static_cast<std::uint64_t>(atomics.list.bytes)},
                              count == 1 ? Form::contiguous : Form::scattered);
  if (located.region->atomics() == Atomics::device) {
    return change_by_device(job, atomics, located);
  }
  if (located.slice == nullptr) {
    return change_remote(job, atomics, located, started);
  }
  change_mapped(job, atomics, located);
  return {};
}

template <AtomicWord T>
Status check_list(const AtomicWords<T>& words) {
  const std::size_t count = words.at.size();
  if (static_cast<int>(words.op) >= atomic_op_count) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("atomic operation {}, which does not exist", static_cast<int>(words.op)));
  }
  const auto check = [&](std::string_view name, std::size_t given) {
    return given == count ? Status()
                          : Status::error(Code::invalid_argument,
                                          fmt::format("{} {} for {} atomics", given, name, count));
  };
  TESSERA_RETURN_IF_ERROR(check("operands", words.operands.size()));
  TESSERA_RETURN_IF_ERROR(check("places for previous values", words.previous.size()));
  const bool compares = words.op == AtomicOp::compare_swap;
  return compares ? check("expected values", words.expected.size()) : Status();
}

struct ListedWord {
  RemoteAddress at;
  AtomicList::Item item;
};

bool are_on_one_slice(const ListedWord& a, const ListedWord& b) noexcept {
  return a.at.rank == b.at.rank && a.at.region == b.at.region;
}

// The words with those of one slice together, otherwise in the order of the list.
template <AtomicWord T>
std::vector<ListedWord> by_slice(const AtomicWords<T>& words) {
  std::vector<ListedWord> all(words.at.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = {words.at[i],
              {.offset = words.at[i].offset,
               .operand = words.operands[i],
               .expected = words.op == AtomicOp::compare_swap ? words.expected[i] : T{0},
               .previous = &words.previous[i]}};
  }
  const auto comes_first = [](const ListedWord& a, const ListedWord& b) {
    return a.at.rank != b.at.rank ? a.at.rank < b.at.rank : a.at.region.value < b.at.region.value;
  };
  if (!std::is_sorted(all.begin(), all.end(), comes_first)) {
    std::stable_sort(all.begin(), all.end(), comes_first);
  }
  return all;
}

}  // namespace

template <AtomicWord T>
Handle atomics_async(Job& job, const AtomicWords<T>& words) {
  static_assert(static_cast<int>(AtomicRequest::Kind::fetch_xor) ==
                static_cast<int>(AtomicOp::bit_xor));
  JobState& state = job.state();
  Handle all;
  WorldRank peer = job.rank();
  Status status = detail::named(state, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_list(words));
    const std::vector<ListedWord> sorted = by_slice(words);
    std::vector<AtomicList::Item> items;
    for (auto first = sorted.begin(); first != sorted.end();) {
      peer = first->at.rank;
      const auto next = std::find_if(first, sorted.end(), [&](const ListedWord& each) {
        return !are_on_one_slice(each, *first);
      });
      items.clear();
      std::transform(first, next, std::back_inserter(items),
                     [](const ListedWord& each) { return each.item; });
      const SliceAtomics atomics{first->at.rank,
                                 first->at.region,
                                 {static_cast<AtomicRequest::Kind>(words.op), sizeof(T), items}};
      std::shared_ptr<detail::Operation> started;
      Status begun = start_on_slice(state, atomics, started);
      all.collect(Handle(std::move(started)));
      TESSERA_RETURN_IF_ERROR(begun);
      first = next;
    }
    return {};
  });
  if (!all.has_ended()) {
    state.transports().wake_progress();
  }
  if (!status.ok()) {
    all.collect(Handle::failed(job, peer, std::move(status)));
  }
  return all;
}

template Handle atomics_async(Job&, const AtomicWords<std::int32_t>&);
template Handle atomics_async(Job&, const AtomicWords<std::int64_t>&);

}  // namespace tessera::rma
