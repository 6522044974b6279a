// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/checksum.hpp"

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): a switch of xxHash
#include <xxhash.h>

namespace tessera::arrays::detail {

struct Checksum::State {
  XXH3_state_t xxh3;
};

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Checksum::Checksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}

Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const noexcept {
  return XXH3_64bits_digest(&state_->xxh3);
}

}  // namespace tessera::arrays::detail
