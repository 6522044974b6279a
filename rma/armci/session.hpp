// SPDX-License-Identifier: BSD-3-Clause
//
// Session: what the functions of armci.h work on; the one process-wide state of this folder.
//
// There is one from ARMCI_Init (or armci_msg_init) to the last of the two ends. C programs know no
// object that could hold it, which is why it is global; everything else in rma/ stays without such
// a thing.
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

/// Who has begun a session, and not ended it.
enum class Holder : unsigned char { armci, messages };

class Session {
 public:
  /// The session; null while there is none.
  static Session* current() noexcept { return running; }

  /// Collective. Makes `holder` one of those of the session, which begins with the first. A null
  /// bootstrap is chosen.
  static Status begin(Holder holder, std::shared_ptr<Bootstrap> bootstrap = {});
  /// Collective. The session ends with its last holder: ARMCI is one until it has been ended as
  /// often as it was begun, messages until the first end. Does nothing for who is none. In a child
  /// made by fork() nothing is ended: all is the parent's.
  static Status end(Holder holder);
  static bool is_held_by(Holder holder) noexcept;

  explicit Session(Job started) : job(std::move(started)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// True for processes of other nodes; false for numbers that are no process's.
  [[nodiscard]] bool is_elsewhere(int proc) const noexcept {
    const auto place = static_cast<std::size_t>(static_cast<unsigned>(proc));
    return place < elsewhere_.size() && elsewhere_[place];
  }

  Job job;
  Groups groups;
  Allocations allocations;
  HandleTable handles;
  MemoryPool pool;
  Mailbox mailbox;
  std::optional<Mutexes> mutexes;  ///< those of ARMCI_Create_mutexes
  MutexSets mutex_sets;

  /// Notifications of each process that were waited for.
  std::mutex notified_mutex;
  std::map<int, std::uint64_t> notified;

 private:
  /// Collective. What all programs have, whether they use it or not.
  Status prepare();
  Status finish();

  static constinit Session* running;
  std::vector<bool> elsewhere_;  ///< by process
};

}  // namespace tessera::rma::armci
