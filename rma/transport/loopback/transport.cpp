// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/loopback/transport.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "rma/base/memory.hpp"
#include "rma/engine/node_context.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/node/node.hpp"
#include "rma/protocol/direct.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"

namespace tessera::rma::loopback {
namespace {

// Every member shares the ownership of every slice, so that a member that gives up early does not
// free memory that others still use.
using Slice = std::shared_ptr<std::byte[]>;

class HeapSegment final : public Segment {
 public:
  HeapSegment(std::vector<Slice> slices, TeamRank own) : slices_(std::move(slices)), own_(own) {}

  [[nodiscard]] std::byte* local() const noexcept override { return slice(own_); }
  Status free() override { return {}; }
  [[nodiscard]] std::byte* slice(TeamRank rank) const noexcept {
    return slices_[static_cast<std::size_t>(rank.value)].get();
  }

 private:
  std::vector<Slice> slices_;  // by team rank
  TeamRank own_;
};

std::byte* address(const Target& target) {
  return static_cast<HeapSegment*>(target.segment)->slice(target.rank) + target.offset;
}

// Operations that were started and not yet carried out, in order.
class DeferredOperations {
 public:
  void add(std::function<void()> operation) {
    const std::lock_guard guard(mutex_);
    queue_.push_back(std::move(operation));
  }
  // Carries out all recorded operations. One thread at a time, so that their order is kept.
  int run() {
    const std::lock_guard one_runner(run_mutex_);
    int count = 0;
    while (true) {
      std::function<void()> next;
      {
        const std::lock_guard guard(mutex_);
        if (queue_.empty()) {
          return count;
        }
        next = std::move(queue_.front());
        queue_.pop_front();
      }
      next();
      ++count;
    }
  }

 private:
  std::mutex mutex_;
  std::mutex run_mutex_;
  std::deque<std::function<void()>> queue_;
};

class LoopbackEndpoint final : public Endpoint {
 public:
  LoopbackEndpoint(DeferredOperations& deferred, detail::StripeLocks& stripes, WorldRank peer)
      : deferred_(deferred), stripes_(stripes), peer_(peer) {}

  Status put(const Target& to, const void* from, const CopyShape& shape,
             Completion& done) override {
    deferred_.add([remote = address(to), from, shape, &done] {
      auto* local = static_cast<std::byte*>(const_cast<void*>(from));
      kernels::move_shape(local, remote, shape, kernels::Direction::to_remote);
      done.end(Status());
    });
    return {};
  }

  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override {
    deferred_.add([remote = address(from), to, shape, &done] {
      kernels::move_shape(static_cast<std::byte*>(to), remote, shape,
                          kernels::Direction::from_remote);
      done.end(Status());
    });
    return {};
  }

  Status accumulate(const Target& to, const void* from, const CopyShape& shape, const Scale& scale,
                    Completion& done) override {
    // There is one stripe table for the process, so a byte's region does not matter here.
    const auto stripes = stripes_.slice(RegionId{}, peer_);
    deferred_.add([slice = address(to) - to.offset, to, from, shape, scale, stripes, &done] {
      detail::accumulate_direct(slice, to.offset, static_cast<const std::byte*>(from), shape, scale,
                                stripes);
      done.end(Status());
    });
    return {};
  }

  Status atomic(const Target& at, const AtomicRequest& request, Completion& done) override {
    deferred_.add([word = address(at), request, &done] {
      request.report(detail::atomic_direct(word, request));
      done.end(Status());
    });
    return {};
  }

  Status fence() override {
    deferred_.run();
    return {};
  }

 private:
  DeferredOperations& deferred_;
  detail::StripeLocks& stripes_;
  WorldRank peer_;
};

class LoopbackTransport final : public Transport, public MemoryTransport, public DataTransport {
 public:
  explicit LoopbackTransport(const TransportContext& context)
      : stripes_(*detail::nodes_of(context).stripes) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "loopback"; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] MemoryTransport* memory() noexcept override { return this; }
  [[nodiscard]] DataTransport& data() noexcept override { return *this; }
  [[nodiscard]] bool reaches(WorldRank) const override { return true; }

  Result<std::unique_ptr<Segment>> allocate(Team& team, std::size_t my_bytes,
                                            const RegionOptions&) override {
    Slice own;
    Status status;
    if (my_bytes > 0) {
      own.reset(static_cast<std::byte*>(std::calloc(1, my_bytes)), std::free);
      status = own ? Status()
                   : Status::error(Code::no_memory, fmt::format("the heap has no room for {}",
                                                                human_bytes(my_bytes)));
    }
    TESSERA_RETURN_IF_ERROR(team.agree(status));
    return share(team, own);
  }

  Result<std::unique_ptr<Segment>> attach(Team& team, void* memory, std::size_t,
                                          const RegionOptions&) override {
    const auto no_deleter = [](std::byte*) {};
    return share(team, Slice(static_cast<std::byte*>(memory), no_deleter));
  }

  Result<std::unique_ptr<Endpoint>> connect(WorldRank peer) override {
    return std::unique_ptr<Endpoint>(std::make_unique<LoopbackEndpoint>(deferred_, stripes_, peer));
  }

  int progress() override { return deferred_.run(); }

 private:
  static Result<std::unique_ptr<Segment>> share(Team& team, const Slice& own) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<const Slice*> others, team.allgather_value(&own));
    std::vector<Slice> slices;
    // `own` stays valid until all have copied it.
    TESSERA_RETURN_IF_ERROR(team.agree([&]() -> Status {
      slices.reserve(others.size());
      for (const Slice* each : others) {
        slices.push_back(*each);
      }
      return {};
    }));
    return std::unique_ptr<Segment>(std::make_unique<HeapSegment>(std::move(slices), team.rank()));
  }

  Capabilities capabilities_{
      .load_store = false, .attach = true, .strided = true, .accumulate = true, .atomics = true};
  detail::StripeLocks& stripes_;
  DeferredOperations deferred_;
};

}  // namespace

TransportFactory factory() {
  return {"loopback", [](const TransportContext& context) -> Result<std::unique_ptr<Transport>> {
            if (!detail::nodes_of(context).node->is_one_process()) {
              return Status::error(Code::unsupported,
                                   "loopback connects threads of one process only")
                  .hint("use TESSERA_TRANSPORT=shm, or run the ranks as threads");
            }
            return std::unique_ptr<Transport>(std::make_unique<LoopbackTransport>(context));
          }};
}

}  // namespace tessera::rma::loopback
