// SPDX-License-Identifier: BSD-3-Clause
#include "bench/parts.hpp"
#include "bench/session.hpp"

namespace tessera::bench {
namespace {

std::vector<Target> joined(std::vector<Target> first, const std::vector<Target>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Suite rma_suite() {
  return {"rma",
          "one-sided operations between rank 0 and rank 1, compared with memory, MPI and ARMCI-MPI",
          {{"contiguous", measure_contiguous},
           {"strided", measure_strided},
           {"scattered", measure_scattered},
           {"atomics", measure_atomics},
           {"collectives", [](Session& session) { measure_collectives(session, "rma"); }},
           {"contention", [](Session& session) { measure_contention(session, "rma"); }},
           {"ghosts", measure_ghosts},
           {"window", measure_window},
           {"both_ways", measure_both_ways},
           {"rate", measure_rate_of_pairs},
           {"aggregation", measure_aggregation},
           {"sync", measure_sync},
           {"reads", measure_reads},
           {"tasks", measure_tasks},
           {"places", measure_locations}},
          shm_targets()};
}

Suite net_suite() {
  return {
      "net",
      "one-sided operations between rank 0 and rank 1 on another node, compared with raw TCP and "
      "MPI",
      {{"latency", between_nodes(measure_net_latency)},
       {"places", measure_net_locations},
       {"rate", between_nodes(measure_net_rate)},
       {"bandwidth", between_nodes(measure_net_bandwidth)},
       {"window", between_nodes(measure_net_window)},
       {"strided", between_nodes(measure_net_strided)},
       {"protocols", between_nodes(measure_net_protocols)},
       {"local_patches", between_nodes(measure_net_local_patches)},
       {"scattered", between_nodes(measure_net_scattered)},
       {"overlap", between_nodes(measure_net_overlap)},
       {"overlap_steps", between_nodes(measure_net_overlap_steps)},
       {"progress", between_nodes(measure_net_progress)},
       {"fence", between_nodes(measure_net_fence)},
       {"contention", between_nodes([](Session& session) { measure_contention(session, "net"); })},
       {"collectives",
        between_nodes([](Session& session) { measure_collectives(session, "net"); })},
       {"idle", between_nodes(measure_net_idle)}},
      net_targets()};
}

Suite windows_suite() {
  return {"mpi",
          "transport mpi between rank 0 and rank 1, compared with the MPI calls that it makes",
          {{"contiguous", over_windows(measure_windows_contiguous)},
           {"lists", over_windows(measure_windows_lists)},
           {"separate", over_windows(measure_windows_separate)},
           {"buffers", over_windows(measure_windows_buffers)},
           {"translation", over_windows(measure_windows_translation)},
           {"ccsd", over_windows(measure_windows_ccsd)}},
          windows_targets()};
}

Suite armci_suite() {
  return {"armci",
          "calls of the ARMCI interface by Tessera, compared with ARMCI-MPI in the same rounds",
          {{"contiguous", measure_armci_contiguous},
           {"strided", measure_armci_strided},
           {"lists", measure_armci_lists},
           {"synchronisation", measure_armci_synchronisation},
           {"progress", measure_armci_progress},
           {"overlap", measure_armci_overlap},
           {"allocations", measure_armci_allocations}},
          {}};
}

Suite scale_suite() {
  return {"scale",
          "memory of agents for growing numbers of processes, and requests that agents forward",
          {{"memory", measure_scale_memory},
           {"job", measure_scale_job},
           {"forward", measure_scale_forward}},
          scale_targets()};
}

}  // namespace

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all = {
      rma_suite(),
      net_suite(),
      {"verbs",
       "puts and gets over RDMA devices between rank 0 and rank 1, compared with a bare loop on "
       "libibverbs",
       {{"latency", over_devices(measure_verbs_latency)},
        {"bandwidth", over_devices(measure_verbs_bandwidth)},
        {"strided", over_devices(measure_verbs_strided)},
        {"local_patches", over_devices(measure_verbs_local_patches)},
        {"overlap", over_devices(measure_verbs_overlap)},
        {"registration", over_devices(measure_verbs_registration)}},
       verbs_targets()},
      windows_suite(),
      armci_suite(),
      scale_suite(),
      {"mg",
       "NAS MG, compared with the STREAM triad on the same number of ranks",
       {{"classes", measure_mg}},
       mg_targets()},
      {"arrays",
       "boxes and listed elements of distributed arrays, compared with bare calls, MPI and Global "
       "Arrays",
       {{"patches", measure_patches},
        {"boxes", measure_boxes},
        {"elements", measure_elements},
        {"modes", between_nodes(measure_modes, "arrays.modes")}},
       joined(patch_targets(), element_targets())},
      {"checkpoint",
       "an array to a file and back, compared with bare system calls",
       {{"write", measure_checkpoint_write},
        {"read", measure_checkpoint_read},
        {"restart", measure_checkpoint_restart},
        {"compressed", measure_checkpoint_compressed}},
       {}},
      {"spmv",
       "sparse matrix-vector products, compared with a serial loop and the STREAM triad on the "
       "same number of ranks",
       {{"matrices", measure_spmv},
        {"cg", measure_cg},
        {"modes", between_nodes(measure_spmv_modes, "spmv.modes")}},
       joined(spmv_targets(), spmv_mode_targets())},
      {"gemm",
       "products of matrices distributed in four ways, compared with simultaneous local products, "
       "one on each rank",
       {{"layouts", measure_gemm}},
       gemm_targets()},
      {"layouts",
       "matrices redistributed and transposed, compared with ScaLAPACK and local copies",
       {{"redistribution", measure_redistribution}, {"transposition", measure_transposition}},
       {}},
      {"gups",
       "updates of random words on all ranks (HPC Challenge RandomAccess), verified",
       {{"updates", measure_gups}},
       {}},
      {"ccsd",
       "contractions of coupled cluster, compared with simultaneous local products, one on each "
       "rank",
       {{"contractions", measure_ccsd}},
       ccsd_targets()},
      {"memory",
       "peak memory of operations on whole arrays and of applications, compared with their data",
       {{"peaks", measure_memory}, {"applications", measure_application_memory}},
       peak_targets()},
  };
  return all;
}

}  // namespace tessera::bench
