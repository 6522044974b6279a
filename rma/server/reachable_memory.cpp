// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/reachable_memory.hpp"

#include <utility>

namespace tessera::rma::server {
namespace {

class NodeArena final : public detail::ReachableMemory {
 public:
  explicit NodeArena(std::shared_ptr<detail::Node> node) noexcept : node_(std::move(node)) {}

  [[nodiscard]] std::span<std::byte> bytes() const noexcept override {
    const detail::NodeMemory& memory = node_->memory();
    const std::uint64_t first = memory.header().arena_offset;
    const std::uint64_t end = memory.size() / detail::granule_bytes * detail::granule_bytes;
    return {memory.base() + first, end - first};
  }
  Status keep(std::span<std::byte> part) override {
    return node_->arena().keep(static_cast<std::uint64_t>(part.data() - node_->memory().base()),
                               part.size());
  }

 private:
  std::shared_ptr<detail::Node> node_;
};

}  // namespace

std::shared_ptr<detail::ReachableMemory> reachable_memory_of(std::shared_ptr<detail::Node> node) {
  return std::make_shared<NodeArena>(std::move(node));
}

}  // namespace tessera::rma::server
