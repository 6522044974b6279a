// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of all suites, which all ranks call together, and the suites' targets: the limits that
// the design sets. The suites' files say what they measure, and what they compare with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

class VerbsPair;

using Part = void(Session&);
using PartOfSuite = void(Session&, const std::string& bench);  ///< it belongs to several suites
using PartOverDevices = void(VerbsPair&);
using Limits = std::vector<Target>();

// rma: between rank 0 and rank 1, and by all ranks
Part measure_contiguous, measure_strided, measure_scattered, measure_atomics, measure_ghosts;
Part measure_window, measure_both_ways, measure_rate_of_pairs, measure_aggregation, measure_sync;
Part measure_reads, measure_tasks, measure_locations;
PartOfSuite measure_collectives, measure_contention;
// armci
Part measure_armci_contiguous, measure_armci_strided, measure_armci_lists;
Part measure_armci_synchronisation, measure_armci_progress, measure_armci_overlap;
Part measure_armci_allocations;
// net: puts and accumulates have a fence after them, because the baselines' requests also have
// replies; if they are not, the title says so
Part measure_net_latency, measure_net_locations, measure_net_rate, measure_net_bandwidth;
Part measure_net_window, measure_net_strided, measure_net_protocols, measure_net_local_patches;
Part measure_net_scattered, measure_net_overlap, measure_net_overlap_steps, measure_net_progress;
Part measure_net_fence, measure_net_idle;
// verbs
PartOverDevices measure_verbs_latency, measure_verbs_bandwidth, measure_verbs_strided;
PartOverDevices measure_verbs_local_patches, measure_verbs_overlap, measure_verbs_registration;
// mpi ([ARMCIMPI12], figures 3 to 6) and scale ([CLUSTERED10], figures 6 to 8)
Part measure_windows_contiguous, measure_windows_lists, measure_windows_buffers;
Part measure_windows_separate, measure_windows_translation, measure_windows_ccsd;
Part measure_scale_memory, measure_scale_job, measure_scale_forward;
// arrays and matrices
Part measure_patches, measure_boxes, measure_elements, measure_modes;
Part measure_checkpoint_write, measure_checkpoint_read, measure_checkpoint_restart;
Part measure_checkpoint_compressed;
Part measure_redistribution, measure_transposition, measure_gemm;
Part measure_spmv, measure_spmv_modes, measure_cg;
// applications, and memory
Part measure_mg, measure_gups, measure_ccsd, measure_memory, measure_application_memory;

Limits shm_targets, net_targets, verbs_targets, windows_targets, scale_targets, patch_targets;
Limits element_targets, gemm_targets, spmv_targets, spmv_mode_targets, mg_targets, ccsd_targets;
Limits peak_targets;

/// Run `part` if ranks 0 and 1 are on different nodes, if rank 0 reaches rank 1 over RDMA devices,
/// or if it reaches it by transport mpi. Otherwise they print a remark that says how to get that.
std::function<Part> between_nodes(std::function<Part> part, const std::string& bench = "net");
std::function<Part> over_devices(std::function<PartOverDevices> part);
std::function<Part> over_windows(std::function<Part> part);

/// Error messages for the values of --matrix, and of --classes, as "A,B"; empty if they are right.
std::string check_matrix(const std::string& name);
std::string check_mg_classes(const std::string& classes);

/// The first and every second size of a list.
std::vector<std::int64_t> every_second(const std::vector<std::int64_t>& sizes);

/// Collective over the session's ranks. All ranks repeat `once` for 10 ms, several times. Records
/// fewest / most of the ranks' counts as `subject` of `backend`, and prints it in a remark. 1 is
/// fair. Records nothing for a single rank.
void measure_fairness(Session& session, const Subject& subject, const std::string& backend,
                      const std::function<void()>& once);

/// Coupled cluster by several jobs of the same ranks, all in the same rounds; the last one is the
/// subject.
struct CcsdJob {
  std::string name;
  rma::Job* job = nullptr;
};
void measure_ccsd_by_jobs(Session& session, const std::string& bench,
                          const std::vector<CcsdJob>& jobs);

}  // namespace tessera::bench
