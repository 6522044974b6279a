// SPDX-License-Identifier: BSD-3-Clause
//
// Session: the state on which the functions of armci.h work; the only process-wide state of this
// folder.
//
// One session exists from ARMCI_Init (or armci_msg_init) to the last of the two ends. It is global
// because C programs have no object that could hold it. Nothing else in rma/ is global.
//
// Threads: current() from any; start and stop from one, while no other is in a call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/armci/allocations.hpp"
#include "rma/armci/groups.hpp"
#include "rma/armci/handles.hpp"
#include "rma/armci/mailbox.hpp"
#include "rma/armci/memory_pool.hpp"
#include "rma/armci/mutex_sets.hpp"
#include "rma/job.hpp"

namespace tessera::rma::armci {

/// A layer that has begun the session and not ended it.
enum class Holder : unsigned char { armci, messages, arrays };

class Session {
 public:
  /// The session; null if there is none.
  static Session* current() noexcept { return running; }

  /// Collective. Adds `holder` to the holders of the session, which starts with the first. If
  /// `bootstrap` is null, one is chosen.
  static Status begin(Holder holder, std::shared_ptr<Bootstrap> bootstrap = {});
  /// Collective. The session ends with its last holder. ARMCI must end as often as it began;
  /// messages and arrays end at the first call. Does nothing if `holder` is not a holder. In a
  /// child of fork() it ends nothing: everything is the parent's.
  static Status end(Holder holder);
  static bool is_begun_by(Holder holder) noexcept;

  explicit Session(Job started) : job(std::move(started)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// True for processes of other nodes; false also for numbers outside of the job.
  [[nodiscard]] bool is_elsewhere(int proc) const noexcept {
    const auto index = static_cast<std::size_t>(static_cast<unsigned>(proc));
    return index < on_other_node_.size() && on_other_node_[index];
  }

  Job job;
  Groups groups;
  Allocations allocations;
  HandleTable handles;
  MemoryPool pool;
  Mailbox mailbox;
  std::optional<Mutexes> mutexes;  ///< those of ARMCI_Create_mutexes
  MutexSets mutex_sets;

  /// By process: how many of its notifications were waited for.
  std::mutex notified_mutex;
  std::map<int, std::uint64_t> notified;

 private:
  /// Collective. Creates what every program has, used or not.
  Status prepare();
  Status finish();

  static constinit Session* running;
  std::vector<bool> on_other_node_;  ///< by process
};

}  // namespace tessera::rma::armci
