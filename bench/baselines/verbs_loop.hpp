// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsLoop: a reliable connection between two RDMA devices that uses libibverbs directly: post a
// request, poll for its completion.
//
// It shares no code with rma/transport/verbs/, which it is compared with, but uses the same device,
// port and GID: those of TESSERA_VERBS_DEVICE and TESSERA_VERBS_GID. By default that is the first
// active port, InfiniBand before Ethernet; on Ethernet, the RoCE v2 GID of an IPv4 address.
//
// Threads: one at a time. Failures throw std::system_error or std::runtime_error. The memory passed
// to it must outlive it.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tessera::bench {

/// Destroys an object of libibverbs.
template <auto Destroy>
struct VerbsDestroyer {
  template <class Object>
  void operator()(Object* object) const {
    (void)Destroy(object);
  }
};
using VerbsContext = std::unique_ptr<ibv_context, VerbsDestroyer<ibv_close_device>>;
using VerbsDomain = std::unique_ptr<ibv_pd, VerbsDestroyer<ibv_dealloc_pd>>;
using VerbsCompletions = std::unique_ptr<ibv_cq, VerbsDestroyer<ibv_destroy_cq>>;
using VerbsQueuePair = std::unique_ptr<ibv_qp, VerbsDestroyer<ibv_destroy_qp>>;
using VerbsMemory = std::unique_ptr<ibv_mr, VerbsDestroyer<ibv_dereg_mr>>;

/// An open device, the port to use, and its address.
struct VerbsPort {
  VerbsContext context;
  ibv_port_attr attributes = {};
  std::uint8_t port = 1;
  int gid_index = 0;
  ibv_gid gid = {};

  [[nodiscard]] bool is_ethernet() const {
    return attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  }
};

/// Throws std::runtime_error if there is no device, or not the requested one.
VerbsPort open_verbs_port();

/// What the other end needs for the connection.
struct VerbsAddress {
  ibv_gid gid = {};
  std::uint32_t queue_pair = 0;
  std::uint32_t key = 0;     ///< of the memory that it may read and write
  std::uint64_t memory = 0;  ///< start of that memory
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;    ///< as ibv_mtu
  std::uint8_t reads = 0;  ///< the number that may be outstanding
};

class VerbsLoop {
 public:
  /// The largest number of outstanding requests.
  static constexpr int depth = 128;

  /// `local` is the memory that this end's requests move; `exposed` is for the other end's
  /// requests.
  VerbsLoop(std::span<std::byte> local, std::span<std::byte> exposed);

  [[nodiscard]] VerbsAddress address() const;
  void connect(const VerbsAddress& other);

  /// Starts a write of `bytes` from `local` to the other end's memory at `offset`. Requires:
  /// `local` lies in the memory passed to the constructor; at most `depth` requests are
  /// outstanding.
  void write(const std::byte* local, std::size_t offset, std::size_t bytes);
  /// The same in the other direction.
  void read(std::byte* local, std::size_t offset, std::size_t bytes);
  /// A write without a completion; the completion of a later read covers it.
  void write_silently(const std::byte* local, std::size_t offset, std::size_t bytes);
  /// Polls until `count` requests have completed.
  void wait_for_completions(std::int64_t count);

 private:
  void create_queue_pair();
  void modify(ibv_qp_attr& attributes, int mask, const char* state);
  void to_init();
  void to_receive(const VerbsAddress& other);
  void to_send(const VerbsAddress& other);
  [[nodiscard]] unsigned inline_flag(std::size_t bytes) const {
    return bytes <= inline_bytes_ ? unsigned{IBV_SEND_INLINE} : 0U;
  }
  void post(ibv_wr_opcode opcode, const std::byte* local, std::size_t offset, std::size_t bytes,
            unsigned flags);

  VerbsPort port_;
  ibv_device_attr device_ = {};
  VerbsDomain domain_;
  VerbsCompletions completions_;
  VerbsMemory local_;
  VerbsMemory exposed_;
  VerbsQueuePair queue_;
  std::size_t inline_bytes_ = 0;
  VerbsAddress other_;
};

}  // namespace tessera::bench
