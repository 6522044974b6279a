// SPDX-License-Identifier: BSD-3-Clause
//
// Groups: what the numbers of type ARMCI_Group stand for. A group is a team of rma's, with the
// communicator that goes with it, and the teams of its scopes once somebody asked for them.
//
// Threads: find and the default group from any; what is collective, one at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "rma/armci/armci.h"
#include "rma/armci/communicator.hpp"
#include "rma/job.hpp"
#include "rma/result.hpp"
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
  /// What creation gives to who is not a member, and what remains of a group that was freed.
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

  /// Collective over the processes listed, by ranks in the parent; `none` in others.
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
  std::map<ARMCI_Group, Group> groups_;  ///< whose addresses stay
  ARMCI_Group next_ = world;
  ARMCI_Group default_ = world;
};

/// Collective over the scope. The team of the group's members that take part; null for callers that
/// don't. Cost: the first time, a team's creation.
Result<Team*> team_of(Job& job, Group& group, Scope scope);

}  // namespace tessera::rma::armci
