// SPDX-License-Identifier: BSD-3-Clause
//
// Phases: named parts of a program, for profiles (docs/profile.md) and for the reports of
// TESSERA_CHECK=races.
//
//     {
//       const auto phase = job.phase("deposit");   // until the end of the scope
//       …
//     }
//
// A phase belongs to the thread that begins it, and phases nest. Each thread, and each rank, has
// its own; ranks may be in different phases. A phase that ends also ends the phases that began
// within it. A phase that is open when the job stops ends there; the profile says so.
//
// Cost: a test of a pointer at the beginning and at the end, if the job has neither a profile nor
// the race check. Otherwise about a microsecond. Memory: a job keeps the first 1000 different
// phases apart, and counts further ones as one.
//
// Threads: all functions may be called from any thread. A phase may also end on another thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rma/base/status.hpp"

namespace tessera::rma {

class Job;
namespace detail {
class PhaseLog;
}

/// A phase, from its construction by Job::phase() to its destruction.
class [[nodiscard]] Phase {
 public:
  ~Phase() { end(); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  /// Local. Ends the phase before the scope ends. Idempotent.
  void end() noexcept {
    if (log_ != nullptr) [[unlikely]] {
      record_end();
    }
  }

 private:
  friend class Job;
  Phase(const std::shared_ptr<detail::PhaseLog>& log, std::string_view name) noexcept {
    if (log != nullptr) [[unlikely]] {
      record_begin(log, name);
    }
  }
  void record_begin(const std::shared_ptr<detail::PhaseLog>& log, std::string_view name) noexcept;
  void record_end() noexcept;

  std::shared_ptr<detail::PhaseLog> log_;  ///< null: nothing is recorded
  std::uint64_t number_ = 0;
};

/// Local. Begins a phase of this thread, for programs in which a scope does not fit.
/// Errors: invalid_argument (no name).
Status begin_phase(const Job& job, std::string_view name);
/// Local. Ends this thread's innermost phase, which must have that name; any phase if the name is
/// empty. Errors: invalid_argument (no phase is open, or the innermost one has another name); then
/// nothing ends. Without a profile and without the race check, phases are not recorded, and names
/// are not compared.
Status end_phase(const Job& job, std::string_view name = {});

namespace detail {

/// For the library itself: the number of this thread's innermost phase, 0 if it is in none; and its
/// path, such as "step/deposit". path_of_phase() throws std::bad_alloc.
[[nodiscard]] std::uint32_t current_phase(const Job& job) noexcept;
[[nodiscard]] std::string path_of_phase(const Job& job, std::uint32_t phase);

}  // namespace detail

}  // namespace tessera::rma
