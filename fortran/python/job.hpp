// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. tessera.Job and tessera.Team, and when collective objects are freed.
//
// The library frees an array when its members free it together. But Python destroys objects at
// different times on different ranks. So the end of a Python object only records that this rank no
// longer uses it (Releases::drop). When all members have recorded that, the next collective call
// that makes an object, or Job.barrier(), frees the memory.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "fortran/python/errors.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::python {

/// The objects of a job that this rank no longer uses.
///
/// Members of a team make its objects together, so the number of an object in the order of their
/// creation is the same on all of them. Threads: any.
class Releases {
 public:
  /// Frees the object, collectively, and then destroys it.
  using Free = std::function<rma::Status()>;

  /// Local. The number of the object that the members of `team` have just made.
  std::uint64_t enroll(const rma::Team& team);
  /// Local. Records that this rank no longer uses the object.
  void drop(const rma::Team& team, std::uint64_t number, Free free);
  /// Collective. Frees what all members have dropped. Call it without the GIL.
  rma::Status collect(rma::Team& team);
  /// Local. Destroys everything that was dropped, after the job was stopped.
  void clear();

 private:
  struct OfTeam {
    std::uint64_t made = 0;
    std::map<std::uint64_t, Free> dropped;
  };
  using TeamKey = std::weak_ptr<rma::detail::TeamState>;
  OfTeam& of(const rma::Team& team);

  std::mutex mutex_;
  std::map<TeamKey, OfTeam, std::owner_less<>> teams_;  ///< not by address, which can be reused
};

/// The C++ part of tessera.Job. Objects of the job keep it alive.
class SharedJob : public std::enable_shared_from_this<SharedJob> {
 public:
  /// Collective. `communicator` is None or a communicator of mpi4py.
  static std::shared_ptr<SharedJob> start(const py::object& communicator);
  explicit SharedJob(rma::Job job) : job_(std::move(job)) {}
  SharedJob(const SharedJob&) = delete;
  SharedJob& operator=(const SharedJob&) = delete;
  /// Stops the job if stop() was not called.
  ~SharedJob();

  [[nodiscard]] rma::Job& rma() noexcept { return job_; }
  [[nodiscard]] Releases& releases() noexcept { return releases_; }
  [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }
  /// Throws Closed if the job was stopped.
  void check_running() const;

  /// Leaves the job. Idempotent. Errors: invalid_argument if NumPy arrays exist in memory that the
  /// stop would unmap, as MPI's windows are.
  rma::Status stop();
  /// The same, also if there are such arrays.
  rma::Status stop_at_exit();
  /// At the end of the process, while other threads use the job: it is never stopped.
  void leave_running() noexcept;

  /// NumPy arrays in this rank's memory of the job's arrays.
  void add_view(int change) noexcept { views_ += change; }

 private:
  rma::Job job_;
  Releases releases_;
  std::atomic<std::int64_t> views_ = 0;
  std::atomic<bool> is_stopped_ = false;
};

/// The C++ part of tessera.Team.
struct Team {
  std::shared_ptr<SharedJob> job;
  rma::Team team;
};

/// Collective over the ranks of the list.
std::shared_ptr<Team> make_team(const std::shared_ptr<SharedJob>& job, const py::object& ranks);
/// The team of an argument that may be None: then all ranks.
rma::Team team_of(SharedJob& job, const py::object& given);

/// Collective. Call it, without the GIL, before every call that makes an object of a team: it frees
/// what all members have dropped. `kind` and `name` are for the text if members call different
/// functions: "create array 'A'". `own` is an error that this member found in its arguments: then
/// no member makes the object, and all get the error.
rma::Status prepare_to_make(SharedJob& job, rma::Team& team, std::string_view kind,
                            std::string_view name, rma::Status own = {});

/// An object of the library that its team made together and must free together; T has free().
/// Kept by a shared pointer; when the last one ends, this rank drops the object.
template <class T>
class Owned {
 public:
  /// Call it on all members, right after they made `value`.
  Owned(std::shared_ptr<SharedJob> job, rma::Team team, std::shared_ptr<T> value)
      : job_(std::move(job)),
        team_(std::move(team)),
        value_(std::move(value)),
        number_(job_->releases().enroll(team_)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (!is_freed_) {
      job_->releases().drop(team_, number_, [value = std::move(value_)] { return value->free(); });
    }
  }

  [[nodiscard]] const std::shared_ptr<SharedJob>& job() const noexcept { return job_; }
  [[nodiscard]] rma::Team& team() noexcept { return team_; }
  [[nodiscard]] T& operator*() const noexcept { return *value_; }
  [[nodiscard]] T* operator->() const noexcept { return value_.get(); }

  /// Collective. Frees the object now. Idempotent.
  rma::Status free() {
    is_freed_ = true;
    return value_->free();
  }

 private:
  std::shared_ptr<SharedJob> job_;
  rma::Team team_;
  std::shared_ptr<T> value_;
  std::uint64_t number_;
  bool is_freed_ = false;
};

using JobClass = py::class_<SharedJob, std::shared_ptr<SharedJob>>;

JobClass define_job(py::module_& module);
void define_team(py::module_& module);
/// Job.counter(), Job.locks() and their classes.
void define_counters_and_locks(py::module_& module, JobClass& job);
/// Job.phase() and its class.
void define_phases(py::module_& module, JobClass& job);

}  // namespace tessera::python
