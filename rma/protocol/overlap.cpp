// SPDX-License-Identifier: BSD-3-Clause
#include "rma/protocol/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>
#include <vector>

namespace tessera::rma::detail {
namespace {

Status overlap_error(std::size_t first, std::size_t second, std::string_view where) {
  return Status::error(Code::invalid_argument,
                       fmt::format("fragments {} and {} overlap {}", std::min(first, second),
                                   std::max(first, second), where))
      .hint("give each byte once; TESSERA_CHECK_OVERLAP=0 skips this check");
}

template <class Start>
Status check_overlap(Fragments fragments, Start&& start, std::string_view where) {
  std::uint64_t end = 0;
  bool in_order = true;
  for (const Fragment& each : fragments) {
    if (each.bytes > 0) {
      in_order = in_order && start(each) >= end;
      end = start(each) + each.bytes;
    }
  }
  if (in_order) {
    return {};
  }
  std::vector<std::size_t> order(fragments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return fragments[i].bytes == 0; });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return start(fragments[a]) < start(fragments[b]);
  });
  const auto pair = std::adjacent_find(order.begin(), order.end(), [&](std::size_t a,
                                                                       std::size_t b) {
    return start(fragments[a]) + fragments[a].bytes > start(fragments[b]);
  });
  return pair == order.end() ? Status() : overlap_error(pair[0], pair[1], where);
}

}  // namespace

Status check_remote_overlap(Fragments fragments) {
  return check_overlap(
      fragments, [](const Fragment& each) { return each.remote_offset; }, "at the target");
}

Status check_local_overlap(Fragments fragments) {
  return check_overlap(
      fragments, [](const Fragment& each) { return std::bit_cast<std::uint64_t>(each.local); },
      "in local memory");
}

}  // namespace tessera::rma::detail
