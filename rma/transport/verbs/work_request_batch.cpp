// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/work_request_batch.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::verbs {

WorkRequestBatch::WorkRequestBatch(const Options& options, Post post) noexcept
    : options_(options), post_(std::move(post)) {
  options_.max_pieces = std::clamp(options.max_pieces, 1U, max_pieces);
}

bool WorkRequestBatch::joins_last(std::int64_t offset, std::size_t bytes) const noexcept {
  return count_ > 0 && offset == end_ && last_bytes_ + bytes <= options_.max_bytes &&
         static_cast<std::uint32_t>(requests_[count_ - 1].num_sge) < options_.max_pieces;
}

void WorkRequestBatch::begin_request(std::int64_t offset) noexcept {
  ibv_send_wr& request = requests_[count_];
  request = {};
  request.sg_list = pieces_[count_].data();
  request.opcode = options_.opcode;
  request.wr.rdma = {options_.remote.address + static_cast<std::uint64_t>(offset),
                     static_cast<std::uint32_t>(options_.remote.key)};
  ++count_;
  end_ = offset;
  last_bytes_ = 0;
}

void WorkRequestBatch::add_piece(const std::byte* local, std::uint32_t local_key,
                                 std::size_t bytes) noexcept {
  ibv_send_wr& request = requests_[count_ - 1];
  pieces_[count_ - 1][static_cast<std::size_t>(request.num_sge)] = {
      reinterpret_cast<std::uintptr_t>(local), static_cast<std::uint32_t>(bytes), local_key};
  ++request.num_sge;
  end_ += static_cast<std::int64_t>(bytes);
  last_bytes_ += bytes;
}

Status WorkRequestBatch::add(const std::byte* local, std::uint32_t local_key, std::int64_t offset,
                             std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t here = std::min(bytes, options_.max_bytes);
    if (!joins_last(offset, here)) {
      if (count_ == max_requests) {
        TESSERA_RETURN_IF_ERROR(finish());
      }
      begin_request(offset);
    }
    add_piece(local, local_key, here);
    local += here;
    offset += static_cast<std::int64_t>(here);
    bytes -= here;
  }
  return {};
}

Status WorkRequestBatch::finish() {
  if (count_ == 0) {
    return {};
  }
  for (std::uint32_t i = 0; i + 1 < count_; ++i) {
    requests_[i].next = &requests_[i + 1];
  }
  requests_[count_ - 1].next = nullptr;
  return post_(requests_.data(), std::exchange(count_, 0U));
}

}  // namespace tessera::rma::verbs
