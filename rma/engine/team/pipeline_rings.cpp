// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/pipeline_rings.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tessera::rma::detail {
namespace {

// Less than `depth`, so that credits are on their way before the sender needs them.
constexpr std::uint64_t pieces_per_credit = RingShape::depth / 2;

// How far ahead of a node its partners are, in circular order. The same for all nodes.
std::vector<std::int32_t> partner_distances(const TeamNodes& nodes) {
  std::vector<std::int32_t> all;
  for (const std::int32_t index : nodes.partners()) {
    all.push_back((index - nodes.own() + nodes.count()) % nodes.count());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::size_t ring_bytes(RingShape shape) {
  return sizeof(RingHead) + RingShape::depth * shape.piece_bytes;
}

std::size_t pieces_of(std::size_t bytes, std::size_t piece_bytes) {
  return (bytes + piece_bytes - 1) / piece_bytes;
}

// Iterates over the pieces of blocks, in the order in which they travel.
class PieceWalk {
 public:
  PieceWalk(PipelineRings::Blocks blocks, std::size_t piece_bytes)
      : blocks_(blocks), piece_bytes_(piece_bytes) {
    for (const std::span<std::byte> block : blocks) {
      left_ += pieces_of(block.size(), piece_bytes);
    }
  }
  [[nodiscard]] std::size_t left() const noexcept { return left_; }
  // Requires: left() > 0.
  std::span<std::byte> next() {
    while (at_ == blocks_[block_].size()) {
      ++block_;
      at_ = 0;
    }
    const auto rest = blocks_[block_].subspan(at_);
    const auto piece = rest.first(std::min(piece_bytes_, rest.size()));
    at_ += piece.size();
    --left_;
    return piece;
  }

 private:
  PipelineRings::Blocks blocks_;
  std::size_t piece_bytes_;
  std::size_t block_ = 0;
  std::size_t at_ = 0;  // in that block
  std::size_t left_ = 0;
};

}  // namespace

PipelineRings::PipelineRings(const Environment& environment)
    : environment_(environment),
      memory_of_(static_cast<std::size_t>(environment_.nodes.count())),
      partner_distances_(partner_distances(environment_.nodes)) {
  for (const std::int32_t distance : partner_distances_) {
    partners_.push_back(
        {.index = (environment_.nodes.own() + distance) % environment_.nodes.count()});
  }
}

std::size_t PipelineRings::bytes(const TeamNodes& nodes, RingShape shape) {
  return nodes.partners().size() * ring_bytes(shape);
}

RingShape PipelineRings::shape_within(const TeamNodes& nodes, std::size_t wanted,
                                      std::size_t max_bytes) {
  const std::size_t most = max_bytes / nodes.partners().size() / RingShape::depth;
  return {.piece_bytes =
              std::max(std::min(wanted, most) / cache_line, std::size_t{1}) * cache_line};
}

void PipelineRings::make(std::byte* memory, const TeamNodes& nodes, RingShape shape) {
  for (std::size_t ring = 0; ring < nodes.partners().size(); ++ring) {
    new (memory + ring * ring_bytes(shape)) RingHead;
  }
}

void PipelineRings::begin() noexcept {
  for (Partner& each : partners_) {
    each.used_there = each.sent;
    each.credited = each.used;
  }
}

PipelineRings::Partner& PipelineRings::partner(std::int32_t index) {
  return const_cast<Partner&>(std::as_const(*this).partner(index));
}

const PipelineRings::Partner& PipelineRings::partner(std::int32_t index) const {
  const TeamNodes& nodes = environment_.nodes;
  const std::int32_t distance = (index - nodes.own() + nodes.count()) % nodes.count();
  const auto at = std::lower_bound(partner_distances_.begin(), partner_distances_.end(), distance) -
                  partner_distances_.begin();
  return partners_[static_cast<std::size_t>(at)];
}

// The offset in the memory of node `at` of the ring from node `from`.
std::uint64_t PipelineRings::ring_start(std::int32_t at, std::int32_t from) const {
  const std::int32_t count = environment_.nodes.count();
  const std::int32_t distance = (from - at + count) % count;
  const auto ring =
      std::lower_bound(partner_distances_.begin(), partner_distances_.end(), distance) -
      partner_distances_.begin();
  return static_cast<std::uint64_t>(ring) * ring_bytes(shape_);
}

RingHead& PipelineRings::head(std::int32_t from) const noexcept {
  return *reinterpret_cast<RingHead*>(own_ + ring_start(environment_.nodes.own(), from));
}

Status PipelineRings::deliver(const Partner& to, std::uint64_t offset,
                              std::span<const std::byte> bytes, std::uint64_t counter,
                              std::uint64_t value) {
  const std::uint64_t start = ring_start(to.index, environment_.nodes.own());
  return retry([&] {
    return environment_.link.deliver(environment_.nodes.node(to.index),
                                     memory_of_[static_cast<std::size_t>(to.index)], start + offset,
                                     bytes, start + counter, value);
  });
}

std::uint32_t PipelineRings::await(std::atomic<std::uint64_t>& counter, std::uint64_t at_least,
                                   std::int32_t from) {
  if (const std::uint32_t word = environment_.exchange.wait_for_counter(counter, at_least, from);
      word != 0) {
    return word;
  }
  const std::uint64_t seen = counter.load(std::memory_order_acquire);
  return (seen & RingHead::poison) != 0 ? static_cast<std::uint32_t>(seen) : 0;
}

std::uint32_t PipelineRings::wait_for_credit(Partner& to) {
  std::atomic<std::uint64_t>& credits = head(to.index).credits;
  const std::uint64_t seen = credits.load(std::memory_order_acquire);
  if ((seen & RingHead::poison) == 0) {
    // Pieces used before begin() count from then on; a credit for them may arrive later.
    to.used_there = std::max(to.used_there, seen);
  }
  const bool has_room = to.sent - to.used_there < RingShape::depth;
  return has_room ? 0 : await(credits, to.sent - RingShape::depth + 1, to.index);
}

std::uint32_t PipelineRings::send_piece(std::int32_t to, std::span<const std::byte> bytes) {
  Partner& receiver = partner(to);
  if (const std::uint32_t word = wait_for_credit(receiver); word != 0) {
    return word;
  }
  const std::uint64_t offset =
      sizeof(RingHead) + receiver.sent % RingShape::depth * shape_.piece_bytes;
  ++receiver.sent;
  const Status sent = deliver(receiver, offset, bytes, offsetof(RingHead, arrived), receiver.sent);
  return sent.ok() ? 0 : environment_.liveness.explain(to, sent);
}

std::uint32_t PipelineRings::wait_for_piece(std::int32_t from) {
  return await(head(from).arrived, partner(from).used + 1, from);
}

std::span<std::byte> PipelineRings::piece(std::int32_t from, std::size_t bytes) const {
  const std::size_t offset = partner(from).used % RingShape::depth * shape_.piece_bytes;
  return {reinterpret_cast<std::byte*>(&head(from) + 1) + offset, bytes};
}

void PipelineRings::release_piece(std::int32_t from, std::size_t remaining_pieces) {
  Partner& sender = partner(from);
  ++sender.used;
  if (sender.used - sender.credited >= pieces_per_credit) {
    return_credits_if_needed(sender, remaining_pieces);
  }
}

// Returns credits for all used pieces, if the sender could not send all `remaining_pieces` pieces
// without them. A sender that needs none may have finished and left.
void PipelineRings::return_credits_if_needed(Partner& sender, std::size_t remaining_pieces) {
  const std::uint64_t uncredited = sender.used - sender.credited;
  if (uncredited == 0 || uncredited + remaining_pieces <= RingShape::depth) {
    return;
  }
  sender.credited = sender.used;
  deliver(sender, 0, {}, offsetof(RingHead, credits), sender.credited)
      .ignore("a sender that is gone is found when its next piece is waited for");
}

std::uint32_t PipelineRings::use_next(std::int32_t from, std::span<std::byte> target,
                                      std::size_t remaining_pieces, const Use& use) {
  if (const std::uint32_t word = wait_for_piece(from); word != 0) {
    return word;
  }
  use(piece(from, target.size()), target);
  release_piece(from, remaining_pieces);
  return 0;
}

// First sends as many pieces as a ring holds, then one for each piece used here, in steps of
// credits. So there is no deadlock. A node that waits for a credit has used and reported as many
// pieces as its partner must use to grant that credit. A node that waits for a piece has sent all
// that it may send. So the waiting node that has used the fewest pieces cannot wait for either.
std::uint32_t PipelineRings::exchange(const Exchange& both, const Use& use) {
  PieceWalk out(both.out, shape_.piece_bytes);
  PieceWalk in(both.in, shape_.piece_bytes);
  const std::size_t all = out.left();
  const std::size_t own = both.passes_on ? pieces_of(both.out[0].size(), shape_.piece_bytes) : all;
  std::size_t sent = 0;
  std::size_t used = 0;
  return_credits_if_needed(partner(both.from), in.left());
  while (out.left() > 0 || in.left() > 0) {
    const std::size_t credited = used / pieces_per_credit * pieces_per_credit;
    const std::size_t may_be_sent =
        in.left() == 0 ? all : std::min({all, RingShape::depth + credited, own + used});
    for (; sent < may_be_sent; ++sent) {
      if (const std::uint32_t word = send_piece(both.to, out.next()); word != 0) {
        return word;
      }
    }
    if (in.left() > 0) {
      const std::span<std::byte> target = in.next();
      if (const std::uint32_t word = use_next(both.from, target, in.left(), use); word != 0) {
        return word;
      }
      ++used;
    }
  }
  return 0;
}

std::uint32_t PipelineRings::send(std::int32_t to, std::span<std::byte> out) {
  return exchange({.to = to, .out = Blocks(&out, 1), .from = to}, {});
}

std::uint32_t PipelineRings::receive(std::int32_t from, std::span<std::byte> in, const Use& use) {
  return exchange({.to = from, .from = from, .in = Blocks(&in, 1)}, use);
}

void PipelineRings::poison(std::uint32_t word) {
  const std::uint64_t value = RingHead::poison | word;
  for (const Partner& each : partners_) {
    deliver(each, 0, {}, offsetof(RingHead, arrived), value)
        .ignore("a leader that cannot be reached is gone, or has given up before");
    deliver(each, 0, {}, offsetof(RingHead, credits), value)
        .ignore("a leader that cannot be reached is gone, or has given up before");
  }
}

}  // namespace tessera::rma::detail
