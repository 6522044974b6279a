// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/farewells.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "rma/node/directory.hpp"
#include "rma/node/growing_nap.hpp"
#include "rma/server/visit.hpp"

namespace tessera::rma::server {

using detail::DirectorySlice;
using detail::Fate;

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
// Limits the descriptors that leaving needs, and how much a slow node delays the notices to others.
constexpr std::size_t most_told_at_once = 16;

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
    return Status::error(Code::internal, "this node has no memory for shutdown notices");
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

// The other ranks rely on the agent, which ends after this.
void Farewells::wait_for_ranks_of_node() const {
  detail::GrowingNap nap(std::chrono::milliseconds(1), detail::longest_nap);
  for (int place = 0; place < node_->size(); ++place) {
    while (!node_->is_gone(place)) {
      std::this_thread::sleep_for(nap.next());
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

// A node that was notified, until it has confirmed that.
struct Farewells::Told {
  std::optional<Visit> visit;  // empty if a link exists already
  Link* link = nullptr;
  Completion received;

  Told(std::optional<Visit> its_visit, Link* its_link)
      : visit(std::move(its_visit)), link(its_link) {}
};

void Farewells::say(Client& client, std::chrono::milliseconds patience) const {
  wait_for_ranks_of_node();
  const std::vector<std::byte> fates = fates_here();
  std::deque<Told> told;
  // Each node begins with its successor, so that not all nodes notify the same one first.
  for (std::int32_t distance = 1; distance < nodes_.count(); ++distance) {
    const NodeId node{(own_node().value + distance) % nodes_.count()};
    if (has_left(node)) {
      continue;
    }
    if (told.size() == most_told_at_once) {
      finish(told.front());
      told.pop_front();
    }
    tell(client, node, fates, patience, told);
  }
  for (Told& each : told) {
    finish(each);
  }
}

// A node that cannot be notified is gone itself.
void Farewells::tell(Client& client, NodeId node, const std::vector<std::byte>& fates,
                     std::chrono::milliseconds patience, std::deque<Told>& told) const {
  std::optional<Visit> visit;
  Link* link = client.made_link(node);
  if (link == nullptr || link->is_clustered()) {
    auto paid = Visit::pay(client, node, patience);
    if (!paid.ok()) {
      return;
    }
    link = &visit.emplace(std::move(paid).take()).link();
  }
  const auto at = static_cast<std::size_t>(own_node().value);
  const FrameHeader farewell{.kind = Kind::deliver,
                             .payload_bytes = fates.size(),
                             .origin = client.options().rank,
                             .target = nodes_.ranks_of(node).front(),
                             .region = farewell_memory,
                             .offset = first_fate_[at],
                             .words = {at * word_bytes, 1}};
  if (!link->post(farewell, {}, fates, Link::When::now).ok()) {
    return;
  }
  const FrameHeader fence{
      .kind = Kind::fence, .origin = farewell.origin, .target = farewell.target};
  Told& one = told.emplace_back(std::move(visit), link);
  one.received.begin();
  Awaited awaited;
  awaited.done = &one.received;
  if (!link->ask(fence, {}, std::move(awaited)).ok()) {
    one.received.end({});
  }
}

void Farewells::finish(Told& told) {
  if (told.visit) {
    told.visit->wait(told.received);
  } else {
    told.link->wait(told.received);
  }
  told.received.take_error().ignore("a node that cannot confirm is gone");
}

}  // namespace tessera::rma::server
