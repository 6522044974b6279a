// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsEndpoint's read-modify-writes by the device, which return the old value to a buffer.
#include <utility>

#include "rma/protocol/direct.hpp"
#include "rma/transport/verbs/endpoint.hpp"

namespace tessera::rma::verbs {

using Kind = AtomicRequest::Kind;

// The device doesn't wait for the agent, so this waits for the agent's pending requests.
Result<detail::RemoteSpan> VerbsEndpoint::find_word(const Target& at) {
  if (!requests_.is_fenced(peer_, at.region)) {
    TESSERA_RETURN_IF_ERROR(by_requests_->fence());
  }
  TESSERA_ASSIGN_OR_RETURN(const auto known, find(at.region, at.offset));
  if (known) {
    return *known;
  }
  // The agent reports the reason.
  auto span = requests_.locate(peer_, at.region, at.offset, [] {});
  if (!span.ok()) {
    return std::move(span).status().at(peer_).context(
        "atomic operation by the device of the target's node");
  }
  return span;
}

Status VerbsEndpoint::atomic_by_device(const Target& at, const AtomicRequest& request) {
  TESSERA_ASSIGN_OR_RETURN(const detail::RemoteSpan word, find_word(at));
  if (request.kind == Kind::fetch_add || request.kind == Kind::compare_swap) {
    return change_word(word, request);
  }
  // The device has only these two: this guesses the word for a compare-swap, and a wrong guess
  // returns it.
  AtomicRequest guess = request;
  guess.kind = Kind::compare_swap;
  guess.expected = 0;
  while (true) {
    std::int64_t wanted = guess.expected;
    detail::atomic_direct(reinterpret_cast<std::byte*>(&wanted), request);
    guess.operand = wanted;
    TESSERA_RETURN_IF_ERROR(change_word(word, guess));
    if (*request.previous == guess.expected) {
      return {};
    }
    guess.expected = *request.previous;
  }
}

Status VerbsEndpoint::change_word(const detail::RemoteSpan& word, const AtomicRequest& request) {
  TESSERA_ASSIGN_OR_RETURN(const int buffer, take_buffer());
  RegisteredBufferPool& buffers = connection_.context().buffers();
  const bool is_sum = request.kind == Kind::fetch_add;
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(buffers.at(buffer)), sizeof(std::uint64_t),
                buffers.key()};
  ibv_send_wr work_request{};
  work_request.sg_list = &piece;
  work_request.num_sge = 1;
  work_request.opcode = is_sum ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
  work_request.wr.atomic.remote_addr = word.address;
  work_request.wr.atomic.rkey = static_cast<std::uint32_t>(word.key);
  work_request.wr.atomic.compare_add =
      static_cast<std::uint64_t>(is_sum ? request.operand : request.expected);
  work_request.wr.atomic.swap = static_cast<std::uint64_t>(request.operand);
  Completion done;
  done.begin();
  Status posted = post(Direction::from_remote, &work_request, 1,
                       {.done = &done,
                        .buffer = buffer,
                        .copy_to = reinterpret_cast<std::byte*>(request.previous),
                        .copy_bytes = sizeof(std::int64_t)});
  if (!posted.ok()) {
    buffers.give_back(buffer);
    done.end({});
    return posted;
  }
  requests_.wait(done);
  return done.take_error();
}

}  // namespace tessera::rma::verbs
