// SPDX-License-Identifier: BSD-3-Clause
//
// Groups: the meaning of the numbers of type ARMCI_Group. A group is an rma team, with its
// communicator, and the teams of its scopes once they were first used.
//
// Threads: find and the default group from any; collective functions, one at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "rma/armci/armci.h"
#include "rma/armci/communicator.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::rma::armci {

/// Which members of a group take part in a collective; see message.h.
enum class Scope { all, node, masters };

struct Group {
  Team team;
  std::shared_ptr<Communicator> communicator = {};
  Team node = {};     ///< its members on this node
  Team masters = {};  ///< the first of them on each node
};

class Groups {
 public:
  static constexpr ARMCI_Group world = 0;
  static constexpr ARMCI_Group none = -1;
  /// True for the number that creation gives to processes that are not members, and for that of a
  /// freed group.
  static bool is_none(const ARMCI_Group* number) noexcept {
    return number != nullptr && *number == none;
  }

  Groups() = default;
  /// Collective over all processes.
  static Result<Groups> create(const Job& job);
  Groups(Groups&& other) noexcept : Groups() { *this = std::move(other); }
  Groups& operator=(Groups&& other) noexcept;

  /// The group of that number. Errors: invalid_argument (a null pointer, no such group).
  Result<Group*> find(const ARMCI_Group* number);
  Group& default_group();
  [[nodiscard]] ARMCI_Group default_number() const noexcept { return default_; }
  /// Local. Errors: as find.
  Status set_default(const ARMCI_Group* number);

  /// Collective over the listed processes, which are ranks in the parent; returns `none` on others.
  Result<ARMCI_Group> create(Job& job, std::span<const int> ranks, const ARMCI_Group* parent);
  /// Collective over the parent.
  Result<ARMCI_Group> split(const ARMCI_Group* parent, int color, int key);
  /// Collective over the group; does nothing for `none`. Errors: as find; invalid_argument for the
  /// group of all processes.
  Status free(ARMCI_Group* number);
  void clear();

 private:
  Result<ARMCI_Group> add(Team team);

  mutable std::mutex mutex_;
  std::map<ARMCI_Group, Group> groups_;  ///< the addresses of groups do not change
  ARMCI_Group next_ = world;
  ARMCI_Group default_ = world;
};

/// Collective over the scope. The team of the group's members in the scope; null on other
/// processes. Cost: the first time, the creation of a team.
Result<Team*> team_of(Job& job, Group& group, Scope scope);

}  // namespace tessera::rma::armci
