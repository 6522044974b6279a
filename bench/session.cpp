// SPDX-License-Identifier: BSD-3-Clause
#include "bench/session.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/baselines/mpi.hpp"
#include "bench/baselines/shmem.hpp"

namespace tessera::bench {
namespace {

constexpr std::array<std::string_view, 7> peer_names = {"memory", "mpi",       "armci", "ga",
                                                        "tcp",    "scalapack", "shmem"};
constexpr std::string_view all_peers = "all";

constexpr std::string_view name_of(Peer peer) {
  return peer_names[static_cast<std::size_t>(peer)];
}

/// Whether --compare has that word.
bool names_peer(const std::string& peers, std::string_view name) {
  const auto names = words_between_commas(peers);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// OpenSHMEM replaces the process's malloc(), and ends the job if it can't start.
constexpr bool is_among_all(Peer peer) {
  return peer != Peer::shmem;
}

}  // namespace

std::string check_peers(const std::string& names) {
  if (names == "none") {
    return "";
  }
  for (const std::string_view name : words_between_commas(names)) {
    if (name != all_peers &&
        std::find(peer_names.begin(), peer_names.end(), name) == peer_names.end()) {
      return fmt::format(
          "'{}' is not a name that --compare takes; it takes {}, or all (except shmem), or none",
          name, fmt::join(peer_names, ", "));
    }
  }
  return "";
}

std::map<std::string, std::string> BenchOptions::distinguishing() const {
  auto found = SuiteOptions::distinguishing();
  if (threads > 0) {
    found["--threads"] = "yes";  // the record has the number of ranks
  }
  // OpenSHMEM affects MPI's behaviour in the same process.
  if (names_peer(peers, name_of(Peer::shmem))) {
    found["--compare shmem"] = "yes";
  }
  if (folder != ".") {
    found["--folder"] = folder;
  }
  return found;
}

Session::Session(rma::Job& job, RankGroup& group, const BenchOptions& options, Report& report,
                 Targets& targets)
    : job_(job),
      group_(group),
      sleeping_group_(job),
      options_(options),
      report_(report),
      targets_(targets),
      paths_(paths_between_nodes()) {
  remark_on_paths();
}

bool Session::goes_over_windows() const {
  const auto name = job_.transport_to(rma::WorldRank{job_.size() > 1 ? 1 : 0});
  return group_.share(name.ok() && *name == "mpi");
}

// If Tessera itself uses MPI's windows, every library that uses MPI goes the same way.
PathsInMemory Session::paths_between_nodes() {
  if (job_.node_count() == 1 || goes_over_windows()) {
    return {};
  }
  const MpiPath mpi = mpi_path(group_);
  const bool has_messages = compares_with(Peer::mpi) || compares_with(Peer::scalapack);
  const bool has_windows =
      compares_with(Peer::mpi) || compares_with(Peer::armci) || compares_with(Peer::ga);
  return {.mpi_messages = has_messages && mpi.messages_share_memory,
          .mpi_windows = has_windows && mpi.windows_share_memory,
          .openshmem = compares_with(Peer::shmem) && shmem_shares_memory(group_)};
}

void Session::remark_on_paths() const {
  if (paths_.mpi_messages) {
    remark(
        "mpi: its messages between these nodes use shared memory; set OMPI_MCA_btl=self,tcp and "
        "OMPI_MCA_pml=ob1, or UCX_TLS=tcp,self if it uses UCX, to send them over TCP");
  }
  if (paths_.mpi_windows) {
    remark(
        "mpi: its windows between these nodes use shared memory; set OMPI_MCA_osc=pt2pt to make "
        "them use messages");
  }
  if (paths_.openshmem) {
    remark(
        "openshmem: it uses shared memory between these nodes; set UCX_TLS=tcp,self to make it use "
        "TCP");
  }
}

void Session::observe_ratio_to(const std::string& backend, std::string_view target,
                               const std::string& where, const Ratio& ratio) const {
  if (goes_through_memory(backend, paths_)) {
    targets_.record_missing_reference(target);
  } else {
    targets_.observe(target, where, ratio);
  }
}

void Session::observe(std::string_view target, const std::string& where, const Measured* over,
                      const Measured* under) const {
  if (!is_leader()) {
    return;
  }
  if (over == nullptr || under == nullptr) {
    targets_.record_missing_reference(target);
  } else {
    targets_.observe(target, where, ratio_of_medians(over->samples_ns, under->samples_ns));
  }
}

const Measured* find(const std::vector<Measured>& measured, std::string_view name) {
  const auto found = std::find_if(measured.begin(), measured.end(),
                                  [name](const Measured& one) { return one.name == name; });
  return found == measured.end() ? nullptr : &*found;
}

bool Session::compares_with(Peer peer) const {
  return names_peer(options_.peers, name_of(peer)) ||
         (is_among_all(peer) && names_peer(options_.peers, all_peers));
}

BaselineOptions Session::baseline_options() const {
  BaselineOptions baseline_options;
  baseline_options.capacity_bytes =
      std::max(baseline_options.capacity_bytes, static_cast<std::size_t>(options_.max_size));
  baseline_options.cold = options_.cold;
  baseline_options.cold_bytes = options_.cold_bytes();
  baseline_options.attaches = options_.attaches;
  return baseline_options;
}

const std::vector<std::unique_ptr<Baseline>>& Session::library_baselines() {
  if (!has_baselines_) {
    has_baselines_ = true;
    const std::array makers = {std::pair(Peer::mpi, &make_mpi_baseline),
                               std::pair(Peer::armci, &make_armci_baseline),
                               std::pair(Peer::shmem, &make_shmem_baseline)};
    for (const auto& [peer, make] : makers) {
      std::string missing;
      if (!compares_with(peer)) {
        continue;
      }
      if (auto baseline = make(group_, baseline_options(), missing)) {
        library_baselines_.push_back(std::move(baseline));
      } else {
        remark("missing: " + missing);
      }
    }
  }
  return library_baselines_;
}

GlobalArrays* Session::global_arrays() {
  if (!has_started_global_arrays_ && compares_with(Peer::ga)) {
    has_started_global_arrays_ = true;
    std::string missing;
    global_arrays_ = GlobalArrays::start(group_, missing);
    if (global_arrays_ == nullptr) {
      remark("missing: " + missing);
    }
  }
  return global_arrays_.get();
}

Case Session::with_requested_completion(const Case& c) const {
  return c.completing(options_.completes(usual_completion(c.layout, job_.node_count())));
}

void Session::remark_on_replies(const std::string& those, const Case& c) const {
  if (!has_comparable_replies(c)) {
    remark(
        fmt::format("left out: {}; each of its operations waits for a reply, but this table's are "
                    "complete locally",
                    those));
  }
}

Table Session::table(std::string title, std::size_t subject, Quantity quantity,
                     std::string size_name, std::string sync) const {
  return {std::cout,
          {.title = std::move(title),
           .quantity = quantity,
           .subject = subject,
           .full = options_.full,
           .size_name = std::move(size_name),
           .sync = std::move(sync)},
          report_.run()};
}

std::vector<Measured> Session::measure(Topic& topic, const Line& line,
                                       const std::vector<Candidate>& candidates) {
  const bool meet = std::any_of(candidates.begin(), candidates.end(),
                                [](const Candidate& each) { return each.cooperative; });
  const MeasureOptions options = options_.measure_options();
  return measure(topic, line, candidates, meet ? together(options) : options);
}

std::vector<Measured> Session::measure(Topic& topic, const Line& line,
                                       const std::vector<Candidate>& candidates,
                                       MeasureOptions options) {
  if (!topic.table) {
    topic.table.emplace(
        table(topic.title, candidates.size() - 1, topic.quantity, topic.size_name, topic.sync));
  }
  options.sampling_limit = topic.limit.value_or(options.sampling_limit);
  RankGroup& group = topic.sleeps ? sleeping_group_ : group_;
  auto measured = measure_interleaved(group, candidates, options);
  add(*topic.table, {topic.bench, topic.op, line.shape, line.size}, std::to_string(line.number),
      measured);
  return measured;
}

void Session::add(Table& table, const Subject& subject, const std::string& line,
                  const std::vector<Measured>& measured) const {
  if (!is_leader()) {
    return;
  }
  std::vector<Measured> named = measured;
  for (Measured& each : named) {
    each.name = shown(each.name);
  }
  report_.add(to_records(subject, named, table.subject_in(named)));
  if (!options_.quiet) {
    table.add(line, named);
  }
}

void Session::record(const Subject& subject, const std::string& backend, const std::string& unit,
                     const Stats& stats) const {
  Record made;
  made.bench = subject.bench;
  made.backend = backend;
  made.op = subject.op;
  made.shape = subject.shape;
  made.size = subject.size;
  made.unit = unit;
  made.stats = stats;
  record(std::move(made));
}

void Session::record(Record record) const {
  if (!is_leader()) {
    return;
  }
  record.backend = shown(record.backend);
  if (record.ratio) {
    record.ratio->reference = shown(record.ratio->reference);
  }
  report_.add({std::move(record)});
}

void Session::record(MatrixPattern pattern) const {
  if (is_leader()) {
    report_.add(std::move(pattern));
  }
}

void Session::rate(Rating rating) const {
  if (is_leader()) {
    report_.add(std::move(rating));
  }
}

void Session::remark(const std::string& text) const {
  if (is_leader() && !options_.quiet) {
    std::cout << "# " << text << '\n';
  }
}

void Session::remark(const std::string& text, const Ratio& ratio) const {
  remark(
      fmt::format("{}: {:.3f} [{:.3f},{:.3f}]", text, ratio.value, ratio.ci95.lo, ratio.ci95.hi));
}

void require_memory(Session& session, const apps::MemoryNeed& need) {
  const rma::Status fits = apps::check_memory(session.job(), need);
  if (!fits.ok()) {
    throw BadInput(std::string(fits.message()));
  }
}

namespace {

// Shortest sample, in clock readings.
constexpr double min_sample_40_us = 2000;
constexpr double min_sample_2_ms = 100'000;

MeasureOptions with_min_sample(MeasureOptions options, double clock_readings) {
  options.timer_multiple = clock_readings;
  return options;
}

}  // namespace

MeasureOptions together(MeasureOptions options) {
  return with_min_sample(options, min_sample_40_us);
}

MeasureOptions concurrent(MeasureOptions options) {
  return with_min_sample(options, min_sample_2_ms);
}

}  // namespace tessera::bench
