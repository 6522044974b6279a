// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/experiments.hpp"

#include <utility>

namespace tessera::bench::report {
namespace {

constexpr const char* on_one_node = "mpirun -n 2 tessera-bench ";
constexpr const char* over_tcp =
    "TESSERA_RANKS_PER_NODE=1 mpirun -n 2 --mca pml ob1 --mca btl self,tcp --mca osc pt2pt ";
constexpr const char* on_four_nodes =
    "TESSERA_RANKS_PER_NODE=1 mpirun -n 4 --oversubscribe --mca pml ob1 --mca btl self,tcp "
    "--mca osc pt2pt tessera-bench ";
constexpr const char* over_devices = "TESSERA_RANKS_PER_NODE=1 tessera-run -n 2 tessera-bench ";

std::string shared(const std::string& parts) {
  return on_one_node + parts;
}
std::string net(const std::string& parts) {
  return std::string(over_tcp) + "tessera-bench " + parts;
}
Part verbs(const std::string& parts, std::vector<Panel> panels) {
  return {over_devices + parts, std::move(panels), needs_device};
}
Panel mpi_for_comparison(const std::string& bench, const std::string& op, Runs runs = Runs::any) {
  return part_of_another("MPI, for comparison", bench, op, runs, "mpi");
}
/// Runs with a second number of ranks, in addition to net().
Part more_ranks(const std::string& parts, Panel panel) {
  return {on_four_nodes + parts, {std::move(panel)}, needs_two_rank_counts};
}

std::vector<Experiment> microbenchmarks() {
  return {
      {"Table 1",
       "Latency of put and get",
       "On four machines a put took 2 to 12.8 µs and a get 2.1 to 17.8 µs: least on the Cray X1, "
       "which can load and store remote memory directly, most over Myrinet.",
       "The same operations of 8 bytes through shared memory, over TCP and over RDMA devices.",
       {{"",
         {small_operations({"Put, local", "Put and fence", "Get"},
                           {{"own node", "rma", {"put", "put_fence", "get"}, Runs::on_one_node},
                            {"another node, TCP", "net", {"put_here", "put", "get"}},
                            {"another node, RDMA", "verbs", {"put", "put_fence", "get"}}})}},
        // Commands that measure the rows.
        {shared("rma.contiguous"),
         {part_of_another("the row of the own node", "rma", "put", Runs::on_one_node)}},
        {net("net.latency"),
         {part_of_another("the row of another node over TCP", "net", "put_here")}},
        verbs("verbs.latency",
              {part_of_another("the row of another node over RDMA", "verbs", "put")})}},
      // Bandwidth, compared with networks and memory.
      {"Figure 14",
       "Bandwidth compared with raw RDMA",
       "On InfiniBand, put and get came close to the vendor's own RDMA test, and were faster than "
       "MPI's messages.",
       "Puts and gets over an RDMA device, compared with a bare loop on libibverbs. There are no "
       "MPI messages: MPI doesn't run in the virtual machine of tests/rdma-vm.",
       {verbs("verbs.bandwidth",
              {curves_of("verbs", "put", Show::speed), curves_of("verbs", "get", Show::speed),
               curves_of("verbs", "put_stream", Show::speed),
               curves_of("verbs", "get_stream", Show::speed)})}},
      // Other networks, and shared memory.
      {"Figures 15 and 16",
       "Bandwidth compared with a network's own protocol",
       "On Myrinet (GM) and Quadrics (Elan4), put was only a little slower than the native "
       "protocol, and faster than MPI's messages, which need tag matching.",
       "The native protocol is TCP: bare sockets that poll or block, and MPI over TCP.",
       {{net("net.bandwidth"),
         {curves_of("net", "put", Show::speed), curves_of("net", "get", Show::speed),
          curves_of("net", "put_stream", Show::speed), curves_of("net", "get_stream", Show::speed),
          mpi_for_comparison("net", "put")}}}},
      {"Figure 17",
       "Get from shared memory",
       "On the Cray X1, every processor can access all memory. Put and get were as fast as its "
       "memory copy, and much faster than messages.",
       "Gets and puts on one node, compared with memcpy between the same buffers and with MPI.",
       {{shared("rma.contiguous"),
         {curves_of("rma", "get", Show::speed, Runs::on_one_node),
          curves_of("rma", "put", Show::speed, Runs::on_one_node),
          mpi_for_comparison("rma", "get", Runs::on_one_node)}}}},
      {"Figure 18",
       "Square patches in one call",
       "A patch of n × n doubles was faster in one strided call than in one non-blocking call for "
       "each row. InfiniBand used scatter and gather without a copy, Myrinet pipelined packing.",
       "The same patches, in one call and in n calls (net), and rows of growing length (verbs).",
       {{net("net.strided"),
         {curves_of("net", "get_patch", Show::speed), curves_of("net", "put_patch", Show::speed)}},
        verbs("verbs.strided", {curves_of("verbs", "get_strided", Show::speed),
                                curves_of("verbs", "put_strided", Show::speed)})}},
      {"Figure 19",
       "Communication hidden by computation",
       "A computation ran between the start of a get and its wait, and grew until the total time "
       "grew, too. It could hide 99 % of a get without copies, and 90 % of one through buffers. It "
       "hid little of MPI's messages from 16 KiB on, which wait for a handshake.",
       "The same with gets over TCP, compared with bare sockets with a helper thread at each end. "
       "With growing computations, also compared with MPI's messages on request. And how much "
       "processor time a transfer over RDMA leaves to the program.",
       {{std::string(over_tcp) + "--bind-to none tessera-bench net.overlap net.overlap_steps",
         {hidden_by_steps(), hidden_at_most(), mpi_for_comparison("net", "overlap_steps")}},
        verbs("verbs.overlap", {left_by_transfers()})}},
      {"Figure 20",
       "Aggregation of many small transfers",
       "1000 doubles in 1000 non-blocking calls took several times as long as in an aggregate. An "
       "aggregate was nearly as fast as one call with a list of all.",
       "The same three ways over TCP, compared with one bare round trip.",
       {{net("net.scattered"),
         {bars_of("1000 scattered doubles over TCP", "net",
                  {{"get_vector", "get"}, {"put_vector", "put"}})}}}},
  };
}

constexpr const char* messages = "mpi two-sided";
constexpr const char* short_classes = "mg --classes S,W,A,B";

/// One panel for each class, missing if it was not measured together with messages.
std::vector<Panel> multigrid_classes(const std::string& where, Runs runs) {
  std::vector<Panel> panels;
  for (const std::string name : {"S", "W", "A", "B"}) {
    std::string what = "class " + name;
    what += " " + where;
    panels.push_back(part_of_another(what, "mg", "class_" + name, runs, messages));
  }
  return panels;
}

Experiment multigrid() {
  return {"Figures 21 and 22",
          "NAS MG by one-sided communication and by messages",
          "With one-sided exchange, MG ran 14 to 27 % faster than NPB's MPI version on InfiniBand "
          "(classes A and B), and 28 to 46 % faster on Myrinet (classes A to C).",
          "The same kernels in one program, which alternates between the exchanges; on two nodes, "
          "one of them uses a bare socket. The charts show the time of a run; the time that each "
          "exchange adds to a run, which is its time on the rank that computes longest; and its "
          "time on the rank that waits longest for that rank.",
          {{"",
            {bars_of("NAS MG, time", "mg",
                     {{"class_S", "S"},
                      {"class_W", "W"},
                      {"class_A", "A"},
                      {"class_B", "B"},
                      {"class_C", "C"}}),
             // The same by the time that exchanges add.
             bars_of("NAS MG, exposed exchange", "mg",
                     {{"exposed_S", "S"},
                      {"exposed_W", "W"},
                      {"exposed_A", "A"},
                      {"exposed_B", "B"},
                      {"exposed_C", "C"}}),
             bars_of("NAS MG, exchange on the rank that waits longest", "mg",
                     {{"exchange_S", "S"},
                      {"exchange_W", "W"},
                      {"exchange_A", "A"},
                      {"exchange_B", "B"},
                      {"exchange_C", "C"}})}},
           {shared(short_classes), multigrid_classes("on one node", Runs::on_one_node),
            "Without MPI's messages, these charts have nothing to compare."},
           {net(short_classes), multigrid_classes("between nodes", Runs::between_nodes)},
           {net("mg --classes C -i 5 -x 1"),
            {part_of_another("class C", "mg", "class_C", Runs::any, messages)},
            "This takes about 9 GiB of memory and many minutes."},
           more_ranks(short_classes, times_by_ranks("MG by numbers of ranks", "mg",
                                                    {{"class_S", "MG class S"},
                                                     {"class_W", "MG class W"},
                                                     {"class_A", "MG class A"},
                                                     {"class_B", "MG class B"},
                                                     {"class_C", "MG class C"}}))}};
}

std::vector<Experiment> sparse_products() {
  return {
      {"Figure 23",
       "Sparse matrix–vector product with and without aggregation",
       "A picture of a finite-element matrix of 41,092 rows and 1.7 million entries, and times of "
       "its products, in which each process reads the elements of the vector that it lacks. "
       "Aggregated reads were faster on all numbers of processes, and scaled.",
       "Three matrices, one from finite elements, and the positions of their entries. Elements are "
       "read one by one, by aggregates, by the library's default way, and by MPI's messages "
       "between neighbours. tessera-spmv --matrix multiplies your own matrix.",
       {{net("spmv.modes"),
         {patterns_of({"fe2d:200", "stencil27:24", "random:10000,9"}),
          // Times of the products.
          bars_of("Product with a sparse matrix, time", "spmv",
                  {{"fe2d:200", "finite elements"},
                   {"stencil27:24", "27-point stencil"},
                   {"random:10000,9", "random"}}),
          mpi_for_comparison("spmv", "fe2d:200")}},
        // The same by numbers of ranks.
        more_ranks("spmv.modes", times_by_ranks("products by numbers of ranks", "spmv",
                                                {{"fe2d:200", "Finite elements"},
                                                 {"stencil27:24", "27-point stencil"},
                                                 {"random:10000,9", "Random matrix"}}))}},
      {"Figure 24",
       "Communication of each process",
       "Two bars for each of 32 processes: the communication time with single reads, high and "
       "uneven, and with aggregates, low on all processes.",
       "The same for each rank and for each way of Figure 23: the median over its measured "
       "products. With MPI's messages, the time includes packing, starting and waiting. Runs under "
       "tessera-run have no MPI messages.",
       {{net("spmv.modes"), {communication_by_rank()}}}},
  };
}

}  // namespace

Paper armci_paper() {
  Paper paper{"armci", "[ARMCI06] The ARMCI approach to remote memory access (2006)",
              microbenchmarks()};
  paper.experiments.push_back(multigrid());
  for (Experiment& experiment : sparse_products()) {
    paper.experiments.push_back(std::move(experiment));
  }
  return paper;
}

}  // namespace tessera::bench::report
