// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. CallSite: where in the program a call of the library was made, for messages of checks.
// It is the innermost frames of the stack that are not the library's own, as addresses. Their names
// and lines are looked up when a message needs them.
//
// Cost: about 10 ns if this thread has made the call before, with the same stack, else some
// microseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::arrays::detail {

struct CallSite {
  /// Several: functions of the library's headers, or of a static library, are in the program.
  static constexpr std::size_t max_frames = 8;

  std::array<std::uintptr_t, max_frames> returns{};  ///< return addresses; 0: none
  std::uint64_t hash = 0;                            ///< of the addresses; 0: there are none

  friend bool operator==(const CallSite&, const CallSite&) = default;
};

/// Local. The call of the library that led to the caller. Empty if it can't be found. Valid until
/// this thread calls the function again.
[[gnu::noinline]] const CallSite& find_call_site() noexcept;

/// Local. "step() at heat.cpp:41", by the debugging information of the program and the tool
/// addr2line. Without them, the function if it is known, the file of the program, and the address
/// in it. Throws std::bad_alloc. Cost: runs addr2line.
std::string describe(const CallSite& site);

}  // namespace tessera::arrays::detail
