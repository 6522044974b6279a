// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/shm/transport.hpp"

#include <fmt/format.h>

#include <utility>

#include "rma/engine/node_context.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/kernels/cross_memory.hpp"
#include "rma/node/node.hpp"
#include "rma/transport/shm/segment.hpp"

namespace tessera::rma::shm {
namespace {

constexpr std::size_t word_bytes = 8;  // words that never tear if they are aligned

// The endpoint for attached memory. Everything is complete at return.
class ShmEndpoint final : public Endpoint {
 public:
  ShmEndpoint(const detail::Node& node, WorldRank peer) : node_(node), peer_(peer) {}

  Status put(const Target& to, const void* from, const CopyShape& shape,
             Completion& done) override {
    return copy(to, const_cast<void*>(from), shape, kernels::Direction::to_remote, done);
  }
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override {
    return copy(from, to, shape, kernels::Direction::from_remote, done);
  }
  Status fence() override { return {}; }
  [[nodiscard]] bool is_fenced(RegionId /*region*/) const noexcept override { return true; }

 private:
  Status copy(const Target& target, void* local, const CopyShape& shape,
              kernels::Direction direction, Completion& done) const {
    // The number of a process that has ended may be reused by another process.
    const int local_rank = node_.local_rank_of(peer_);
    if (node_.has_ended(local_rank)) {
      return Status::error_at(
          peer_, Code::peer_lost,
          fmt::format("rank {} died, and the memory that it attached with it", peer_.value));
    }
    const auto& slice = static_cast<AttachedSegment*>(target.segment)->slice(target.rank);
    const auto copy_now = [&] {
      return kernels::copy_across(slice.process, static_cast<std::byte*>(local),
                                  slice.address + target.offset, shape, direction)
          .at(peer_);
    };
    // The kernel copies bytes, not words; between processes a lock keeps words from tearing.
    if (shape.run_bytes > word_bytes || node_.is_one_process()) {
      TESSERA_RETURN_IF_ERROR(copy_now());
    } else {
      const detail::RobustGuard guard(node_.memory().record(local_rank).attached_lock,
                                      node_.lock_context());
      TESSERA_RETURN_IF_ERROR(copy_now());
    }
    done.end(Status());
    return {};
  }

  const detail::Node& node_;
  WorldRank peer_;
};

class ShmTransport final : public Transport, public MemoryTransport, public DataTransport {
 public:
  explicit ShmTransport(const TransportContext& context) : node_(*detail::nodes_of(context).node) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] MemoryTransport* memory() noexcept override { return this; }
  [[nodiscard]] DataTransport& data() noexcept override { return *this; }
  [[nodiscard]] bool reaches(WorldRank peer) const override {
    return node_.local_rank_of(peer) >= 0;
  }

  Result<std::unique_ptr<Segment>> allocate(Team& team, std::size_t my_bytes,
                                            const RegionOptions& options) override {
    return ArenaSegment::create(node_, team, my_bytes, options);
  }
  Result<std::unique_ptr<Segment>> attach(Team& team, void* memory, std::size_t,
                                          const RegionOptions&) override {
    return AttachedSegment::create(team, memory);
  }
  Result<std::unique_ptr<Endpoint>> connect(WorldRank peer) override {
    return std::unique_ptr<Endpoint>(std::make_unique<ShmEndpoint>(node_, peer));
  }

 private:
  // On mapped slices the library itself does accumulates and atomics; on attached memory it
  // composes them under the node's locks.
  Capabilities capabilities_{.load_store = true,
                             .attach = true,
                             .strided = true,
                             .accumulate = false,
                             .atomics = false,
                             .always_fenced = true};
  detail::Node& node_;
};

}  // namespace

TransportFactory factory() {
  return {"shm", [](const TransportContext& context) -> Result<std::unique_ptr<Transport>> {
            return std::unique_ptr<Transport>(std::make_unique<ShmTransport>(context));
          }};
}

}  // namespace tessera::rma::shm
