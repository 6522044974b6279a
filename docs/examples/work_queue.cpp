// SPDX-License-Identifier: BSD-3-Clause
// Adaptive quadrature with a work queue that a lock guards. Both halves of an interval with too
// large an error go back into the queue, and any rank may take them.
//     build/bin/tessera-run -n 4 build/docs/examples/work_queue
#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include <tessera/arrays/array.hpp>
#include <tessera/rma/lock.hpp>

using namespace tessera::arrays;
using namespace tessera::rma;

struct Interval {
  double lo, hi;
};

double simpson(const Interval& on) {
  const auto f = [](double x) { return 1 / (1e-4 + x * x); };
  return (on.hi - on.lo) / 6 * (f(on.lo) + 4 * f((on.lo + on.hi) / 2) + f(on.hi));
}

struct Queue {
  Array<Interval> intervals;   // a stack
  Array<std::int64_t> counts;  // intervals on the stack, and unfinished intervals
  LockSet locks;               // one, on rank 0: guards the stack and the first count
  void push(const Interval& interval) {
    require(counts.fetch_add({1}, 1));
    require(locks.lock({0}, 0));
    const auto size = counts.fetch_add({0}, 1).value();
    require(intervals.put_element({size}, interval));
    require(intervals.fence());  // the interval arrives before others can take the lock
    require(locks.unlock({0}, 0));
  }
  std::optional<Interval> pop() {
    std::optional<Interval> found;
    require(locks.lock({0}, 0));
    if (const auto size = counts.get_element({0}).value(); size > 0) {
      found = intervals.get_element({size - 1}).value();
      require(counts.fetch_add({0}, -1));
    }
    require(locks.unlock({0}, 0));
    return found;
  }
};

int main() {
  auto job = Job::start().value();
  Queue queue{Array<Interval>::create(job, {10'000}, {.name = "intervals"}).value(),
              Array<std::int64_t>::create(job, {2}, {.name = "counts"}).value(),
              LockSet::create(job.world(), job.rank().value == 0 ? 1 : 0).value()};
  if (job.rank().value == 0) {
    queue.push({-1, 2});
  }
  require(job.barrier());
  double mine = 0;
  while (queue.counts.get_element({1}).value() > 0) {
    if (const auto interval = queue.pop()) {
      const double middle = (interval->lo + interval->hi) / 2;
      const Interval left{interval->lo, middle}, right{middle, interval->hi};
      const double both = simpson(left) + simpson(right);
      if (std::abs(both - simpson(*interval)) > 1e-9) {
        queue.push(left), queue.push(right);
      } else {
        mine += both;
      }
      require(queue.counts.fetch_add({1}, -1));  // this interval is finished
    } else {
      std::this_thread::yield();  // others may still add intervals
    }
  }
  const double error = job.world().allreduce(mine, Reduction::sum).value() -
                       100 * (std::atan(200.0) + std::atan(100.0));
  if (job.rank().value == 0) {
    std::printf("the integral of 1 / (1e-4 + x^2) from -1 to 2: error %.1e\n", std::abs(error));
  }
  return std::abs(error) < 1e-6 ? 0 : 1;
}
