// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/ma/blocks.hpp"

namespace tessera::ga::ma {

std::uint32_t Blocks::add() {
  if (records_.empty()) {
    records_.emplace_back();  // no handle has the number 0
  }
  if (records_.size() > max_blocks) {
    return 0;
  }
  const auto number = static_cast<std::uint32_t>(records_.size());
  if (unused_.capacity() <= number) {
    unused_.reserve(2 * static_cast<std::size_t>(number) + 16);
  }
  records_.emplace_back();
  unused_.push_back(number);
  return number;
}

}  // namespace tessera::ga::ma
