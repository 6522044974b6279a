// SPDX-License-Identifier: BSD-3-Clause
//
// Passing file descriptors to other processes of this machine, over a local socket with an abstract
// name. It leaves no file to clean up, and serves only processes of the same user.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rma/base/result.hpp"

namespace tessera::rma::detail {

/// A descriptor that closes itself. Move-only.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

/// Maximum number of descriptors in one message.
inline constexpr std::size_t max_passed_descriptors = 4;

/// Sends the same descriptors to a known number of processes.
class DescriptorServer {
 public:
  /// Listens under a new random name. Errors: limit_exceeded.
  static Result<DescriptorServer> create();

  /// The name to connect to; 32 characters.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Sends `fds` to `count` processes as they connect. `give_up` is called regularly.
  /// Errors: timed_out if fewer connected in time, peer_lost if `give_up` returned true.
  /// Requires: fds.size() ≤ max_passed_descriptors.
  Status serve(
      std::span<const int> fds, int count, std::chrono::milliseconds timeout,
      const std::function<bool()>& give_up = [] { return false; });

 private:
  DescriptorServer(Descriptor socket, std::string name) noexcept
      : socket_(std::move(socket)), name_(std::move(name)) {}
  Descriptor socket_;
  std::string name_;
};

/// Fetches the `count` descriptors of the DescriptorServer called `name`.
/// Errors: unreachable, timed_out, protocol, limit_exceeded (this process may open no further
/// descriptors).
Result<std::vector<Descriptor>> fetch_descriptors(const std::string& name, std::size_t count,
                                                  std::chrono::milliseconds timeout);

}  // namespace tessera::rma::detail
