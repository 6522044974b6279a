// SPDX-License-Identifier: BSD-3-Clause
//
// The memory that tessera-run shares with the processes that it starts: their identities, which
// have ended, and space to exchange a few bytes. It is an anonymous memory file that they inherit.
// Its descriptor, the launcher's process id, the rank and the number of ranks are in the variable
// TESSERA_LAUNCH. A program whose wrapper closed the descriptor opens the launcher's own through
// /proc, where the kernel admits only the same user (or root).
//
// The program may be the process that was started, or any process below it (`perf stat`, scripts).
// With its first exchange it becomes the rank: it registers itself here and adds its process id to
// the variable. It also closes the descriptor to the programs that it starts, which take no part.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/base/futex.hpp"

namespace tessera::rma::detail {

/// "descriptor@launcher:rank:ranks"; a rank appends ":process".
inline constexpr const char* launch_variable = "TESSERA_LAUNCH";
inline constexpr std::size_t exchange_slot_bytes = 1024;

struct ForkControl {
  static constexpr std::uint64_t magic_number = 0x7465'7373'7275'6e34;  // "tessrun4"
  std::uint64_t magic = magic_number;
  std::int32_t ranks = 0;
  std::int32_t launcher = 0;  ///< its process id
  std::atomic<std::int32_t> arrived{0};
  FutexWord round{0};
  std::atomic<std::int32_t> first_ended{-1};  ///< first rank that the launcher saw end
  std::atomic<std::int32_t> ender{-1};        ///< the first rank that ended the whole job
  std::atomic<std::int32_t> end_code{0};      ///< exit code of that rank

  /// The identity (process_identity.hpp) of the process that is `rank`; 0 before its first
  /// exchange.
  std::atomic<std::uint64_t>& process(std::int32_t rank) {
    auto* all = reinterpret_cast<std::byte*>(this) + sizeof(ForkControl);
    return reinterpret_cast<std::atomic<std::uint64_t>*>(all)[rank];
  }
  /// The slot of `rank` in the half of the exchange area for `round_number`.
  std::byte* slot(std::uint32_t round_number, std::int32_t rank) {
    auto* area = reinterpret_cast<std::byte*>(this) + sizeof(ForkControl) + process_bytes(ranks);
    const auto half = static_cast<std::size_t>(round_number % 2) * static_cast<std::size_t>(ranks);
    return area + (half + static_cast<std::size_t>(rank)) * exchange_slot_bytes;
  }
  static std::size_t bytes(std::int32_t ranks) {
    return sizeof(ForkControl) + process_bytes(ranks) +
           2 * static_cast<std::size_t>(ranks) * exchange_slot_bytes;
  }

 private:
  static std::size_t process_bytes(std::int32_t ranks) {
    return static_cast<std::size_t>(ranks) * sizeof(std::atomic<std::uint64_t>);
  }
};

}  // namespace tessera::rma::detail
