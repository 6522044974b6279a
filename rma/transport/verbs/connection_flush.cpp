// SPDX-License-Identifier: BSD-3-Clause
//
// The part of VerbsConnection that orders its writes before later operations by other ways.
#include "rma/transport/verbs/connection.hpp"
#include "rma/transport/verbs/context.hpp"

namespace tessera::rma::verbs {

void VerbsConnection::record_write(std::uint64_t number) noexcept {
  std::uint64_t before = last_write_.load();
  while (before < number && !last_write_.compare_exchange_weak(before, number)) {
  }
}

// A read that follows the writes returns when they are in effect.
Status VerbsConnection::start_flush(detail::Requests& requests, Completion& done) {
  RegisteredBufferPool& buffers = context_.buffers();
  int buffer = buffers.take();
  for (; buffer < 0; buffer = buffers.take()) {
    TESSERA_RETURN_IF_ERROR(requests.loss());
    requests.wait_briefly();
  }
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(buffers.at(buffer)), 1, buffers.key()};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_READ;
  request.wr.rdma = {flush_target_.address, static_cast<std::uint32_t>(flush_target_.key)};
  while (true) {
    const auto number = post(&request, 1, {.done = &done, .buffer = buffer, .is_flush = true});
    if (!number.ok()) {
      buffers.give_back(buffer);
      return requests.loss_of(number.status());
    }
    if (*number > 0) {
      return {};
    }
    requests.wait_briefly();
  }
}

Status VerbsConnection::wait_for_writes(detail::Requests& requests) {
  if (flushed() >= last_write_.load()) {
    return {};
  }
  Completion done;
  done.begin();
  Status started = start_flush(requests, done);
  if (!started.ok()) {
    done.end({});
    return started;
  }
  requests.wait(done);
  return done.take_error();
}

}  // namespace tessera::rma::verbs
