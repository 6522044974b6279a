// SPDX-License-Identifier: BSD-3-Clause
//
// Frames that an agent does not execute: malformed frames, which no Tessera client sends, and valid
// requests that are impossible. Each test sends one, while another client continues undisturbed.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using test::fails;

// --- frames that no Tessera client sends -----------------------------------------------------

struct Malformed {
  const char* name;
  std::function<Bytes()> bytes;
  const char* words;
};

Bytes with_byte(Bytes bytes, std::size_t at, int value) {
  bytes[at] = static_cast<std::byte>(value);
  return bytes;
}

// Frames whose header alone is wrong.
std::vector<Malformed> malformed_headers() {
  return {
      {"AForeignMagic", [] { return with_byte(frame(request(Kind::fence)), 0, 'X'); },
       "a frame begins with"},
      {"AnotherVersion", [] { return with_byte(frame(request(Kind::fence)), 4, 2); },
       "a frame has wire version 2; this library speaks version 1"},
      {"AFlippedBit", [] { return with_byte(frame(request(Kind::fence)), 56, 1); },
       "a frame header's checksum is"},
      {"AnUnknownKind", [] { return frame(request(static_cast<Kind>(99))); },
       "a frame has kind 99; valid are 1 to 22"},
      {"AnUnknownFlag",
       [] { return frame(changed(request(Kind::fence), [](auto& each) { each.flags = 0x80; })); },
       "a fence frame has flags 0x80"},
      {"AnOversizedDescriptor",
       [] {
         return frame(changed(request(Kind::put),
                              [](auto& each) { each.descriptor_bytes = (1U << 20U) + 1; }));
       },
       "a put frame announces a descriptor of 1048577 bytes; at most 1048576 are possible"},
      {"AnOversizedPayload",
       [] {
         return frame(changed(request(Kind::put),
                              [](auto& each) { each.payload_bytes = (1ULL << 40U) + 1; }));
       },
       "a put frame announces a payload of 1099511627777 bytes"},
      {"ANegativeTarget",
       [] {
         return frame(changed(request(Kind::get), [](auto& each) { each.target = WorldRank{-1}; }));
       },
       "a get frame goes from rank 2 to rank -1; ranks start at 0"},
      {"ANegativeOrigin",
       [] {
         return frame(changed(request(Kind::get), [](auto& each) { each.origin = WorldRank{-2}; }));
       },
       "a get frame goes from rank -2 to rank 1; ranks start at 0"},
      {"ANegativeNode",
       [] { return frame(changed(request(Kind::get), [](auto& each) { each.reply_to = -7; })); },
       "a get frame names node -7 for answers"},
  };
}

// Frames whose descriptor or payload does not fit the header.
std::vector<Malformed> malformed_requests() {
  return {
      {"AnotherRanksFrame",
       [] {
         return frame(
             changed(request(Kind::fence), [](auto& each) { each.origin = WorldRank{0}; }));
       },
       "sent a request in the name of rank 0"},
      {"AnAnswer", [] { return frame(request(Kind::value)); },
       "sent an answer (value) to an agent"},
      {"MoreThanIsMoved",
       [] {
         return frame(request(Kind::put), shape_descriptor(CopyShape::rows(16, 3, 16, 64)),
                      Bytes(49));
       },
       "moves 48 bytes but carries 49"},
      {"LessThanIsMoved",
       [] {
         return frame(request(Kind::put), shape_descriptor(CopyShape::rows(16, 3, 16, 64)),
                      Bytes(40));
       },
       "moves 48 bytes but carries 40"},
      {"TooMuchAtOnce",
       [] {
         return frame(
             changed(request(Kind::get), [](auto& each) { each.words[1] = max_direct_bytes + 1; }));
       },
       "moves 16777217 bytes in one request; the limit is 16777216"},
      {"TooManyShortRows",
       [] {
         return frame(request(Kind::get), shape_descriptor(CopyShape::rows(16, 65537, 16, 64)));
       },
       "requests 1048592 bytes of short rows at once; the limit is 1048576"},
      {"TooLargeADelivery",
       [] {
         return frame(changed(request(Kind::deliver),
                              [](auto& each) { each.payload_bytes = max_packed_bytes + 1; }));
       },
       "carries 1048577 bytes; the limit is 1048576"},
      {"APayloadOfAFence", [] { return frame(request(Kind::fence), {}, Bytes(8)); },
       "carries 8 bytes; its kind has no payload"},
      {"ADescriptorOfAProbe", [] { return frame(request(Kind::probe), atomic_descriptor()); },
       "has a descriptor of 8 bytes; its kind has none"},
      {"DataInTheHeaderOfAnAccumulate",
       [] {
         return frame(changed(request(Kind::accumulate),
                              [](auto& each) { each.flags = flags::inline_data; }));
       },
       "has its data in the header; only a put may"},
      {"NineBytesInAHeader",
       [] {
         return frame(changed(request(Kind::put), [](auto& each) {
           each.flags = flags::inline_data;
           each.words[1] = 9;
         }));
       },
       "moves 9 bytes in one request; the limit is 8"},
      {"AnAtomicWithoutTerms", [] { return frame(request(Kind::atomic)); },
       "a descriptor of an atomic has 0 bytes"},
      {"APatternOfNoSense",
       [] { return frame(request(Kind::put), with_byte(atomic_descriptor(), 0, 200)); },
       "begins with tag 200"},
      {"ACountThatWraps",
       [] {
         Bytes list;
         const std::vector<Fragment> fragments = {{nullptr, 16, 32}, {nullptr, 128, 16}};
         encode_fragments(fragments, list);
         return frame(request(Kind::get), with_byte(list, 7, 0x80));
       },
       "are announced"},
  };
}

const std::vector<Malformed>& malformed() {
  static const std::vector<Malformed> all = [] {
    std::vector<Malformed> both = malformed_headers();
    const std::vector<Malformed> more = malformed_requests();
    both.insert(both.end(), more.begin(), more.end());
    return both;
  }();
  return all;
}

class MalformedFrame : public AgentRobustness, public testing::WithParamInterface<std::size_t> {};

TEST_P(MalformedFrame, EndsItsOwnConnectionWithTheReason) {
  const Malformed& each = malformed()[GetParam()];
  RawPeer peer = authenticated_peer();
  ASSERT_TRUE(peer.send(each.bytes()));
  // The peer gets the reason before the connection closes.
  EXPECT_TRUE(fails(peer.receive_failure(), Code::protocol, {each.words}));
  EXPECT_TRUE(peer.is_closed_by_the_other());
  expect_warning("closed the connection with rank 2 at 127.0.0.1:", each.words);
  expect_slice_unchanged();
}

INSTANTIATE_TEST_SUITE_P(Frames, MalformedFrame, testing::Range(std::size_t{0}, malformed().size()),
                         [](const auto& each) {
                           return std::string(malformed()[each.param].name);
                         });

// --- valid requests that cannot be executed --------------------------------------------------

struct Refused {
  const char* name;
  std::function<Bytes()> bytes;
  Code code;
  const char* words;
};

FrameHeader delivery(std::uint64_t offset, std::uint64_t flag_offset) {
  FrameHeader header = request(Kind::deliver, offset, mailbox_region);
  header.target = WorldRank{0};
  header.words = {flag_offset, 1};
  return header;
}

// Transfers on slices.
std::vector<Refused> refused_transfers() {
  return {
      {"NoSuchRegion", [] { return frame(request(Kind::put, 0, RegionId{9}), {}, Bytes(2000)); },
       Code::closed, "rank 1 has no slice of region 9: it was freed or never created"},
      {"MoreThanIsKeptForNoSuchRegion",
       [] { return frame(request(Kind::put, 0, RegionId{9}), {}, Bytes(3 * max_packed_bytes)); },
       Code::closed, "rank 1 has no slice of region 9"},
      {"ARankWithoutASlice",
       [] {
         return frame(changed(request(Kind::get), [](auto& each) {
           each.target = WorldRank{0};
           each.words[1] = 8;
         }));
       },
       Code::closed, "rank 0 has no slice of region 5"},
      {"ARankFarOutside",
       [] {
         return frame(changed(request(Kind::get), [](auto& each) {
           each.target = WorldRank{0x7fff'ffff};
           each.words[1] = 8;
         }));
       },
       Code::closed, "rank 2147483647 has no slice of region 5"},
      {"BytesBehindTheEnd",
       [] { return frame(request(Kind::put, slice_bytes - 999), {}, Bytes(1000)); },
       Code::out_of_range, "put of bytes [8387609, 8388609) at rank 1, whose slice of region 5"},
      {"BytesBeforeTheStart",
       [] {
         return frame(request(Kind::put, 100), shape_descriptor(CopyShape::rows(8, 20, 8, -8)),
                      Bytes(160));
       },
       Code::out_of_range, "put of bytes [-52, 108)"},
      {"AnOffsetOf64Bits", [] { return frame(request(Kind::put, ~0ULL), {}, Bytes(16)); },
       Code::out_of_range, "at rank 1, whose slice of region 5 has 8388608"},
      {"AnOddAtomic", [] { return frame(request(Kind::atomic, 4), atomic_descriptor()); },
       Code::invalid_argument, "8-byte word at offset 4, which is not aligned to it"},
  };
}

// All other requests.
std::vector<Refused> refused_others() {
  return {
      {"ADeliveryOutside", [] { return frame(delivery(mail_bytes - 4, 0), {}, Bytes(8)); },
       Code::out_of_range, "delivery of 8 bytes to 4092"},
      {"ALongDeliveryOutside", [] { return frame(delivery(mail_bytes - 999, 0), {}, Bytes(1000)); },
       Code::out_of_range, "delivery of 1000 bytes to 3097 with a flag at 0 of memory 8"},
      {"AFlagOutsideOfALongDelivery",
       [] { return frame(delivery(0, mail_bytes - 7), {}, Bytes(1000)); }, Code::out_of_range,
       "with a flag at 4089 of memory 8, which has 4096"},
      {"ALongDeliveryToNobody",
       [] {
         return frame(changed(delivery(0, 0), [](auto& each) { each.region = RegionId{9}; }), {},
                      Bytes(100'000));
       },
       Code::closed, "memory 9 is no longer published on this node"},
      {"AFlagOutside", [] { return frame(delivery(0, mail_bytes), {}, Bytes(8)); },
       Code::out_of_range, "with a flag at 4096 of memory 8, which has 4096"},
      {"AnOddFlag", [] { return frame(delivery(0, 12), {}, Bytes(8)); }, Code::out_of_range,
       "with a flag at 12"},
      {"ADeliveryToARegion",
       [] {
         return frame(changed(request(Kind::deliver),
                              [](auto& each) {
                                each.words = {0, 1};
                              }),
                      {}, Bytes(8));
       },
       Code::out_of_range, "delivery of 8 bytes to 0 with a flag at 0 of memory 5"},
      {"APutToAMailbox",
       [] {
         return frame(changed(request(Kind::put, 0, mailbox_region),
                              [](auto& each) { each.target = WorldRank{0}; }),
                      {}, Bytes(1000));
       },
       Code::closed, "memory 8 of rank 0's node is not a region"},
      {"AnAtomicOnALock",
       [] {
         return frame(changed(request(Kind::atomic, 0, lock_memory),
                              [](auto& each) { each.target = WorldRank{0}; }),
                      atomic_descriptor());
       },
       Code::closed, "memory 7 of rank 0's node is not a region"},
      {"HalfALock",
       [] {
         return frame(changed(request(Kind::lock, 8, lock_memory),
                              [](auto& each) { each.target = WorldRank{0}; }));
       },
       Code::out_of_range, "there is no lock at 8 of memory 7"},
      {"ALockInARegion", [] { return frame(request(Kind::lock)); }, Code::out_of_range,
       "there is no lock at 0 of memory 5"},
      {"ALockThatIsNotHeld",
       [] {
         return frame(changed(request(Kind::unlock, 0, lock_memory),
                              [](auto& each) { each.target = WorldRank{0}; }));
       },
       Code::invalid_argument, "rank 2 unlocked a lock of rank 0's node that it does not hold"},
      {"AnInvitationForAnotherNode",
       [] {
         return frame(changed(request(Kind::join), [](auto& each) { each.target = WorldRank{3}; }));
       },
       Code::invalid_argument, "rank 3 is not on this node"},
      {"ANotificationForAnotherNode",
       [] {
         return frame(
             changed(request(Kind::notify), [](auto& each) { each.target = WorldRank{1000}; }));
       },
       Code::invalid_argument, "rank 1000 is not on this node"},
  };
}

const std::vector<Refused>& refused() {
  static const std::vector<Refused> all = [] {
    std::vector<Refused> both = refused_transfers();
    const std::vector<Refused> more = refused_others();
    both.insert(both.end(), more.begin(), more.end());
    return both;
  }();
  return all;
}

class RefusedRequest : public AgentRobustness, public testing::WithParamInterface<std::size_t> {};

TEST_P(RefusedRequest, IsAnsweredAndTheConnectionStaysOpen) {
  const Refused& each = refused()[GetParam()];
  RawPeer peer = authenticated_peer();
  ASSERT_TRUE(peer.send(each.bytes()));
  const auto answer = peer.receive_frame();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first.operation, 7U);
  ASSERT_EQ(answer->first.kind, Kind::failed);
  EXPECT_TRUE(fails(decode_failure(answer->second), each.code, {each.words}));
  expect_fence_answered(peer);
  expect_slice_unchanged();
  EXPECT_TRUE(node_.warnings(0).empty());
}

INSTANTIATE_TEST_SUITE_P(Requests, RefusedRequest, testing::Range(std::size_t{0}, refused().size()),
                         [](const auto& each) { return std::string(refused()[each.param].name); });

TEST_F(AgentRobustness, ARequestForADeadRankDoesNotEndTheConnection) {
  detail::rig_node(node_.memory(), 1, true)->leave();
  RawPeer peer = authenticated_peer();
  ASSERT_TRUE(peer.send(frame(request(Kind::notify))));
  EXPECT_TRUE(fails(peer.receive_failure(), Code::peer_lost, {"rank 1 is gone"}));
  expect_fence_answered(peer);
}

}  // namespace
}  // namespace tessera::rma::server
