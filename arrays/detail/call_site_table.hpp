// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. CallSiteTable: numbers the calls in a program that accessed an array, so that records
// of accesses are small (access_record.hpp).
//
// Memory: at most some 500 KiB. Further call sites have no number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <unordered_map>
#include <vector>

#include "arrays/detail/call_site.hpp"

namespace tessera::arrays::detail {

class CallSiteTable {
 public:
  static constexpr std::size_t max_sites = 4096;

  /// From 1 on; 0 if the site is unknown, if there are too many, or if memory runs out.
  [[nodiscard]] std::uint32_t number_of(const CallSite& site) noexcept {
    const Recent& recent = recent_[site.hash % recent_.size()];
    return recent.hash == site.hash ? recent.number : look_up(site);
  }
  /// The site with a number that number_of() returned.
  [[nodiscard]] CallSite site(std::uint32_t number) const noexcept {
    return number == 0 || number > sites_.size() ? CallSite() : sites_[number - 1];
  }

 private:
  struct Recent {
    std::uint64_t hash = 0;
    std::uint32_t number = 0;
  };

  std::uint32_t look_up(const CallSite& site) noexcept {
    if (site.hash == 0) {
      return 0;
    }
    try {
      auto found = numbers_.find(site.hash);
      if (found == numbers_.end()) {
        if (sites_.size() >= max_sites) {
          return 0;
        }
        sites_.push_back(site);
        found = numbers_.emplace(site.hash, static_cast<std::uint32_t>(sites_.size())).first;
      }
      recent_[site.hash % recent_.size()] = {site.hash, found->second};
      return found->second;
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }

  static constexpr std::size_t recent_sites = 64;
  std::array<Recent, recent_sites> recent_{};  ///< by hash; at first the unknown site
  std::vector<CallSite> sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  ///< by hash
};

}  // namespace tessera::arrays::detail
