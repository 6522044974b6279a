// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/slot_collectives.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "rma/engine/reduce.hpp"

namespace tessera::rma::detail {

Status SlotCollectives::broadcast(std::span<std::byte> bytes, const CollectiveCall& call) {
  const bool is_root = members_.self() == call.root;
  std::size_t done = 0;
  do {
    const std::size_t length = std::min(step_.memory().slot_bytes(), bytes.size() - done);
    const StepPayload payload{
        .kind = StepPayload::Kind::of_root, .bytes = length, .phase = step_.next_phase()};
    if (is_root && length > 0) {
      std::memcpy(step_.own_slot(payload.phase), bytes.data() + done, length);
    }
    TESSERA_RETURN_IF_ERROR(step_.meet(call, payload));
    if (!is_root && length > 0) {
      std::memcpy(bytes.data() + done, step_.piece_of_root(call.root, payload), length);
    }
    done += length;
  } while (done < bytes.size());
  return {};
}

Status SlotCollectives::allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                                  const CollectiveCall& call) {
  std::size_t done = 0;
  do {
    const std::size_t length = std::min(step_.memory().slot_bytes(), mine.size() - done);
    const StepPayload payload{
        .kind = StepPayload::Kind::of_each, .bytes = length, .phase = step_.next_phase()};
    if (length > 0) {
      std::memcpy(step_.own_slot(payload.phase), mine.data() + done, length);
    }
    TESSERA_RETURN_IF_ERROR(step_.meet(call, payload));
    for (std::int32_t member = 0; member < members_.size() && length > 0; ++member) {
      std::memcpy(all.data() + static_cast<std::size_t>(member) * mine.size() + done,
                  step_.piece(TeamRank{member}, payload), length);
    }
    done += length;
  } while (done < mine.size());
  return {};
}

// Steps have whole elements: each slot size is a multiple of 16, and 16 of each element size.
Status SlotCollectives::allreduce(std::span<std::byte> elements, const CollectiveCall& call,
                                  bool keep_result) {
  std::size_t done = 0;
  do {
    const std::size_t length = std::min(step_.memory().slot_bytes(), elements.size() - done);
    TESSERA_RETURN_IF_ERROR(reduce_chunk(elements.subspan(done, length), call, keep_result));
    done += length;
  } while (done < elements.size());
  if (members_.size() == 1) {
    finish_alone(elements.data(), elements.size(), call.type, call.reduction);
  }
  return {};
}

// Combines one slot's worth.
Status SlotCollectives::reduce_chunk(std::span<std::byte> elements, const CollectiveCall& call,
                                     bool keep_result) {
  constexpr std::size_t small_bytes = 2048;
  const StepPayload payload{
      .kind = StepPayload::Kind::combined, .bytes = elements.size(), .phase = step_.next_phase()};
  if (!elements.empty()) {
    std::memcpy(step_.own_slot(payload.phase), elements.data(), elements.size());
  }
  TESSERA_RETURN_IF_ERROR(step_.meet(call, payload));
  const bool is_small = elements.size() <= small_bytes || members_.size() <= 2;
  if (!members_.has_other_nodes() && !is_small) {
    return combine_shares(elements, call, payload.phase, keep_result);
  }
  if (keep_result && !elements.empty()) {
    members_.has_other_nodes() ? combine_nodes(elements, call, payload)
                               : combine_slots(payload.phase, 0, elements, call);
  }
  return {};
}

void SlotCollectives::combine_nodes(std::span<std::byte> elements, const CollectiveCall& call,
                                    const StepPayload& payload) const {
  for (std::int32_t index = 0; index < members_.nodes().count(); ++index) {
    const std::byte* const part = step_.exchange().piece_of_node(index, payload);
    index == 0 ? static_cast<void>(std::memcpy(elements.data(), part, elements.size()))
               : combine(elements.data(), part, elements.size(), call.type, call.reduction);
  }
}

// Each member combines its share of the elements of all slots, in team order. It writes the result
// over the share in its own slot, which only it reads. After a second step all read the shares.
Status SlotCollectives::combine_shares(std::span<std::byte> elements, const CollectiveCall& call,
                                       std::uint32_t phase, bool keep_result) {
  const std::size_t bytes = elements.size();
  const std::size_t element = size_of(call.type);
  const auto members = static_cast<std::size_t>(members_.size());
  const std::size_t each = (bytes / element + members - 1) / members * element;
  const auto share = [&](std::int32_t member) {
    return std::min(static_cast<std::size_t>(member) * each, bytes);
  };
  const std::int32_t self = members_.self().value;
  combine_share(phase, share(self), share(self + 1) - share(self), call);
  TESSERA_RETURN_IF_ERROR(step_.meet({.kind = CollectiveCall::Kind::part, .bytes = bytes}));
  for (std::int32_t member = 0; member < members_.size() && keep_result; ++member) {
    const std::size_t from = share(member);
    std::memcpy(elements.data() + from, slot(phase, member) + from, share(member + 1) - from);
  }
  return {};
}

// Combines the bytes at one offset of all slots, in team order.
void SlotCollectives::combine_slots(std::uint32_t phase, std::size_t from,
                                    std::span<std::byte> into, const CollectiveCall& call) const {
  std::memcpy(into.data(), slot(phase, 0) + from, into.size());
  for (std::int32_t member = 1; member < members_.size(); ++member) {
    combine(into.data(), slot(phase, member) + from, into.size(), call.type, call.reduction);
  }
}

// Uses a separate buffer, piece by piece, since the slot is read while it is combined.
void SlotCollectives::combine_share(std::uint32_t phase, std::size_t from, std::size_t bytes,
                                    const CollectiveCall& call) const {
  constexpr std::size_t piece_bytes = 8192;
  alignas(16) std::array<std::byte, piece_bytes> result;  // NOLINT(*-member-init): it is written
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t length = std::min(piece_bytes, bytes - done);
    combine_slots(phase, from + done, std::span(result).first(length), call);
    std::memcpy(slot(phase, members_.self().value) + from + done, result.data(), length);
    done += length;
  }
}

}  // namespace tessera::rma::detail
