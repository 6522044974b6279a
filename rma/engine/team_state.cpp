// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/connection_loss_word.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/lost_agent_host.hpp"
#include "rma/engine/reduce.hpp"

namespace tessera::rma::detail {

std::uint64_t CollectiveCall::packed() const noexcept {
  // One more than the kind, so that no call packs to 0, which means none.
  return (static_cast<std::uint64_t>(kind) + 1) | static_cast<std::uint64_t>(type) << 8U |
         static_cast<std::uint64_t>(reduction) << 16U |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(root.value)) << 32U;
}

// Each part is a bijection of its word: if only one of the words differs, so does the sum.
std::uint64_t CollectiveCall::fingerprint(std::uint64_t label) const noexcept {
  constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = packed() * golden;
  mixed = (mixed ^ mixed >> 32U) * golden;
  const std::uint64_t sum = mixed + bytes * 0xd134'2543'de82'ef95 + label;
  return sum == 0 ? golden : sum;
}

std::string CollectiveCall::describe(std::uint64_t packed, std::optional<std::uint64_t> bytes) {
  const auto type = static_cast<ElementType>(packed >> 8U & 0xffU);
  const auto reduction = static_cast<Reduction>(packed >> 16U & 0xffU);
  const auto root = static_cast<std::int32_t>(packed >> 32U);
  const std::string of = bytes ? fmt::format(" of {} bytes", *bytes) : "";
  switch (kind_of(packed)) {
    case Kind::form:
      return "formation of a team";
    case Kind::barrier:
      return "barrier";
    case Kind::broadcast:
      return fmt::format("broadcast{} from member {}", of, root);
    case Kind::allgather:
      return fmt::format("allgather{}", of);
    case Kind::allreduce:
      return fmt::format("allreduce{} of {} by {}", of, to_string(type), to_string(reduction));
    case Kind::reduce:
      return fmt::format("reduce{} of {} by {} to member {}", of, to_string(type),
                         to_string(reduction), root);
    case Kind::agree:
      return "agree";
    case Kind::part:
    case Kind::account:
      return "a later step of a collective";
    case Kind::refused:
      return "a collective with wrong arguments";
    case Kind::without_memory:
      return "a collective for which it had no memory";
  }
  return "unknown collective";
}

void TeamControl::give_up(std::uint32_t under_way, std::uint32_t word) noexcept {
  std::uint32_t whole = 0;
  broken.compare_exchange_strong(whole, word);
  // The rank that is gone may have arrived before it went, and the last one may arrive just now.
  std::uint32_t expected = under_way;
  generation.compare_exchange_strong(expected, under_way | given_up_bit);
  futex_wake_all(generation);
}

TeamState::TeamState(JobState& job, std::shared_ptr<JobState> keep_job,
                     std::vector<WorldRank> members)
    : job_(job),
      keep_job_(std::move(keep_job)),
      node_(job.node),
      members_(std::move(members)),
      slot_bytes_(static_cast<std::size_t>(job.settings.collective_slot_bytes) / cache_line *
                  cache_line) {}

TeamState::~TeamState() {
  if (control_ == nullptr || job_.is_in_forked_child()) {
    return;
  }
  // Sorted, since members may have given the team's list in different orders.
  const std::vector<WorldRank>& sorted = sorted_on_node_;
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), job_.rank) - sorted.begin();
  if (last_one().let_go(*node_, sorted, static_cast<std::size_t>(place))) {
    free_long_memory();
    withdraw_control(RegionId{control_->memory});
    node_->arena().free(control_offset_, control_->bytes);
  }
}

TeamRank TeamState::team_rank(WorldRank rank) const noexcept {
  if (by_world_rank_.empty()) {
    const std::int64_t at = std::int64_t{rank.value} - members_.front().value;
    return TeamRank{at >= 0 && at < size() ? static_cast<std::int32_t>(at) : -1};
  }
  const auto found = std::lower_bound(
      by_world_rank_.begin(), by_world_rank_.end(), rank, [&](TeamRank place, WorldRank wanted) {
        return members_[static_cast<std::size_t>(place.value)] < wanted;
      });
  const bool is_member =
      found != by_world_rank_.end() && members_[static_cast<std::size_t>(found->value)] == rank;
  return is_member ? *found : TeamRank{-1};
}

// The parts of the control: TeamControl, the count of members that still use it, mailboxes if there
// are other nodes, two sets of slots.
SharedRefCount& TeamState::last_one() const noexcept {
  return *reinterpret_cast<SharedRefCount*>(reinterpret_cast<std::byte*>(control_) +
                                            sizeof(TeamControl));
}

std::uint64_t TeamState::marks_start(std::int32_t node_members) noexcept {
  static_assert(sizeof(TeamControl) % cache_line == 0);
  return sizeof(TeamControl) + SharedRefCount::bytes(static_cast<std::size_t>(node_members));
}

std::uint64_t TeamState::mail_start(std::int32_t node_members) noexcept {
  const std::uint64_t marks = static_cast<std::uint64_t>(node_members) * sizeof(std::uint32_t);
  return marks_start(node_members) + (marks + cache_line - 1) / cache_line * cache_line;
}

std::uint64_t TeamState::first_slot_offset() const noexcept {
  return mail_start(node_members_) + (nodes_ ? nodes_->mail_bytes(nodes_->own(), slot_bytes_) : 0);
}

std::uint64_t TeamState::control_bytes() const noexcept {
  return first_slot_offset() + 2 * static_cast<std::uint64_t>(node_members_) * slot_bytes_;
}

std::byte* TeamState::slot(std::uint32_t phase, std::int32_t order) const noexcept {
  const std::size_t at =
      (phase % 2) * static_cast<std::size_t>(node_members_) + static_cast<std::size_t>(order);
  return reinterpret_cast<std::byte*>(control_) + first_slot_offset() + at * slot_bytes_;
}

void TeamState::check_call(TeamControl::Check& check, const CollectiveCall& call) const {
  const std::uint64_t mine = call.fingerprint(label_of(call));
  std::uint64_t found = 0;
  // The fields of the first and the odd member are read after all members have arrived.
  if (check.fingerprint.compare_exchange_strong(found, mine)) {
    check.call.store(call.packed(), std::memory_order_relaxed);
    check.bytes.store(call.bytes, std::memory_order_relaxed);
    check.first.store(job_.rank.value, std::memory_order_relaxed);
    return;
  }
  std::uint32_t nobody = 0;
  if (found != mine &&
      check.odd.compare_exchange_strong(nobody, static_cast<std::uint32_t>(job_.rank.value) + 1)) {
    check.odd_call.store(call.packed(), std::memory_order_relaxed);
    check.odd_fingerprint.store(mine, std::memory_order_relaxed);
  }
}

Status TeamState::report_no_memory() noexcept {
  Status told = meet({.kind = CollectiveCall::Kind::without_memory});
  return told.ok() ? Status::no_memory("no member has memory for its part of a collective")
                   : std::move(told);
}

Status TeamState::wrong_root(TeamRank root) const {
  return Status::error(
      Code::invalid_argument,
      fmt::format("member {} cannot be the root: the team has {} members", root.value, size()));
}

// Used to answer questions about that rank if its node does not answer them.
void TeamState::remember_loss(WorldRank rank, bool has_died) const noexcept {
  if (job_.link != nullptr && rank.value >= 0 && node_->local_rank_of(rank) < 0) {
    job_.link->note_loss(rank, has_died);
  }
}

Status TeamState::status_of(std::uint32_t word) const noexcept {
  if (ConnectionLossWord::is(word)) {
    const ConnectionLossWord lost(word);
    remember_loss(lost.rank(), false);
    return lost.status(job_.rank);
  }
  constexpr std::uint32_t bits = TeamControl::left_bit | TeamControl::no_memory_bit;
  const WorldRank rank{static_cast<std::int32_t>(word & ~bits) - 1};
  const Code code = (word & TeamControl::no_memory_bit) != 0 ? Code::no_memory
                    : (word & TeamControl::left_bit) != 0    ? Code::closed
                                                             : Code::peer_lost;
  if (code == Code::peer_lost) {
    remember_loss(rank, true);
  }
  const char* const what = code == Code::no_memory ? "found no memory for the team"
                           : code == Code::closed
                               ? "has left the job and takes part in no further collectives"
                               : "died";
  try {
    return Status::error_at(rank, code, fmt::format("rank {} {}", rank.value, what));
  } catch (const std::bad_alloc&) {
    return Status::code_only(code);
  }
}

// Members of other nodes matter only until all members of this node have arrived. After that, a
// rank that is gone may have received all it needed from this node, and the step may succeed. The
// same holds for this node's agent host: what the leader needs may have arrived before it died.
void TeamState::check_members_alive(std::uint32_t generation) {
  const auto has_entered = [&] {
    return control_->entered.load() == TeamControl::after(generation);
  };
  std::uint32_t word = check_own_node();
  if (word == 0 && nodes_ && !has_entered()) {
    const std::uint32_t cut_off = failure_word_of_lost_agent_host(*node_);
    const std::uint32_t elsewhere = cut_off != 0 ? cut_off : check_next_node();
    word = has_entered() ? 0 : elsewhere;
  }
  if (word != 0) {
    control_->give_up(generation, word);
  }
}

// The failure word for the first member on this node that is gone, or 0.
std::uint32_t TeamState::check_own_node() const {
  for (const WorldRank member : members_) {
    const int place = node_->local_rank_of(member);
    if (place >= 0 && node_->is_gone(place)) {
      return node_->has_left(place) ? TeamControl::left(member) : TeamControl::died(member);
    }
  }
  return 0;
}

std::atomic<std::uint32_t>& TeamState::mark_of(std::int32_t order) const noexcept {
  auto* const marks = reinterpret_cast<std::atomic<std::uint32_t>*>(
      reinterpret_cast<std::byte*>(control_) + marks_start(node_members_));
  return marks[order];
}

const Label* TeamState::outermost_label() const noexcept {
  const LabelScope* outermost = scope_;
  while (outermost->outer() != nullptr) {
    outermost = outermost->outer();
  }
  return &outermost->label();
}

LongWait TeamState::begin_to_wait(std::uint32_t generation) const noexcept {
  mark_of(order_).store(generation + 1, std::memory_order_relaxed);
  return LongWait(job_.settings);
}

std::vector<std::int32_t> TeamState::missing_here(std::uint32_t generation) const {
  std::vector<std::int32_t> missing;
  for (const WorldRank member : members_) {
    const std::int32_t order = order_of(member);
    if (order >= 0 && mark_of(order).load(std::memory_order_relaxed) != generation + 1) {
      missing.push_back(member.value);
    }
  }
  return missing;
}

// `sender` is the index of the node that is waited for, or −1.
void TeamState::tell_of(LongWait& wait, std::uint32_t generation,
                        std::int32_t sender) const noexcept {
  report_if_long(wait, job_.log, [&] {
    const TeamControl::Check& check = control_->check[generation % 2];
    const std::vector<std::int32_t> missing = missing_here(generation);
    const std::string whom =
        !missing.empty()
            ? fmt::format("rank {} on this node has not arrived", fmt::join(missing, ", "))
        : sender >= 0
            ? fmt::format("nothing has arrived from rank {}'s node", nodes_->leader(sender).value)
            : std::string("all ranks on this node have arrived");
    const Label* const called = label();
    return fmt::format("in {} of a team of {}: {}",
                       called == nullptr
                           ? CollectiveCall::describe(check.call.load(), check.bytes.load())
                           : called->short_text(),
                       size(), whom);
  });
}

Status TeamState::wait_for_others(std::uint32_t generation) {
  TeamControl& control = *control_;
  const auto over = [&] {
    return control.generation.load(std::memory_order_acquire) != generation;
  };
  if (!node_->spin(over)) {
    LongWait long_wait = begin_to_wait(generation);
    control.sleepers.fetch_add(1);
    auto last_check = std::chrono::steady_clock::now();
    while (!over()) {
      node_->timed_wait(control.generation, generation);
      const auto now = std::chrono::steady_clock::now();
      if (now - last_check >= node_->policy().liveness_interval && !over()) {
        last_check = now;
        check_members_alive(generation);
        tell_of(long_wait, generation);
      }
    }
    control.sleepers.fetch_sub(1);
  }
  // A later meeting may have been given up meanwhile, but not before this member reached it.
  const bool is_given_up = control.generation.load(std::memory_order_acquire) ==
                           (generation | TeamControl::given_up_bit);
  return is_given_up ? broken() : Status();
}

Status TeamState::finish_meeting(std::uint32_t generation) {
  TeamControl& control = *control_;
  // All members have arrived, so all have read the result of the meeting before. Its record is
  // cleared for the next one.
  TeamControl::Check& next = control.check[(generation + 1) % 2];
  next.fingerprint.store(0, std::memory_order_relaxed);
  next.odd.store(0, std::memory_order_relaxed);
  control.arrived.store(0, std::memory_order_relaxed);
  std::uint32_t under_way = generation;
  if (!control.generation.compare_exchange_strong(under_way, TeamControl::after(generation))) {
    return broken();
  }
  if (control.sleepers.load() != 0) {
    futex_wake_all(control.generation);
  }
  return {};
}

Status TeamState::meet(const CollectiveCall& call, const Payload& payload) {
  if (OrderObserver* const observer = job_.observer.load(std::memory_order_acquire)) [[unlikely]] {
    observer->on_meeting(*this);
  }
  if (job_.stopped.load(std::memory_order_relaxed)) {
    return job_.stopped_error();
  }
  TeamControl& control = *control_;
  const std::uint32_t generation = control.generation.load();
  if (control.broken.load() != 0 || (generation & TeamControl::given_up_bit) != 0) {
    return broken();
  }
  TeamControl::Check& check = control.check[generation % 2];
  check_call(check, call);
  if (nodes_) {
    TESSERA_RETURN_IF_ERROR(meet_over_nodes(generation, call, payload));
  } else if (control.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
             static_cast<std::uint32_t>(members_.size())) {
    TESSERA_RETURN_IF_ERROR(finish_meeting(generation));
  } else {
    TESSERA_RETURN_IF_ERROR(wait_for_others(generation));
  }
  if (check.odd.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    return mismatch(check, call);
  }
  return {};
}

// A member whose call is refused still takes part in the meeting, since the others wait for it.
Status TeamState::refuse(Status error) {
  own_error_ = &error;
  catch_bad_alloc([&] {
    return meet({.kind = CollectiveCall::Kind::refused});
  }).ignore("this member's own error comes first; the others get theirs from the meeting");
  own_error_ = nullptr;
  return error;
}

Status TeamState::barrier() {
  return meet({.kind = CollectiveCall::Kind::barrier});
}

Status TeamState::broadcast(std::span<std::byte> bytes, TeamRank root) {
  if (root.value < 0 || root.value >= size()) {
    return refuse(wrong_root(root));
  }
  const CollectiveCall call{
      .kind = CollectiveCall::Kind::broadcast, .root = root, .bytes = bytes.size()};
  if (is_long(bytes.size())) {
    TESSERA_RETURN_IF_ERROR(prepare_long(call));
    if (rings_) {
      return do_together([&] { return broadcast_long(bytes, call); });
    }
  }
  std::size_t done = 0;
  do {
    const std::size_t step = std::min(slot_bytes_, bytes.size() - done);
    const Payload payload{.kind = Payload::Kind::of_root, .bytes = step, .phase = phase_++};
    if (rank_ == root && step > 0) {
      std::memcpy(slot(payload.phase, order_), bytes.data() + done, step);
    }
    TESSERA_RETURN_IF_ERROR(meet(call, payload));
    if (rank_ != root && step > 0) {
      std::memcpy(bytes.data() + done, piece_of_root(root, payload), step);
    }
    done += step;
  } while (done < bytes.size());
  return {};
}

Status TeamState::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * members_.size()) {
    return refuse(
        Status::error(Code::invalid_argument,
                      fmt::format("{} bytes from each of {} members do not fit a buffer of {}",
                                  mine.size(), size(), all.size())));
  }
  const CollectiveCall call{.kind = CollectiveCall::Kind::allgather, .bytes = mine.size()};
  if (is_long(mine.size())) {
    TESSERA_RETURN_IF_ERROR(prepare_long(call));
    if (rings_ && (is_flat() || max_gathered_bytes() >= slot_bytes_)) {
      return do_together([&] { return allgather_long(mine, all, call); });
    }
  }
  std::size_t done = 0;
  do {
    const std::size_t step = std::min(slot_bytes_, mine.size() - done);
    const Payload payload{.kind = Payload::Kind::of_each, .bytes = step, .phase = phase_++};
    if (step > 0) {
      std::memcpy(slot(payload.phase, order_), mine.data() + done, step);
    }
    TESSERA_RETURN_IF_ERROR(meet(call, payload));
    for (std::int32_t member = 0; member < size() && step > 0; ++member) {
      std::memcpy(all.data() + static_cast<std::size_t>(member) * mine.size() + done,
                  piece(TeamRank{member}, payload), step);
    }
    done += step;
  } while (done < mine.size());
  return {};
}

// Combines one slot's worth. Each member combines its share of the elements of all slots, in team
// order. It writes the result over the share in its own slot, which only it reads. After a second
// meeting all read the shares. For small chunks every member combines everything instead.
Status TeamState::reduce_chunk(std::byte* elements, std::size_t bytes, const CollectiveCall& call,
                               bool keep_result) {
  constexpr std::size_t small_bytes = 2048;
  const std::size_t element = size_of(call.type);
  const std::uint32_t phase = phase_++;
  const Payload payload{.kind = Payload::Kind::combined, .bytes = bytes, .phase = phase};
  if (bytes > 0) {
    std::memcpy(slot(phase, order_), elements, bytes);
  }
  TESSERA_RETURN_IF_ERROR(meet(call, payload));
  if (nodes_) {
    for (std::int32_t index = 0; index < nodes_->count() && keep_result && bytes > 0; ++index) {
      const std::byte* const part = piece_of_node(index, payload);
      index == 0 ? static_cast<void>(std::memcpy(elements, part, bytes))
                 : combine(elements, part, bytes, call.type, call.reduction);
    }
    return {};
  }
  if (bytes <= small_bytes || size() <= 2) {
    if (keep_result && bytes > 0) {
      combine_slots(phase, 0, bytes, call, elements);
    }
    return {};
  }
  const std::size_t each = (bytes / element + members_.size() - 1) / members_.size() * element;
  const auto share = [&](std::int32_t member) {
    return std::min(static_cast<std::size_t>(member) * each, bytes);
  };
  combine_share(phase, share(rank_.value), share(rank_.value + 1) - share(rank_.value), call);
  TESSERA_RETURN_IF_ERROR(meet({.kind = CollectiveCall::Kind::part, .bytes = bytes}));
  for (std::int32_t member = 0; member < size() && keep_result; ++member) {
    const std::size_t from = share(member);
    std::memcpy(elements + from, slot(phase, member) + from, share(member + 1) - from);
  }
  return {};
}

// Combines the bytes at one offset of all slots, in team order.
void TeamState::combine_slots(std::uint32_t phase, std::size_t from, std::size_t bytes,
                              const CollectiveCall& call, std::byte* into) const {
  std::memcpy(into, slot(phase, 0) + from, bytes);
  for (std::int32_t member = 1; member < size(); ++member) {
    combine(into, slot(phase, member) + from, bytes, call.type, call.reduction);
  }
}

// Uses a separate buffer, piece by piece, since the slot is read while it is combined.
void TeamState::combine_share(std::uint32_t phase, std::size_t from, std::size_t bytes,
                              const CollectiveCall& call) const {
  constexpr std::size_t piece_bytes = 8192;
  alignas(16) std::array<std::byte, piece_bytes> result;  // NOLINT(*-member-init): it is written
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t some = std::min(piece_bytes, bytes - done);
    combine_slots(phase, from + done, some, call, result.data());
    std::memcpy(slot(phase, rank_.value) + from + done, result.data(), some);
    done += some;
  }
}

Status TeamState::check_reduction(const void* elements, std::int64_t count, ElementType type,
                                  Reduction reduction, const TeamRank* only_root) const {
  if (only_root != nullptr && (only_root->value < 0 || only_root->value >= size())) {
    return wrong_root(*only_root);
  }
  if (!is_defined(type, reduction)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("reduction {} is not defined for {}", to_string(reduction), to_string(type)));
  }
  std::uint64_t bytes = 0;
  if (count < 0 ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(count), size_of(type), &bytes)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} elements cannot be reduced", count));
  }
  if (elements == nullptr && count > 0) {
    return Status::error(Code::invalid_argument, "the elements to reduce are at a null pointer");
  }
  return {};
}

Status TeamState::allreduce(void* elements, std::int64_t count, ElementType type,
                            Reduction reduction, const TeamRank* only_root) {
  if (Status wrong = check_reduction(elements, count, type, reduction, only_root); !wrong.ok()) {
    return refuse(std::move(wrong));
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * size_of(type);
  const CollectiveCall call{
      .kind = only_root == nullptr ? CollectiveCall::Kind::allreduce : CollectiveCall::Kind::reduce,
      .type = type,
      .reduction = reduction,
      .root = only_root == nullptr ? TeamRank{} : *only_root,
      .bytes = bytes};
  const bool keep_result = only_root == nullptr || *only_root == rank_;
  if (is_long(bytes)) {
    TESSERA_RETURN_IF_ERROR(prepare_long(call));
    if (rings_) {
      return do_together([&] {
        return allreduce_long({static_cast<std::byte*>(elements), bytes}, call, keep_result);
      });
    }
  }
  // Steps have whole elements: each slot size is a multiple of 16, and 16 of each element size.
  std::size_t done = 0;
  do {
    const std::size_t step = std::min(slot_bytes_, bytes - done);
    TESSERA_RETURN_IF_ERROR(
        reduce_chunk(static_cast<std::byte*>(elements) + done, step, call, keep_result));
    done += step;
  } while (done < bytes);
  if (size() == 1) {
    finish_alone(static_cast<std::byte*>(elements), bytes, type, reduction);
  }
  return {};
}

}  // namespace tessera::rma::detail
