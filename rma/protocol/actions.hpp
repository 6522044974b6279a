// SPDX-License-Identifier: BSD-3-Clause
//
// The three kinds of transfer, for rma/transfer.cpp only: how each is checked, carried out directly
// (one run, or a whole shape), and carried out remotely.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "rma/base/status.hpp"
#include "rma/counters.hpp"
#include "rma/element.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/protocol/direct.hpp"
#include "rma/protocol/overlap.hpp"
#include "rma/protocol/remote.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::detail {

/// A source is only read; puts and gets have one signature, which has to allow writing.
inline void* readable(const void* from) noexcept {
  return const_cast<void*>(from);
}

/// What put and get have in common.
template <kernels::Direction direction>
class CopyAction {
 public:
  static bool is_whole(std::size_t) { return true; }
  static Status check(std::size_t) { return {}; }
  static void run(std::byte* slice, std::uint64_t offset, void* local, std::size_t bytes,
                  const StripeLocks::Slice&) {
    if constexpr (direction == kernels::Direction::to_remote) {
      kernels::move_small(slice + offset, local, bytes);
    } else {
      kernels::move_small(local, slice + offset, bytes);
    }
  }
  static void move_number(std::byte* remote, void* local) {
    if constexpr (direction == kernels::Direction::to_remote) {
      kernels::copy_word<sizeof(double)>(remote, local);
    } else {
      kernels::copy_word<sizeof(double)>(local, remote);
    }
  }
  static void fragments(std::byte* slice, std::uint64_t offset, Fragments fragments,
                        const StripeLocks::Slice& stripes) {
    for (const Fragment& each : fragments) {
      // most lists are of numbers, for which a call takes longer
      if (each.bytes == sizeof(double)) {
        move_number(slice + offset + each.remote_offset, each.local);
      } else {
        run(slice, offset + each.remote_offset, each.local, each.bytes, stripes);
      }
    }
  }
  static void shape(std::byte* slice, std::uint64_t offset, void* local, const CopyShape& shape,
                    const StripeLocks::Slice&) {
    kernels::move_shape(static_cast<std::byte*>(local), slice + offset, shape, direction);
  }
};

class PutAction : public CopyAction<kernels::Direction::to_remote> {
 public:
  static constexpr Op op = Op::put;
  static constexpr auto check_fragments = check_remote_overlap;
  static Result<bool> now(Endpoint& endpoint, const Target& target, void* local,
                          std::size_t bytes) {
    return endpoint.put_now(target, local, bytes);
  }
  static Result<bool> now(Endpoint& endpoint, const Target& target, void* local,
                          const CopyShape& shape) {
    return endpoint.put_shape_now(target, local, shape);
  }
  static void remote(const RemotePath& path, const Target& target, void* local,
                     const CopyShape& shape, Completion& done) {
    put_remote(path, target, local, shape, done);
  }
  static void remote(const RemotePath& path, const Target& target, Fragments fragments,
                     Completion& done) {
    put_remote(path, target, fragments, done);
  }
};

class GetAction : public CopyAction<kernels::Direction::from_remote> {
 public:
  static constexpr Op op = Op::get;
  static constexpr auto check_fragments = check_local_overlap;
  static Result<bool> now(Endpoint& endpoint, const Target& target, void* local,
                          std::size_t bytes) {
    return endpoint.get_now(local, target, bytes);
  }
  static Result<bool> now(Endpoint& endpoint, const Target& target, void* local,
                          const CopyShape& shape) {
    return endpoint.get_shape_now(local, target, shape);
  }
  static void remote(const RemotePath& path, const Target& target, void* local,
                     const CopyShape& shape, Completion& done) {
    get_remote(path, local, target, shape, done);
  }
  static void remote(const RemotePath& path, const Target& target, Fragments fragments,
                     Completion& done) {
    get_remote(path, target, fragments, done);
  }
};

class AccumulateAction {
 public:
  explicit AccumulateAction(const Scale& scale) : scale_(scale) {}
  static constexpr Op op = Op::accumulate;
  static Status check_fragments(Fragments) { return {}; }
  /// Whether check() would succeed.
  [[nodiscard]] bool is_whole(std::size_t run_bytes) const {
    // Element sizes are powers of two; a division would cost as much as the locking.
    return is_valid(scale_.type()) && (run_bytes & (size_of(scale_.type()) - 1)) == 0;
  }
  [[nodiscard]] Status check(std::size_t run_bytes) const {
    if (!is_valid(scale_.type())) {
      return explain_undefined();
    }
    if (!is_whole(run_bytes)) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("accumulate of runs of {} bytes, which are not whole {} "
                      "elements of {} bytes",
                      run_bytes, to_string(scale_.type()), size_of(scale_.type())));
    }
    return {};
  }
  void run(std::byte* slice, std::uint64_t offset, void* local, std::size_t bytes,
           const StripeLocks::Slice& stripes) const {
    accumulate_run_direct(slice, offset, static_cast<const std::byte*>(local), bytes, scale_,
                          stripes);
  }
  void fragments(std::byte* slice, std::uint64_t offset, Fragments fragments,
                 const StripeLocks::Slice& stripes) const {
    accumulate_fragments_direct(slice, offset, fragments, scale_, stripes);
  }
  void shape(std::byte* slice, std::uint64_t offset, void* local, const CopyShape& shape,
             const StripeLocks::Slice& stripes) const {
    accumulate_direct(slice, offset, static_cast<const std::byte*>(local), shape, scale_, stripes);
  }
  [[nodiscard]] Result<bool> now(Endpoint& endpoint, const Target& target, const void* local,
                                 std::size_t bytes) const {
    return endpoint.accumulate_now(target, local, bytes, scale_);
  }
  [[nodiscard]] Result<bool> now(Endpoint& endpoint, const Target& target, const void* local,
                                 const CopyShape& shape) const {
    return endpoint.accumulate_shape_now(target, local, shape, scale_);
  }
  void remote(const RemotePath& path, const Target& target, void* local, const CopyShape& shape,
              Completion& done) const {
    accumulate_remote(path, target, local, shape, scale_, done);
  }
  void remote(const RemotePath& path, const Target& target, Fragments fragments,
              Completion& done) const {
    accumulate_remote(path, target, fragments, scale_, done);
  }

 private:
  [[nodiscard]] Status explain_undefined() const {
    const ElementType type = scale_.requested_type();
    if (!is_valid(type)) {
      return Status::error(Code::invalid_argument,
                           fmt::format("accumulate of element type {}, which does not exist",
                                       static_cast<int>(type)));
    }
    const AccumulateOp combining = scale_.op();
    if (static_cast<int>(combining) >= accumulate_op_count) {
      return Status::error(Code::invalid_argument,
                           fmt::format("accumulate by operation {}, which does not exist",
                                       static_cast<int>(combining)));
    }
    return Status::error(Code::unsupported, fmt::format("accumulate by {} of {} elements",
                                                        to_string(combining), to_string(type)))
        .hint(combining <= AccumulateOp::max ? "complex numbers have no order: use real elements"
                                             : "bitwise operations are for integers");
  }

  const Scale& scale_;
};

}  // namespace tessera::rma::detail
