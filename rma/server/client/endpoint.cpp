// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/server/client/packing_model.hpp"
#include "rma/server/wire/parts.hpp"

namespace tessera::rma::server {
namespace {

constexpr std::size_t word_bytes = 8;

// Lists are sent in parts: the agent works on one part while the next is packed.
constexpr std::size_t list_part_bytes = std::size_t{256} * 1024;
static_assert(list_part_bytes <= max_packed_bytes);

// Data that move directly between memory and the stream need no parts to overlap: the stream itself
// is the pipeline. The limit lets other requests to the agent be served in between.
constexpr std::size_t direct_part_bytes = std::size_t{4} * 1024 * 1024;
static_assert(direct_part_bytes <= max_direct_bytes);

Chunks packed_chunks(const CopyShape& shape, const PartSizes& sizes) noexcept {
  const Parts parts = sizes.of(shape.total_bytes());
  return {parts.first, parts.each};
}

// The agent combines shorter replies, so shorter parts would arrive all at once.
constexpr std::size_t min_answer_bytes = std::size_t{16} * 1024;

Chunks answered_chunks(const CopyShape& shape, const PartSizes& sizes) noexcept {
  const Parts parts = sizes.of(shape.total_bytes());
  return {std::max(parts.first, min_answer_bytes), std::max(parts.each, 2 * min_answer_bytes)};
}

// Whether the agent can access the target's memory only by copies through the kernel. That memory
// is mapped neither there nor here.
bool is_attached(const Target& target) noexcept {
  return target.segment != nullptr && target.segment->direct().base == nullptr;
}

// Rows that agents do not expect to be direct, or cannot store in place, must fit into the limit
// for packed data.
Chunks direct_chunks(const Target& target, const CopyShape& shape) noexcept {
  const bool goes_direct = shape.run_bytes >= min_piece_bytes && !is_attached(target);
  return Chunks(goes_direct ? direct_part_bytes : max_packed_bytes);
}

// The local rows packed one after the other.
std::vector<std::byte> pack(const std::byte* from, const CopyShape& shape) {
  std::vector<std::byte> packed(shape.total_bytes());
  kernels::copy_shape(const_cast<std::byte*>(from), packed.data(), with_packed_remote(shape),
                      kernels::Direction::to_remote);
  return packed;
}

std::vector<std::byte> pack(Fragments fragments) {
  std::vector<std::byte> packed(total_bytes(fragments));
  std::byte* to = packed.data();
  for (const Fragment& each : fragments) {
    kernels::copy_small(to, each.local, each.bytes);
    to += each.bytes;
  }
  return packed;
}

std::vector<std::byte> pattern_of(const CopyShape& shape) {
  std::vector<std::byte> descriptor;
  if (shape.levels > 0) {
    encode_shape(shape, descriptor);
  }
  return descriptor;
}

// Runs `start` as an additional part of an operation for which the caller announced one part.
template <class Start>
Status more_parts(Completion& done, Start&& start) {
  Status status = start();
  if (status.ok()) {
    done.end({});
  }
  return status;
}

// Ends a part that was refused, with its error; the operation continues.
Status end_refused(Completion& done, Status refusal) {
  if (!refusal.ok()) {
    done.end(std::move(refusal));
  }
  return {};
}

// Announces a part and starts it.
template <class Start>
Status announced(Completion& done, Start&& start) {
  BegunPart part(done);
  part.hand_over(start());
  return {};
}

// Starts a request for each batch of a list. A fragment that forms a batch alone, possibly because
// it is too long for one list, is sent as a contiguous transfer.
template <class Single, class Several>
Status start_batches(const Target& target, Fragments fragments, Completion& done,
                     const Single& start_single, const Several& start_several) {
  return more_parts(done, [&] {
    return for_each_batch(fragments, list_part_bytes, [&](Fragments batch) {
      return announced(done, [&] {
        const Fragment& first = batch.front();
        return batch.size() > 1
                   ? start_several(batch)
                   : start_single(moved(target, static_cast<std::int64_t>(first.remote_offset)),
                                  first.local, CopyShape::contiguous(first.bytes));
      });
    });
  });
}

}  // namespace

bool ServerEndpoint::is_packed(const CopyShape& shape) const noexcept {
  return shape.run_bytes < link_.client().options().limits.min_direct_row;
}

FrameHeader ServerEndpoint::request(Kind kind, const Target& target) noexcept {
  return {.kind = kind,
          .origin = self_,
          .target = peer_,
          .region = target.region,
          .offset = target.offset};
}

Status ServerEndpoint::put(const Target& to, const void* from, const CopyShape& shape,
                           Completion& done) {
  const auto* source = static_cast<const std::byte*>(from);
  Chunks chunks = is_packed(shape) ? packed_chunks(shape, link_.client().options().parts)
                                   : direct_chunks(to, shape);
  if (shape.total_bytes() <= chunks.limit()) {
    return end_refused(done, put_part(to, source, shape, done, link_.queue().when()));
  }
  // Each part is sent at once: parts that wait for others would not form a pipeline.
  return more_parts(done, [&] {
    return for_each_part(shape, chunks, word_bytes,
                         [&](std::int64_t local, std::int64_t remote, const CopyShape& part) {
                           return announced(done, [&] {
                             return put_part(moved(to, remote), source + local, part, done,
                                             RequestQueue::When::now);
                           });
                         });
  });
}

Result<bool> ServerEndpoint::put_now(const Target& to, const void* from, std::size_t bytes) {
  // More than a word is taken only if it can be sent together with other requests.
  if (bytes > word_bytes && !link_.is_polled()) {
    return false;
  }
  return put_small(to, static_cast<const std::byte*>(from), bytes, link_.queue().when());
}

bool ServerEndpoint::joins_batch(const Target& target, std::size_t bytes) const noexcept {
  return bytes <= link_.client().options().gathered_bytes &&
         target.offset < OperationBatch::max_offset;
}

Result<bool> ServerEndpoint::put_small(const Target& to, const std::byte* from, std::size_t bytes,
                                       RequestQueue::When when) {
  const bool is_batched = when == RequestQueue::When::soon && joins_batch(to, bytes);
  if (!is_batched && bytes > word_bytes) {
    return false;
  }
  PostedRequest put{.header = request(Kind::put, to)};
  const PostedRequest::SmallOperation operation{.local = const_cast<std::byte*>(from),
                                                .bytes = bytes};
  if (is_batched) {
    put.operation = &operation;
  } else {
    put.header.flags = flags::inline_data;
    std::memcpy(put.header.words.data(), from, bytes);
    put.header.words[1] = bytes;
  }
  TESSERA_RETURN_IF_ERROR(link_.post(put, when));
  return true;
}

Status ServerEndpoint::put_part(const Target& to, const std::byte* from, const CopyShape& shape,
                                Completion& done, RequestQueue::When when) {
  PostedRequest put{.header = request(Kind::put, to), .sent = &done};
  put.header.payload_bytes = shape.total_bytes();
  if (shape.levels == 0) {
    if (shape.run_bytes <= std::max(word_bytes, link_.client().options().gathered_bytes)) {
      TESSERA_ASSIGN_OR_RETURN(const bool is_done, put_small(to, from, shape.run_bytes, when));
      if (is_done) {
        done.end({});
        return {};
      }
    }
    const iovec run{const_cast<std::byte*>(from), shape.run_bytes};
    put.body = std::span(&run, 1);
    put.is_body_copied = is_packed(shape) && shape.run_bytes >= min_piece_bytes;
    return link_.post(put, when);
  }
  const std::vector<std::byte> descriptor = pattern_of(shape);
  put.header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  put.descriptor = descriptor;
  if (is_packed(shape)) {
    return post_packed(put, pack(from, shape), done, when);
  }
  std::vector<iovec> runs;
  kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t) {
    runs.push_back({const_cast<std::byte*>(from) + local, shape.run_bytes});
  });
  put.body = runs;
  return link_.post(put, when);
}

// The operation is complete once its bytes are packed.
Status ServerEndpoint::post_packed(PostedRequest& request, std::vector<std::byte> packed,
                                   Completion& done, RequestQueue::When when) {
  request.sent = nullptr;
  request.owned = &packed;
  TESSERA_RETURN_IF_ERROR(link_.post(request, when));
  done.end({});
  return {};
}

Status ServerEndpoint::get(void* to, const Target& from, const CopyShape& shape, Completion& done) {
  auto* destination = static_cast<std::byte*>(to);
  Chunks chunks = is_packed(shape) ? answered_chunks(shape, link_.client().options().parts)
                                   : direct_chunks(from, shape);
  if (shape.total_bytes() <= chunks.limit()) {
    return end_refused(done, get_part(destination, from, shape, done));
  }
  return more_parts(done, [&] {
    return for_each_part(shape, chunks, word_bytes,
                         [&](std::int64_t local, std::int64_t remote, const CopyShape& part) {
                           return announced(done, [&] {
                             return get_part(destination + local, moved(from, remote), part, done);
                           });
                         });
  });
}

Status ServerEndpoint::get_part(std::byte* to, const Target& from, const CopyShape& shape,
                                Completion& done) {
  FrameHeader header = request(Kind::get, from);
  const std::size_t bytes = shape.total_bytes();
  // Only together with other outstanding requests: a single get is sent at once.
  if (shape.levels == 0 && link_.is_polled() && joins_batch(from, bytes)) {
    const PostedRequest::SmallOperation operation{.local = to, .bytes = bytes, .done = &done};
    return link_.post({.header = header, .operation = &operation}, RequestQueue::When::soon);
  }
  const std::vector<std::byte> descriptor = pattern_of(shape);
  header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  PendingReply pending;
  pending.done = &done;
  pending.size = bytes;
  if (shape.levels > 0) {
    pending.scatter = std::make_unique<ScatterTarget>(ScatterTarget{to, shape, {}});
  } else {
    pending.bytes = to;
  }
  header.words[1] = bytes;
  return link_.ask(header, descriptor, std::move(pending));
}

Status ServerEndpoint::accumulate(const Target& to, const void* from, const CopyShape& shape,
                                  const Scale& scale, Completion& done) {
  const auto* source = static_cast<const std::byte*>(from);
  constexpr std::size_t largest_element = 16;
  Chunks chunks = packed_chunks(shape, link_.client().options().parts);
  if (shape.total_bytes() <= chunks.limit()) {
    return end_refused(done, accumulate_part(to, source, shape, scale, done, link_.queue().when()));
  }
  return more_parts(done, [&] {
    return for_each_part(shape, chunks, largest_element,
                         [&](std::int64_t local, std::int64_t remote, const CopyShape& part) {
                           return announced(done, [&] {
                             return accumulate_part(moved(to, remote), source + local, part, scale,
                                                    done, RequestQueue::When::now);
                           });
                         });
  });
}

Status ServerEndpoint::accumulate_part(const Target& to, const std::byte* from,
                                       const CopyShape& shape, const Scale& scale, Completion& done,
                                       RequestQueue::When when) {
  PostedRequest adds{.header = request(Kind::accumulate, to), .sent = &done};
  const std::size_t bytes = shape.total_bytes();
  if (shape.levels == 0 && when == RequestQueue::When::soon && joins_batch(to, bytes)) {
    const PostedRequest::SmallOperation operation{
        .scale = &scale, .local = const_cast<std::byte*>(from), .bytes = bytes};
    adds.sent = nullptr;
    adds.operation = &operation;
    TESSERA_RETURN_IF_ERROR(link_.post(adds, when));
    done.end({});
    return {};
  }
  adds.header.payload_bytes = bytes;
  std::vector<std::byte> descriptor;
  encode_accumulate(scale, shape, descriptor);
  adds.header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  adds.descriptor = descriptor;
  if (shape.levels > 0) {
    return post_packed(adds, pack(from, shape), done, when);
  }
  const iovec run{const_cast<std::byte*>(from), shape.run_bytes};
  adds.body = std::span(&run, 1);
  return link_.post(adds, when);
}

Status ServerEndpoint::put_fragments(const Target& to, Fragments fragments, Completion& done) {
  return start_batches(
      to, fragments, done,
      [&](const Target& at, void* local, const CopyShape& run) {
        return put(at, local, run, done);
      },
      [&](Fragments batch) { return put_batch(to, batch, done); });
}

Status ServerEndpoint::put_batch(const Target& to, Fragments batch, Completion& done) {
  PostedRequest put{.header = request(Kind::put, to), .sent = &done};
  std::vector<std::byte> descriptor;
  encode_fragments(batch, descriptor);
  put.header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  put.header.payload_bytes = total_bytes(batch);
  put.descriptor = descriptor;
  if (!are_long(batch, link_.client().options().limits)) {
    return post_packed(put, pack(batch), done, link_.queue().when());
  }
  std::vector<iovec> pieces;
  for (const Fragment& each : batch) {
    pieces.push_back({each.local, each.bytes});
  }
  put.body = pieces;
  return link_.post(put, link_.queue().when());
}

Status ServerEndpoint::get_fragments(const Target& from, Fragments fragments, Completion& done) {
  return start_batches(
      from, fragments, done,
      [&](const Target& at, void* local, const CopyShape& run) {
        return get(local, at, run, done);
      },
      [&](Fragments batch) { return get_batch(from, batch, done); });
}

Status ServerEndpoint::get_batch(const Target& from, Fragments batch, Completion& done) {
  FrameHeader header = request(Kind::get, from);
  std::vector<std::byte> descriptor;
  encode_fragments(batch, descriptor);
  header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  PendingReply pending;
  pending.done = &done;
  pending.size = total_bytes(batch);
  pending.scatter = std::make_unique<ScatterTarget>(
      ScatterTarget{nullptr, {}, std::vector<Fragment>(batch.begin(), batch.end())});
  return link_.ask(header, descriptor, std::move(pending));
}

Status ServerEndpoint::accumulate_fragments(const Target& to, Fragments fragments,
                                            const Scale& scale, Completion& done) {
  return start_batches(
      to, fragments, done,
      [&](const Target& at, void* local, const CopyShape& run) {
        return accumulate(at, local, run, scale, done);
      },
      [&](Fragments batch) { return accumulate_batch(to, batch, scale, done); });
}

Status ServerEndpoint::accumulate_batch(const Target& to, Fragments batch, const Scale& scale,
                                        Completion& done) {
  PostedRequest adds{.header = request(Kind::accumulate, to)};
  std::vector<std::byte> descriptor;
  encode_accumulate(scale, batch, descriptor);
  adds.header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  adds.header.payload_bytes = total_bytes(batch);
  adds.descriptor = descriptor;
  return post_packed(adds, pack(batch), done, link_.queue().when());
}

Status ServerEndpoint::atomic(const Target& at, const AtomicRequest& atomic, Completion& done) {
  FrameHeader header = request(Kind::atomic, at);
  std::vector<std::byte> descriptor;
  encode_atomic({.kind = atomic.kind, .bytes = atomic.bytes}, descriptor);
  header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  header.words = {static_cast<std::uint64_t>(atomic.operand),
                  static_cast<std::uint64_t>(atomic.expected)};
  PendingReply pending;
  pending.done = &done;
  if (atomic.previous_narrow != nullptr) {
    pending.bytes = reinterpret_cast<std::byte*>(atomic.previous_narrow);
    pending.size = sizeof *atomic.previous_narrow;
  } else {
    pending.word = atomic.previous;
    pending.word_bytes = atomic.bytes;
  }
  return link_.ask(header, descriptor, std::move(pending));
}

Status ServerEndpoint::atomic_list(const Target& at, const AtomicList& list, Completion& done) {
  return more_parts(done, [&]() -> Status {
    AtomicList batch = list;
    for (std::size_t first = 0; first < list.items.size(); first += max_listed_atomics) {
      batch.items =
          list.items.subspan(first, std::min(max_listed_atomics, list.items.size() - first));
      TESSERA_RETURN_IF_ERROR(announced(done, [&] { return atomic_batch(at, batch, done); }));
    }
    return {};
  });
}

Status ServerEndpoint::atomic_batch(const Target& at, const AtomicList& batch, Completion& done) {
  const AtomicList::Item& first = batch.items.front();
  if (batch.items.size() == 1) {
    return atomic(moved(at, static_cast<std::int64_t>(first.offset)), batch.request(first), done);
  }
  FrameHeader header = request(Kind::atomic, at);
  std::vector<std::byte> descriptor;
  encode_atomics(batch, descriptor);
  header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
  const auto word = static_cast<std::size_t>(batch.bytes);
  std::vector<Fragment> words;
  words.reserve(batch.items.size());
  for (const AtomicList::Item& each : batch.items) {
    words.push_back({each.previous, each.offset, word});
  }
  PendingReply pending;
  pending.done = &done;
  pending.size = word * words.size();
  pending.scatter = std::make_unique<ScatterTarget>(ScatterTarget{nullptr, {}, std::move(words)});
  return link_.ask(header, descriptor, std::move(pending));
}

bool ServerEndpoint::is_fenced(RegionId region) const noexcept {
  return link_.changes().is_fenced(peer_, region);
}

Status ServerEndpoint::start_fence(Completion& done) {
  PendingReply pending;
  pending.done = &done;
  pending.fenced = link_.changes().count();
  return link_.ask(request(Kind::fence, {}), {}, std::move(pending));
}

Status ServerEndpoint::fence() {
  if (is_fenced(any_region)) {
    return {};
  }
  Completion done;
  done.begin();
  TESSERA_RETURN_IF_ERROR(start_fence(done));
  link_.wait(done);
  return done.take_error();
}

}  // namespace tessera::rma::server
