// SPDX-License-Identifier: BSD-3-Clause
//
// The descriptors of rma/server/wire/wire.hpp. Each begins with eight bytes, the first of which is
// its tag, and consists of 8-byte units, so that an agent finds numbers aligned.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/server/wire/bytes.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {
namespace {

enum class DescriptorTag : std::uint8_t { shape = 1, fragments, accumulate, atomic, sides };

constexpr std::size_t head_bytes = 8;
constexpr std::size_t factor_bytes = 16;  // the factor's size for the largest element type

Status refuse(std::string what) {
  return Status::error(Code::protocol, std::move(what));
}

// The first eight bytes of a descriptor: tag, two small numbers, a byte of 0, a 32-bit number.
struct Head {
  DescriptorTag tag = DescriptorTag::shape;
  std::uint8_t first = 0;
  std::uint8_t second = 0;
  std::uint8_t zero = 0;
  std::uint32_t count = 0;
};

void append(const Head& head, std::vector<std::byte>& to) {
  server::append(static_cast<std::uint8_t>(head.tag), to);
  server::append(head.first, to);
  server::append(head.second, to);
  server::append(head.zero, to);
  server::append(head.count, to);
}

Result<Head> read_head(Reader& reader, DescriptorTag tag, const char* name) {
  if (!reader.has(head_bytes)) {
    return refuse(fmt::format("a {} has {} bytes; at least {} are needed", name,
                              reader.left().size(), head_bytes));
  }
  Head head;
  head.tag = static_cast<DescriptorTag>(reader.take<std::uint8_t>());
  head.first = reader.take<std::uint8_t>();
  head.second = reader.take<std::uint8_t>();
  head.zero = reader.take<std::uint8_t>();
  head.count = reader.take<std::uint32_t>();
  if (head.tag != tag) {
    return refuse(fmt::format("a {} begins with tag {} instead of {}", name,
                              static_cast<int>(head.tag), static_cast<int>(tag)));
  }
  if (head.zero != 0) {
    return refuse(fmt::format("a {} has {} in a byte that is reserved", name, head.zero));
  }
  return head;
}

// Checks that exactly as many bytes are left as the head announces.
Status expect(const Reader& reader, std::uint64_t bytes, const char* name) {
  if (reader.left().size() != bytes) {
    return refuse(fmt::format("a {} has {} bytes after its beginning; {} are announced", name,
                              reader.left().size(), bytes));
  }
  return {};
}

Status check_total(std::uint64_t bytes, const char* name) {
  if (bytes > max_payload_bytes) {
    return refuse(fmt::format("a {} describes {} bytes of data; at most {} are possible", name,
                              bytes, max_payload_bytes));
  }
  return {};
}

bool same_sizes(Fragments fragments) noexcept {
  return !fragments.empty() &&
         std::all_of(fragments.begin(), fragments.end(),
                     [&](const Fragment& each) { return each.bytes == fragments.front().bytes; });
}

// Computes local strides for rows that are packed in order. An overflow here is also an overflow of
// the total, which check() refuses, unless the shape is empty and the strides are unused.
void make_local_side_dense(CopyShape& shape) {
  auto stride = static_cast<std::int64_t>(shape.run_bytes);
  for (int i = 0; i < shape.levels; ++i) {
    CopyShape::Level& level = shape.level[static_cast<std::size_t>(i)];
    level.local_stride = stride;
    if (__builtin_mul_overflow(stride, level.count, &stride)) {
      stride = 0;
    }
  }
}

Status check_reach(const CopyShape::Extent& extent, const char* name) {
  if (extent.lowest < -max_reach_bytes || extent.highest > max_reach_bytes) {
    return refuse(fmt::format("a {} reaches from {} to {}; at most {} are possible", name,
                              extent.lowest, extent.highest, max_reach_bytes));
  }
  return {};
}

// Writes the target's strides, each followed by the origin's if the tag says so.
void append_shape(const CopyShape& shape, DescriptorTag tag, std::vector<std::byte>& to) {
  append(Head{.tag = tag, .first = static_cast<std::uint8_t>(shape.levels)}, to);
  server::append(std::uint64_t{shape.run_bytes}, to);
  for (int i = 0; i < shape.levels; ++i) {
    const CopyShape::Level& level = shape.level[static_cast<std::size_t>(i)];
    server::append(level.count, to);
    server::append(level.remote_stride, to);
    if (tag == DescriptorTag::sides) {
      server::append(level.local_stride, to);
    }
  }
}

Result<CopyShape> take_shape(std::span<const std::byte> bytes, DescriptorTag tag,
                             const char* name) {
  Reader reader(bytes);
  TESSERA_ASSIGN_OR_RETURN(const Head head, read_head(reader, tag, name));
  if (head.first > max_stride_levels || head.second != 0 || head.count != 0) {
    return refuse(fmt::format("a {} has {} stride levels ({}, {}); at most {} are possible", name,
                              head.first, head.second, head.count, max_stride_levels));
  }
  const std::uint64_t numbers = tag == DescriptorTag::sides ? 3 : 2;
  TESSERA_RETURN_IF_ERROR(
      expect(reader, sizeof(std::uint64_t) + head.first * numbers * sizeof(std::int64_t), name));
  CopyShape shape;
  shape.run_bytes = reader.take<std::uint64_t>();
  shape.levels = head.first;
  for (int i = 0; i < shape.levels; ++i) {
    CopyShape::Level& level = shape.level[static_cast<std::size_t>(i)];
    level.count = reader.take<std::int64_t>();
    level.remote_stride = reader.take<std::int64_t>();
    level.local_stride = tag == DescriptorTag::sides ? reader.take<std::int64_t>() : 0;
  }
  if (tag == DescriptorTag::shape) {
    make_local_side_dense(shape);
  }
  if (Status status = shape.check(); !status.ok()) {
    return refuse(fmt::format("a {} is invalid: {}", name, status.message()));
  }
  TESSERA_RETURN_IF_ERROR(check_total(shape.total_bytes(), name));
  TESSERA_RETURN_IF_ERROR(check_reach(shape.remote_extent(), name));
  return shape;
}

// Whether a fragment can be inside a slice.
bool can_reach(const Fragment& fragment) noexcept {
  constexpr auto reach = static_cast<std::uint64_t>(max_reach_bytes);
  return fragment.remote_offset <= reach && fragment.bytes <= reach - fragment.remote_offset;
}

Status impossible(const Fragment& fragment, std::size_t index, std::uint64_t total) {
  return can_reach(fragment)
             ? check_total(total, "fragment list")
             : refuse(fmt::format("fragment {} of {} bytes at offset {} ends beyond {}", index,
                                  fragment.bytes, fragment.remote_offset, max_reach_bytes));
}

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<double> {
  using type = std::uint64_t;
};

template <class T>
void append_number(T number, std::vector<std::byte>& to) {
  if constexpr (std::is_integral_v<T>) {
    server::append(number, to);
  } else if constexpr (std::is_floating_point_v<T>) {
    server::append(std::bit_cast<typename BitsOf<T>::type>(number), to);
  } else {
    append_number(number.real(), to);
    append_number(number.imag(), to);
  }
}

template <class T>
T take_number(Reader& reader) {
  if constexpr (std::is_integral_v<T>) {
    return reader.take<T>();
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(reader.take<typename BitsOf<T>::type>());
  } else {
    const auto real = take_number<typename T::value_type>(reader);
    return T(real, take_number<typename T::value_type>(reader));
  }
}

void append_scale(const Scale& scale, std::vector<std::byte>& to) {
  append(Head{.tag = DescriptorTag::accumulate,
              .first = static_cast<std::uint8_t>(scale.type()),
              .second = static_cast<std::uint8_t>(scale.op())},
         to);
  const std::size_t end = to.size() + factor_bytes;
  dispatch(scale.type(), [&]<class T>(rma::Tag<T>) { append_number(scale.as<T>(), to); });
  to.resize(end);
}

Result<Scale> take_scale(Reader& reader) {
  TESSERA_ASSIGN_OR_RETURN(const Head head,
                           read_head(reader, DescriptorTag::accumulate, "accumulate descriptor"));
  const auto type = static_cast<ElementType>(head.first);
  const auto op = static_cast<AccumulateOp>(head.second);
  if (!is_valid(type) || head.count != 0) {
    return refuse(
        fmt::format("an accumulate descriptor names element type {} ({}); valid are "
                    "0 to {}",
                    head.first, head.count, element_type_count - 1));
  }
  if (!is_defined(type, op)) {
    return refuse(fmt::format(
        "an accumulate descriptor of {} names operation {}; valid are 0 to {} if defined for it",
        to_string(type), head.second, accumulate_op_count - 1));
  }
  if (!reader.has(factor_bytes)) {
    return refuse(fmt::format("an accumulate descriptor has {} bytes of its factor; {} are needed",
                              reader.left().size(), factor_bytes));
  }
  const Scale scale =
      dispatch(type, [&]<class T>(rma::Tag<T>) { return Scale::of(take_number<T>(reader)); });
  for (std::size_t i = size_of(type); i < factor_bytes; ++i) {
    if (reader.take<std::uint8_t>() != 0) {
      return refuse(fmt::format("byte {} of an accumulate's factor is not 0, but {} has {} bytes",
                                i, to_string(type), size_of(type)));
    }
  }
  if (op == AccumulateOp::sum) {
    return scale;
  }
  if (!scale.is_one()) {
    return refuse(fmt::format("an accumulate by {} has a factor", to_string(op)));
  }
  return Scale::by(op, type);
}

// Elements must not be cut, because they are added as a whole.
Status check_whole_elements(const Pattern& pattern, ElementType type) {
  const auto check = [&](std::size_t bytes) -> Status {
    if (bytes % size_of(type) == 0) {
      return {};
    }
    return refuse(fmt::format("an accumulate of {} has a run of {} bytes; an element has {}",
                              to_string(type), bytes, size_of(type)));
  };
  if (const auto* shape = std::get_if<CopyShape>(&pattern)) {
    return check(shape->run_bytes);
  }
  for (const Fragment& each : std::get<std::vector<Fragment>>(pattern)) {
    TESSERA_RETURN_IF_ERROR(check(each.bytes));
  }
  return {};
}

constexpr const char* atomic_name = "descriptor of an atomic";

// The bytes of one word of a list: its offset and operands.
std::size_t item_bytes(AtomicRequest::Kind kind) noexcept {
  return sizeof(std::uint64_t) * (kind == AtomicRequest::Kind::compare_swap ? 3 : 2);
}

Result<AtomicTerms> terms_in(const Head& head) {
  if (head.first >= AtomicRequest::kind_count) {
    return refuse(fmt::format("an atomic descriptor names operation {}; valid are 0 to {}",
                              head.first, AtomicRequest::kind_count - 1));
  }
  if (head.second != 4 && head.second != 8) {
    return refuse(fmt::format(
        "an atomic descriptor is for a word of {} bytes; 4 and 8 are possible", head.second));
  }
  return AtomicTerms{static_cast<AtomicRequest::Kind>(head.first), head.second};
}

// At most `limit` bytes of `text`, not ending within a character of several bytes.
std::string_view shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) {
    return text;
  }
  const auto continues = [](char each) { return (static_cast<unsigned char>(each) >> 6U) == 2U; };
  while (limit > 0 && continues(text[limit])) {
    --limit;
  }
  return text.substr(0, limit);
}

}  // namespace

void encode_shape(const CopyShape& shape, std::vector<std::byte>& to) {
  append_shape(shape, DescriptorTag::shape, to);
}

void encode_sides(const CopyShape& shape, std::vector<std::byte>& to) {
  append_shape(shape, DescriptorTag::sides, to);
}

Result<CopyShape> decode_shape(std::span<const std::byte> bytes) {
  return take_shape(bytes, DescriptorTag::shape, "shape descriptor");
}

Result<CopyShape> decode_sides(std::span<const std::byte> bytes) {
  constexpr const char* name = "push descriptor";
  TESSERA_ASSIGN_OR_RETURN(const CopyShape shape, take_shape(bytes, DescriptorTag::sides, name));
  TESSERA_RETURN_IF_ERROR(check_reach(shape.local_extent(), name));
  if (shape.total_bytes() > detail::max_assisted_get_bytes ||
      shape.runs() > detail::max_assisted_get_runs) {
    return refuse(fmt::format("a {} describes {} bytes in {} runs; at most {} and {} are possible",
                              name, shape.total_bytes(), shape.runs(),
                              detail::max_assisted_get_bytes, detail::max_assisted_get_runs));
  }
  return shape;
}

std::size_t encoded_bytes(Fragments fragments) noexcept {
  return same_sizes(fragments) ? head_bytes + sizeof(std::uint64_t) * (1 + fragments.size())
                               : head_bytes + 2 * sizeof(std::uint64_t) * fragments.size();
}

void encode_fragments(Fragments fragments, std::vector<std::byte>& to) {
  const bool same = same_sizes(fragments);
  const std::size_t before = to.size();
  const std::size_t after = before + encoded_bytes(fragments);
  to.reserve(after);
  append(Head{.tag = DescriptorTag::fragments,
              .first = static_cast<std::uint8_t>(same ? 1 : 0),
              .count = static_cast<std::uint32_t>(fragments.size())},
         to);
  if (same) {
    append(std::uint64_t{fragments.front().bytes}, to);
  }
  // There may be thousands, so they are stored instead of appended.
  std::size_t at = to.size();
  to.resize(after);
  for (const Fragment& each : fragments) {
    store(each.remote_offset, &to[at]);
    at += sizeof(std::uint64_t);
    if (!same) {
      store(std::uint64_t{each.bytes}, &to[at]);
      at += sizeof(std::uint64_t);
    }
  }
}

Result<std::vector<Fragment>> decode_fragments(std::span<const std::byte> bytes) {
  constexpr const char* name = "fragment list";
  Reader reader(bytes);
  TESSERA_ASSIGN_OR_RETURN(const Head head, read_head(reader, DescriptorTag::fragments, name));
  if (head.first > 1 || head.second != 0) {
    return refuse(fmt::format("a fragment list has form {} ({}); valid are 0 and 1", head.first,
                              head.second));
  }
  const bool same = head.first == 1;
  const std::uint64_t count = head.count;  // in 64 bits, so that products with it do not overflow
  constexpr std::uint64_t word = sizeof(std::uint64_t);
  // The announced size is compared with the actual one before memory is allocated for it.
  TESSERA_RETURN_IF_ERROR(expect(reader, same ? word + count * word : count * 2 * word, name));
  const std::uint64_t size = same ? reader.take<std::uint64_t>() : 0;
  std::vector<Fragment> fragments(count);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    fragments[i].remote_offset = reader.take<std::uint64_t>();
    fragments[i].bytes = same ? size : reader.take<std::uint64_t>();
    // The sum cannot overflow: the previous total is at most max_payload_bytes.
    total += fragments[i].bytes;
    if (!can_reach(fragments[i]) || total > max_payload_bytes) [[unlikely]] {
      return impossible(fragments[i], i, total);
    }
  }
  return fragments;
}

Result<Pattern> decode_pattern(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return refuse("a transfer has no pattern");
  }
  if (static_cast<DescriptorTag>(bytes.front()) == DescriptorTag::fragments) {
    TESSERA_ASSIGN_OR_RETURN(std::vector<Fragment> fragments, decode_fragments(bytes));
    return Pattern(std::move(fragments));
  }
  TESSERA_ASSIGN_OR_RETURN(const CopyShape shape, decode_shape(bytes));
  return Pattern(shape);
}

std::uint64_t total_bytes(const Pattern& pattern) noexcept {
  if (const auto* shape = std::get_if<CopyShape>(&pattern)) {
    return shape->total_bytes();
  }
  std::uint64_t total = 0;
  for (const Fragment& each : *std::get_if<std::vector<Fragment>>(&pattern)) {
    total += each.bytes;
  }
  return total;
}

void encode_accumulate(const Scale& scale, const CopyShape& shape, std::vector<std::byte>& to) {
  append_scale(scale, to);
  encode_shape(shape, to);
}

void encode_accumulate(const Scale& scale, Fragments fragments, std::vector<std::byte>& to) {
  append_scale(scale, to);
  encode_fragments(fragments, to);
}

Result<AccumulateTerms> decode_accumulate(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  TESSERA_ASSIGN_OR_RETURN(const Scale scale, take_scale(reader));
  TESSERA_ASSIGN_OR_RETURN(Pattern pattern, decode_pattern(reader.left()));
  TESSERA_RETURN_IF_ERROR(check_whole_elements(pattern, scale.type()));
  return AccumulateTerms{scale, std::move(pattern)};
}

void encode_atomic(const AtomicTerms& terms, std::vector<std::byte>& to) {
  append(Head{.tag = DescriptorTag::atomic,
              .first = static_cast<std::uint8_t>(terms.kind),
              .second = static_cast<std::uint8_t>(terms.bytes)},
         to);
}

Result<AtomicTerms> decode_atomic(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  TESSERA_ASSIGN_OR_RETURN(const Head head, read_head(reader, DescriptorTag::atomic, atomic_name));
  TESSERA_RETURN_IF_ERROR(expect(reader, 0, atomic_name));
  if (head.count != 0) {
    return refuse(fmt::format("an atomic descriptor of {} words has none", head.count));
  }
  return terms_in(head);
}

void encode_atomics(const AtomicList& list, std::vector<std::byte>& to) {
  append(Head{.tag = DescriptorTag::atomic,
              .first = static_cast<std::uint8_t>(list.kind),
              .second = static_cast<std::uint8_t>(list.bytes),
              .count = static_cast<std::uint32_t>(list.items.size())},
         to);
  const std::size_t item = item_bytes(list.kind);
  std::size_t at = to.size();
  to.resize(at + item * list.items.size());
  for (const AtomicList::Item& each : list.items) {
    store(each.offset, &to[at]);
    store(each.operand, &to[at + sizeof(std::uint64_t)]);
    if (list.kind == AtomicRequest::Kind::compare_swap) {
      store(each.expected, &to[at + 2 * sizeof(std::uint64_t)]);
    }
    at += item;
  }
}

Result<AtomicListTerms> decode_atomics(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  TESSERA_ASSIGN_OR_RETURN(const Head head, read_head(reader, DescriptorTag::atomic, atomic_name));
  AtomicListTerms list;
  TESSERA_ASSIGN_OR_RETURN(list.terms, terms_in(head));
  if (head.count == 0 || head.count > max_listed_atomics) {
    return refuse(
        fmt::format("a list has {} atomics; 1 to {} are possible", head.count, max_listed_atomics));
  }
  TESSERA_RETURN_IF_ERROR(
      expect(reader, std::uint64_t{head.count} * item_bytes(list.terms.kind), atomic_name));
  list.items.resize(head.count);
  for (AtomicList::Item& each : list.items) {
    each.offset = reader.take<std::uint64_t>();
    each.operand = reader.take<std::int64_t>();
    if (list.terms.kind == AtomicRequest::Kind::compare_swap) {
      each.expected = reader.take<std::int64_t>();
    }
    if (each.offset > static_cast<std::uint64_t>(max_reach_bytes) ||
        each.offset % head.second != 0) {
      return refuse(
          fmt::format("a list has an atomic of {} bytes at offset {}", head.second, each.offset));
    }
  }
  return list;
}

std::array<std::byte, remote_span_bytes> encode(const detail::RemoteSpan& span) {
  std::array<std::byte, remote_span_bytes> bytes;
  store(span.address, bytes.data());
  store(span.bytes, bytes.data() + sizeof span.address);
  store(span.key, bytes.data() + sizeof span.address + sizeof span.bytes);
  return bytes;
}

detail::RemoteSpan decode_span(std::span<const std::byte, remote_span_bytes> bytes) {
  Reader reader(bytes);
  detail::RemoteSpan span;
  span.address = reader.take<std::uint64_t>();
  span.bytes = reader.take<std::uint64_t>();
  span.key = reader.take<std::uint64_t>();
  return span;
}

void encode_failure(const Status& failure, std::vector<std::byte>& to) {
  const std::string message = failure.message();
  const std::string_view text = shortened(message, max_failure_text_bytes);
  append(static_cast<std::uint8_t>(failure.code()), to);
  append(static_cast<std::uint8_t>(failure.rank() ? 1 : 0), to);
  append(static_cast<std::uint16_t>(text.size()), to);
  append(failure.rank().value_or(WorldRank{}).value, to);
  for (const char each : text) {
    to.push_back(static_cast<std::byte>(each));
  }
}

Status decode_failure(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  if (!reader.has(head_bytes)) {
    return refuse(
        fmt::format("a failure has {} bytes; at least {} are needed", bytes.size(), head_bytes));
  }
  const auto code = reader.take<std::uint8_t>();
  const auto has_rank = reader.take<std::uint8_t>();
  const auto length = reader.take<std::uint16_t>();
  const auto rank = reader.take<std::int32_t>();
  if (code < 1 || code > static_cast<std::uint8_t>(Code::internal)) {
    return refuse(fmt::format("a failure has code {}; valid are 1 to {}", code,
                              static_cast<int>(Code::internal)));
  }
  if (has_rank > 1 || rank < 0 || (has_rank == 0 && rank != 0)) {
    return refuse(fmt::format("a failure names rank {} (form {})", rank, has_rank));
  }
  if (length > max_failure_text_bytes) {
    return refuse(fmt::format("a failure's text has {} bytes; at most {} are possible", length,
                              max_failure_text_bytes));
  }
  TESSERA_RETURN_IF_ERROR(expect(reader, length, "failure"));
  Status failure = detail::worded(static_cast<Code>(code), [&] {
    std::string text(length, '\0');
    std::transform(reader.left().begin(), reader.left().end(), text.begin(),
                   [](std::byte each) { return static_cast<char>(each); });
    return Status::error(static_cast<Code>(code), std::move(text));
  });
  return has_rank == 1 ? std::move(failure).at(WorldRank{rank}) : failure;
}

}  // namespace tessera::rma::server
