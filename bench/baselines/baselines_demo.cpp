// SPDX-License-Identifier: BSD-3-Clause
//
// Measures the baselines against each other, to show that they run and how fast they are on this
// machine.
//
//     mpirun -n 2 baselines_demo -m 8:1M
//
// The last baseline of a case is the subject of its table. Exit code: 1 if data were wrong; 2 for
// wrong usage or a file that can't be written.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "apps/common/command_line.hpp"
#include "apps/common/exit_codes.hpp"
#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/mpi_session.hpp"
#include "bench/baselines/mpi_two_sided.hpp"
#include "bench/baselines/tcp_baseline.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/options.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/overlap.hpp"
#include "bench/support/record.hpp"
#include "bench/support/table.hpp"

namespace tessera::bench {
namespace {

/// The measurements of one job: what all tables of the demo share.
class Demo {
 public:
  Demo(RankGroup& group, const SuiteOptions& options, RunInfo run)
      : group_(group), options_(options), report_(std::move(run)) {}

  /// Collective. Measures the candidates and adds a line to their table. Samples are long if ranks
  /// meet in each repetition.
  std::vector<Measured> measure(Table& table, const Subject& subject,
                                const std::vector<Candidate>& candidates, bool meets = false) {
    MeasureOptions options = options_.measure_options();
    if (meets) {
      options.timer_multiple = 2000;  // about 40 µs
    }
    auto measured = measure_interleaved(group_, candidates, options);
    if (group_.rank() == 0) {
      report_.add(to_records(subject, measured));
      if (!options_.quiet) {
        table.add(subject.size, measured);
      }
    }
    return measured;
  }

  [[nodiscard]] Table table(std::string title, std::size_t candidates) {
    Heading heading;
    heading.title = std::move(title);
    heading.subject = candidates - 1;
    heading.full = options_.full;
    return {std::cout, heading, report_.run()};
  }

  /// `c`, complete when -s says.
  [[nodiscard]] Case with_requested_completion(const Case& c) const {
    return c.completing(options_.completes(c.completes));
  }

  [[nodiscard]] const Report& report() const { return report_; }

 private:
  RankGroup& group_;
  const SuiteOptions& options_;
  Report report_;
};

void measure_cases(Demo& demo, BaselineSet& baselines, const std::string& title,
                   const std::vector<Case>& cases) {
  std::optional<Table> table;
  for (const Case& usual : cases) {
    const Case c = demo.with_requested_completion(usual);
    const std::vector<Candidate> candidates = baselines.candidates(c);
    if (candidates.empty()) {
      continue;
    }
    if (!table) {
      table.emplace(demo.table(title, candidates.size()));
    }
    demo.measure(*table, {"baselines", c.name(), c.shape(), static_cast<std::int64_t>(c.bytes())},
                 candidates);
  }
}

void measure_all(Demo& demo, BaselineSet& baselines, const SuiteOptions& options) {
  for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
    std::vector<Case> sizes;
    for (const std::int64_t size : options.sizes()) {
      sizes.push_back(Case::contiguous(operation, static_cast<std::size_t>(size)));
    }
    const std::string name = Case::contiguous(operation, 8).name();
    measure_cases(demo, baselines, name, sizes);
    for (const std::int64_t rows : {64, 512}) {
      measure_cases(demo, baselines, fmt::format("{} of {} rows", name, rows),
                    {Case::strided(operation, 16, rows), Case::strided(operation, 64, rows),
                     Case::strided(operation, 1024, rows)});
    }
    measure_cases(demo, baselines, name + " of 1000 scattered doubles",
                  {Case::vector(operation, 8, 1000)});
  }
  measure_cases(demo, baselines, "fetch-and-add", {Case::contiguous(Operation::fetch_add, 8)});
  measure_cases(demo, baselines, "lock and unlock", {Case::contiguous(Operation::lock_unlock, 8)});
}

void measure_together(Demo& demo, RankGroup& group, const SuiteOptions& options) {
  const std::size_t elements = triad_elements(options.cold_bytes(), group.size());
  const std::vector<Candidate> triad = {triad_candidate(group, elements)};
  Table triad_table = demo.table("STREAM triad", 1);
  demo.measure(triad_table, {"baselines", "triad", "", static_cast<std::int64_t>(triad[0].bytes)},
               triad);
}

/// Baselines over a network, if there is one: TCP, and MPI's messages.
struct Wire {
  std::vector<std::unique_ptr<TcpBaseline>> baselines;  ///< blocking, polling

  Wire(RankGroup& group, const BaselineOptions& options) {
    for (const Waiting waiting : {Waiting::blocking, Waiting::polling}) {
      std::string missing;
      if (auto baseline = make_tcp_baseline(group, options, {.waiting = waiting}, missing)) {
        baselines.push_back(std::move(baseline));
      } else if (group.rank() == 0) {
        std::cout << "# missing: " << missing << '\n';
      }
    }
  }

  /// The results of `make` for each baseline, after `first`.
  template <class Make>
  [[nodiscard]] std::vector<Candidate> candidates(std::optional<Candidate> first,
                                                  const Make& make) const {
    std::vector<Candidate> found;
    add(found, std::move(first));
    for (const auto& baseline : baselines) {
      add(found, make(*baseline));
    }
    return found;
  }
};

void measure_wire(Demo& demo, RankGroup& group, const SuiteOptions& options, const Wire& wire) {
  constexpr std::int64_t outstanding = 4;
  const auto measure = [&](const std::string& title, const std::string& op, const auto& make) {
    std::optional<Table> table;
    for (const std::int64_t size : options.sizes()) {
      const std::vector<Candidate> candidates = make(static_cast<std::size_t>(size));
      if (candidates.empty()) {
        continue;
      }
      if (!table) {
        table.emplace(demo.table(title, candidates.size()));
      }
      demo.measure(*table, {"baselines", op, "", size}, candidates, true);
    }
  };
  for (const Operation operation : {Operation::put, Operation::get}) {
    const std::string name = Case::contiguous(operation, 8).name();
    measure(name + " over TCP", name + "_wire", [&](std::size_t bytes) {
      return wire.candidates({}, [&](TcpBaseline& baseline) {
        return baseline.candidate(Case::contiguous(operation, bytes));
      });
    });
    measure(fmt::format("{} over TCP, {} outstanding", name, outstanding), name + "_stream",
            [&](std::size_t bytes) {
              return wire.candidates(operation == Operation::put
                                         ? mpi_stream_candidate(group, bytes, outstanding)
                                         : std::nullopt,
                                     [&](TcpBaseline& baseline) {
                                       return baseline.stream(operation, bytes, outstanding);
                                     });
            });
  }
  measure("round trip", "ping_pong", [&](std::size_t bytes) {
    return wire.candidates(mpi_ping_pong_candidate(group, bytes),
                           [&](TcpBaseline& baseline) { return baseline.ping_pong(bytes); });
  });
}

/// How much of a get a helper thread at each end hides, while the target sleeps and while it
/// computes.
void measure_overlap(Demo& demo, RankGroup& group, const SuiteOptions& options, const Wire& wire) {
  constexpr std::size_t bytes = 4 << 20;
  for (const auto& baseline : wire.baselines) {
    const auto transfer = baseline->started_get(bytes);
    if (!transfer) {
      continue;
    }
    const auto computation = Computation::lasting(std::chrono::milliseconds(4));
    for (const bool is_target_busy : {false, true}) {
      std::optional<BackgroundComputation> busy;
      if (is_target_busy && group.rank() == 1) {
        busy.emplace();
      }
      Table table = demo.table(is_target_busy ? "overlap, target computing" : "overlap", 3);
      const auto measured =
          demo.measure(table, {"baselines", is_target_busy ? "overlap_busy" : "overlap", "", bytes},
                       {blocking_candidate(*transfer), computing_candidate(computation),
                        overlapped_candidate(*transfer, computation)});
      if (group.rank() == 0 && !options.quiet) {
        fmt::print("# hidden: {:.2f}\n",
                   hidden_fraction(measured[0].stats_ns.median, measured[1].stats_ns.median,
                                   measured[2].stats_ns.median));
        std::fflush(stdout);
      }
    }
  }
}

/// Collective. The program after its options are parsed; returns its exit code.
int run_demo(const SuiteOptions& options, int argc, const char* const* argv) {
  const std::unique_ptr<MpiSession> mpi = start_mpi();
  SingleRankGroup solo;
  RankGroup& group = mpi ? mpi->group() : solo;
  BaselineOptions baseline_options;
  baseline_options.attaches = options.attaches;
  baseline_options.cold = options.cold;
  baseline_options.cold_bytes = options.cold_bytes();
  BaselineSet baselines = make_baselines(group, baseline_options);
  RunInfo run = describe_run(group, argc, argv);
  run.host.mpi = mpi ? mpi->version() : "";
  run.launch.options = options.distinguishing();
  if (options.cache_bytes > 0) {
    run.host.llc_bytes = options.cache_bytes;
  }

  OutputFiles files;
  if (!files.open(group, options)) {
    return apps::exit_usage;
  }
  Demo demo(group, options, std::move(run));
  if (group.rank() == 0 && !options.quiet) {
    for (const std::string& missing : baselines.missing) {
      std::cout << "# missing: " << missing << '\n';
    }
  }
  measure_all(demo, baselines, options);
  measure_together(demo, group, options);
  {
    const Wire wire(group, baseline_options);
    measure_wire(demo, group, options, wire);
    measure_overlap(demo, group, options, wire);
  }
  if (group.rank() == 0 && !files.write(demo.report())) {
    return apps::exit_usage;
  }
  return demo.report().is_valid() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  tessera::bench::SuiteOptions options;
  CLI::App app{"Measures the baselines against each other"};
  add_options(app, options);
  if (const auto code = tessera::apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  return tessera::bench::run_demo(options, argc, argv);
}
