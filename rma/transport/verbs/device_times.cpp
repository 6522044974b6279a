// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/device_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "rma/base/timing.hpp"
#include "rma/transport/verbs/buffer_pool.hpp"
#include "rma/transport/verbs/handles.hpp"
#include "rma/transport/verbs/queue_pair.hpp"

namespace tessera::rma::verbs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds max_wait{500};
constexpr int attempts = 3;  // the fastest counts
constexpr std::size_t long_bytes = std::size_t{64} * 1024;
constexpr std::uint32_t long_requests = 4;
constexpr std::uint32_t short_requests = 16;
constexpr std::size_t one_page = 4096;
constexpr double kib = 1024;

using detail::added;
using detail::copied_kib_ns;
using detail::ns_since;

// A queue pair that writes and reads between two buffers of its own process.
class LoopbackPair {
 public:
  static Result<std::unique_ptr<LoopbackPair>> create(const std::shared_ptr<Device>& device,
                                                      Registrar& registrar);

  /// The time until `count` requests of `bytes` each have completed.
  Result<double> time(ibv_wr_opcode opcode, std::uint32_t count, std::size_t bytes);
  /// The fastest of several attempts.
  Result<double> fastest(ibv_wr_opcode opcode, std::uint32_t count, std::size_t bytes);

 private:
  LoopbackPair(std::shared_ptr<Device> device, std::unique_ptr<RegisteredBufferPool> buffers,
               OwnedCompletions completions, QueuePair queue) noexcept
      : device_(std::move(device)),
        buffers_(std::move(buffers)),
        completions_(std::move(completions)),
        queue_(std::move(queue)) {}
  Status wait(Clock::time_point deadline) const;

  std::shared_ptr<Device> device_;
  std::unique_ptr<RegisteredBufferPool> buffers_;  // 0: source, 1: target
  OwnedCompletions completions_;
  QueuePair queue_;
};

Result<std::unique_ptr<LoopbackPair>> LoopbackPair::create(const std::shared_ptr<Device>& device,
                                                           Registrar& registrar) {
  constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  TESSERA_ASSIGN_OR_RETURN(auto buffers,
                           RegisteredBufferPool::create(registrar, 2, long_bytes, access));
  std::memset(buffers->at(0), 1, long_bytes);
  std::memset(buffers->at(1), 2, long_bytes);
  const std::uint32_t depth = std::min(2 * short_requests, device->limits().max_queue_depth);
  OwnedCompletions completions(
      device->library(),
      device->library()->create_cq(device->context(), static_cast<int>(depth), nullptr));
  if (!completions) {
    return cannot_make(*device, "a completion queue", device->limits().completion_queues, errno);
  }
  TESSERA_ASSIGN_OR_RETURN(QueuePair queue,
                           QueuePair::create(device, {.send_completions = completions.get(),
                                                      .receive_completions = completions.get(),
                                                      .depth = depth}));
  TESSERA_RETURN_IF_ERROR(queue.connect(queue.address()));
  return std::unique_ptr<LoopbackPair>(
      new LoopbackPair(device, std::move(buffers), std::move(completions), std::move(queue)));
}

Result<double> LoopbackPair::time(ibv_wr_opcode opcode, std::uint32_t count, std::size_t bytes) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(buffers_->at(0)),
                static_cast<std::uint32_t>(bytes), buffers_->key()};
  std::array<ibv_send_wr, short_requests> requests{};
  for (std::uint32_t i = 0; i < count; ++i) {
    requests[i].next = i + 1 < count ? &requests[i + 1] : nullptr;
    requests[i].sg_list = &piece;
    requests[i].num_sge = 1;
    requests[i].opcode = opcode;
    requests[i].wr.rdma = {reinterpret_cast<std::uintptr_t>(buffers_->at(1)),
                           buffers_->remote_key()};
  }
  requests[count - 1].send_flags = IBV_SEND_SIGNALED;
  const auto start = Clock::now();
  ibv_send_wr* bad = nullptr;
  if (const int error = device_->library()->post_send(queue_.get(), requests.data(), bad);
      error != 0) {
    return Status::error(Code::unsupported, fmt::format("{} does not accept requests to itself: {}",
                                                        device_->name(), std::strerror(error)));
  }
  TESSERA_RETURN_IF_ERROR(wait(start + max_wait));
  return ns_since(start);
}

Status LoopbackPair::wait(Clock::time_point deadline) const {
  std::array<ibv_wc, 1> completion{};
  while (Clock::now() < deadline) {
    const int received = device_->library()->poll_cq(completions_.get(), completion);
    if (received < 0 || (received > 0 && completion[0].status != IBV_WC_SUCCESS)) {
      return Status::error(Code::unsupported,
                           fmt::format("{} cannot reach itself", device_->name()));
    }
    if (received > 0) {
      return {};
    }
  }
  return Status::error(Code::unsupported,
                       fmt::format("{} doesn't answer requests to itself", device_->name()));
}

Result<double> LoopbackPair::fastest(ibv_wr_opcode opcode, std::uint32_t count, std::size_t bytes) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < attempts; ++i) {
    TESSERA_ASSIGN_OR_RETURN(const double took, time(opcode, count, bytes));
    best = std::min(best, took);
  }
  return best;
}

// Time to register that many bytes for one use, and to deregister them.
Result<double> registration_ns(Registrar& registrar, std::byte* memory, std::size_t bytes) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < attempts; ++i) {
    const auto start = Clock::now();
    TESSERA_ASSIGN_OR_RETURN(Registration registration,
                             registrar.pin(memory, bytes, IBV_ACCESS_LOCAL_WRITE));
    registration = Registration();
    best = std::min(best, ns_since(start));
  }
  return best;
}

double fastest_copy_kib_ns(std::vector<std::byte>& memory) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < attempts; ++i) {
    best = std::min(best, copied_kib_ns(memory));
  }
  return best;
}

}  // namespace

Result<DeviceTimes> measure_times(const std::shared_ptr<Device>& device, Registrar& registrar) {
  TESSERA_ASSIGN_OR_RETURN(const auto pair, LoopbackPair::create(device, registrar));
  constexpr std::size_t word = sizeof(std::uint64_t);
  constexpr double long_kib = long_bytes * long_requests / kib;
  DeviceTimes times;
  TESSERA_ASSIGN_OR_RETURN(times.write_wait, pair->fastest(IBV_WR_RDMA_WRITE, 1, word));
  TESSERA_ASSIGN_OR_RETURN(times.read_wait, pair->fastest(IBV_WR_RDMA_READ, 1, word));
  TESSERA_ASSIGN_OR_RETURN(const double batch,
                           pair->fastest(IBV_WR_RDMA_WRITE, short_requests, word));
  TESSERA_ASSIGN_OR_RETURN(const double written,
                           pair->fastest(IBV_WR_RDMA_WRITE, long_requests, long_bytes));
  TESSERA_ASSIGN_OR_RETURN(const double read,
                           pair->fastest(IBV_WR_RDMA_READ, long_requests, long_bytes));
  times.request = added(batch, times.write_wait, short_requests - 1);
  times.written_kib = added(written, times.write_wait, long_kib);
  times.read_kib = added(read, times.read_wait, long_kib);

  std::vector<std::byte> memory(2 * long_bytes, std::byte{1});
  times.copied_kib = fastest_copy_kib_ns(memory);
  TESSERA_ASSIGN_OR_RETURN(times.registration, registration_ns(registrar, memory.data(), one_page));
  TESSERA_ASSIGN_OR_RETURN(const double all,
                           registration_ns(registrar, memory.data(), memory.size()));
  times.registered_kib =
      added(all, times.registration, static_cast<double>(memory.size() - one_page) / kib);
  return times;
}

}  // namespace tessera::rma::verbs
