// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/experiments.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tessera::bench::report {
namespace {

constexpr const char* protocols =
    "TESSERA_RANKS_PER_NODE=1 tessera-run -n 2 tessera-bench net.protocols";
constexpr const char* with_messages =
    "TESSERA_RANKS_PER_NODE=1 mpirun -n 2 --mca pml ob1 --mca btl self,tcp --mca osc pt2pt "
    "tessera-bench net.bandwidth net.strided";
constexpr const char* needs_windows =
    "This needs an MPI library that can create windows among the ranks, and the settings in the "
    "command.";

/// A part that suite mpi measures.
Part windows(const std::string& parts, std::vector<Panel> panels) {
  return {"TESSERA_TRANSPORT=mpi mpirun -n 2 tessera-bench " + parts, std::move(panels),
          needs_windows};
}
constexpr const char* in_clusters = "TESSERA_TUNE=server_cluster=2 TESSERA_RANKS_PER_NODE=1 ";
constexpr const char* forwarded = "tessera-run -n 4 tessera-bench scale.forward";

}  // namespace

Paper protocols_paper() {
  return {
      "protocols",
      "[CLUSTERS02] Protocols for remote memory operations on Myrinet and cLAN clusters (2002)",
      {
          {"Figure 2",
           "Registering memory compared with copying it",
           "The time to register and deregister memory, compared with the bandwidth of a copy. "
           "Registration is cheap on cLAN. On Myrinet it grows with the number of pages, so that a "
           "copy is faster for small and medium sizes.",
           "Puts from registered memory, from memory used before, and from memory new to the "
           "device; and memcpy.",
           {{"TESSERA_RANKS_PER_NODE=1 tessera-run -n 2 tessera-bench verbs.registration",
             {curves_of("verbs", "put_registration", Show::time)},
             needs_device},
            {"tessera-run -n 2 tessera-bench rma.contiguous",
             {curves_of("rma", "put", Show::time, Runs::on_one_node)}}}},
          {"Figures 6 and 7",
           "Get by protocol",
           "Zero-copy was fastest on cLAN for all except small gets. On Myrinet, where "
           "registration is expensive, it was slowest, and pipelined copies were fastest.",
           "Gets through buffers, in a pipeline, without copies, and with the library's choice.",
           {{protocols, {curves_of("net", "get_by_protocol", Show::speed)}}}},
          {"Figures 8 to 11",
           "Put and get, contiguous and strided, compared with messages",
           "Gets were about as fast as MPI's messages. Puts were faster from medium sizes on, and "
           "within 5 % of the bare network on Myrinet. The gap between strided and contiguous "
           "transfers was smaller than MPI's.",
           "The same transfers over TCP, by protocol and compared with MPI.",
           {{protocols,
             {curves_of("net", "put_by_protocol", Show::speed),
              curves_of("net", "get_patch_by_protocol", Show::speed),
              curves_of("net", "put_patch_by_protocol", Show::speed)}},
            {with_messages,
             {curves_of("net", "get", Show::speed), curves_of("net", "put", Show::speed),
              curves_of("net", "get_patch", Show::speed),
              curves_of("net", "put_patch", Show::speed)}}}},
          {"Figure 12",
           "Fences with several outstanding requests",
           "fence_all sends requests to several servers at once and then waits for all. It is "
           "faster than a fence for each, more so if one process calls it than if all do.",
           "The gain by the number of ranks written to, and with at most 3, 5 and 7 outstanding "
           "fences as in the paper. That takes 8 nodes.",
           {{"TESSERA_RANKS_PER_NODE=1 tessera-run -n 8 tessera-bench net.fence",
             {gain_of_fence_all(), curves_of("net", "fence_all", Show::time),
              curves_of("net", "fence_all_by_all", Show::time)}}}},
          {"Table 2",
           "Latency on a node and between nodes",
           "A get took 0.38 µs on a node and 35 µs between nodes, where an interrupt wakes the "
           "server; a lock 1.1 and 36 µs; an unlock, which returns without waiting, 0.8 and 1.6 to "
           "1.9 µs; a read-modify-write about as long as a get.",
           "The same operations by rank 0, with a rank of its own node and with one of another.",
           {{"TESSERA_RANKS_PER_NODE=2 tessera-run -n 4 tessera-bench net.places",
             {bars_of("Operations of 8 bytes", "net",
                      {{"place_get", "get"},
                       {"place_lock", "lock"},
                       {"place_unlock", "unlock"},
                       {"place_fetch_add", "fetch_add"},
                       {"place_swap", "swap"},
                       {"place_put_here", "put, local"},
                       {"place_put_fence", "put + fence"}})}}}},
      }};
}

namespace {

std::vector<Experiment> transfers_on_windows() {
  return {
      {"Figure 3",
       "Bandwidth of get, put and accumulate",
       "ARMCI-MPI compared with native ARMCI on four machines: slower on most, especially in "
       "accumulate on InfiniBand, but twice as fast on the Cray XE.",
       "Tessera on MPI's windows, compared with MPI's own calls and ARMCI-MPI. And Tessera on one "
       "node by loads and stores, compared with these and plain loops.",
       {windows("mpi.contiguous",
                {curves_of("mpi", "get", Show::speed), curves_of("mpi", "put", Show::speed),
                 curves_of("mpi", "accumulate", Show::speed)}),
        {"mpirun -n 2 tessera-bench rma.contiguous",
         {curves_of("rma", "get", Show::speed, Runs::on_one_node),
          curves_of("rma", "put", Show::speed, Runs::on_one_node),
          curves_of("rma", "accumulate", Show::speed, Runs::on_one_node)}}}},
      {"Figure 4",
       "Strided transfers by method",
       "1 to 1024 segments of 16 and 1024 bytes by ARMCI-MPI's methods. The best method depends on "
       "machine and length: MPI's types for short segments, one call for each for long ones.",
       "The same segments by the methods of transport mpi, as rows and as lists, compared with "
       "MPI's types and ARMCI-MPI. And on one node by loads and stores.",
       {windows("mpi.lists", {curves_of("mpi", "get_strided", Show::speed),
                              curves_of("mpi", "put_strided", Show::speed),
                              curves_of("mpi", "accumulate_strided", Show::speed),
                              curves_of("mpi", "get_vector", Show::speed),
                              curves_of("mpi", "put_vector", Show::speed),
                              curves_of("mpi", "accumulate_vector", Show::speed)}),
        {"mpirun -n 2 tessera-bench rma.strided",
         {curves_of("rma", "get_strided", Show::speed, Runs::on_one_node),
          curves_of("rma", "put_strided", Show::speed, Runs::on_one_node),
          curves_of("rma", "accumulate_strided", Show::speed, Runs::on_one_node)}}}},
  };
}

std::vector<Experiment> buffers_and_coupled_cluster() {
  return {
      {"Figure 5",
       "Buffers of one library in the other's transfers",
       "A get into memory that the other runtime system had allocated was much slower, because the "
       "memory wasn't registered with the network that used it.",
       "Gets into memory of the library, of MPI and of the user, also into memory that neither "
       "library has used: by transport mpi, compared with MPI's own gets, and over an RDMA device.",
       {windows("mpi.buffers", {curves_of("mpi", "get_by_memory", Show::speed)}),
        {"TESSERA_RANKS_PER_NODE=1 tessera-run -n 2 tessera-bench verbs.bandwidth",
         {curves_of("verbs", "get", Show::speed)},
         needs_device}}},
      {"Figure 6",
       "Coupled cluster",
       "CCSD and (T) of a water cluster by NWChem: ARMCI-MPI up to twice as slow as native "
       "ARMCI on InfiniBand, 30 % faster on the Cray XE.",
       "The contractions in which CCSD spends its time, and the triples of (T), by orbitals and by "
       "numbers of ranks. And the same on MPI's windows, compared with the native transports in "
       "the same rounds.",
       {windows("mpi.ccsd -m 8:32M", {bars_of("Contractions of CCSD by transport, time", "mpi",
                                              {{"O = 4, V = 16", "O 4, V 16"},
                                               {"O = 8, V = 32", "O 8, V 32"},
                                               {"O = 16, V = 64", "O 16, V 64"},
                                               {"O = 16, V = 128", "O 16, V 128"}}),
                                      // The triples, also by transport.
                                      bars_of("Triples of CCSD(T) by transport, time", "mpi",
                                              {{"(T) O = 4, V = 16", "O 4, V 16"},
                                               {"(T) O = 8, V = 32", "O 8, V 32"},
                                               {"(T) O = 16, V = 64", "O 16, V 64"}})}),
        // The native transports alone.
        {"TESSERA_RANKS_PER_NODE=1 tessera-run -n 2 tessera-bench ccsd -m 8:32M",
         {bars_of("Contractions of CCSD, time", "ccsd",
                  {{"O = 4, V = 16", "O 4, V 16"},
                   {"O = 8, V = 32", "O 8, V 32"},
                   {"O = 16, V = 64", "O 16, V 64"},
                   {"O = 16, V = 128", "O 16, V 128"}}),
          bars_of("Triples of CCSD(T), time", "ccsd",
                  {{"(T) O = 4, V = 16", "O 4, V 16"},
                   {"(T) O = 8, V = 32", "O 8, V 32"},
                   {"(T) O = 16, V = 64", "O 16, V 64"}})}},
        // Several numbers of ranks.
        {"TESSERA_RANKS_PER_NODE=1 tessera-run -n 4 tessera-bench ccsd -m 8:32M",
         {times_by_ranks("contractions by numbers of ranks", "ccsd",
                         {{"O = 4, V = 16", "CCSD, O 4, V 16"},
                          {"O = 8, V = 32", "CCSD, O 8, V 32"},
                          {"O = 16, V = 64", "CCSD, O 16, V 64"},
                          {"O = 16, V = 128", "CCSD, O 16, V 128"}}),
          times_by_ranks("triples by numbers of ranks", "ccsd",
                         {{"(T) O = 4, V = 16", "(T), O 4, V 16"},
                          {"(T) O = 8, V = 32", "(T), O 8, V 32"},
                          {"(T) O = 16, V = 64", "(T), O 16, V 64"}})},
         needs_two_rank_counts}}},
  };
}

}  // namespace

Paper armci_mpi_paper() {
  Paper paper{"armci-mpi",
              "[ARMCIMPI12] Global Arrays and ARMCI on MPI's one-sided communication (2012)",
              transfers_on_windows()};
  for (Experiment& experiment : buffers_and_coupled_cluster()) {
    paper.experiments.push_back(std::move(experiment));
  }
  return paper;
}

Paper clustering_paper() {
  return {
      "clustering",
      "[CLUSTERED10] Cooperative server clustering (2010)",
      {
          {"Figure 6",
           "Latency, direct and forwarded",
           "Put and get took about as long with clustered servers as without, even if an "
           "intermediate server forwards the request.",
           "Gets, and puts with a fence, to a node that rank 0 contacts directly, and to one whose "
           "requests another agent forwards.",
           {{std::string(in_clusters) + forwarded,
             {curves_of("scale", "get_forwarded", Show::time),
              curves_of("scale", "put_forwarded", Show::time)}}}},
          {"Figure 7",
           "Bandwidth, direct and forwarded",
           "A little less for small messages, the same for large ones.",
           "The same, in bytes per second.",
           {{std::string(in_clusters) + forwarded,
             {curves_of("scale", "get_forwarded", Show::speed),
              curves_of("scale", "put_forwarded", Show::speed)}}}},
          {"Figure 8",
           "Memory of the servers",
           "Without clustering, it is linear in the number of processes. With clustering it is "
           "34.7 MB instead of 169.7 MB for 9600 processes on 800 nodes.",
           "Resident memory of a process that creates the agent's objects for a growing number of "
           "processes, 12 per node: by default, in clusters, and with a buffer for each client.",
           {{"tessera-bench scale.memory", {growth_of_agents()}}}},
          {"Figure 9",
           "An application's time",
           "A density functional computation on 2400 processes ran 45 % faster, because it had "
           "more memory.",
           "NAS MG and products of a sparse matrix, with and without clusters.",
           {{std::string(in_clusters) +
                 "tessera-run -n 4 tessera-bench mg spmv.modes --classes S,W,A",
             {bars_of("MG by class, time", "mg",
                      {{"class_S", "S"}, {"class_W", "W"}, {"class_A", "A"}}),
              bars_of("Product with a sparse matrix, time", "spmv",
                      {{"fe2d:200", "finite elements"},
                       {"stencil27:24", "27-point stencil"},
                       {"random:10000,9", "random"}})}}}},
      }};
}

}  // namespace tessera::bench::report
