// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/long_collectives.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "rma/engine/reduce.hpp"

namespace tessera::rma::detail {
namespace {

std::int32_t largest_power_within(std::int32_t count) {
  return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(count)));
}

// The bytes [lo, hi) of the data.
struct Range {
  std::size_t lo = 0;
  std::size_t hi = 0;

  [[nodiscard]] std::size_t bytes() const noexcept { return hi - lo; }
};

// One exchange of the halving, and of the doubling that reverses it.
struct Halving {
  std::int32_t partner = 0;
  bool is_lower = false;  // than the partner
  Range kept;
  Range given;
};

// Uses no heap memory, since an allocation that failed would leave the others waiting.
class Halvings {
 public:
  [[nodiscard]] std::span<const Halving> steps() const noexcept {
    return std::span(steps_).first(count_);
  }
  void add(const Halving& step) noexcept { steps_[count_++] = step; }

 private:
  static constexpr std::size_t most = std::numeric_limits<std::int32_t>::digits;
  std::array<Halving, most> steps_;
  std::size_t count_ = 0;
};

// In the first halving each node exchanges with the one at distance nodes/2, then nodes/4, and so
// on down to 2. All of these are partners, as their distances are powers of two. Ranges are split
// at whole elements.
Halvings plan_halvings(std::int32_t own, std::int32_t nodes, std::size_t bytes,
                       std::size_t element) noexcept {
  Halvings plan;
  Range range{0, bytes};
  for (std::int32_t away = nodes / 2; away > 1; away /= 2) {
    const std::size_t middle = range.lo + range.bytes() / element / 2 * element;
    const Range lower{range.lo, middle};
    const Range upper{middle, range.hi};
    const bool is_lower = (own & away) == 0;
    plan.add({.partner = own ^ away,
              .is_lower = is_lower,
              .kept = is_lower ? lower : upper,
              .given = is_lower ? upper : lower});
    range = plan.steps().back().kept;
  }
  return plan;
}

void write(std::span<const std::byte> piece, std::span<std::byte> target) {
  std::memcpy(target.data(), piece.data(), piece.size());
}

class Allreduce {
 public:
  Allreduce(PipelineRings& rings, std::span<std::byte> data, ElementType type, Reduction reduction)
      : rings_(rings), data_(data), type_(type), reduction_(reduction) {}

  std::uint32_t run(std::int32_t own, std::int32_t count);

 private:
  std::uint32_t scatter(std::span<const Halving> plan);
  std::uint32_t swap(std::int32_t neighbour, bool is_lower, Range range);
  std::uint32_t gather(std::span<const Halving> plan);
  std::uint32_t exchange(std::int32_t partner, Range out, Range in, const PipelineRings::Use& use);
  [[nodiscard]] std::span<std::byte> part(Range range) const {
    return data_.subspan(range.lo, range.bytes());
  }
  // Combines what arrives with what is in its place: always the lower node's data with the upper
  // one's, on both nodes.
  [[nodiscard]] PipelineRings::Use combining(bool is_lower) const {
    return [this, is_lower](std::span<std::byte> piece, std::span<std::byte> own) {
      combine(is_lower ? own.data() : piece.data(), is_lower ? piece.data() : own.data(),
              piece.size(), type_, reduction_);
      if (!is_lower) {
        write(piece, own);
      }
    };
  }

  PipelineRings& rings_;
  std::span<std::byte> data_;
  ElementType type_;
  Reduction reduction_;
};

std::uint32_t Allreduce::exchange(std::int32_t partner, Range out, Range in,
                                  const PipelineRings::Use& use) {
  const std::span<std::byte> sent = part(out);
  const std::span<std::byte> received = part(in);
  return rings_.exchange({.to = partner,
                          .out = PipelineRings::Blocks(&sent, 1),
                          .from = partner,
                          .in = PipelineRings::Blocks(&received, 1)},
                         use);
}

std::uint32_t Allreduce::scatter(std::span<const Halving> plan) {
  std::uint32_t word = 0;
  for (auto step = plan.begin(); step != plan.end() && word == 0; ++step) {
    word = exchange(step->partner, step->given, step->kept, combining(step->is_lower));
  }
  return word;
}

// Replaces the last halving and its doubling: the same number of bytes, and one message's time
// less. Both nodes get the same bits. What is overwritten was sent before.
std::uint32_t Allreduce::swap(std::int32_t neighbour, bool is_lower, Range range) {
  return exchange(neighbour, range, range, combining(is_lower));
}

std::uint32_t Allreduce::gather(std::span<const Halving> plan) {
  std::uint32_t word = 0;
  for (auto step = plan.rbegin(); step != plan.rend() && word == 0; ++step) {
    word = exchange(step->partner, step->kept, step->given, write);
  }
  return word;
}

// Nodes beyond the largest power of two first fold their data into the nodes that many before them,
// and get the result from these.
std::uint32_t Allreduce::run(std::int32_t own, std::int32_t count) {
  const std::int32_t power = largest_power_within(count);
  const Range all{0, data_.size()};
  if (own >= power) {
    const std::uint32_t word = rings_.send(own - power, data_);
    return word != 0 ? word : rings_.receive(own - power, data_, write);
  }
  const bool has_folded = own + power < count;
  const Halvings halvings = plan_halvings(own, power, data_.size(), size_of(type_));
  const std::span<const Halving> plan = halvings.steps();
  std::uint32_t word = has_folded ? rings_.receive(own + power, data_, combining(true)) : 0;
  word = word != 0 ? word : scatter(plan);
  word = word != 0 ? word : swap(own ^ 1, (own & 1) == 0, plan.empty() ? all : plan.back().kept);
  word = word != 0 ? word : gather(plan);
  return word != 0 || !has_folded ? word : rings_.send(own + power, data_);
}

}  // namespace

// The tree of the short broadcast (node_exchange.cpp): a node at distance 2^k + d from the root,
// with d < 2^k, gets its data from the one at distance d. Each piece is forwarded when it arrives
// (a pipelined binomial tree: Johnsson and Ho 1989).
std::uint32_t broadcast_by_binomial_tree(PipelineRings& rings, const TeamNodes& nodes,
                                         std::int32_t root, std::span<std::byte> data) {
  const std::int32_t behind = nodes.distance_from(root);
  const bool is_root = behind == 0;
  const std::int32_t parent = is_root ? root : nodes.sender(TeamNodes::round_of(behind));
  const auto pass_on = [&](std::span<const std::byte> piece) {
    std::uint32_t word = 0;
    for (int round = is_root ? 0 : TeamNodes::round_of(behind) + 1;
         round < nodes.rounds() && behind + (1 << round) < nodes.count() && word == 0; ++round) {
      word = rings.send_piece(nodes.receiver(round), piece);
    }
    return word;
  };
  std::uint32_t word = 0;
  for (std::size_t at = 0; at < data.size() && word == 0; at += rings.piece_bytes()) {
    const std::size_t bytes = std::min(rings.piece_bytes(), data.size() - at);
    if (is_root) {
      word = pass_on(data.subspan(at, bytes));
      continue;
    }
    word = rings.wait_for_piece(parent);
    if (word == 0) {
      const std::span<const std::byte> piece = rings.piece(parent, bytes);
      word = pass_on(piece);
      std::memcpy(data.data() + at, piece.data(), bytes);
      rings.release_piece(parent, (data.size() - at - 1) / rings.piece_bytes());
    }
  }
  return word;
}

// Each node sends its own block to the next node first. Then it forwards the blocks that it gets
// from the node before, except the last one, piece by piece (a pipelined ring).
std::uint32_t allgather_by_ring(PipelineRings& rings, const TeamNodes& nodes,
                                PipelineRings::Blocks blocks) {
  return rings.exchange({.to = nodes.receiver(0),
                         .out = blocks.first(blocks.size() - 1),
                         .from = nodes.sender(0),
                         .in = blocks.subspan(1),
                         .passes_on = true},
                        write);
}

// Reduce-scatter by recursive halving, then allgather by recursive doubling (Rabenseifner 2004).
// All elements are combined in one order, that of a tree over the nodes' numbers, on every node.
std::uint32_t allreduce_by_halving_and_doubling(PipelineRings& rings, const TeamNodes& nodes,
                                                std::span<std::byte> data, ElementType type,
                                                Reduction reduction) {
  return Allreduce(rings, data, type, reduction).run(nodes.own(), nodes.count());
}

}  // namespace tessera::rma::detail
