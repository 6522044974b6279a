// SPDX-License-Identifier: BSD-3-Clause
#include "bench/parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/net_suite.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/support/job_group.hpp"
#include "bench/support/statistics.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::bench {

namespace windows_target {

inline constexpr const char* put = "mpi put 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* get = "mpi get 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* accumulate = "mpi accumulate 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* contiguous = "mpi contiguous: time / ARMCI-MPI";
inline constexpr const char* lists = "mpi lists from 64 segments: speed / ARMCI-MPI";
inline constexpr const char* rows = "mpi rows from 64 segments: speed / ARMCI-MPI";
inline constexpr const char* separate = "mpi 16 to 256 separate puts of 8 B: time / bare MPI";
inline constexpr const char* translation = "translation among 5000 regions: ns";

}  // namespace windows_target

std::function<Part> over_windows(std::function<Part> part) {
  return [part = std::move(part)](Session& session) {
    if (session.goes_over_windows()) {
      part(session);
    } else {
      session.remark(
          "missing: mpi: rank 0 does not reach rank 1 by transport mpi; run TESSERA_TRANSPORT=mpi "
          "mpirun -n 2 tessera-bench mpi");
    }
  };
}

namespace {

/// The candidates of the libraries that support `c`: MPI, ARMCI-MPI.
std::vector<Candidate> library_candidates(Session& session, const Case& c) {
  std::vector<Candidate> found;
  for (const auto& baseline : session.library_baselines()) {
    add(found, baseline->candidate(c));
  }
  return found;
}

Topic windows_topic(std::string op, std::string title, Quantity quantity = Quantity::latency,
                    std::string size_name = "Size") {
  return {"mpi", std::move(op), std::move(title), quantity, std::move(size_name), true};
}

/// Reports the ratio of the subject, which is the last candidate, to `reference`, unless options
/// choose modes other than the default ones.
void observe_on_windows(const Session& session, const char* target, Target::Sense sense,
                        const std::string& where, const std::vector<Measured>& measured,
                        std::string_view reference) {
  if (session.options().has_default_modes()) {
    const Measured* const own = &measured.back();
    const Measured* const other = find(measured, reference);
    const bool is_time = sense == Target::Sense::time_at_most;
    session.observe(target, where, is_time ? own : other, is_time ? other : own);
  }
}

}  // namespace

// Contiguous transfers, compared with the MPI calls that the transport makes ([ARMCIMPI12], figure
// 3). Local completion is compared with MPI_Win_flush_local, a fence with MPI_Win_flush.

namespace {

struct WindowOperation {
  Operation operation;
  Completes completes;
  const char* title;
  const char* op;  ///< in the records
  const char* target;
};

constexpr std::array kinds = {
    WindowOperation{Operation::put, Completes::here, "Put, locally complete,", "put_here",
                    windows_target::put},
    WindowOperation{Operation::put, Completes::at_target, "Put and Fence", "put",
                    windows_target::put},
    WindowOperation{Operation::get, Completes::at_target, "Get", "get", windows_target::get},
    WindowOperation{Operation::accumulate, Completes::here, "Accumulate, locally complete,",
                    "accumulate_here", windows_target::accumulate},
    WindowOperation{Operation::accumulate, Completes::at_target, "Accumulate and Fence",
                    "accumulate", windows_target::accumulate},
};

/// Whether -s includes this kind. A get is complete in any case.
bool is_requested(const Session& session, const WindowOperation& kind) {
  return kind.operation == Operation::get ||
         session.options().completes(kind.completes) == kind.completes;
}

void measure_size(Session& session, TesseraCandidate& own, Topic& topic,
                  const WindowOperation& kind, std::int64_t size) {
  constexpr std::int64_t largest_judged = 64 << 10;
  const Case c =
      Case::contiguous(kind.operation, static_cast<std::size_t>(size)).completing(kind.completes);
  std::vector<Candidate> candidates = library_candidates(session, c);
  add(candidates, own.candidate(c));
  const auto measured =
      session.measure(topic, {size, c}, candidates, session.options().measure_options());
  const std::string where = fmt::format("{} {}", kind.op, size);
  constexpr auto time = Target::Sense::time_at_most;
  if (size <= largest_judged) {
    observe_on_windows(session, kind.target, time, where, measured, "mpi");
  }
  observe_on_windows(session, windows_target::contiguous, time, where, measured, "armci-mpi");
}

}  // namespace

void measure_windows_contiguous(Session& session) {
  constexpr std::int64_t large = 4096;
  TesseraCandidate own(session.job(), session.baseline_options());
  for (const WindowOperation& kind : kinds) {
    if (!is_requested(session, kind)) {
      continue;
    }
    // Small sizes as times, then the large ones as rates: OSU has a program for each.
    for (const Quantity quantity : {Quantity::latency, Quantity::bandwidth}) {
      Topic topic = windows_topic(
          kind.op,
          fmt::format("{} {}", kind.title, quantity == Quantity::latency ? "Latency" : "Bandwidth"),
          quantity);
      for (const std::int64_t size : session.options().sizes()) {
        const bool whole = kind.operation != Operation::accumulate || size % 8 == 0;
        if (whole && (size >= large) == (quantity == Quantity::bandwidth)) {
          measure_size(session, own, topic, kind, size);
        }
      }
    }
  }
}

// Segments by the methods of the transport ([ARMCIMPI12], figure 4): each call complete before the
// next, all calls and one flush, MPI's datatypes, and the library's choice. They are compared with
// MPI's datatypes made in advance, and with ARMCI-MPI in its default configuration.

namespace {

/// Values of TESSERA_MPI_VECTORS and TESSERA_MPI_STRIDES.
struct ListMethod {
  std::string_view name;
  const char* vectors;
  const char* strides;
};

constexpr std::string_view conservative = "conservative";
// The last is the subject of the tables.
constexpr std::array<ListMethod, 4> methods = {{
    {conservative, "conservative", "vectors"},
    {"batched", "batched", "vectors"},
    {"direct", "direct", "direct"},
    {"auto", "auto", "auto"},
}};

/// For rows, only one method makes a call for each.
bool supports(const TesseraWithSettings& side, Layout layout) {
  return layout == Layout::vector || side.name() != conservative;
}

void measure_segments(Session& session, AllSettings& sides, Layout layout, Operation operation,
                      std::size_t bytes) {
  constexpr std::array<std::int64_t, 6> counts = {1, 4, 16, 64, 256, 1024};
  constexpr std::int64_t fewest_judged = 64;
  const bool is_list = layout == Layout::vector;
  const auto make = is_list ? &Case::vector : &Case::strided;
  const std::string op = make(operation, bytes, 2).name();
  Topic topic = windows_topic(op, fmt::format("{}, Segments of {} B, Latency", op, bytes),
                              Quantity::latency, "Segments");
  for (const std::int64_t count : counts) {
    const Case c = session.with_requested_completion(make(operation, bytes, count));
    std::vector<Candidate> candidates = library_candidates(session, c);
    for (const auto& side : sides) {
      if (supports(*side, layout)) {
        candidates.push_back(side->candidate(c));
      }
    }
    const auto measured =
        session.measure(topic, {count, c}, candidates, session.options().measure_options());
    if (count >= fewest_judged) {
      observe_on_windows(session, is_list ? windows_target::lists : windows_target::rows,
                         Target::Sense::speed_at_least, fmt::format("{} {}", op, c.shape()),
                         measured, "armci-mpi");
    }
  }
}

}  // namespace

void measure_windows_lists(Session& session) {
  AllSettings sides;
  for (const ListMethod& method : methods) {
    rma::Settings settings = session.job().settings();
    settings.mpi_vectors = method.vectors;
    settings.mpi_strides = method.strides;
    sides.push_back(std::make_unique<TesseraWithSettings>(std::string(method.name), session.job(),
                                                          settings, session.baseline_options()));
    session.remark(fmt::format("{}: TESSERA_MPI_VECTORS={}, TESSERA_MPI_STRIDES={}", method.name,
                               method.vectors, method.strides));
  }
  for (const Layout layout : {Layout::vector, Layout::strided}) {
    for (const Operation operation : {Operation::get, Operation::put, Operation::accumulate}) {
      for (const std::size_t bytes : {16U, 1024U}) {
        measure_segments(session, sides, layout, operation, bytes);
      }
    }
  }
}

// Words at separate places, a call for each, then a fence, compared with MPI's calls and one flush:
// the calls must not wait for each other.

void measure_windows_separate(Session& session) {
  constexpr std::array<std::int64_t, 5> counts = {1, 4, 16, 64, 256};
  constexpr std::int64_t fewest_judged = 16;
  TesseraCandidate own(session.job(), session.baseline_options());
  for (const Operation operation : {Operation::put, Operation::accumulate}) {
    const std::string op = Case::separate(operation, 8, 2).name();
    Topic topic = windows_topic(op, fmt::format("{}, Calls of 8 B and a Fence, Latency", op),
                                Quantity::latency, "Calls");
    for (const std::int64_t count : counts) {
      const Case c = Case::separate(operation, 8, count).completing(Completes::at_target);
      std::vector<Candidate> candidates = library_candidates(session, c);
      add(candidates, own.candidate(c));
      const auto measured =
          session.measure(topic, {count, c}, candidates, session.options().measure_options());
      if (operation == Operation::put && count >= fewest_judged) {
        observe_on_windows(session, windows_target::separate, Target::Sense::time_at_most,
                           fmt::format("{} {}", op, c.shape()), measured, "mpi");
      }
    }
  }
}

// Kinds of local memory ([ARMCIMPI12], figure 5): memory of the library, a slice of a region, the
// user's memory used before, and memory mapped for each transfer. The clock does not count the
// mapping. They are compared with MPI's calls with memory of MPI and of the user.

namespace {

/// Tessera's side and MPI's with each kind of local memory.
class Buffers {
 public:
  /// Collective.
  explicit Buffers(Session& session)
      : session_(session),
        ordinary_(session.job(), session.baseline_options(), target, LocalMemory::ordinary),
        slice_(session.job(), session.baseline_options(), target, LocalMemory::slice),
        allocated_(session.job(), session.baseline_options(), target, LocalMemory::allocated) {
    for (const bool is_mpis : {false, true}) {
      BaselineOptions options = session.baseline_options();
      options.local_is_mpis = is_mpis;
      std::string missing;
      auto baseline = session.compares_with(Peer::mpi)
                          ? make_mpi_baseline(session.group(), options, missing)
                          : nullptr;
      if (baseline == nullptr) {
        session.remark("missing: " + missing);
        return;
      }
      baselines_.push_back(std::move(baseline));
    }
  }

  void measure(Topic& topic, Operation operation, std::size_t bytes) {
    const Case c = Case::contiguous(operation, bytes).completing(Completes::here);
    PausableClock clock;
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < baselines_.size(); ++i) {
      candidates.push_back(renamed(*baselines_[i]->candidate(c), i == 0 ? "mpi" : "mpi alloc_mem"));
    }
    candidates.push_back(renamed(*ordinary_.candidate(c), "ordinary memory"));
    candidates.push_back(
        renamed(*ordinary_.with_new_memory(operation, bytes, clock), "newly mapped"));
    candidates.push_back(renamed(*slice_.candidate(c), "own slice"));
    candidates.push_back(renamed(*allocated_.candidate(c), "allocate_local"));
    const auto size = static_cast<std::int64_t>(bytes);
    MeasureOptions options = session_.options().measure_options();
    options.clock = clock.clock();
    session_.measure(topic, size, candidates, options);
  }

 private:
  static constexpr rma::TeamRank target{1};

  Session& session_;
  TesseraCandidate ordinary_;
  TesseraCandidate slice_;
  TesseraCandidate allocated_;
  std::vector<std::unique_ptr<Baseline>>
      baselines_;  ///< of MPI: with the user's memory, and with MPI's
};

}  // namespace

void measure_windows_buffers(Session& session) {
  Buffers buffers(session);
  for (const Operation operation : {Operation::get, Operation::put}) {
    const bool gets = operation == Operation::get;
    Topic topic = windows_topic(
        gets ? "get_by_memory" : "put_by_memory",
        std::string(gets ? "Get" : "Put, locally complete,") + " Bandwidth by Local Memory",
        Quantity::bandwidth);
    for (const std::size_t bytes : large_sizes(session)) {
      buffers.measure(topic, operation, bytes);
    }
  }
}

// The time to find the region of (rank, address), as ARMCI's programs specify it ([ARMCIMPI12],
// section V.B), while 5000 regions exist. Each lookup is for another region, in an order unrelated
// to the addresses, so a cache of the last hit does not help. The baseline is a binary search and
// nothing else.

namespace {

constexpr std::size_t region_count = 5000;
constexpr std::size_t region_bytes = 64;
constexpr rma::TeamRank target{1};
constexpr rma::WorldRank target_rank{1};

/// The regions, and an address in each slice of rank 1, in the order of the lookups.
class Regions {
 public:
  /// Collective.
  explicit Regions(rma::Job& job) : job_(job) {
    for (std::size_t i = 0; i < region_count; ++i) {
      regions_.push_back(rma::Region::allocate(job.world(), region_bytes).value());
    }
    constexpr std::size_t step = 1951;  // has no divisor in common with the number of regions
    for (std::size_t i = 0; i < region_count; ++i) {
      const std::size_t at = i * step % region_count;
      addresses_.push_back(static_cast<const std::byte*>(regions_[at].raw_pointer(target)) +
                           offset);
      expected_.push_back(regions_[at].id());
    }
    sorted_ = addresses_;
    std::sort(sorted_.begin(), sorted_.end());
  }

  [[nodiscard]] Candidate translate(std::string name, std::size_t among) {
    Candidate candidate =
        lookup_candidate(std::move(name), among, [this](const std::byte* pointer) {
          return job_.translate(target_rank, pointer).value().offset;
        });
    candidate.verify = [this] { return verify(); };
    return candidate;
  }
  [[nodiscard]] Candidate binary_search() {
    return lookup_candidate("binary search", region_count, [this](const std::byte* pointer) {
      const auto found = std::upper_bound(sorted_.begin(), sorted_.end(), pointer);
      return static_cast<std::uint64_t>(found - sorted_.begin());
    });
  }

 private:
  static constexpr std::uint64_t offset = 24;

  /// One repetition is a lookup; each depends on the previous one's result.
  template <class Lookup>
  Candidate lookup_candidate(std::string name, std::size_t among, Lookup lookup) {
    Candidate candidate;
    candidate.name = std::move(name);
    candidate.run = [this, among, lookup, next = std::size_t{0}](std::int64_t repetitions) mutable {
      std::uint64_t sum = 0;
      for (std::int64_t i = 0; i < repetitions; ++i) {
        sum += lookup(addresses_[next]);
        next = next + 1 < among ? next + 1 : 0;
      }
      sum_ = sum;
    };
    return candidate;
  }

  [[nodiscard]] std::string verify() const {
    for (std::size_t i = 0; i < region_count; ++i) {
      const auto found = job_.translate(target_rank, addresses_[i]);
      if (!found.ok() || found->region != expected_[i] || found->offset != offset) {
        return fmt::format("address {} was not found in its region", i);
      }
    }
    return "";
  }

  rma::Job& job_;
  std::vector<rma::Region> regions_;
  std::vector<const std::byte*> addresses_;
  std::vector<const std::byte*> sorted_;
  std::vector<rma::RegionId> expected_;
  std::uint64_t sum_ = 0;  ///< keeps the compiler from removing lookups
};

}  // namespace

void measure_windows_translation(Session& session) {
  Regions regions(session.job());
  Topic topic = windows_topic("translation",
                              fmt::format("Translation Among {} Regions Latency", region_count),
                              Quantity::latency, "Regions");
  const std::vector<Candidate> candidates = {regions.binary_search(),
                                             regions.translate("same region", 1),
                                             regions.translate("tessera", region_count)};
  // Each sample visits all regions, so that no candidate finds the others' data in the caches.
  const auto measured =
      session.measure(topic, {region_count, fmt::format("regions = {}", region_count), 0},
                      candidates, concurrent(session.options().measure_options()));
  if (session.is_leader()) {
    const Stats& stats = measured.back().stats_ns;
    session.targets().observe(windows_target::translation, "each in turn",
                              {stats.median, stats.ci95_median, stats.samples_n});
  }
}

// CCSD and (T) on MPI's windows, compared with the native transports ([ARMCIMPI12], figure 6). Each
// transport has a job of the same ranks, so all of them take part in the same rounds.

namespace {

rma::Job start_on(rma::Job& first, const char* transport, std::int64_t ranks_per_node) {
  rma::Settings settings = first.settings();
  settings.transport = transport;
  settings.ranks_per_node = ranks_per_node;
  return start_job_on_same_ranks(first, settings);
}

}  // namespace

void measure_windows_ccsd(Session& session) {
  // One node with all ranks, and one node for each rank.
  rma::Job shm = start_on(session.job(), "shm", session.job().size());
  rma::Job tcp = start_on(session.job(), "shm,tcp", 1);
  measure_ccsd_by_jobs(session, "mpi",
                       {{"native shm", &shm}, {"native tcp", &tcp}, {"tessera", &session.job()}});
}

std::vector<Target> windows_targets() {
  return {
      {windows_target::put, "mpi", Target::Sense::time_at_most, 1.1},
      {windows_target::get, "mpi", Target::Sense::time_at_most, 1.1},
      {windows_target::accumulate, "mpi", Target::Sense::time_at_most, 1.1},
      {windows_target::contiguous, "armci-mpi", Target::Sense::time_at_most, 1},
      {windows_target::lists, "armci-mpi", Target::Sense::speed_at_least, 1.5},
      {windows_target::rows, "armci-mpi", Target::Sense::speed_at_least, 1.5},
      {windows_target::separate, "mpi", Target::Sense::time_at_most, 3},
      {windows_target::translation, "a nanosecond", Target::Sense::time_at_most, 40},
  };
}

}  // namespace tessera::bench
