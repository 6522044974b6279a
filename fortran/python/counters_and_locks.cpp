// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "arrays/counter.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/job.hpp"
#include "rma/lock.hpp"

namespace tessera::python {

using rma::Status;

namespace {

/// The C++ part of tessera.Counter.
struct Counter {
  std::shared_ptr<Owned<arrays::Counter>> counter;
};

/// The C++ part of tessera.Locks: lock i is the lock i / size of member i % size.
struct Locks {
  std::shared_ptr<Owned<rma::LockSet>> set;
  std::int64_t count;
};

/// One of them, for `with`.
struct Lock {
  Locks locks;
  std::int64_t number;

  [[nodiscard]] rma::TeamRank owner() const noexcept {
    return {static_cast<std::int32_t>(number % locks.set->team().size())};
  }
  [[nodiscard]] std::int64_t index() const noexcept { return number / locks.set->team().size(); }
};

Counter make_counter(const std::shared_ptr<SharedJob>& job, std::int64_t value, std::int32_t owner,
                     const py::object& given) {
  job->check_running();
  rma::Team team = team_of(*job, given);
  auto made = std::make_shared<arrays::Counter>(checked_without_gil([&] {
    return [&]() -> rma::Result<arrays::Counter> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*job, team, "counter", ""));
      TESSERA_ASSIGN_OR_RETURN(auto counter,
                               arrays::Counter::create(job->rma(), team, rma::TeamRank{owner}));
      TESSERA_RETURN_IF_ERROR(counter.reset(value));
      return counter;
    }();
  }));
  return {std::make_shared<Owned<arrays::Counter>>(job, team, std::move(made))};
}

Locks make_locks(const std::shared_ptr<SharedJob>& job, std::int64_t count,
                 const py::object& given) {
  job->check_running();
  rma::Team team = team_of(*job, given);
  const Status own =
      count >= 0 ? Status()
                 : Status::error(rma::Code::invalid_argument, fmt::format("{} locks", count));
  auto made = std::make_shared<rma::LockSet>(checked_without_gil([&] {
    return [&]() -> rma::Result<rma::LockSet> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*job, team, "locks", "", own));
      const std::int64_t size = team.size();
      const std::int64_t here = count / size + (team.rank().value < count % size ? 1 : 0);
      return rma::LockSet::create(team, here);
    }();
  }));
  return {std::make_shared<Owned<rma::LockSet>>(job, team, std::move(made)), count};
}

Lock lock_at(const Locks& locks, std::int64_t number) {
  const std::int64_t counted = number < 0 ? number + locks.count : number;
  if (counted < 0 || counted >= locks.count) {
    refuse_index(fmt::format("there is no lock {}; there are {}", number, locks.count));
  }
  return {locks, counted};
}

void acquire(const Lock& lock) {
  checked_without_gil([&] { return (*lock.locks.set)->lock(lock.owner(), lock.index()); });
}
bool try_acquire(const Lock& lock) {
  return checked_without_gil(
      [&] { return (*lock.locks.set)->try_lock(lock.owner(), lock.index()); });
}
void release(const Lock& lock) {
  checked_without_gil([&] { return (*lock.locks.set)->unlock(lock.owner(), lock.index()); });
}

template <class Held>
void free_held(const Held& held) {
  checked_without_gil([&] { return held->free(); });
}

void define_counter(py::module_& module) {
  py::class_<Counter>(module, "Counter", R"(A number that all ranks draw from: job.counter().

    counter = job.counter()
    while (task := counter.next()) < tasks:
        ...)")
      .def(
          "next",
          [](const Counter& self, std::int64_t count) {
            return checked_without_gil([&] { return (*self.counter)->next(count); });
          },
          py::arg("count") = 1, "Return the value and then add count to it. One-sided, atomic.")
      .def(
          "reset",
          [](const Counter& self, std::int64_t value) {
            checked_without_gil([&] { return (*self.counter)->reset(value); });
          },
          py::arg("value") = 0, "Set the value. Collective; no rank draws at the same time.")
      .def(
          "free", [](const Counter& self) { free_held(self.counter); },
          "Free the counter now. Collective.");
}

void define_locks(py::module_& module) {
  py::class_<Lock>(module, "Lock", R"(One of the locks of job.locks(n), for use with `with`.

A thread of a rank holds it. It is not recursive, and has no time limit. If the holder dies, the next
that waits gets PeerLost, and the lock is free.)")
      .def("__enter__", [](const Lock& self) { acquire(self); })
      .def("__exit__", [](const Lock& self, const py::args&) { release(self); })
      .def("acquire", &acquire, "Wait until this thread has the lock. One-sided.")
      .def("try_acquire", &try_acquire, "Take the lock if it is free; False if it is not.")
      .def("release", &release, "Give the lock back. It must be this thread's.");
  py::class_<Locks>(module, "Locks", R"(Locks of a team: job.locks(n).

    with locks[3]:
        ...)")
      .def("__len__", [](const Locks& self) { return self.count; })
      .def("__getitem__", &lock_at, py::arg("number"))
      .def(
          "free", [](const Locks& self) { free_held(self.set); },
          "Free the locks now. Collective; none is held.");
}

}  // namespace

void define_counters_and_locks(py::module_& module, JobClass& job) {
  define_counter(module);
  define_locks(module);
  job.def("counter", &make_counter, py::arg("value") = 0, py::arg("owner") = 0,
          py::arg("team") = py::none(),
          "Make a Counter in the memory of the team's member `owner`. Collective.")
      .def("locks", &make_locks, py::arg("count"), py::arg("team") = py::none(),
           "Make `count` Locks, spread over the members. Collective.");
}

}  // namespace tessera::python
