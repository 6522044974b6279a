// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes between nodes: frame headers and descriptors decode to what was encoded, and wrong
// bytes are refused with a reason.
#include "rma/server/wire/wire.hpp"

#include <gtest/gtest.h>
#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): a switch of xxHash
#include <xxhash.h>

#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tessera::rma::server {
namespace {

using Bytes = std::vector<std::byte>;
using HeaderBytes = std::array<std::byte, header_bytes>;

constexpr auto most = std::numeric_limits<std::int64_t>::max();

FrameHeader random_header(std::mt19937_64& random) {
  const auto rank = [&] { return static_cast<std::int32_t>(random() >> 33U); };
  FrameHeader header;
  header.kind = static_cast<Kind>(1 + random() % kind_count);
  header.flags = static_cast<std::uint8_t>(random() & flags::known);
  header.descriptor_bytes = static_cast<std::uint32_t>(random() % (max_descriptor_bytes + 1));
  header.payload_bytes = random() % (max_payload_bytes + 1);
  header.origin = WorldRank{rank()};
  header.target = WorldRank{rank()};
  header.reply_to = rank() - 1;
  header.forwarder = rank() - 1;
  header.operation = random();
  header.route = random();
  header.region = RegionId{static_cast<std::uint32_t>(random())};
  header.offset = random();
  header.words = {random(), random()};
  return header;
}

// The header's bytes with one byte changed, and a correct checksum.
HeaderBytes sealed(const FrameHeader& header, std::size_t at, std::uint8_t value) {
  HeaderBytes bytes = encode(header);
  bytes[at] = static_cast<std::byte>(value);
  const XXH64_hash_t sum = XXH3_64bits(bytes.data(), header_bytes - 4);
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[header_bytes - 4 + i] = static_cast<std::byte>(sum >> (8 * i));
  }
  return bytes;
}

template <class T>
std::string refusal(const Result<T>& result) {
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::protocol);
  return result.status().message();
}

TEST(FrameHeader, IsDecodedAsEncoded) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const FrameHeader header = random_header(random);
    const auto decoded = decode(encode(header));
    ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
    ASSERT_EQ(decoded.value(), header);
  }
}

TEST(FrameHeader, IsRefusedWithAnyBitFlipped) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20; ++i) {
    const HeaderBytes good = encode(random_header(random));
    for (std::size_t bit = 0; bit < 8 * header_bytes; ++bit) {
      HeaderBytes bad = good;
      bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      ASSERT_FALSE(decode(bad).ok()) << "bit " << bit;
    }
  }
}

TEST(FrameHeader, HasTheChecksumOfItsDefinition) {
  const FrameHeader header{.kind = Kind::get, .operation = 77};
  EXPECT_EQ(sealed(header, 6, static_cast<std::uint8_t>(Kind::get)), encode(header));
}

TEST(FrameHeader, ReportsWhatIsWrong) {
  const FrameHeader header{.kind = Kind::put};
  HeaderBytes bytes = {};
  std::memcpy(bytes.data(), "GET / HTTP/1.1", 14);
  EXPECT_EQ(refusal(decode(bytes)),
            "a frame begins with 20544547 instead of 41525354: the sender is not Tessera, or "
            "bytes were lost");
  EXPECT_EQ(refusal(decode(sealed(header, 4, 2))),
            "a frame has wire version 2; this library speaks version 1");
  bytes = encode(header);
  bytes[40] = std::byte{1};
  EXPECT_NE(refusal(decode(bytes)).find("a frame header's checksum is"), std::string::npos);
  EXPECT_EQ(refusal(decode(sealed(header, 6, 0))), "a frame has kind 0; valid are 1 to 22");
  EXPECT_EQ(refusal(decode(sealed(header, 6, 23))), "a frame has kind 23; valid are 1 to 22");
  EXPECT_EQ(refusal(decode(sealed(header, 7, 0x81))), "a put frame has flags 0x81; known are 0x03");
  EXPECT_EQ(refusal(decode(sealed(header, 11, 1))),
            "a put frame announces a descriptor of 16777216 bytes; at most 1048576 are possible");
  EXPECT_EQ(refusal(decode(sealed(header, 22, 1))),
            "a put frame announces a payload of 281474976710656 bytes; at most 1099511627776 are "
            "possible");
  EXPECT_EQ(refusal(decode(sealed(header, 15, 0x80))),
            "a put frame goes from rank -2147483648 to rank 0; ranks start at 0");
  EXPECT_EQ(refusal(decode(sealed(header, 28, 0xfe))),
            "a put frame names node -2 for answers and -1 as forwarder; the minimum is -1");
  EXPECT_EQ(refusal(decode(sealed(header, 85, 1))),
            "a put frame has values other than 0 in the reserved bytes 80 to 91");
}

TEST(RemoteSpan, KeepsItsNumbersInLittleEndian) {
  const detail::RemoteSpan span{0x0102'0304'0506'0708, 0x1112'1314'1516'1718, 0x2122'2324};
  const auto bytes = encode(span);
  EXPECT_EQ(bytes.front(), std::byte{0x08});
  EXPECT_EQ(bytes[15], std::byte{0x11});
  EXPECT_EQ(bytes[16], std::byte{0x24});
  const detail::RemoteSpan back = decode_span(bytes);
  EXPECT_EQ(back.address, span.address);
  EXPECT_EQ(back.bytes, span.bytes);
  EXPECT_EQ(back.key, span.key);
}

TEST(Kind, HasANameForEach) {
  for (int kind = 1; kind <= kind_count; ++kind) {
    EXPECT_NE(to_string(static_cast<Kind>(kind)), "unknown kind of frame") << kind;
  }
  EXPECT_EQ(to_string(Kind::put), "put");
  EXPECT_EQ(to_string(Kind::bye), "bye");
  EXPECT_EQ(to_string(Kind{0}), "unknown kind of frame");
  EXPECT_EQ(to_string(Kind{23}), "unknown kind of frame");
  EXPECT_EQ(to_string(Kind::path), "path");
  EXPECT_EQ(to_string(Kind::locate), "locate");
  EXPECT_EQ(to_string(Kind::push), "push");
  EXPECT_FALSE(is_answer(Kind::probe) || is_answer(Kind::bye) || is_answer(Kind::path));
  EXPECT_TRUE(is_answer(Kind::done) && is_answer(Kind::failed));
}

CopyShape random_shape(std::mt19937_64& random) {
  CopyShape shape = CopyShape::contiguous(random() % 5 * 8);
  std::int64_t dense = static_cast<std::int64_t>(shape.run_bytes);
  for (auto levels = random() % (max_stride_levels + 1); levels > 0; --levels) {
    const auto count = static_cast<std::int64_t>(random() % 4);
    shape.repeat(count, dense, static_cast<std::int64_t>(random() % 2000) - 1000);
    dense *= count;
  }
  return shape;
}

std::vector<Fragment> random_fragments(std::mt19937_64& random) {
  std::vector<Fragment> fragments(random() % 20);
  const std::uint64_t one_size = random() % 3;  // 0: of different sizes
  for (Fragment& each : fragments) {
    each.remote_offset = random() % 1'000'000;
    each.bytes = (one_size != 0 ? one_size : random() % 1000) * 8;
  }
  return fragments;
}

bool equal(const std::vector<Fragment>& a, const std::vector<Fragment>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Fragment& one, const Fragment& other) {
                      return one.remote_offset == other.remote_offset && one.bytes == other.bytes;
                    });
}

// A truncated descriptor is invalid, and so is one with an extra byte.
template <class Decode>
void expect_exact_length(const Bytes& bytes, Decode decode_it) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    refusal(decode_it(std::span(bytes).first(size)));
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  refusal(decode_it(std::span<const std::byte>(longer)));
}

Bytes shape_bytes(const CopyShape& shape) {
  Bytes bytes;
  encode_shape(shape, bytes);
  return bytes;
}

TEST(RemoteShape, IsDecodedWithADenseLocalSide) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2'000; ++i) {
    const CopyShape shape = random_shape(random);
    CopyShape sent = shape;
    for (CopyShape::Level& level : sent.level) {
      level.local_stride = static_cast<std::int64_t>(random() % 99);  // not sent
    }
    const auto decoded = decode_shape(shape_bytes(sent));
    ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
    ASSERT_EQ(decoded.value(), shape);
  }
}

Bytes sides_bytes(const CopyShape& shape) {
  Bytes bytes;
  encode_sides(shape, bytes);
  return bytes;
}

TEST(ShapeOfBothSides, IsDecodedAsEncoded) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 2'000; ++i) {
    CopyShape shape = random_shape(random);
    for (CopyShape::Level& level :
         std::span(shape.level).first(static_cast<std::size_t>(shape.levels))) {
      level.local_stride = static_cast<std::int64_t>(random() % 99) - 50;
    }
    const auto decoded = decode_sides(sides_bytes(shape));
    if (shape.runs() > detail::max_assisted_get_runs) {
      EXPECT_FALSE(decoded.ok());
      continue;
    }
    ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
    ASSERT_EQ(decoded.value(), shape);
  }
}

TEST(ShapeOfBothSides, ReportsWhatIsWrong) {
  const CopyShape shape = CopyShape::rows(16, 3, 16, 64);
  expect_exact_length(sides_bytes(shape),
                      [](std::span<const std::byte> bytes) { return decode_sides(bytes); });
  EXPECT_EQ(refusal(decode_sides(shape_bytes(shape))),
            "a push descriptor begins with tag 1 instead of 5");
  EXPECT_EQ(
      refusal(decode_sides(sides_bytes(CopyShape::contiguous((4U << 20U) + 1)))),
      "a push descriptor describes 4194305 bytes in 1 runs; at most 4194304 and 8192 are possible");
  EXPECT_EQ(refusal(decode_sides(sides_bytes(CopyShape::rows(1, 8193, 1, 2)))),
            "a push descriptor describes 8193 bytes in 8193 runs; at most 4194304 and 8192 are "
            "possible");
  EXPECT_EQ(refusal(decode_sides(sides_bytes(CopyShape::rows(1, 2, most / 2, 1)))),
            "a push descriptor reaches from 0 to 4611686018427387904; at most 1152921504606846976 "
            "are possible");
  EXPECT_EQ(refusal(decode_sides(sides_bytes(CopyShape::rows(1, -1, 1, 1))))
                .find("a push descriptor is invalid"),
            0U);
}

TEST(RemoteShape, HasItsExactLength) {
  expect_exact_length(shape_bytes(CopyShape::rows(16, 3, 16, 64)), decode_shape);
}

TEST(RemoteShape, IsRefusedIfItMakesNoSense) {
  Bytes many = shape_bytes(CopyShape::contiguous(8));
  many[1] = std::byte{9};
  EXPECT_EQ(refusal(decode_shape(many)),
            "a shape descriptor has 9 stride levels (0, 0); at most 8 are possible");
  EXPECT_EQ(refusal(decode_shape(shape_bytes(CopyShape::rows(8, -3, 8, 8)))),
            "a shape descriptor is invalid: count -3 at stride level 0 is negative");
  EXPECT_NE(refusal(decode_shape(shape_bytes(CopyShape::rows(8, 3, 8, most)))).find("overflows"),
            std::string::npos);
  EXPECT_NE(refusal(decode_shape(shape_bytes(CopyShape::rows(8, most, 8, 0)))).find("overflows"),
            std::string::npos);
  EXPECT_NE(refusal(decode_shape(shape_bytes(CopyShape::contiguous(~std::size_t{0})))).find("63"),
            std::string::npos);
  EXPECT_EQ(refusal(decode_shape(shape_bytes(CopyShape::rows(1, most, 1, 0)))),
            "a shape descriptor describes 9223372036854775807 bytes of data; at most 1099511627776 "
            "are possible");
  EXPECT_TRUE(decode_shape(shape_bytes(CopyShape::rows(8, 2, 8, -max_reach_bytes))).ok());
  refusal(decode_shape(shape_bytes(CopyShape::rows(8, 2, 8, max_reach_bytes))));
  EXPECT_EQ(refusal(decode_shape(shape_bytes(CopyShape::rows(8, 2, 8, -max_reach_bytes - 1)))),
            "a shape descriptor reaches from -1152921504606846977 to 8; at most "
            "1152921504606846976 are possible");
  Bytes tagged = shape_bytes(CopyShape::contiguous(8));
  tagged[0] = std::byte{7};
  EXPECT_EQ(refusal(decode_pattern(tagged)), "a shape descriptor begins with tag 7 instead of 1");
  EXPECT_EQ(refusal(decode_pattern({})), "a transfer has no pattern");
}

TEST(RemoteShape, MayBeEmptyWithAbsurdCounts) {
  CopyShape shape = CopyShape::contiguous(0).repeat(most, 0, most).repeat(most, 0, most);
  const auto decoded = decode_shape(shape_bytes(shape));
  ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
  EXPECT_EQ(decoded.value().total_bytes(), 0U);
}

Bytes fragment_bytes(const std::vector<Fragment>& fragments) {
  Bytes bytes;
  encode_fragments(fragments, bytes);
  return bytes;
}

TEST(FragmentList, IsDecodedAsEncoded) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 2'000; ++i) {
    const std::vector<Fragment> fragments = random_fragments(random);
    const Bytes bytes = fragment_bytes(fragments);
    ASSERT_EQ(bytes.size(), encoded_bytes(fragments));
    const auto decoded = decode_fragments(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
    ASSERT_TRUE(equal(decoded.value(), fragments));
    const auto pattern = decode_pattern(bytes);
    ASSERT_TRUE(pattern.ok());
    ASSERT_TRUE(std::holds_alternative<std::vector<Fragment>>(pattern.value()));
  }
}

TEST(FragmentList, StoresOneSizeOnce) {
  EXPECT_EQ(fragment_bytes({{nullptr, 0, 8}, {nullptr, 64, 8}, {nullptr, 24, 8}}).size(), 40U);
  EXPECT_EQ(fragment_bytes({{nullptr, 0, 8}, {nullptr, 64, 9}, {nullptr, 24, 8}}).size(), 56U);
}

TEST(FragmentList, HasItsExactLength) {
  expect_exact_length(fragment_bytes({{nullptr, 0, 8}, {nullptr, 64, 8}}), decode_fragments);
  expect_exact_length(fragment_bytes({{nullptr, 0, 8}, {nullptr, 64, 9}}), decode_fragments);
}

TEST(FragmentList, IsRefusedIfItMakesNoSense) {
  Bytes bytes = fragment_bytes({{nullptr, 0, 8}});
  bytes[1] = std::byte{2};
  EXPECT_EQ(refusal(decode_fragments(bytes)), "a fragment list has form 2 (0); valid are 0 and 1");
  bytes = fragment_bytes({{nullptr, 0, 8}});
  bytes[7] = std::byte{0xff};  // 4 * 10^9 fragments, for which no memory may be allocated
  EXPECT_NE(refusal(decode_fragments(bytes)).find("are announced"), std::string::npos);
  bytes = fragment_bytes({{nullptr, 0, 8}, {nullptr, 64, 9}});
  bytes[7] = std::byte{0x80};  // twice this number is 4 in 32 bits
  EXPECT_EQ(refusal(decode_fragments(bytes)),
            "a fragment list has 32 bytes after its beginning; 34359738400 are announced");
  const auto reach = static_cast<std::uint64_t>(max_reach_bytes);
  EXPECT_TRUE(decode_fragments(fragment_bytes({{nullptr, reach - 1, 1}})).ok());
  EXPECT_EQ(refusal(decode_fragments(fragment_bytes({{nullptr, reach, 1}}))),
            "fragment 0 of 1 bytes at offset 1152921504606846976 ends beyond 1152921504606846976");
  refusal(decode_fragments(fragment_bytes({{nullptr, ~0ULL, ~0ULL}})));
  refusal(decode_fragments(fragment_bytes({{nullptr, ~0ULL, 1}})));
  EXPECT_NE(refusal(decode_fragments(fragment_bytes(
                        {{nullptr, 0, max_payload_bytes}, {nullptr, 0, max_payload_bytes}})))
                .find("at most"),
            std::string::npos);
}

template <class T>
void expect_accumulate_round_trip(T factor) {
  const CopyShape shape = CopyShape::rows(32, 3, 32, 64);
  Bytes bytes;
  encode_accumulate(Scale::of(factor), shape, bytes);
  const auto decoded = decode_accumulate(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
  EXPECT_EQ(decoded.value().scale.type(), element_type<T>());
  EXPECT_EQ(decoded.value().scale.template as<T>(), factor);
  EXPECT_EQ(decoded.value().scale.is_one(), factor == T{1});
  EXPECT_EQ(std::get<CopyShape>(decoded.value().pattern), shape);
  expect_exact_length(bytes, decode_accumulate);
}

TEST(AccumulateTerms, AreDecodedAsEncodedForEachType) {
  expect_accumulate_round_trip<std::int32_t>(-3);
  expect_accumulate_round_trip<std::int64_t>(most);
  expect_accumulate_round_trip<float>(1);
  expect_accumulate_round_trip<double>(-0.1);
  expect_accumulate_round_trip<std::complex<float>>({0.5F, -2});
  expect_accumulate_round_trip<std::complex<double>>({0.1, 1e300});
}

TEST(AccumulateTerms, AreDecodedAsEncodedForEachOperation) {
  for (int number = 0; number < accumulate_op_count; ++number) {
    for (int type = 0; type < element_type_count; ++type) {
      const auto element = static_cast<ElementType>(type);
      const auto op = static_cast<AccumulateOp>(number);
      if (is_defined(element, op)) {
        Bytes bytes;
        encode_accumulate(Scale::by(op, element), CopyShape::contiguous(16), bytes);
        const auto decoded = decode_accumulate(bytes);
        ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
        EXPECT_TRUE(decoded.value().scale == Scale::by(op, element)) << to_string(op);
        EXPECT_EQ(decoded.value().scale.op(), op);
      }
    }
  }
}

TEST(AccumulateTerms, AreDecodedAsEncodedWithFragments) {
  const std::vector<Fragment> fragments = {{nullptr, 8, 16}, {nullptr, 80, 8}};
  Bytes bytes;
  encode_accumulate(Scale::of(2.0), Fragments(fragments), bytes);
  const auto decoded = decode_accumulate(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
  EXPECT_TRUE(equal(std::get<std::vector<Fragment>>(decoded.value().pattern), fragments));
  EXPECT_EQ(total_bytes(decoded.value().pattern), 24U);
}

TEST(AccumulateTerms, AreRefusedIfTheyMakeNoSense) {
  Bytes bytes;
  encode_accumulate(Scale::of(2.0F), CopyShape::contiguous(8), bytes);
  Bytes bad = bytes;
  bad[1] = std::byte{12};
  EXPECT_EQ(refusal(decode_accumulate(bad)),
            "an accumulate descriptor names element type 12 (0); valid are 0 to 11");
  bad = bytes;
  bad[2] = std::byte{6};
  EXPECT_EQ(
      refusal(decode_accumulate(bad)),
      "an accumulate descriptor of float32 names operation 6; valid are 0 to 5 if defined for "
      "it");
  bad[2] = static_cast<std::byte>(AccumulateOp::bit_or);
  EXPECT_NE(refusal(decode_accumulate(bad)).find("float32 names operation 3"), std::string::npos);
  bad[2] = static_cast<std::byte>(AccumulateOp::max);
  EXPECT_EQ(refusal(decode_accumulate(bad)), "an accumulate by max has a factor");
  bad = bytes;
  bad[23] = std::byte{1};
  EXPECT_EQ(refusal(decode_accumulate(bad)),
            "byte 15 of an accumulate's factor is not 0, but float32 has 4 bytes");
  bytes.clear();
  encode_accumulate(Scale::of(2.0), CopyShape::contiguous(12), bytes);
  EXPECT_EQ(refusal(decode_accumulate(bytes)),
            "an accumulate of float64 has a run of 12 bytes; an element has 8");
}

TEST(AtomicTerms, AreDecodedAsEncoded) {
  using Atomic = AtomicRequest::Kind;
  for (const Atomic kind :
       {Atomic::fetch_add, Atomic::swap, Atomic::compare_swap, Atomic::fetch_min, Atomic::fetch_max,
        Atomic::fetch_or, Atomic::fetch_and, Atomic::fetch_xor}) {
    for (const int size : {4, 8}) {
      Bytes bytes;
      encode_atomic({kind, size}, bytes);
      const auto decoded = decode_atomic(bytes);
      ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
      EXPECT_EQ(decoded.value(), (AtomicTerms{kind, size}));
      expect_exact_length(bytes, decode_atomic);
    }
  }
}

TEST(AtomicTerms, AreRefusedIfTheyMakeNoSense) {
  Bytes bytes;
  encode_atomic({AtomicRequest::Kind::swap, 2}, bytes);
  EXPECT_EQ(refusal(decode_atomic(bytes)),
            "an atomic descriptor is for a word of 2 bytes; 4 and 8 are possible");
  bytes[1] = std::byte{8};
  EXPECT_EQ(refusal(decode_atomic(bytes)),
            "an atomic descriptor names operation 8; valid are 0 to 7");
  bytes[1] = std::byte{0};
  bytes[2] = std::byte{8};
  bytes[4] = std::byte{3};
  EXPECT_EQ(refusal(decode_atomic(bytes)), "an atomic descriptor of 3 words has none");
}

Bytes list_bytes(AtomicRequest::Kind kind, int bytes, std::vector<AtomicList::Item> items) {
  Bytes encoded;
  encode_atomics({kind, bytes, items}, encoded);
  return encoded;
}

TEST(AtomicListTerms, AreDecodedAsEncoded) {
  using Atomic = AtomicRequest::Kind;
  for (const Atomic kind : {Atomic::fetch_add, Atomic::compare_swap, Atomic::fetch_xor}) {
    const Bytes bytes = list_bytes(
        kind, 4, {{.offset = 64, .operand = -5, .expected = 7}, {.offset = 4, .operand = most}});
    const auto decoded = decode_atomics(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
    EXPECT_EQ(decoded.value().terms, (AtomicTerms{kind, 4}));
    ASSERT_EQ(decoded.value().items.size(), 2U);
    EXPECT_EQ(decoded.value().items[0].offset, 64U);
    EXPECT_EQ(decoded.value().items[0].operand, -5);
    EXPECT_EQ(decoded.value().items[0].expected, kind == Atomic::compare_swap ? 7 : 0);
    EXPECT_EQ(decoded.value().items[1].offset, 4U);
    EXPECT_EQ(decoded.value().items[1].operand, most);
    expect_exact_length(bytes, decode_atomics);
  }
}

TEST(AtomicListTerms, AreRefusedIfTheyMakeNoSense) {
  constexpr auto add = AtomicRequest::Kind::fetch_add;
  EXPECT_EQ(refusal(decode_atomics(list_bytes(add, 8, {{.offset = 12}}))),
            "a list has an atomic of 8 bytes at offset 12");
  EXPECT_EQ(refusal(decode_atomics(list_bytes(add, 8, {{.offset = ~std::uint64_t{7}}}))),
            "a list has an atomic of 8 bytes at offset 18446744073709551608");
  EXPECT_EQ(refusal(decode_atomics(list_bytes(add, 8, {}))),
            "a list has 0 atomics; 1 to 4096 are possible");
  Bytes bytes = list_bytes(add, 8, {{.offset = 8}});
  bytes[4] = std::byte{2};
  EXPECT_EQ(refusal(decode_atomics(bytes)),
            "a descriptor of an atomic has 16 bytes after its beginning; 32 are announced");
  bytes[6] = std::byte{1};
  EXPECT_EQ(refusal(decode_atomics(bytes)), "a list has 65538 atomics; 1 to 4096 are possible");
}

TEST(Failure, KeepsCodeRankAndText) {
  for (int code = 1; code <= static_cast<int>(Code::internal); ++code) {
    Bytes bytes;
    encode_failure(
        Status::error_at(WorldRank{7}, static_cast<Code>(code), "it broke").hint("fix it"), bytes);
    const Status back = decode_failure(bytes);
    EXPECT_EQ(back.code(), static_cast<Code>(code));
    EXPECT_EQ(back.rank(), WorldRank{7});
    EXPECT_EQ(back.message(), "it broke\n  hint: fix it");
  }
  Bytes bytes;
  encode_failure(Status::error(Code::closed, ""), bytes);
  EXPECT_EQ(decode_failure(bytes).code(), Code::closed);
  EXPECT_FALSE(decode_failure(bytes).rank().has_value());
}

TEST(Failure, CutsLongTextsBetweenCharacters) {
  Bytes bytes;
  const std::string most(999, 'x');
  std::string text = most;
  text.append("é and more");
  encode_failure(Status::error(Code::internal, text), bytes);
  EXPECT_EQ(decode_failure(bytes).message(), most);
}

TEST(Failure, IsAProtocolErrorIfItMakesNoSense) {
  Bytes good;
  encode_failure(Status::error(Code::closed, "abc"), good);
  const auto with = [&](std::size_t at, int value) {
    Bytes bytes = good;
    bytes[at] = static_cast<std::byte>(value);
    return decode_failure(bytes).message();
  };
  EXPECT_EQ(with(0, 0), "a failure has code 0; valid are 1 to 11");
  EXPECT_EQ(with(0, 12), "a failure has code 12; valid are 1 to 11");
  EXPECT_EQ(with(1, 2), "a failure names rank 0 (form 2)");
  EXPECT_EQ(with(4, 9), "a failure names rank 9 (form 0)");
  EXPECT_EQ(with(2, 4), "a failure has 3 bytes after its beginning; 4 are announced");
  EXPECT_EQ(with(3, 8), "a failure's text has 2051 bytes; at most 1000 are possible");
  EXPECT_EQ(decode_failure({}).message(), "a failure has 0 bytes; at least 8 are needed");
}

}  // namespace
}  // namespace tessera::rma::server
