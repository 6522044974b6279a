// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "bench/support/machine.hpp"

namespace tessera::bench {
namespace {

using Bytes = std::vector<std::byte>;

/// Bytes that differ between positions; as doubles with small integer values if `numbers`.
Bytes pattern(std::size_t size, std::size_t seed, bool numbers) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 131 + i / 256 + seed) % 251);
  }
  if (numbers) {
    for (std::size_t i = 0; i + sizeof(double) <= size; i += sizeof(double)) {
      const auto value = static_cast<double>((i / sizeof(double) + seed) % 1000);
      std::memcpy(bytes.data() + i, &value, sizeof value);
    }
  }
  return bytes;
}

void accumulate_run(std::byte* to, const std::byte* from, std::size_t bytes, double scale) {
  for (std::size_t i = 0; i + sizeof(double) <= bytes; i += sizeof(double)) {
    double sum = 0;
    double term = 0;
    std::memcpy(&sum, to + i, sizeof sum);
    std::memcpy(&term, from + i, sizeof term);
    sum += scale * term;
    std::memcpy(to + i, &sum, sizeof sum);
  }
}

/// Does the case with plain loops on images of the two buffers.
void reference(const Case& c, Bytes& local, Bytes& remote) {
  for (std::int64_t run = 0; run < c.runs; ++run) {
    std::byte* here = local.data() + c.local_offset(run);
    std::byte* there = remote.data() + c.remote_offset(run);
    switch (c.operation) {
      case Operation::get:
        std::memcpy(here, there, c.run_bytes);
        break;
      case Operation::accumulate:
        accumulate_run(there, here, c.run_bytes, c.scale);
        break;
      default:
        std::memcpy(there, here, c.run_bytes);
    }
  }
}

std::optional<std::string> difference(const char* where, std::span<const std::byte> expected,
                                      std::span<const std::byte> found) {
  const auto [want, have] = std::mismatch(expected.begin(), expected.end(), found.begin());
  if (want == expected.end()) {
    return std::nullopt;
  }
  return fmt::format("{} byte {} of {} is {:#04x}, expected {:#04x}", where,
                     want - expected.begin(), expected.size(), std::to_integer<unsigned>(*have),
                     std::to_integer<unsigned>(*want));
}

}  // namespace

std::size_t cold_bytes(std::int64_t cache_bytes) {
  constexpr std::int64_t least = 64 << 20;
  return static_cast<std::size_t>(
      std::clamp(4 * cache_bytes, least, std::max(least, max_cold_bytes(memory_bytes()))));
}

bool fits(const Case& c, const Workspace& workspace) {
  return c.local_span() <= workspace.local.size() && c.remote_span() <= workspace.remote_bytes;
}

std::string verify_transfer(const Case& c, const Workspace& workspace,
                            const std::function<void()>& once) {
  const bool numbers = c.operation == Operation::accumulate;
  Bytes local = pattern(c.local_span(), 17, numbers);
  Bytes remote = pattern(c.remote_span(), 101, numbers);
  std::copy(local.begin(), local.end(), workspace.local.begin());
  workspace.write_remote(remote);
  once();
  reference(c, local, remote);
  Bytes found(remote.size());
  workspace.read_remote(found);
  if (const auto problem = difference("remote", remote, found)) {
    return fmt::format("{}: {}", c.name(), *problem);
  }
  if (const auto problem = difference("local", local, workspace.local.first(local.size()))) {
    return fmt::format("{}: {}", c.name(), *problem);
  }
  return "";
}

}  // namespace tessera::bench
