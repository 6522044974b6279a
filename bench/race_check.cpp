// SPDX-License-Identifier: BSD-3-Clause
//
// What TESSERA_CHECK=races costs: transfers of patches, a Jacobi iteration, and syncs, each in a
// job with the check and in one without, alternately. Two ranks are threads of this process. Prints
// the medians and their ratio, which the design limits to 3.
//
//     cmake --build build --target race_check_cost; build/bin/race_check_cost [ROUNDS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/halo.hpp"
#include "rma/bootstrap.hpp"
#include "rma/job.hpp"

namespace {

using tessera::arrays::Array;
using tessera::arrays::Box;
using tessera::arrays::Halo;
using tessera::rma::Bootstrap;
using tessera::rma::Job;
using tessera::rma::require;
using tessera::rma::Settings;
using tessera::rma::ThreadGroup;
using tessera::rma::WorldRank;

constexpr std::int64_t edge = 1024;

/// One job's arrays, and what is measured.
class Work {
 public:
  explicit Work(Job& job)
      : job_(job),
        a_(Array<double>::create(job, {edge, edge}, {.name = "a"}).value()),
        u_(make_grid("u")),
        v_(make_grid("v")),
        halo_(Halo::create(u_).value()),
        values_(static_cast<std::size_t>(edge) * edge, 1.0) {}

  /// Puts and gets of patches of the other rank, disjoint ones, and a sync after 64 of them.
  void patches(std::int64_t side, bool is_put) {
    constexpr std::int64_t calls = 64;
    const Box other = a_.box_of(tessera::rma::TeamRank{1 - job_.rank().value});
    const std::span<double> room = std::span(values_).first(static_cast<std::size_t>(side * side));
    const std::int64_t columns = other.extent(1) / side;
    const std::int64_t places = other.extent(0) / side * columns;
    for (std::int64_t i = 0; i < calls; ++i) {
      const std::int64_t place = i * 7 % places;
      const std::int64_t row = other.lo(0) + place / columns * side;
      const std::int64_t column = other.lo(1) + place % columns * side;
      const Box box({row, column}, {row + side, column + side});
      require(is_put ? a_.put(box, std::span<const double>(room)) : a_.get(box, room));
    }
    require(a_.sync());
  }

  /// One step from u to v and back, with an update of ghost cells before each.
  void jacobi() {
    for (int half = 0; half < 2; ++half) {
      require(halo_.update());
      const Array<double>& from = u_;
      const auto old = from.local().value();
      auto changed = v_.local().value();
      const auto u = old.view();
      auto v = changed.view();
      const Box own = old.own();
      for (std::int64_t i = std::max<std::int64_t>(own.lo(0), 1); i < std::min(own.hi(0), edge - 1);
           ++i) {
        for (std::int64_t j = std::max<std::int64_t>(own.lo(1), 1);
             j < std::min(own.hi(1), edge - 1); ++j) {
          v(i, j) = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) + 1e-3;
        }
      }
    }
    require(v_.sync());
  }

 private:
  [[nodiscard]] Array<double> make_grid(const std::string& name) const {
    return Array<double>::create(job_, {edge, edge}, {.name = name, .ghosts = {1, 1}}).value();
  }

  Job& job_;
  Array<double> a_;
  Array<double> u_;
  Array<double> v_;
  Halo halo_;
  std::vector<double> values_;
};

double microseconds(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

struct Measured {
  std::string name;
  std::function<void(Work&)> act;
};

const std::vector<Measured>& all_measured() {
  static const std::vector<Measured> all{
      {"put_4x4", [](Work& work) { work.patches(4, true); }},
      {"get_4x4", [](Work& work) { work.patches(4, false); }},
      {"put_32x32", [](Work& work) { work.patches(32, true); }},
      {"get_32x32", [](Work& work) { work.patches(32, false); }},
      {"put_128x128", [](Work& work) { work.patches(128, true); }},
      {"get_128x128", [](Work& work) { work.patches(128, false); }},
      {"jacobi_1024x1024", [](Work& work) { work.jacobi(); }},
  };
  return all;
}

// One of the two ranks.
void run(const std::shared_ptr<Bootstrap>& without, const std::shared_ptr<Bootstrap>& with,
         int rounds) {
  Settings settings = Settings::from_environment().value();
  settings.check = "off";
  Job plain = Job::start({.bootstrap = without, .settings = settings}).value();
  settings.check = "races";
  Job checked = Job::start({.bootstrap = with, .settings = settings}).value();
  Work plain_work(plain);
  Work checked_work(checked);
  for (const Measured& each : all_measured()) {
    std::vector<double> off;
    std::vector<double> on;
    for (int round = 0; round <= rounds; ++round) {
      off.push_back(microseconds([&] { each.act(plain_work); }));
      on.push_back(microseconds([&] { each.act(checked_work); }));
    }
    if (plain.rank().value == 0) {
      fmt::print("{}_off: {:.1f} us\n{}_races: {:.1f} us\n{}_ratio: {:.2f} times\n", each.name,
                 median(off), each.name, median(on), each.name, median(on) / median(off));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int default_rounds = 31;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : default_rounds;
  ThreadGroup without(2);
  ThreadGroup with(2);
  std::vector<std::thread> ranks;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    ranks.emplace_back(
        [&, rank] { run(without.member(WorldRank{rank}), with.member(WorldRank{rank}), rounds); });
  }
  for (std::thread& each : ranks) {
    each.join();
  }
}
