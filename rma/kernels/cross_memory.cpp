// SPDX-License-Identifier: BSD-3-Clause
#include "rma/kernels/cross_memory.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "rma/kernels/walk.hpp"

namespace tessera::rma::kernels {
namespace {

// Runs that are collected for one system call.
class RunBatch {
 public:
  RunBatch(pid_t process, Direction direction) : process_(process), direction_(direction) {}

  Status add(std::byte* local, std::byte* remote, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t step = std::min(bytes - done, max_bytes_per_call - bytes_);
      local_[count_] = {local + done, step};
      remote_[count_] = {remote + done, step};
      bytes_ += step;
      done += step;
      if (++count_ == local_.size() || bytes_ == max_bytes_per_call) {
        TESSERA_RETURN_IF_ERROR(flush());
      }
    }
    return {};
  }

  Status flush() {
    if (count_ == 0) {
      return {};
    }
    const ssize_t copied =
        direction_ == Direction::to_remote
            ? process_vm_writev(process_, local_.data(), count_, remote_.data(), count_, 0)
            : process_vm_readv(process_, local_.data(), count_, remote_.data(), count_, 0);
    const std::size_t wanted = bytes_;
    count_ = 0;
    bytes_ = 0;
    if (copied == static_cast<ssize_t>(wanted)) {
      return {};
    }
    return describe(copied, wanted);
  }

 private:
  [[nodiscard]] Status describe(ssize_t copied, std::size_t wanted) const {
    if (copied >= 0 || errno == EFAULT) {
      return Status::error(Code::out_of_range,
                           fmt::format("only {} of {} bytes of attached memory are still mapped in "
                                       "process {}",
                                       copied < 0 ? 0 : copied, wanted, process_));
    }
    if (errno == ESRCH) {
      return Status::error(Code::peer_lost, fmt::format("process {} has ended", process_));
    }
    return Status::error(Code::unsupported,
                         fmt::format("the kernel does not let this process copy to or from process "
                                     "{}: {}",
                                     process_, std::strerror(errno)))
        .hint("allocate the region instead of attaching memory, or allow ptrace between the ranks");
  }

  /// Linux moves at most 2 GiB minus a page in one call.
  static constexpr std::size_t max_bytes_per_call = std::size_t{1} << 30;
  static constexpr std::size_t runs_per_call = 256;  // IOV_MAX is 1024
  pid_t process_;
  Direction direction_;
  std::array<iovec, runs_per_call> local_{};
  std::array<iovec, runs_per_call> remote_{};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

Status copy_across(pid_t process, std::byte* local, std::byte* remote, const CopyShape& shape,
                   Direction direction) {
  if (process == getpid()) {
    kernels::copy_shape(local, remote, shape, direction);
    return {};
  }
  RunBatch batch(process, direction);
  Status first;
  kernels::for_each_run(shape, [&](std::int64_t local_offset, std::int64_t remote_offset) {
    if (first.ok()) {
      first = batch.add(local + local_offset, remote + remote_offset, shape.run_bytes);
    }
  });
  return first.ok() ? batch.flush() : std::move(first);
}

}  // namespace tessera::rma::kernels
