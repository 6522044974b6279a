// SPDX-License-Identifier: BSD-3-Clause
//
// Interruption: ends the waits of a thread early, for example after a signal.
//
// Some waits depend on what other ranks do, and may last without end: in a collective, for a lock,
// for a flag, for notifications. They ask once per liveness interval (TESSERA_TUNE=liveness_ms)
// whether the thread is interrupted. After an interruption
//
//     a collective   has broken its team: all its members get `closed` from this call or the next
//     a lock         is not taken: timed_out. Waits for locks of other nodes don't ask
//     a flag, notifications   may still come: timed_out
//
// Transfers and fences end by themselves and are never interrupted: they may use local memory until
// then.
#pragma once

namespace tessera::rma {

/// Decides whether the waits of a thread end early.
/// Threads: the one that made it. Cost: of a wait, a call of ask() per liveness interval.
class Interruption {
 public:
  /// From now on the calling thread's waits ask this object, and not the one that it replaces.
  Interruption() noexcept;
  /// The one that it replaced is asked again.
  virtual ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Whether the calling thread is interrupted: ask() has returned true. False without an
  /// Interruption.
  [[nodiscard]] static bool is_requested() noexcept;

 private:
  /// True: the wait in which the thread is, and all later ones while this object exists, end early.
  /// The thread may be in the middle of a collective: use nothing of the job here.
  virtual bool ask() noexcept = 0;

  Interruption* replaced_;
  bool is_requested_ = false;
};

}  // namespace tessera::rma
