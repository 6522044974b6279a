// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/image.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace tessera::arrays::detail {

using rma::Code;
using rma::Status;

// The fragment that contains or precedes the bytes grows; fragments that it then touches are
// merged.
void FileImage::merge(std::uint64_t offset, std::span<const std::byte> from) {
  auto at = fragments_.upper_bound(offset);
  const auto before = at == fragments_.begin() ? fragments_.end() : std::prev(at);
  if (before != fragments_.end() && before->first + before->second.size() >= offset) {
    at = before;
  } else {
    at = fragments_.try_emplace(at, offset);
  }
  std::vector<std::byte>& bytes = at->second;
  const auto begin = static_cast<std::size_t>(offset - at->first);
  bytes.resize(std::max(bytes.size(), begin + from.size()));
  std::memcpy(bytes.data() + begin, from.data(), from.size());
  for (auto next = std::next(at);
       next != fragments_.end() && next->first <= at->first + bytes.size();
       next = fragments_.erase(next)) {
    const std::uint64_t next_end = next->first + next->second.size();
    const std::uint64_t known = at->first + bytes.size();
    if (next_end > known) {
      const auto tail = next->second.end() - static_cast<std::ptrdiff_t>(next_end - known);
      bytes.insert(bytes.end(), tail, next->second.end());
    }
  }
}

Status FileImage::write(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  if (from.empty()) {
    return {};
  }
  try {
    merge(offset, from);
  } catch (const std::bad_alloc&) {
    lacked_memory_ = true;
    return Status::error(Code::no_memory, "no memory for the description of the arrays");
  }
  end_ = std::max(end_, offset + from.size());
  return {};
}

Status FileImage::read(std::uint64_t offset, std::span<std::byte> to) const noexcept {
  if (file_ != nullptr) {
    return file_->read_at(offset, to);
  }
  std::fill(to.begin(), to.end(), std::byte{0});
  auto at = fragments_.upper_bound(offset);
  if (at != fragments_.begin()) {
    --at;
  }
  const std::uint64_t end = offset + to.size();
  for (; at != fragments_.end() && at->first < end; ++at) {
    const std::uint64_t first = std::max(offset, at->first);
    const std::uint64_t last = std::min(end, at->first + at->second.size());
    if (first < last) {
      std::memcpy(to.data() + (first - offset), at->second.data() + (first - at->first),
                  static_cast<std::size_t>(last - first));
    }
  }
  return {};
}

}  // namespace tessera::arrays::detail
