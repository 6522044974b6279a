// SPDX-License-Identifier: BSD-3-Clause
//
// Label: the operation that a collective belongs to, such as the sync of array 'rho'. Members of a
// team compare their labels in each collective; messages and profiles show them.
//
// Threads: as for the collectives of the team.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rma/base/cxx20.hpp"

namespace tessera::rma {

class Team;
namespace detail {
class TeamState;
}

struct Label {
  std::string_view verb = {};  ///< "sync", "free"
  std::string_view kind = {};  ///< of the object: "array", "lock set"; empty: no object
  std::string_view name = {};  ///< the object's name, if any; may differ among members
  std::uint64_t number = 0;    ///< distinguishes objects: the same on all members; 0: none

  /// A destructor frees because an exception leaves its scope.
  static constexpr std::string_view free_by_exception = "free by exception";

  /// Hash of what members compare: the verb and the number.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    std::uint64_t mixed = mix(verb.size(), number);
    for (std::size_t at = 0; at < verb.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      const std::size_t left = verb.size() - at;
      std::memcpy(&word, verb.data() + at, left < sizeof word ? left : sizeof word);
      mixed = mix(mixed, word);
    }
    return mixed;
  }
  /// "sync rho", for profiles. Throws std::bad_alloc.
  [[nodiscard]] std::string short_text() const;
  /// "called sync of array 'rho'", for messages. Throws std::bad_alloc.
  [[nodiscard]] std::string phrase() const;

  [[nodiscard]] static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
    constexpr std::uint64_t prime = 0x100'0000'01b3;
    constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
    return std::rotl((hash ^ word) * prime, 17) * golden;
  }
};

/// The collectives of a team have this label while the scope exists. Scopes nest: messages and
/// profiles show the outermost label first, as it is the call that the program made.
class LabelScope {
 public:
  /// The texts of `label` must outlive the scope. A team that was moved from has no collectives.
  LabelScope(const Team& team, const Label& label) noexcept;
  LabelScope(detail::TeamState* team, const Label& label) noexcept;
  ~LabelScope();
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;

  [[nodiscard]] const Label& label() const noexcept { return label_; }
  [[nodiscard]] const LabelScope* outer() const noexcept { return outer_; }
  /// Hash of this label and of those around it.
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

 private:
  detail::TeamState* team_;
  const LabelScope* outer_ = nullptr;
  Label label_;
  std::uint64_t hash_ = 0;
};

}  // namespace tessera::rma
