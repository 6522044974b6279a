// SPDX-License-Identifier: BSD-3-Clause
//
// How much a test does. A sanitizer makes a test many times slower, and detects a wrong access in
// the first round. Then each kind of event must happen, but not often. Plain builds always do
// everything.
#pragma once

namespace tessera::test {

#ifdef TESSERA_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// `all`, or a fourth of it, rounded up, under a sanitizer. For rounds that differ by chance, or if
/// a fourth of the rounds has all kinds of events.
template <class Number>
constexpr Number rounds(Number all) noexcept {
  return is_sanitized ? (all + 3) / 4 : all;
}

}  // namespace tessera::test
