// SPDX-License-Identifier: BSD-3-Clause
//
// OperationBatch: combines small operations into one list (automatic aggregation; the implicit form
// of [ARMCI06] §3.2.3, without a handle).
//
// A put, get or accumulate of a few bytes costs a header, a check and perhaps a reply of its own,
// each of which costs far more than the bytes. So successive operations of one kind on one slice
// are collected here and sent as a list. The list is sent when an operation comes that does not
// fit, when it is long, when a thread waits, or shortly afterwards in any case. A single operation
// is sent as an ordinary request. Everything sent later on the stream follows the list, so a rank's
// operations keep their order. Each operation completes and fails separately: if gets fail as a
// list, they are requested one by one.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rma/element.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/shape.hpp"
#include "rma/transport/completion.hpp"

namespace tessera::rma::server {

/// Gets that were requested as one list.
struct BatchedGets {
  FrameHeader request;              ///< common to all, except offset and size
  std::vector<Fragment> fragments;  ///< where each reads from and writes to
  std::vector<Completion*> done;    ///< of each
};

class OperationBatch {
 public:
  static constexpr std::size_t max_items = 256;
  /// Larger offsets cannot be in a list (a limit of the wire format).
  static constexpr std::uint64_t max_offset = std::uint64_t{1} << 48U;

  [[nodiscard]] bool is_empty() const noexcept { return fragments_.empty(); }
  /// Whether the request can join the list. `scale`: of an accumulate, or null.
  [[nodiscard]] bool takes(const FrameHeader& request, const Scale* scale) const noexcept;

  /// Adds an operation; `request` names its kind, target and offset. The `bytes` at `local` are
  /// read now unless the operation is a get. Only a get has `done`, which ends with its reply.
  /// Requires: takes(). Throws std::bad_alloc; the operation is not added then.
  void add(const FrameHeader& request, const Scale* scale, std::byte* local, std::size_t bytes,
           Completion* done);

  /// The request for everything in the list; the batch is empty afterwards.
  struct List {
    FrameHeader header;
    std::vector<std::byte> descriptor;
    std::vector<std::byte> body;        ///< of a put or accumulate
    std::unique_ptr<BatchedGets> gets;  ///< of a get
    std::size_t bytes = 0;
  };
  /// Throws std::bad_alloc; the batch keeps everything then.
  [[nodiscard]] List take();

  /// Whether the operations are gets. Requires: !is_empty().
  [[nodiscard]] bool has_gets() const noexcept { return request_.kind == Kind::get; }

  /// Ends all gets in the list with `reason` and discards the other operations.
  void fail(const Status& reason) noexcept;

 private:
  void describe_one(List& list) const;

  FrameHeader request_;  // the first request
  std::optional<Scale> scale_;
  std::vector<Fragment> fragments_;
  std::vector<std::byte> body_;
  std::vector<Completion*> done_;
  std::size_t bytes_ = 0;
};

}  // namespace tessera::rma::server
