// SPDX-License-Identifier: BSD-3-Clause
//
// Session: what all suites of one run share; and Suite, what tessera-bench runs by name.
//
// A suite is a list of parts, each a function that all ranks call together. Adding a suite is a
// folder and one line in bench/suites.cpp; `tessera-bench rma` runs all of its parts and
// `tessera-bench rma.strided` one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/memory_check.hpp"
#include "bench/floors/floor.hpp"
#include "bench/floors/global_arrays.hpp"
#include "bench/support/crew.hpp"
#include "bench/support/job_crew.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/options.hpp"
#include "bench/support/paths.hpp"
#include "bench/support/record.hpp"
#include "bench/support/table.hpp"
#include "bench/support/target.hpp"
#include "rma/job.hpp"

namespace tessera::bench {

/// What Tessera is measured beside, where a table has it; --compare chooses.
enum class Peer : std::uint8_t {
  memory,     ///< memcpy, plain loops, single atomic instructions
  mpi,        ///< windows, messages, collectives
  armci,      ///< ARMCI-MPI
  ga,         ///< Global Arrays
  tcp,        ///< bare sockets
  scalapack,  ///< pdgemm, pdgemr2d, pdtran
  shmem,      ///< OpenSHMEM; only where it is named
};

/// What is wrong with a list such as "memory,mpi"; empty when nothing is.
std::string check_peers(const std::string& names);

/// The command line of tessera-bench.
struct BenchOptions : SuiteOptions {
  std::vector<std::string> suites;     ///< "rma", or one part: "rma.strided"
  int threads = 0;                     ///< ranks as threads of one process; 0: as they were started
  std::string peers = "all";           ///< --compare: names, "all" but OpenSHMEM, or "none"
  std::int64_t gups_bytes = 32 << 20;  ///< of suite gups: each rank's part of the table
  std::string mg_classes = "A";        ///< of suite mg
  std::string folder = ".";            ///< where suite checkpoint writes its files
  std::string report;                  ///< --report FILE
  std::vector<std::int64_t> gemm_edges = {1000, 2000, 4000};  ///< of suite gemm
  std::string matrix = "stencil27:64";  ///< of part spmv.cg: a generator's name or a file

  /// See SuiteOptions.
  [[nodiscard]] std::map<std::string, std::string> distinguishing() const;
  /// Targets speak of the modes that tables have by themselves, not of those asked for.
  [[nodiscard]] bool has_default_modes() const { return sync.empty() && !attaches; }
};

/// What a suite was given and can't work on, as a damaged file. All ranks throw it at once.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Session {
 public:
  /// Collective. All must outlive the session. Says which of what is compared with goes through
  /// memory between nodes.
  Session(rma::Job& job, Crew& crew, const BenchOptions& options, Report& report, Targets& targets);

  [[nodiscard]] rma::Job& job() const { return job_; }
  [[nodiscard]] Crew& crew() const { return crew_; }
  /// The same ranks; those that wait in it sleep. In an MPI's crew they look for messages every 50
  /// µs, which disturbs an agent that has the same core.
  [[nodiscard]] Crew& sleeping_crew() { return sleeping_crew_; }
  [[nodiscard]] const BenchOptions& options() const { return options_; }
  [[nodiscard]] Targets& targets() const { return targets_; }
  [[nodiscard]] bool is_leader() const { return crew_.rank() == 0; }
  /// Whether --compare asks for it. What a part's own ratios are taken to stays in any case.
  [[nodiscard]] bool compares_with(Peer peer) const;

  /// `c`, complete where -s says, or where its layout usually is among so many nodes.
  [[nodiscard]] Case as_asked(const Case& c) const;
  /// Whether what is always answered, as a message over a socket, does the same as `c`. On one node
  /// it stands beside all: what is complete here has arrived there.
  [[nodiscard]] bool has_answers_beside(const Case& c) const {
    return c.operation == Operation::get || c.needs_fence() || job_.node_count() == 1;
  }
  /// Says that `those` are missing beside `c`, where they are.
  void remark_on_answers(const std::string& those, const Case& c) const;

  /// Collective. Whether rank 0 reaches rank 1 by transport mpi.
  [[nodiscard]] bool goes_over_windows() const;

  /// What buffers a transfer of up to the largest size of -m needs.
  [[nodiscard]] FloorOptions floor_options() const;
  /// Collective. The floors that are libraries, as far as they can be had; made when first asked
  /// for, and one set for the whole run, since not every library can be started twice.
  const std::vector<std::unique_ptr<Floor>>& library_floors();
  /// Collective. Global Arrays, started when first asked for; null where it can't be had.
  GlobalArrays* global_arrays();

  /// A table whose subject is candidate number `subject`.
  [[nodiscard]] Table table(std::string title, std::size_t subject,
                            Quantity quantity = Quantity::latency,
                            std::string size_name = "Size") const;
  /// The same of cases like `c`; its heading says where they are complete.
  [[nodiscard]] Table table_of(const Case& c, std::string title, std::size_t subject,
                               Quantity quantity, std::string size_name) const;

  /// What a backend is called in tables, records and remarks; see bench/support/paths.hpp.
  [[nodiscard]] std::string shown(const std::string& backend) const {
    return name_by_path(backend, paths_);
  }
  /// Tells a target's ratio to `backend`; where that goes through memory between nodes, only that
  /// the target's reference was missing.
  void observe_beside(const std::string& backend, std::string_view target, const std::string& where,
                      const Ratio& ratio) const;

  /// Collective. Measures the candidates, records them, and adds a line to `table`.
  std::vector<Measured> measure(Table& table, const Subject& subject, std::int64_t line,
                                const std::vector<Candidate>& candidates,
                                const MeasureOptions& options) const;
  std::vector<Measured> measure(Table& table, const Subject& subject, std::int64_t line,
                                const std::vector<Candidate>& candidates) const {
    return measure(table, subject, line, candidates, options_.measure_options());
  }

  /// Adds what measure_interleaved() gave, as measure() does.
  void add(Table& table, const Subject& subject, std::int64_t line,
           const std::vector<Measured>& measured) const;
  /// The same for a line that has a name; see Table::add().
  void add(Table& table, const Subject& subject, const std::string& line,
           const std::vector<Measured>& measured) const;
  /// Adds what was not measured as a candidate, on rank 0.
  void record(Record record) const;
  void record(MatrixPattern pattern) const;

  /// What an application reached, in one number; tells it last of all.
  void rate(Rating rating) const;

  /// A line that begins with `#`, on rank 0.
  void remark(const std::string& text) const;

 private:
  [[nodiscard]] PathsInMemory paths_between_nodes();
  void remark_on_paths() const;
  [[nodiscard]] Heading heading(std::string title, std::size_t subject, Quantity quantity,
                                std::string size_name) const;

  rma::Job& job_;
  Crew& crew_;
  JobCrew sleeping_crew_;
  const BenchOptions& options_;
  Report& report_;
  Targets& targets_;
  PathsInMemory paths_;
  bool has_floors_ = false;
  std::vector<std::unique_ptr<Floor>> library_floors_;
  bool has_asked_for_global_arrays_ = false;
  std::unique_ptr<GlobalArrays> global_arrays_;
};

/// Collective. Throws BadInput where a machine hasn't the memory that its ranks would need.
void require_memory(Session& session, const apps::MemoryNeed& need);

/// Options for candidates in which ranks meet in each repetition: samples so long that the few
/// hundred nanoseconds between two ranks' starts don't count.
MeasureOptions together(MeasureOptions options);
/// Options for candidates in which ranks work at the same time, but never meet: samples so long
/// that neither does a rank's waking up, without which they would work one after the other. Also
/// for what a program does many times in a row, as a solver multiplies: caches, and buffers that
/// are used in turns, are as in such a row.
MeasureOptions side_by_side(MeasureOptions options);

struct SuitePart {
  std::string name;
  std::function<void(Session&)> run;
};

struct Suite {
  std::string name;
  std::string description;
  std::vector<SuitePart> parts;
  std::vector<Target> targets;
};

/// All suites, in the order in which they are listed and run.
const std::vector<Suite>& suites();

}  // namespace tessera::bench
