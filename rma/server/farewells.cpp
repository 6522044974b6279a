// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/farewells.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

#include "rma/node/directory.hpp"

namespace tessera::rma::server {

using detail::DirectorySlice;
using detail::Fate;

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::size_t words_of(const detail::NodeMap& nodes) noexcept {
  return static_cast<std::size_t>(nodes.count()) * word_bytes;
}

std::vector<std::size_t> fate_offsets(const detail::NodeMap& nodes) {
  std::vector<std::size_t> offsets{words_of(nodes)};
  for (std::int32_t node = 0; node < nodes.count(); ++node) {
    offsets.push_back(offsets.back() + nodes.ranks_of(NodeId{node}).size());
  }
  return offsets;
}

}  // namespace

Status Farewells::publish(detail::Node& node, const detail::NodeMap& nodes) {
  const std::uint64_t bytes = fate_offsets(nodes).back();
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, node.arena().allocate(bytes));
  TESSERA_RETURN_IF_ERROR(node.arena().back(offset, bytes));
  const DirectorySlice slice{.owner = node.ranks().front(),
                             .place = offset,
                             .bytes = bytes,
                             .use = DirectorySlice::Use::mailboxes};
  return detail::Directory(node.arena(), node.lock_context())
      .insert(farewell_memory, std::span(&slice, 1));
}

Result<std::shared_ptr<Farewells>> Farewells::find(std::shared_ptr<detail::Node> node,
                                                   const detail::NodeMap& nodes) {
  const auto slice = detail::Directory(node->arena(), node->lock_context())
                         .find(farewell_memory, node->ranks().front());
  if (!slice) {
    return Status::error(Code::internal, "the node has no memory for farewells");
  }
  std::byte* const memory = node->arena().at(slice->place);
  return std::shared_ptr<Farewells>(new Farewells(std::move(node), nodes, memory));
}

Farewells::Farewells(std::shared_ptr<detail::Node> node, const detail::NodeMap& nodes,
                     std::byte* memory)
    : node_(std::move(node)), nodes_(nodes), memory_(memory), first_fate_(fate_offsets(nodes)) {}

bool Farewells::has_left(NodeId node) const noexcept {
  const auto* const words = reinterpret_cast<const std::atomic<std::uint64_t>*>(memory_);
  return words[node.value].load(std::memory_order_acquire) != 0;
}

std::optional<Fate> Farewells::fate_of(WorldRank rank) const {
  const NodeId node = nodes_.node_of(rank);
  if (!has_left(node)) {
    return std::nullopt;
  }
  const std::vector<WorldRank> ranks = nodes_.ranks_of(node);
  const auto order = std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
  const std::size_t at =
      first_fate_[static_cast<std::size_t>(node.value)] + static_cast<std::size_t>(order);
  return std::to_integer<int>(memory_[at]) == static_cast<int>(Fate::left) ? Fate::left
                                                                           : Fate::died;
}

// They rely on the agent that ends behind this.
void Farewells::wait_for_ranks_of_node() const {
  constexpr std::chrono::milliseconds pause{1};
  for (int place = 0; place < node_->size(); ++place) {
    while (!node_->is_gone(place)) {
      std::this_thread::sleep_for(pause);
    }
  }
}

std::vector<std::byte> Farewells::fates_here() const {
  std::vector<std::byte> fates;
  for (int place = 0; place < node_->size(); ++place) {
    fates.push_back(static_cast<std::byte>(node_->has_left(place) ? Fate::left : Fate::died));
  }
  return fates;
}

void Farewells::say(Client& client, std::chrono::milliseconds patience) const {
  wait_for_ranks_of_node();
  const NodeId own = nodes_.node_of(node_->ranks().front());
  const auto at = static_cast<std::size_t>(own.value);
  const std::vector<std::byte> fates = fates_here();
  std::deque<Completion> received;
  std::vector<Link*> told;
  for (std::int32_t node = 0; node < nodes_.count(); ++node) {
    if (node == own.value || has_left(NodeId{node})) {
      continue;
    }
    const auto link = client.link_to(NodeId{node}, patience);
    const FrameHeader farewell{.kind = Kind::deliver,
                               .payload_bytes = fates.size(),
                               .origin = client.options().rank,
                               .target = nodes_.ranks_of(NodeId{node}).front(),
                               .region = farewell_memory,
                               .offset = first_fate_[at],
                               .words = {at * word_bytes, 1}};
    if (!link.ok() || !(*link)->post(farewell, {}, fates, Link::When::now).ok()) {
      continue;  // it is gone itself
    }
    const FrameHeader fence{.kind = Kind::fence, .origin = client.options().rank};
    Completion& done = received.emplace_back();
    done.begin();
    Awaited awaited;
    awaited.done = &done;
    if (Status asked = (*link)->ask(fence, {}, std::move(awaited)); !asked.ok()) {
      done.end(std::move(asked));
    }
    told.push_back(*link);
  }
  for (std::size_t i = 0; i < told.size(); ++i) {
    told[i]->wait(received[i]);
  }
}

}  // namespace tessera::rma::server
