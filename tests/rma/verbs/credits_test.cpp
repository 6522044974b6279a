// SPDX-License-Identifier: BSD-3-Clause
//
// The flow control of messages alone: the content of its slips, and many peers of one pool of
// buffers in random order.
#include "rma/transport/verbs/credits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace tessera::rma::verbs {
namespace {

constexpr std::uint32_t window = 16;
constexpr std::size_t message_bytes = 8192;

Credits started() {
  Credits credits(window);
  credits.begin(0, window, message_bytes);
  return credits;
}

CreditUpdate granting(std::uint8_t count, bool is_scarce = false) {
  return {.granted = count, .is_scarce = is_scarce};
}

TEST(CreditUpdate, IsDecodedAsEncoded) {
  for (const CreditUse backing :
       {CreditUse::none, CreditUse::kept, CreditUse::last, CreditUse::uncredited}) {
    for (unsigned flags = 0; flags < 8; ++flags) {
      const CreditUpdate update{.backing = backing,
                                .granted = 255,
                                .returned = 1,
                                .wanted = 128,
                                .frees_uncredited = (flags & 1U) != 0,
                                .is_scarce = (flags & 2U) != 0,
                                .recalls = (flags & 4U) != 0};
      EXPECT_EQ(CreditUpdate::decode(update.encode()), update);
    }
  }
}

TEST(Credits, BeginWithOneShortMessageThatAsksForMore) {
  Credits sender = started();
  ASSERT_TRUE(sender.may_send());
  EXPECT_EQ(sender.next_bytes(3 * message_bytes), max_uncredited_bytes);
  EXPECT_EQ(sender.spend(3 * message_bytes),
            (CreditUpdate{.backing = CreditUse::uncredited, .wanted = 3}));
  EXPECT_FALSE(sender.may_send()) << "one at a time";
  sender.process_update({.frees_uncredited = true});
  EXPECT_TRUE(sender.may_send());
}

TEST(Credits, AreKeptIfThereAreManyOfThem) {
  Credits sender = started();
  sender.process_update(granting(2));
  EXPECT_EQ(sender.next_bytes(9000), message_bytes);
  EXPECT_EQ(sender.spend(9000), (CreditUpdate{.backing = CreditUse::kept}));
  EXPECT_EQ(sender.spend(808), (CreditUpdate{.backing = CreditUse::kept}));
  EXPECT_FALSE(sender.needs_update());
}

TEST(Credits, AreReturnedIfTheyAreScarceAndNotNeeded) {
  Credits sender = started();
  sender.process_update(granting(5, true));
  EXPECT_EQ(sender.spend(2 * message_bytes).backing, CreditUse::last);
  CreditUpdate update = sender.spend(message_bytes);
  EXPECT_EQ(update.backing, CreditUse::last);
  sender.fill_update(update, false);
  EXPECT_EQ(update.returned, 3);
  EXPECT_EQ(sender.next_bytes(message_bytes), max_uncredited_bytes) << "none remains";
}

TEST(Credits, OfAReaderAreOwedUntilItHasHalfOfThem) {
  Credits receiver = started();
  receiver.process_update({.backing = CreditUse::uncredited, .wanted = 4});
  ASSERT_EQ(receiver.credits_to_request(false), 4U);
  receiver.grant(4);
  CreditUpdate update;
  receiver.fill_update(update, false);
  EXPECT_EQ(update.granted, 4);
  receiver.record_read({.kept = 1});
  EXPECT_FALSE(receiver.needs_update());
  receiver.record_read({.kept = 1});
  EXPECT_TRUE(receiver.needs_update());
}

TEST(Credits, OfASilentPeerAreRecalledOnce) {
  Credits receiver = started();
  receiver.process_update({.backing = CreditUse::uncredited, .wanted = 4});
  receiver.grant(4);
  CreditUpdate update;
  receiver.fill_update(update, false);
  receiver.recall_unused();
  EXPECT_FALSE(receiver.needs_update());
  receiver.recall_unused();
  ASSERT_TRUE(receiver.needs_update());
  Credits sender = started();
  sender.process_update(update);
  receiver.fill_update(update = {}, false);
  EXPECT_TRUE(update.recalls);
  sender.process_update(update);
  ASSERT_TRUE(sender.needs_update());
  sender.fill_update(update = {}, false);
  receiver.process_update(update);
  EXPECT_EQ(receiver.take_released(), 4U);
  EXPECT_EQ(receiver.granted(), 0U);
  receiver.recall_unused();
  receiver.recall_unused();
  EXPECT_FALSE(receiver.needs_update());
}

// --- many peers

/// Peers that send to one receiver with a small pool of buffers. Each step, a random peer makes a
/// random permitted move.
class Traffic {
 public:
  Traffic(std::uint64_t seed, std::size_t peers, std::uint32_t pool, std::size_t bytes)
      : random_(seed), pool_(pool) {
    for (std::size_t i = 0; i < peers; ++i) {
      peers_.push_back({started(), started(), {}, {}, {}, bytes * (1 + below(3)), 0});
    }
  }

  /// Until no move is possible any longer.
  void run() {
    for (int idle = 0; idle < 1000;) {
      idle = step(peers_[below(peers_.size())]) ? 0 : idle + 1;
      check();
    }
  }
  [[nodiscard]] std::size_t unsent() const {
    std::size_t bytes = 0;
    for (const Peer& peer : peers_) {
      bytes += peer.to_send + peer.unread.size() + peer.requests.size() + peer.updates.size();
    }
    return bytes;
  }
  [[nodiscard]] std::uint32_t granted() const { return granted_; }

 private:
  struct Peer {
    Credits sender;
    Credits receiver;
    std::deque<CreditUpdate> requests;  // on their way to the receiver
    std::deque<CreditUpdate> updates;   // on their way back
    std::deque<CreditUse> unread;
    std::size_t to_send;
    std::size_t read;
  };

  std::size_t below(std::size_t limit) { return random_() % limit; }
  [[nodiscard]] bool is_scarce() const { return granted_ > pool_ / 2; }

  bool step(Peer& peer) {
    switch (below(6)) {
      case 0:
        return send(peer);
      case 1:
        return arrive(peer);
      case 2:
        return read(peer);
      case 3:
        return receive_update(peer);
      case 4:
        return send_update(peer);
      default:
        return recall(peer);
    }
  }
  bool send(Peer& peer) {
    if (peer.to_send == 0 || !peer.sender.may_send()) {
      return false;
    }
    // Sometimes only a part is offered yet.
    const std::size_t offered = 1 + below(peer.to_send);
    const std::size_t bytes = peer.sender.next_bytes(offered);
    CreditUpdate update = peer.sender.spend(offered);
    peer.sender.fill_update(update, false);
    peer.requests.push_back(update);
    peer.to_send -= bytes;
    return true;
  }
  bool arrive(Peer& peer) {
    if (peer.requests.empty()) {
      return false;
    }
    const CreditUpdate update = peer.requests.front();
    peer.requests.pop_front();
    if (update.backing != CreditUse::none) {
      peer.unread.push_back(update.backing);
    }
    peer.receiver.process_update(update);
    granted_ -= peer.receiver.take_released();
    const std::uint32_t added =
        std::min(peer.receiver.credits_to_request(is_scarce()), pool_ - granted_);
    peer.receiver.grant(added);
    granted_ += added;
    return true;
  }
  bool read(Peer& peer) {
    if (peer.unread.empty()) {
      return false;
    }
    Credits::Read read;
    read.count(peer.unread.front());
    peer.unread.pop_front();
    peer.receiver.record_read(read);
    granted_ -= peer.receiver.take_released();
    return true;
  }
  bool receive_update(Peer& peer) {
    if (peer.updates.empty()) {
      return false;
    }
    peer.sender.process_update(peer.updates.front());
    peer.updates.pop_front();
    return true;
  }
  bool send_update(Peer& peer) {
    if (peer.receiver.needs_update()) {
      CreditUpdate update;
      peer.receiver.fill_update(update, is_scarce());
      peer.updates.push_back(update);
      return true;
    }
    if (peer.sender.needs_update()) {
      CreditUpdate update;
      peer.sender.fill_update(update, false);
      peer.requests.push_back(update);
      return true;
    }
    return false;
  }
  bool recall(Peer& peer) {
    if (below(20) == 0) {
      peer.receiver.recall_unused();
    }
    return false;
  }
  /// At most the granted number of messages may hold a buffer; at most one other message is under
  /// way.
  void check() const {
    ASSERT_LE(granted_, pool_);
    for (const Peer& peer : peers_) {
      const auto is_backed = [](CreditUse each) {
        return each == CreditUse::kept || each == CreditUse::last;
      };
      const auto backed = static_cast<std::uint32_t>(
          std::count_if(peer.unread.begin(), peer.unread.end(), is_backed) +
          std::count_if(peer.requests.begin(), peer.requests.end(),
                        [&](const CreditUpdate& each) { return is_backed(each.backing); }));
      const auto uncredited =
          std::count(peer.unread.begin(), peer.unread.end(), CreditUse::uncredited) +
          std::count_if(peer.requests.begin(), peer.requests.end(), [](const CreditUpdate& each) {
            return each.backing == CreditUse::uncredited;
          });
      ASSERT_LE(backed, peer.receiver.granted());
      ASSERT_LE(uncredited, 1);
    }
  }

  std::mt19937_64 random_;
  const std::uint32_t pool_;
  std::uint32_t granted_ = 0;
  std::vector<Peer> peers_;
};

TEST(Credits, OfManyPeersNeitherOverrunThePoolNorStopAPeer) {
  for (const std::uint32_t pool : {0U, 1U, 2U, 8U, 40U, 1000U}) {
    for (const std::size_t peers : {1U, 2U, 5U, 20U}) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Traffic traffic(seed, peers, pool, pool == 0 ? 5'000 : 60'000);
        traffic.run();
        ASSERT_EQ(traffic.unsent(), 0U)
            << "is blocked with " << pool << " buffers, " << peers << " peers, seed " << seed;
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

}  // namespace
}  // namespace tessera::rma::verbs
