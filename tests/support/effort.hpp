// SPDX-License-Identifier: BSD-3-Clause
//
// How much a test does. A sanitizer makes it many times as slow, and finds what is wrong with an
// access in the first round already: what then counts is that each kind of thing happens, not how
// often. Plain builds always do all.
#pragma once

namespace tessera::test {

#ifdef TESSERA_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// `all`, or a fourth of it, rounded up, under a sanitizer. For rounds that differ by chance, or of
/// which a fourth has all the kinds there are.
template <class Number>
constexpr Number rounds(Number all) noexcept {
  return is_sanitized ? (all + 3) / 4 : all;
}

}  // namespace tessera::test
