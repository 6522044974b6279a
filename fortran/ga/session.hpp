// SPDX-License-Identifier: BSD-3-Clause
//
// Session: the state of GA in this process. The job, its groups and its mailbox are those of
// rma/armci, so that a program may mix both; each of the two layers begins and ends the session.
//
// Threads: as armci::Session.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fortran/ga/records.hpp"
#include "rma/armci/session.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"

namespace tessera::ga {

/// This process's rank in the default group and the group's size, for functions that must be fast;
/// −1 without a session.
struct Ranks {
  std::int64_t own = -1;
  std::int64_t count = -1;
};

/// Memory of the program's own, which GA_Getmem gave.
struct GivenMemory {
  Type type;
  std::int64_t elements;
};

class Session {
 public:
  /// The session; null if there is none.
  static Session* current() noexcept { return running; }
  /// Collective. `limit` is the largest number of bytes that this process may use for arrays; none
  /// if negative or 0. Does nothing in a running session.
  static Status begin(std::int64_t limit);
  /// Collective. Frees all arrays and groups. Does nothing without a session.
  static Status end();

  explicit Session(rma::armci::Session& shared) : below(shared) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] rma::Job& job() const noexcept { return below.job; }

  /// Errors: invalid_argument.
  [[nodiscard]] Result<Group*> find_group(std::int64_t number);
  [[nodiscard]] Group& default_group() const noexcept { return *default_; }
  /// Local; changes what nodeid, nnodes, sync, create and sums refer to.
  void set_default_group(Group& group);
  /// Adds a group with the lowest free number.
  Group& add_group(rma::Team team, std::vector<rma::WorldRank> members, ARMCI_Group below_number);
  void remove_group(const Group& group);

  rma::armci::Session& below;
  std::optional<rma::LockSet> mutexes;
  std::int64_t mutex_count = 0;
  /// Cholesky factors that ga_llt_f keeps, by their numbers: arrays of doubles.
  std::map<std::int64_t, std::shared_ptr<arrays::ArrayBase>> factors;
  /// By address; and the addresses that arrays were assembled from, by handle.
  std::map<void*, GivenMemory> given_memory;
  std::map<std::int64_t, void*> assembled;
  std::int64_t limit = -1;          ///< bytes of arrays in this process; negative: none
  std::int64_t allocated = 0;       ///< bytes of arrays in this process
  std::int64_t most_allocated = 0;  ///< the most so far
  bool is_debug = false;

 private:
  Status prepare();
  Status finish();

  static constinit Session* running;
  std::map<std::int64_t, std::unique_ptr<Group>> groups_;
  Group* default_ = nullptr;
};

namespace detail {
extern constinit Ranks ranks;
}
/// This process's rank in the default group, and the group's size.
inline const Ranks& default_ranks() noexcept {
  return detail::ranks;
}

/// "GA is not running".
Status not_running();
/// The default group; one without members if there is no session.
Group& default_group() noexcept;

}  // namespace tessera::ga
