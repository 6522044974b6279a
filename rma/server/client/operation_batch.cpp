// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/operation_batch.hpp"

#include <utility>

namespace tessera::rma::server {

bool OperationBatch::takes(const FrameHeader& request, const Scale* scale) const noexcept {
  if (is_empty()) {
    return true;
  }
  const bool same_scale = scale == nullptr ? !scale_ : scale_ == *scale;
  return request.kind == request_.kind && request.target == request_.target &&
         request.region == request_.region && same_scale && fragments_.size() < max_items;
}

void OperationBatch::add(const FrameHeader& request, const Scale* scale, std::byte* local,
                         std::size_t bytes, Completion* done) {
  // Everything that may throw comes first; for `body_` that is the insertion itself.
  fragments_.reserve(max_items);
  if (request.kind == Kind::get) {
    done_.reserve(max_items);
    done_.push_back(done);
  } else {
    body_.insert(body_.end(), local, local + bytes);
  }
  if (is_empty()) {
    request_ = request;
    scale_ = scale == nullptr ? std::optional<Scale>() : *scale;
  }
  fragments_.push_back({local, request.offset, bytes});
  bytes_ += bytes;
}

// A single operation is sent as an ordinary request, which costs the agent less than a list: for
// example a put and its fence.
void OperationBatch::describe_one(List& list) const {
  if (scale_) {
    encode_accumulate(*scale_, CopyShape::contiguous(list.bytes), list.descriptor);
  } else if (request_.kind == Kind::get) {
    list.header.words[1] = list.bytes;
  }
}

OperationBatch::List OperationBatch::take() {
  List list;
  list.header = request_;
  list.bytes = bytes_;
  if (fragments_.size() == 1) {
    describe_one(list);
  } else {
    list.header.offset = 0;
    if (scale_) {
      encode_accumulate(*scale_, fragments_, list.descriptor);
    } else {
      encode_fragments(fragments_, list.descriptor);
    }
  }
  list.header.descriptor_bytes = static_cast<std::uint32_t>(list.descriptor.size());
  if (request_.kind == Kind::get) {
    list.gets = std::make_unique<BatchedGets>(BatchedGets{request_, {}, {}});
    list.gets->fragments.swap(fragments_);
    list.gets->done.swap(done_);
  } else {
    list.header.payload_bytes = list.bytes;
    list.body.swap(body_);
    fragments_.clear();
  }
  bytes_ = 0;
  return list;
}

void OperationBatch::fail(const Status& reason) noexcept {
  fragments_.clear();
  body_.clear();
  bytes_ = 0;
  for (Completion* const each : std::exchange(done_, {})) {
    each->end(reason);
  }
}

}  // namespace tessera::rma::server
