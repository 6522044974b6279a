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
  return {over_devices + parts, std::move(panels), takes_a_device};
}
Panel mpi_beside(const std::string& bench, const std::string& op, Runs runs = Runs::any) {
  return part_of_another("MPI beside them", bench, op, runs, "mpi");
}
/// A second number of ranks, beside net().
Part more_ranks(const std::string& parts, Panel panel) {
  return {on_four_nodes + parts, {std::move(panel)}, takes_two_counts};
}

std::vector<Experiment> microbenchmarks() {
  return {
      {"Table 1",
       "Latency of put and get",
       "On four machines a put took 2 to 12.8 µs and a get 2.1 to 17.8 µs: least where memory can "
       "be loaded and stored directly (Cray X1), most over Myrinet.",
       "The same operations of 8 bytes through shared memory, over TCP and over RDMA devices.",
       {{"",
         {small_operations({"Put, complete here", "Put and fence", "Get"},
                           {{"own node", "rma", {"put", "put_fence", "get"}, Runs::on_one_node},
                            {"another node, TCP", "net", {"put_here", "put", "get"}},
                            {"another node, RDMA", "verbs", {"put", "put_fence", "get"}}})}},
        {shared("rma.contiguous"),
         {part_of_another("the line of the own node", "rma", "put", Runs::on_one_node)}},
        {net("net.latency"),
         {part_of_another("the line of another node over TCP", "net", "put_here")}},
        verbs("verbs.latency",
              {part_of_another("the line of another node over RDMA", "verbs", "put")})}},
      {"Figure 14",
       "Bandwidth beside raw RDMA",
       "On InfiniBand put and get came close to the vendor's own RDMA test, and ahead of MPI's "
       "messages.",
       "Puts and gets over an RDMA device beside a bare loop on libibverbs. MPI's messages are not "
       "there: MPI doesn't run in the machine of tests/rdma-vm.",
       {verbs("verbs.bandwidth",
              {curves_of("verbs", "put", Show::speed), curves_of("verbs", "get", Show::speed),
               curves_of("verbs", "put_stream", Show::speed),
               curves_of("verbs", "get_stream", Show::speed)})}},
      {"Figures 15 and 16",
       "Bandwidth beside a network's own protocol",
       "On Myrinet (GM) and Quadrics (Elan4) put lost little against the native protocol, and beat "
       "MPI's messages, which have tags to match.",
       "Here the native protocol is TCP: bare sockets, that poll or block, and MPI over TCP.",
       {{net("net.bandwidth"),
         {curves_of("net", "put", Show::speed), curves_of("net", "get", Show::speed),
          curves_of("net", "put_stream", Show::speed), curves_of("net", "get_stream", Show::speed),
          mpi_beside("net", "put")}}}},
      {"Figure 17",
       "Get where memory is shared",
       "On the Cray X1, where every processor reaches all memory, put and get were as fast as its "
       "memory copy, and far ahead of messages.",
       "Gets and puts on one node beside memcpy between the same buffers, and beside MPI.",
       {{shared("rma.contiguous"),
         {curves_of("rma", "get", Show::speed, Runs::on_one_node),
          curves_of("rma", "put", Show::speed, Runs::on_one_node),
          mpi_beside("rma", "get", Runs::on_one_node)}}}},
      {"Figure 18",
       "Square patches in one call",
       "A patch of n × n doubles in one strided call was faster than in a non-blocking call for "
       "each row, on InfiniBand by scatter and gather without a copy, on Myrinet by pipelined "
       "packing.",
       "The same patches, in one call and in n calls (net), and rows of growing length (verbs).",
       {{net("net.strided"),
         {curves_of("net", "get_patch", Show::speed), curves_of("net", "put_patch", Show::speed)}},
        verbs("verbs.strided", {curves_of("verbs", "get_strided", Show::speed),
                                curves_of("verbs", "put_strided", Show::speed)})}},
      {"Figure 19",
       "Communication hidden behind computation",
       "A computation was put between the start of a get and its wait, and grew until the whole "
       "took longer. Without copies 99 % of the get could be hidden, through buffers 90 %; of "
       "MPI's messages little from 16 KiB on, where they wait for a handshake.",
       "The same with gets over TCP, beside bare sockets with a helper thread at each end and, of "
       "growing computations, MPI's messages on request; and what a transfer over RDMA leaves of "
       "the processor.",
       {{std::string(over_tcp) + "--bind-to none tessera-bench net.overlap net.overlap_steps",
         {hidden_by_steps(), hidden_at_most(), mpi_beside("net", "overlap_steps")}},
        verbs("verbs.overlap", {left_by_transfers()})}},
      {"Figure 20",
       "Aggregation of many small transfers",
       "1000 doubles in 1000 non-blocking calls took several times as long as in an aggregate, "
       "which was nearly as fast as one call with a list of them all.",
       "The same three ways over TCP, beside one bare round trip.",
       {{net("net.scattered"),
         {bars_of("1000 scattered doubles over TCP", "net",
                  {{"get_vector", "get"}, {"put_vector", "put"}})}}}},
  };
}

constexpr const char* messages = "mpi two-sided";
constexpr const char* short_classes = "mg --classes S,W,A,B";

/// Those that aren't there with messages beside them.
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
  return {
      "Figures 21 and 22",
      "NAS MG by one-sided communication and by messages",
      "With one-sided exchange MG ran 14 to 27 % faster than NPB's MPI version on InfiniBand, in "
      "classes A and B, and 28 to 46 % faster on Myrinet, in classes A to C.",
      "The same kernels with each exchange in one program, in alternation, on two nodes with that "
      "over a bare socket, too; what each exchange adds to a run, that is, what it takes on the "
      "rank that computes longest; and what it takes with "
      "waiting for that rank.",
      {{"",
        {bars_of("NAS MG, time", "mg",
                 {{"class_S", "S"},
                  {"class_W", "W"},
                  {"class_A", "A"},
                  {"class_B", "B"},
                  {"class_C", "C"}}),
         bars_of("NAS MG, exposed exchange", "mg",
                 {{"exposed_S", "S"},
                  {"exposed_W", "W"},
                  {"exposed_A", "A"},
                  {"exposed_B", "B"},
                  {"exposed_C", "C"}}),
         bars_of("NAS MG, exchange of the rank that waits longest", "mg",
                 {{"exchange_S", "S"},
                  {"exchange_W", "W"},
                  {"exchange_A", "A"},
                  {"exchange_B", "B"},
                  {"exchange_C", "C"}})}},
       {shared(short_classes), multigrid_classes("on one node", Runs::on_one_node),
        "Without MPI's messages there is nothing to compare."},
       {net(short_classes), multigrid_classes("between nodes", Runs::between_nodes)},
       {net("mg --classes C -i 5 -x 1"),
        {part_of_another("class C", "mg", "class_C", Runs::any, messages)},
        "It takes some 9 GiB of memory and many minutes."},
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
       "A picture of a finite-element matrix of 41,092 rows and 1.7 million entries; and its "
       "products, each process reading the elements of the vector that it lacks. Aggregated reads "
       "won on all numbers of processes, and scaled.",
       "Three matrices, finite elements among them, and where each has its entries. Elements read "
       "one by one, by aggregates, as the library does by default, and by MPI's messages between "
       "neighbours. tessera-spmv --matrix multiplies a matrix of one's own.",
       {{net("spmv.modes"),
         {patterns_of({"fe2d:200", "stencil27:24", "random:10000,9"}),
          bars_of("Product with a sparse matrix, time", "spmv",
                  {{"fe2d:200", "finite elements"},
                   {"stencil27:24", "27-point stencil"},
                   {"random:10000,9", "random"}}),
          mpi_beside("spmv", "fe2d:200")}},
        more_ranks("spmv.modes", times_by_ranks("products by numbers of ranks", "spmv",
                                                {{"fe2d:200", "Finite elements"},
                                                 {"stencil27:24", "27-point stencil"},
                                                 {"random:10000,9", "Random matrix"}}))}},
      {"Figure 24",
       "Communication of each process",
       "On 32 processes two bars for each: the time spent communicating with single reads, high "
       "and uneven, and with aggregates, low on all.",
       "The same for each rank, and for each way of Figure 23: the median of its measured "
       "products. Of MPI's messages it is packing, starting and waiting; under tessera-run they "
       "aren't there.",
       {{net("spmv.modes"), {communication_by_rank()}}}},
  };
}

}  // namespace

Paper armci_paper() {
  Paper paper{"armci", "ARMCI, a portable remote memory copy (2006)", microbenchmarks()};
  paper.experiments.push_back(multigrid());
  for (Experiment& experiment : sparse_products()) {
    paper.experiments.push_back(std::move(experiment));
  }
  return paper;
}

}  // namespace tessera::bench::report
