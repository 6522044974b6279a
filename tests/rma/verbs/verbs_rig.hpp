// SPDX-License-Identifier: BSD-3-Clause
//
// A pair of queue pairs with all that they need, and requests that tests post to them, by the calls
// of verbs::VerbsLibrary. Works with any library.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::test {

/// An object of the library that is destroyed when it goes out of scope.
template <class Object>
using Owned = std::unique_ptr<Object, std::function<void(Object*)>>;

template <class Object, class Destroy>
Owned<Object> own(Object* object, Destroy&& destroy) {
  return {object, std::forward<Destroy>(destroy)};
}

/// Waits until `happened()`, at most for 30 s.
template <class Happened>
bool eventually(Happened&& happened) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

struct SideOptions {
  std::string device = "fake0";
  std::size_t words = 64;
  int entries = 64;
  ibv_qp_cap queue = {.max_send_wr = 32,
                      .max_recv_wr = 0,
                      .max_send_sge = 4,
                      .max_recv_sge = 0,
                      .max_inline_data = 64};
  ibv_srq_attr receives = {.max_wr = 16, .max_sge = 4, .srq_limit = 0};
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
               IBV_ACCESS_REMOTE_ATOMIC;
  bool signals_all = false;
};

/// One end: a queue pair, its completion queues, and some registered words.
struct Side {
  explicit Side(verbs::VerbsLibrary& its_library, const SideOptions& options = {})
      : library(its_library), words(options.words) {
    device = own(library.open_device(options.device),
                 [&](ibv_context* object) { EXPECT_EQ(library.close_device(object), 0); });
    domain = own(library.alloc_pd(device.get()),
                 [&](ibv_pd* object) { EXPECT_EQ(library.dealloc_pd(object), 0); });
    region = own(library.reg_mr(domain.get(), words.data(), words.size() * 8, options.access),
                 [&](ibv_mr* object) { EXPECT_EQ(library.dereg_mr(object), 0); });
    channel = own(library.create_comp_channel(device.get()), [&](ibv_comp_channel* object) {
      EXPECT_EQ(library.destroy_comp_channel(object), 0);
    });
    sent = make_queue(options.entries);
    received = make_queue(options.entries);
    ibv_srq_init_attr receive_attributes{};
    receive_attributes.attr = options.receives;
    receives = own(library.create_srq(domain.get(), receive_attributes),
                   [&](ibv_srq* object) { EXPECT_EQ(library.destroy_srq(object), 0); });
    ibv_qp_init_attr attributes{};
    attributes.send_cq = sent.get();
    attributes.recv_cq = received.get();
    attributes.srq = receives.get();
    attributes.cap = options.queue;
    attributes.qp_type = IBV_QPT_RC;
    attributes.sq_sig_all = options.signals_all ? 1 : 0;
    queue = own(library.create_qp(domain.get(), attributes),
                [&](ibv_qp* object) { EXPECT_EQ(library.destroy_qp(object), 0); });
  }

  Owned<ibv_cq> make_queue(int entries) {
    return own(library.create_cq(device.get(), entries, channel.get()),
               [&](ibv_cq* object) { EXPECT_EQ(library.destroy_cq(object), 0); });
  }

  /// A piece of the words.
  ibv_sge piece(std::size_t first, std::size_t count) const {
    return {.addr = reinterpret_cast<std::uint64_t>(words.data() + first),
            .length = static_cast<std::uint32_t>(count * 8),
            .lkey = region->lkey};
  }

  int receive(std::uint64_t id, std::size_t first, std::size_t count) {
    ibv_sge into = piece(first, count);
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = &into;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return library.post_srq_recv(receives.get(), &request, bad);
  }

  /// The next completion of `from`; fails the test if none comes in time.
  ibv_wc next(ibv_cq* from) const {
    ibv_wc completion{};
    EXPECT_TRUE(eventually([&] { return library.poll_cq(from, {&completion, 1}) == 1; }));
    return completion;
  }
  ibv_wc next_sent() const { return next(sent.get()); }
  ibv_wc next_received() const { return next(received.get()); }
  bool has_sent() const {
    ibv_wc completion{};
    return library.poll_cq(sent.get(), {&completion, 1}) == 1;
  }

  /// The next event of the device, acknowledged.
  ibv_async_event next_event() const {
    ibv_async_event event{};
    EXPECT_EQ(library.get_async_event(device.get(), event), 0);
    library.ack_async_event(event);
    return event;
  }

  verbs::VerbsLibrary& library;
  std::vector<std::uint64_t> words;
  Owned<ibv_context> device;
  Owned<ibv_pd> domain;
  Owned<ibv_mr> region;
  Owned<ibv_comp_channel> channel;
  Owned<ibv_cq> sent;
  Owned<ibv_cq> received;
  Owned<ibv_srq> receives;
  Owned<ibv_qp> queue;
};

/// Two ends, connected.
struct Pair {
  explicit Pair(verbs::VerbsLibrary& library, const SideOptions& options = {},
                const ConnectOptions& connection = {})
      : here(library, options), there(library, on_next_device(options)) {
    EXPECT_EQ(connect(library, here.queue.get(), there.queue.get(), connection), 0);
  }

  static SideOptions on_next_device(SideOptions options) {
    options.device = "fake1";
    return options;
  }

  Side here;
  Side there;
};

/// A request to a side's queue pair, built and posted in one expression.
class Sending {
 public:
  Sending(Side& side, ibv_wr_opcode opcode, std::uint64_t id = 0) : side_(side) {
    request_.wr_id = id;
    request_.opcode = opcode;
    request_.send_flags = IBV_SEND_SIGNALED;
  }
  Sending& piece(const ibv_sge& piece) {
    pieces_.push_back(piece);
    return *this;
  }
  Sending& piece(std::size_t first, std::size_t count) { return piece(side_.piece(first, count)); }
  /// The words of the other side at the offset.
  Sending& at(const Side& other, std::size_t first) {
    return at(reinterpret_cast<std::uint64_t>(other.words.data() + first), other.region->rkey);
  }
  Sending& at(std::uint64_t address, std::uint32_t key) {
    const bool is_atomic = request_.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
                           request_.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    (is_atomic ? request_.wr.atomic.remote_addr : request_.wr.rdma.remote_addr) = address;
    (is_atomic ? request_.wr.atomic.rkey : request_.wr.rdma.rkey) = key;
    return *this;
  }
  Sending& operands(std::uint64_t compare_or_add, std::uint64_t swap = 0) {
    request_.wr.atomic.compare_add = compare_or_add;
    request_.wr.atomic.swap = swap;
    return *this;
  }
  Sending& immediate(std::uint32_t value) {
    request_.imm_data = value;
    return *this;
  }
  Sending& flags(unsigned flags) {
    request_.send_flags = flags;
    return *this;
  }
  /// Posts this request and the others by one call.
  int post(const std::vector<Sending*>& others = {}) {
    ibv_send_wr* bad = nullptr;
    ibv_send_wr* const list = link();
    ibv_send_wr* last = list;
    for (Sending* const other : others) {
      last->next = other->link();
      last = last->next;
    }
    return side_.library.post_send(side_.queue.get(), list, bad);
  }

 private:
  ibv_send_wr* link() {
    request_.sg_list = pieces_.data();
    request_.num_sge = static_cast<int>(pieces_.size());
    request_.next = nullptr;
    return &request_;
  }

  Side& side_;
  ibv_send_wr request_{};
  std::vector<ibv_sge> pieces_;
};

}  // namespace tessera::rma::test
