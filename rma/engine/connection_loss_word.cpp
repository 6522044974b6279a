// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/connection_loss_word.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint32_t contact_bit = 1U << 29U;
constexpr std::uint32_t was_there_bit = 1U << 28U;
constexpr unsigned error_shift = 21;
constexpr std::uint32_t max_error = 127;
constexpr std::uint32_t rank_mask = (1U << error_shift) - 1;

std::string reason_of(int error, bool was_connected) {
  if (error != 0) {
    return std::strerror(error);
  }
  return was_connected ? "the other end closed it" : "no reason is known";
}

}  // namespace

std::uint32_t ConnectionLossWord::of(WorldRank rank, const ConnectionLoss& contact) noexcept {
  const auto error = static_cast<std::uint32_t>(contact.error);
  const auto number = static_cast<std::uint32_t>(rank.value) + 1;
  return contact_bit | (contact.is_lost ? was_there_bit : 0) |
         (error <= max_error ? error << error_shift : 0) | (number <= rank_mask ? number : 0);
}

WorldRank ConnectionLossWord::rank() const noexcept {
  return WorldRank{static_cast<std::int32_t>(word_ & rank_mask) - 1};
}

bool ConnectionLossWord::was_connected() const noexcept {
  return (word_ & was_there_bit) != 0;
}

int ConnectionLossWord::error() const noexcept {
  return static_cast<int>(word_ >> error_shift & max_error);
}

Status ConnectionLossWord::status(WorldRank self) const noexcept {
  const Code code =
      was_connected() || error() == ECONNREFUSED ? Code::peer_lost : Code::unreachable;
  return worded(code, [&] {
    const std::string reason = reason_of(error(), was_connected());
    if (rank() == self) {
      return Status::error(
                 code, was_connected()
                           ? fmt::format("another node has lost its connection to this "
                                         "rank's node: {}",
                                         reason)
                           : fmt::format("another node cannot reach this rank's node: {}", reason))
          .hint("tessera doctor tries all connections");
    }
    const std::string whom = rank().value < 0 ? "a rank" : fmt::format("rank {}", rank().value);
    Status status =
        was_connected()
            ? Status::error(
                  code,
                  fmt::format(
                      "the connection to the node of {} was lost; its process may still run: {}",
                      whom, reason))
            : Status::error(code, fmt::format("the node of {} cannot be reached: {}", whom, reason))
                  .hint(
                      "tessera doctor tries all connections; TESSERA_INTERFACE chooses a network");
    return rank().value < 0 ? std::move(status) : std::move(status).at(rank());
  });
}

}  // namespace tessera::rma::detail
