// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/faulty_transport.hpp"

#include <array>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace tessera::rma::test {
namespace {

// Shared by one rank's transport, segments and endpoints.
class Injector {
 public:
  explicit Injector(std::shared_ptr<FaultPlan> plan) : plan_(std::move(plan)) {}

  // Counts a call; returns its planned fault, or null.
  const Fault* next(Call call) {
    const int number = ++counts_[static_cast<std::size_t>(call)];
    for (const Fault& fault : plan_->faults) {
      if (fault.call == call && number >= fault.nth && number <= std::max(fault.nth, fault.last)) {
        return &fault;
      }
    }
    return nullptr;
  }

  // A call without a completion.
  Status check(Call call) {
    const Fault* const fault = next(call);
    return fault == nullptr ? Status() : error(*fault);
  }

  // An operation: fails, is held back, or is started.
  Status run(Call call, Completion& done, std::function<Status()> start) {
    if (const Fault* const fault = next(call)) {
      if (!fault->late) {
        return error(*fault);
      }
      hold([&done, late = error(*fault)] { done.end(late); });
      return {};
    }
    if (!plan_->hold) {
      return start();
    }
    hold([&done, start = std::move(start)] {
      if (Status status = start(); !status.ok()) {
        done.end(std::move(status));
      }
    });
    return {};
  }

  // Executes one held operation.
  int progress() {
    const std::lock_guard one_runner(run_mutex_);
    std::function<void()> first;
    {
      const std::lock_guard guard(mutex_);
      if (held_.empty()) {
        return 0;
      }
      first = std::move(held_.front());
      held_.pop_front();
    }
    first();
    return 1;
  }

 private:
  static Status error(const Fault& fault) { return Status::error(fault.code, "injected fault"); }

  void hold(std::function<void()> operation) {
    const std::lock_guard guard(mutex_);
    held_.push_back(std::move(operation));
    const int in_flight = static_cast<int>(held_.size());
    int most = plan_->max_in_flight.load();
    while (in_flight > most && !plan_->max_in_flight.compare_exchange_weak(most, in_flight)) {
    }
  }

  std::shared_ptr<FaultPlan> plan_;
  std::array<std::atomic<int>, call_count> counts_{};
  std::mutex run_mutex_;
  std::mutex mutex_;
  std::deque<std::function<void()>> held_;
};

class FaultySegment final : public Segment {
 public:
  FaultySegment(std::unique_ptr<Segment> inner, Injector& injector)
      : inner_(std::move(inner)), injector_(injector) {}

  [[nodiscard]] Segment* inner() const noexcept { return inner_.get(); }
  [[nodiscard]] std::byte* local() const noexcept override { return inner_->local(); }
  [[nodiscard]] DirectMap direct() const noexcept override { return inner_->direct(); }
  Status begin_access() override {
    TESSERA_RETURN_IF_ERROR(injector_.check(Call::begin_access));
    return inner_->begin_access();
  }
  Status end_access() override {
    TESSERA_RETURN_IF_ERROR(injector_.check(Call::end_access));
    return inner_->end_access();
  }
  // The memory is freed in any case: that is collective.
  Status free() override {
    Status freed = inner_->free();
    TESSERA_RETURN_IF_ERROR(injector_.check(Call::free));
    return freed;
  }

 private:
  std::unique_ptr<Segment> inner_;
  Injector& injector_;
};

Target unwrap(const Target& target) {
  return {static_cast<FaultySegment*>(target.segment)->inner(), target.rank, target.offset};
}

class FaultyEndpoint final : public Endpoint {
 public:
  FaultyEndpoint(std::unique_ptr<Endpoint> inner, Injector& injector)
      : inner_(std::move(inner)), injector_(injector) {}

  Status put(const Target& to, const void* from, const CopyShape& shape,
             Completion& done) override {
    return injector_.run(Call::put, done, [this, inside = unwrap(to), from, shape, &done] {
      return inner_->put(inside, from, shape, done);
    });
  }
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override {
    return injector_.run(Call::get, done, [this, to, inside = unwrap(from), shape, &done] {
      return inner_->get(to, inside, shape, done);
    });
  }
  Status accumulate(const Target& to, const void* from, const CopyShape& shape, const Scale& scale,
                    Completion& done) override {
    return injector_.run(Call::accumulate, done,
                         [this, inside = unwrap(to), from, shape, scale, &done] {
                           return inner_->accumulate(inside, from, shape, scale, done);
                         });
  }
  Status atomic(const Target& at, const AtomicRequest& request, Completion& done) override {
    return injector_.run(Call::atomic, done, [this, inside = unwrap(at), request, &done] {
      return inner_->atomic(inside, request, done);
    });
  }
  Status fence() override {
    while (injector_.progress() > 0) {
    }
    TESSERA_RETURN_IF_ERROR(injector_.check(Call::fence));
    return inner_->fence();
  }

 private:
  std::unique_ptr<Endpoint> inner_;
  Injector& injector_;
};

class FaultyTransport final : public Transport, public MemoryTransport, public DataTransport {
 public:
  FaultyTransport(std::unique_ptr<Transport> inner, std::shared_ptr<FaultPlan> plan)
      : inner_(std::move(inner)), injector_(std::move(plan)), can_(inner_->capabilities()) {
    can_.always_fenced = false;  // fences can fail here, so callers must fence
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "faulty"; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return can_; }
  [[nodiscard]] MemoryTransport* memory() noexcept override { return this; }
  [[nodiscard]] DataTransport& data() noexcept override { return *this; }
  [[nodiscard]] bool reaches(WorldRank peer) const override { return inner_->data().reaches(peer); }

  Result<std::unique_ptr<Segment>> allocate(Team& team, std::size_t my_bytes,
                                            const RegionOptions& options) override {
    TESSERA_RETURN_IF_ERROR(injector_.check(Call::allocate));
    return wrap(inner_->memory()->allocate(team, my_bytes, options));
  }
  Result<std::unique_ptr<Segment>> attach(Team& team, void* memory, std::size_t my_bytes,
                                          const RegionOptions& options) override {
    TESSERA_RETURN_IF_ERROR(injector_.check(Call::attach));
    return wrap(inner_->memory()->attach(team, memory, my_bytes, options));
  }
  Result<std::unique_ptr<Endpoint>> connect(WorldRank peer) override {
    TESSERA_RETURN_IF_ERROR(injector_.check(Call::connect));
    TESSERA_ASSIGN_OR_RETURN(auto endpoint, inner_->data().connect(peer));
    return std::unique_ptr<Endpoint>(
        std::make_unique<FaultyEndpoint>(std::move(endpoint), injector_));
  }
  int progress() override { return injector_.progress() + inner_->data().progress(); }

 private:
  Result<std::unique_ptr<Segment>> wrap(Result<std::unique_ptr<Segment>> segment) {
    if (!segment.ok()) {
      return segment;
    }
    return std::unique_ptr<Segment>(
        std::make_unique<FaultySegment>(std::move(segment).take(), injector_));
  }

  std::unique_ptr<Transport> inner_;
  Injector injector_;
  Capabilities can_;
};

}  // namespace

TransportFactory faulty_transport(TransportFactory inner, std::shared_ptr<FaultPlan> plan) {
  return {"faulty",
          [inner = std::move(inner), plan = std::move(plan)](
              const TransportContext& context) -> Result<std::unique_ptr<Transport>> {
            TESSERA_ASSIGN_OR_RETURN(auto transport, inner.create(context));
            return std::unique_ptr<Transport>(
                std::make_unique<FaultyTransport>(std::move(transport), plan));
          }};
}

}  // namespace tessera::rma::test
