// SPDX-License-Identifier: BSD-3-Clause
//
// Gather: small operations that go together as one list (automatic aggregation; the implicit one of
// [ARMCI06] §3.2.3 without a handle).
//
// A put, get or accumulate of a few bytes costs a header, a check and perhaps an answer of its own,
// each many times what its bytes cost. While such operations of one kind on one slice follow each
// other they are gathered here, and sent as a list: when one comes that doesn't fit, when there are
// many, when somebody waits, or soon in any case; one alone as a request of its own. What is sent
// next on the stream goes behind it, so the order of a rank's operations stays as it was. Each
// operation ends, and fails, by itself: gets that failed as a list are asked for one by one.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rma/completion.hpp"
#include "rma/element.hpp"
#include "rma/server/wire.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::server {

/// Gets that were asked for as one list.
struct GatheredGets {
  FrameHeader request;              ///< of each of them, but for offset and size
  std::vector<Fragment> fragments;  ///< where each reads, and writes
  std::vector<Completion*> done;    ///< of each
};

class Gather {
 public:
  static constexpr std::size_t most_items = 256;
  /// Offsets from here on cannot go in a list (the wire format's bounds).
  static constexpr std::uint64_t most_offset = std::uint64_t{1} << 48U;

  [[nodiscard]] bool is_empty() const noexcept { return fragments_.empty(); }
  /// Whether that request can go with what is here. `scale`: of an accumulate, or null.
  [[nodiscard]] bool takes(const FrameHeader& request, const Scale* scale) const noexcept;

  /// Requires: takes(). `request` says what to do, with whom, where; `bytes` at `local` are read
  /// now unless it is a get, whose `done` ends with its answer; the others need none. Throws
  /// std::bad_alloc, and has not taken it then.
  void add(const FrameHeader& request, const Scale* scale, std::byte* local, std::size_t bytes,
           Completion* done);

  /// What is to be sent for all that is here; the gather is empty then.
  struct List {
    FrameHeader header;
    std::vector<std::byte> descriptor;
    std::vector<std::byte> body;         ///< of a put or accumulate
    std::unique_ptr<GatheredGets> gets;  ///< of a get
    std::size_t bytes = 0;
  };
  /// Throws std::bad_alloc, and has all that it had then.
  [[nodiscard]] List take();

  /// Whether gets are here. Requires: !is_empty().
  [[nodiscard]] bool has_gets() const noexcept { return request_.kind == Kind::get; }

  /// Ends all gets that are here with `reason`, and forgets the rest.
  void fail(const Status& reason) noexcept;

 private:
  void describe_one(List& list) const;

  FrameHeader request_;  // the first one
  std::optional<Scale> scale_;
  std::vector<Fragment> fragments_;
  std::vector<std::byte> body_;
  std::vector<Completion*> done_;
  std::size_t bytes_ = 0;
};

}  // namespace tessera::rma::server
