# SPDX-License-Identifier: BSD-3-Clause
"""The table of experiments: those of the papers in docs/literature.md, repeated with tessera-bench.

bench/results measures them and writes docs/results.md; bench/report.py draws them. An experiment has

    id, paper, figure, title
    finding   the paper's result
    here      what is measured instead
    good      which numbers are good: "low" times, or "high" speeds and parts
    parts     commands that measure it, each with its panels, and what the command needs
    measure   only of experiments in docs/results.md: the command, rows as (bench, operation), sizes

A panel says what a chart has: x and y follow from its kind, its series are the candidates of an operation.
"""

MPI = "mpirun -n {} --oversubscribe --bind-to none "
OVER_TCP = "--mca pml ob1 --mca btl self,tcp --mca osc pt2pt "
TWO_NODES = "TESSERA_RANKS_PER_NODE=1 "
ON_ONE_NODE = "mpirun -n 2 tessera-bench "
TCP = TWO_NODES + MPI.format(2) + OVER_TCP + "tessera-bench "
FOUR_NODES = TWO_NODES + MPI.format(4) + OVER_TCP + "tessera-bench "
RUN = TWO_NODES + "tessera-run -n {} tessera-bench "
CLUSTERS = "TESSERA_TUNE=server_cluster=2 " + RUN.format(4)
WINDOWS = "TESSERA_TRANSPORT=mpi " + MPI.format(2) + "tessera-bench "
SIZES = (8, 1024, 32768, 1 << 20, 4 << 20)

DEVICE = ("This needs an RDMA device. tests/rdma-vm/run --keep vm report makes a software device, and leaves "
          "vm/csv.json.")
TWO_RANK_COUNTS = ("This needs files of runs with several numbers of ranks, and the same number of ranks per node.")
WINDOWS_NEED = ("This needs an MPI library that can create windows among the ranks, and the settings in the command.")

PAPERS = {
    "ARMCI06": "High performance remote memory access communication: the ARMCI approach (2006)",
    "CLUSTERS02": "Protocols and strategies for remote memory operations on clusters (2002)",
    "ARMCIMPI12": "Global Arrays on MPI one-sided communication (2012)",
    "CLUSTERED10": "Cooperative server clustering (2010)",
    "": "Beyond the papers",
}


def curves(bench, ops, y="speed", on="any"):
    """A chart for each operation: all candidates over its sizes. `on`: "one node", or any runs."""
    return [{"kind": "curves", "bench": bench, "op": op, "y": y, "on": on} for op in ops.split()]


def bars(title, bench, names):
    """Operations of one size on one chart; names by operation."""
    return [{"kind": "bars", "what": title, "bench": bench, "names": names}]


def by_ranks(what, bench, names):
    """A chart for each operation: times on several numbers of ranks."""
    return [{"kind": "by_ranks", "what": what, "bench": bench, "names": names}]


def needed(what, bench, op, on="any", by=""):
    """Draws nothing: a part of another panel that may be missing, measured by a candidate that begins with `by`."""
    return [{"kind": "needed", "what": what, "bench": bench, "op": op, "on": on, "by": by}]


def special(kind, what, **more):
    return [{"kind": kind, "what": what, **more}]


def part(command, *panels, needs=""):
    return {"command": command, "panels": [panel for group in panels for panel in group], "needs": needs}


def mpi_beside(bench, op, on="any"):
    return needed("MPI, for comparison", bench, op, on, "mpi")


MG_CLASSES = ("S", "W", "A", "B", "C")
SPARSE = {"fe2d:200": "finite elements", "stencil27:24": "27-point stencil", "random:10000,9": "random"}
CCSD = {f"O = {o}, V = {v}": f"O {o}, V {v}" for o, v in ((4, 16), (8, 32), (16, 64), (16, 128))}
TRIPLES = {f"(T) O = {o}, V = {v}": f"O {o}, V {v}" for o, v in ((4, 16), (8, 32), (16, 64))}


def mg(column):
    return {f"{column}_{name}": name for name in MG_CLASSES}


def mg_with_messages(where, on):
    return [panel for name in "SWAB"
            for panel in needed(f"class {name} {where}", "mg", f"class_{name}", on, "mpi two-sided")]


def prefixed(prefix, names):
    return {op: prefix + name for op, name in names.items()}


EXPERIMENTS = [
    {"id": "contiguous-shm", "paper": "ARMCI06", "figure": "Table 1, Figure 17",
     "title": "Contiguous transfers within a node",
     "finding": "On the Cray X1, where processors share memory, a put took 2 µs, and put and get were as fast as "
                "a memory copy.",
     "here": "Gets and puts on one node, compared with memcpy between the same buffers and with MPI.",
     "good": "high",
     "measure": (MPI.format(2) + "tessera-bench rma.contiguous -i 100",
                 (("rma", "put"), ("rma", "get"), ("rma", "accumulate")), SIZES),
     "parts": [part(ON_ONE_NODE + "rma.contiguous", curves("rma", "get put", on="one node"),
                    mpi_beside("rma", "get", "one node"))]},
    {"id": "latency-tcp", "paper": "ARMCI06", "figure": "Table 1", "title": "Latency of put and get",
     "finding": "On four machines a put took 2 to 12.8 µs and a get 2.1 to 17.8 µs.",
     "here": "The same operations of 8 bytes through shared memory, over TCP and over RDMA devices.",
     "good": "low",
     "measure": (TCP + "net.latency -i 200",
                 (("net", "put"), ("net", "put_here"), ("net", "get"), ("net", "fetch_add")), (8,)),
     "parts": [part("", special("small", "latency of operations of 8 bytes",
                                columns=("Put, local", "Put and fence", "Get"),
                                rows=(("own node", "rma", ("put", "put_fence", "get"), "one node"),
                                      ("another node, TCP", "net", ("put_here", "put", "get"), "any"),
                                      ("another node, RDMA", "verbs", ("put", "put_fence", "get"), "any")))),
               part(ON_ONE_NODE + "rma.contiguous", needed("the row of the own node", "rma", "put", "one node")),
               part(TCP + "net.latency", needed("the row of another node over TCP", "net", "put_here")),
               part(RUN.format(2) + "verbs.latency", needed("the row of another node over RDMA", "verbs", "put"),
                    needs=DEVICE)]},
    {"id": "bandwidth-rdma", "paper": "ARMCI06", "figure": "Figure 14", "title": "Bandwidth compared with raw RDMA",
     "finding": "On InfiniBand, put and get came close to the vendor's own RDMA test, and were faster than MPI's "
                "messages.",
     "here": "Puts and gets over an RDMA device, compared with a bare loop on libibverbs. There are no MPI "
             "messages: MPI doesn't run in the virtual machine of tests/rdma-vm.",
     "good": "high",
     "parts": [part(RUN.format(2) + "verbs.bandwidth", curves("verbs", "put get put_stream get_stream"),
                    needs=DEVICE)]},
    {"id": "bandwidth-tcp", "paper": "ARMCI06", "figure": "Figures 15, 16", "title": "Bandwidth between two nodes",
     "finding": "On Myrinet and Quadrics, put lost little against the native protocol and was faster than MPI's "
                "messages.",
     "here": "The native protocol is TCP: bare sockets that poll or block, and MPI over TCP.",
     "good": "high",
     "measure": (TCP + "net.bandwidth -m 8:4M -i 60",
                 (("net", "put"), ("net", "get"), ("net", "put_stream"), ("net", "get_stream")), SIZES),
     "parts": [part(TCP + "net.bandwidth", curves("net", "put get put_stream get_stream"),
                    mpi_beside("net", "put"))]},
    {"id": "patches-tcp", "paper": "ARMCI06", "figure": "Figure 18",
     "title": "Square patches in one call between two nodes",
     "finding": "One strided call for a patch was faster than a non-blocking call for each row.",
     "here": "The same patches, in one call and in n calls (net), and rows of growing length (verbs).",
     "good": "high",
     "measure": (TCP + "net.strided -i 60", (("net", "get_patch"), ("net", "put_patch")),
                 (32768, 131072, 524288, 2 << 20)),
     "parts": [part(TCP + "net.strided", curves("net", "get_patch put_patch")),
               part(RUN.format(2) + "verbs.strided", curves("verbs", "get_strided put_strided"), needs=DEVICE)]},
    {"id": "overlap-tcp", "paper": "ARMCI06", "figure": "Figure 19", "title": "Communication hidden by computation",
     "finding": "Without copies 99 % of a get could be hidden, through buffers 90 %.",
     "here": "Gets over TCP, compared with bare sockets with a helper thread at each end. With growing "
             "computations, also compared with MPI's messages on request. And how much processor time a transfer "
             "over RDMA leaves to the program.",
     "good": "high",
     "measure": (TCP + "net.overlap -i 40", (("net", "overlap_.*"),), SIZES),
     "parts": [part(TCP + "net.overlap net.overlap_steps",
                    special("steps", "the part of a get that growing computations hide, undisturbed by other load"),
                    special("longest", "the part of a get that a long computation hides, undisturbed by other load"),
                    mpi_beside("net", "overlap_steps")),
               part(RUN.format(2) + "verbs.overlap",
                    special("left", "processor time that transfers over RDMA leave"), needs=DEVICE)]},
    {"id": "aggregation-tcp", "paper": "ARMCI06", "figure": "Figure 20",
     "title": "1000 scattered doubles between two nodes",
     "finding": "1000 non-blocking calls took several times as long as an aggregate, which was nearly as fast as "
                "one call with a list.",
     "here": "The same three ways over TCP, compared with one bare round trip.",
     "good": "low",
     "measure": (TCP + "net.scattered -i 40",
                 (("net", "get_vector"), ("net", "put_vector"), ("net", "get_aggregate"), ("net", "put_aggregate"),
                  ("net", "get_list"), ("net", "put_list")), None),
     "parts": [part(TCP + "net.scattered", bars("1000 scattered doubles over TCP", "net",
                                                {"get_vector": "get", "put_vector": "put"}))]},
    {"id": "mg-tcp", "paper": "ARMCI06", "figure": "Figures 21, 22",
     "title": "NAS MG on two nodes, one-sided and by messages",
     "finding": "With one-sided exchange MG ran 14 to 27 % faster than NPB's MPI version on InfiniBand, classes A "
                "and B.",
     "here": "The same kernels in one program, which alternates between the exchanges. The charts show the time of "
             "a run; the time that each exchange adds to it on the rank that computes longest; and its time on the "
             "rank that waits longest.",
     "good": "low",
     "measure": (TCP + "mg --classes S,W,A -i 5",
                 (("mg", "class_S"), ("mg", "class_W"), ("mg", "class_A"), ("mg", "exposed_S"), ("mg", "exposed_W"),
                  ("mg", "exposed_A")), None),
     "parts": [part("", bars("NAS MG, time", "mg", mg("class")),
                    bars("NAS MG, exposed exchange", "mg", mg("exposed")),
                    bars("NAS MG, exchange on the rank that waits longest", "mg", mg("exchange"))),
               part(ON_ONE_NODE + "mg --classes S,W,A,B", mg_with_messages("on one node", "one node"),
                    needs="Without MPI's messages, these charts have nothing to compare."),
               part(TCP + "mg --classes S,W,A,B", mg_with_messages("between nodes", "between nodes")),
               part(TCP + "mg --classes C -i 5 -x 1", needed("class C", "mg", "class_C", "any", "mpi two-sided"),
                    needs="This takes about 9 GiB of memory and many minutes."),
               part(FOUR_NODES + "mg --classes S,W,A,B",
                    by_ranks("MG by numbers of ranks", "mg", prefixed("MG class ", mg("class"))),
                    needs=TWO_RANK_COUNTS)]},
    {"id": "spmv-tcp", "paper": "ARMCI06", "figure": "Figure 23",
     "title": "Sparse matrix–vector product on two nodes",
     "finding": "Aggregated reads of the vector were faster than single reads on all numbers of processes.",
     "here": "Three matrices, one from finite elements, and the positions of their entries. Elements are read one "
             "by one, by aggregates, by the library's default way, and by MPI's messages between neighbours. "
             "tessera-spmv --matrix multiplies your own matrix.",
     "good": "low",
     "measure": (TCP + "spmv -i 10", (("spmv", ".*"),), None),
     "parts": [part(TCP + "spmv.modes",
                    special("patterns", "where the matrices have entries", names=tuple(SPARSE)),
                    bars("Product with a sparse matrix, time", "spmv", SPARSE), mpi_beside("spmv", "fe2d:200")),
               part(FOUR_NODES + "spmv.modes", by_ranks("products by numbers of ranks", "spmv", SPARSE),
                    needs=TWO_RANK_COUNTS)]},
    {"id": "spmv-by-rank", "paper": "ARMCI06", "figure": "Figure 24", "title": "Communication of each process",
     "finding": "On 32 processes, communication took long and unevenly with single reads, and was short on all "
                "processes with aggregates.",
     "here": "The same for each rank and each way of Figure 23: the median over its measured products. With MPI's "
             "messages, the time includes packing, starting and waiting.",
     "good": "low",
     "parts": [part(TCP + "spmv.modes", special("each_rank", "communication of each rank"))]},
    {"id": "registration", "paper": "CLUSTERS02", "figure": "Figure 2",
     "title": "Registering memory compared with copying it",
     "finding": "Registration is cheap on cLAN. On Myrinet it grows with the number of pages, so that a copy is "
                "faster for small and medium sizes.",
     "here": "Puts from registered memory, from memory used before, and from memory new to the device; and memcpy.",
     "good": "low",
     "parts": [part(RUN.format(2) + "verbs.registration", curves("verbs", "put_registration", "time"), needs=DEVICE),
               part("tessera-run -n 2 tessera-bench rma.contiguous", curves("rma", "put", "time", "one node"))]},
    {"id": "protocols-tcp", "paper": "CLUSTERS02", "figure": "Figures 6 to 11",
     "title": "Get and put by protocol between two nodes",
     "finding": "Zero-copy was fastest on cLAN except for small gets; on Myrinet pipelined copies were.",
     "here": "Transfers through buffers, in a pipeline, without copies, and with the library's choice; and "
             "compared with MPI.",
     "good": "high",
     "measure": (RUN.format(2) + "net.protocols -i 30", (("net", "get_by_protocol"), ("net", "put_by_protocol")),
                 (1024, 32768, 1 << 20)),
     "parts": [part(RUN.format(2) + "net.protocols",
                    curves("net", "get_by_protocol put_by_protocol get_patch_by_protocol put_patch_by_protocol")),
               part(TCP + "net.bandwidth net.strided", curves("net", "get put get_patch put_patch"))]},
    {"id": "fence", "paper": "CLUSTERS02", "figure": "Figure 12", "title": "Fences of several servers at once",
     "finding": "One fence for all servers was faster than one after the other, by more if one process calls it.",
     "here": "The gain by the number of ranks written to, and with at most 3, 5 and 7 outstanding fences as in the "
             "paper. That takes 8 nodes.",
     "good": "high",
     "measure": (RUN.format(8) + "net.fence -i 30", (("net", "fence_all"), ("net", "fence_all_by_all")), None),
     "parts": [part(RUN.format(8) + "net.fence",
                    special("fences", "the gain of fence_all over a fence for each of several ranks"),
                    curves("net", "fence_all fence_all_by_all", "time"))]},
    {"id": "places", "paper": "CLUSTERS02", "figure": "Table 2", "title": "Latency on a node and between nodes",
     "finding": "Get took 0.38 µs on a node and 35 µs between nodes; lock 1.1 and 36 µs; unlock 0.8 and 1.6 to "
                "1.9 µs.",
     "here": "The same operations by rank 0, with a rank of its own node and with one of another.",
     "good": "low",
     "measure": ("TESSERA_RANKS_PER_NODE=2 tessera-run -n 4 tessera-bench net.places -i 100",
                 (("net", "place_.*"),), None),
     "parts": [part("TESSERA_RANKS_PER_NODE=2 tessera-run -n 4 tessera-bench net.places",
                    bars("Operations of 8 bytes", "net",
                         {"place_get": "get", "place_lock": "lock", "place_unlock": "unlock",
                          "place_fetch_add": "fetch_add", "place_swap": "swap", "place_put_here": "put, local",
                          "place_put_fence": "put + fence"}))]},
    {"id": "mpi-windows", "paper": "ARMCIMPI12", "figure": "Figure 3", "title": "Transport mpi beside MPI's own calls",
     "finding": "ARMCI-MPI was slower than native ARMCI on most machines, and twice as fast on the Cray XE.",
     "here": "Tessera on MPI's windows, compared with MPI's own calls and ARMCI-MPI. And Tessera on one node by "
             "loads and stores, compared with these and plain loops.",
     "good": "high",
     "measure": (WINDOWS + "mpi.contiguous -i 100", (("mpi", "put"), ("mpi", "get"), ("mpi", "accumulate")), SIZES),
     "parts": [part(WINDOWS + "mpi.contiguous", curves("mpi", "get put accumulate"), needs=WINDOWS_NEED),
               part(ON_ONE_NODE + "rma.contiguous", curves("rma", "get put accumulate", on="one node"))]},
    {"id": "mpi-strided", "paper": "ARMCIMPI12", "figure": "Figure 4", "title": "Strided transfers by method",
     "finding": "The best method depends on machine and length: MPI's types for short segments, one call for each "
                "for long ones.",
     "here": "1 to 1024 segments of 16 and 1024 bytes by the methods of transport mpi, as rows and as lists, "
             "compared with MPI's types and ARMCI-MPI. And on one node by loads and stores.",
     "good": "high",
     "parts": [part(WINDOWS + "mpi.lists",
                    curves("mpi", "get_strided put_strided accumulate_strided get_vector put_vector "
                                  "accumulate_vector"), needs=WINDOWS_NEED),
               part(ON_ONE_NODE + "rma.strided",
                    curves("rma", "get_strided put_strided accumulate_strided", on="one node"))]},
    {"id": "mpi-buffers", "paper": "ARMCIMPI12", "figure": "Figure 5",
     "title": "Buffers of one library in the other's transfers",
     "finding": "A get into memory that the other runtime system had allocated was much slower, because the memory "
                "wasn't registered with the network that used it.",
     "here": "Gets into memory of the library, of MPI and of the user, also into memory that neither library has "
             "used: by transport mpi, compared with MPI's own gets, and over an RDMA device.",
     "good": "high",
     "parts": [part(WINDOWS + "mpi.buffers", curves("mpi", "get_by_memory"), needs=WINDOWS_NEED),
               part(RUN.format(2) + "verbs.bandwidth", curves("verbs", "get"), needs=DEVICE)]},
    {"id": "mpi-ccsd", "paper": "ARMCIMPI12", "figure": "Figure 6",
     "title": "Coupled cluster on MPI's windows and on the native transport",
     "finding": "CCSD(T) by ARMCI-MPI took up to twice as long as by native ARMCI on InfiniBand, and 30 % less on "
                "the Cray XE.",
     "here": "The contractions in which CCSD spends its time, and the triples of (T), on MPI's windows, compared "
             "with the native transports in the same rounds.",
     "good": "low",
     "measure": (WINDOWS + "mpi.ccsd -m 8:256K -i 3", (("mpi", ".*O = (?:4|8|16), V = .*"),), None),
     "parts": [part(WINDOWS + "mpi.ccsd -m 8:32M", bars("Contractions of CCSD by transport, time", "mpi", CCSD),
                    bars("Triples of CCSD(T) by transport, time", "mpi", TRIPLES), needs=WINDOWS_NEED)]},
    {"id": "ccsd", "paper": "ARMCIMPI12", "figure": "Figure 6",
     "title": "Coupled cluster: contractions and triples beside dgemm",
     "finding": "The paper compares run-time systems; a baseline for one rank's arithmetic is added here.",
     "here": "The same on the native transports, by orbitals and by numbers of ranks.",
     "good": "low",
     "measure": ("tessera-run -n 2 tessera-bench ccsd -m 8:256K -i 3", (("ccsd", ".*"),), None),
     "parts": [part(RUN.format(2) + "ccsd -m 8:32M", bars("Contractions of CCSD, time", "ccsd", CCSD),
                    bars("Triples of CCSD(T), time", "ccsd", TRIPLES)),
               part(RUN.format(4) + "ccsd -m 8:32M",
                    by_ranks("contractions by numbers of ranks", "ccsd", prefixed("CCSD, ", CCSD)),
                    by_ranks("triples by numbers of ranks", "ccsd", prefixed("(T), ", TRIPLES)),
                    needs=TWO_RANK_COUNTS)]},
    {"id": "cluster-memory", "paper": "CLUSTERED10", "figure": "Figure 8", "title": "Memory of a data server",
     "finding": "With clustering a server of 9600 processes took 34.7 MB, without 169.7 MB.",
     "here": "Resident memory of a process that creates the agent's objects for a growing number of processes, 12 "
             "per node: by default, in clusters, and with a buffer for each client.",
     "good": "low",
     "measure": ("tessera-bench scale.memory", (("scale", ".*"),), None),
     "parts": [part("tessera-bench scale.memory",
                    special("growth", "Growth of an agent's process, by processes of the job"))]},
    {"id": "cluster-forward", "paper": "CLUSTERED10", "figure": "Figures 6, 7",
     "title": "Requests to another node, direct and forwarded",
     "finding": "Put and get took about as long with clustered servers as without.",
     "here": "Gets, and puts with a fence, to a node that rank 0 contacts directly, and to one whose requests "
             "another agent forwards.",
     "good": "low",
     "measure": (CLUSTERS + "scale.forward -i 60",
                 (("scale", "get_forwarded"), ("scale", "put_forwarded")), SIZES),
     "parts": [part(CLUSTERS + "scale.forward", curves("scale", "get_forwarded put_forwarded", "time"),
                    curves("scale", "get_forwarded put_forwarded"))]},
    {"id": "cluster-applications", "paper": "CLUSTERED10", "figure": "Figure 9", "title": "An application's time",
     "finding": "A density functional computation on 2400 processes ran 45 % faster, because it had more memory.",
     "here": "NAS MG and products of a sparse matrix, with and without clusters.",
     "good": "low",
     "parts": [part(CLUSTERS + "mg spmv.modes --classes S,W,A",
                    bars("MG by class, time", "mg", {f"class_{name}": name for name in "SWA"}),
                    bars("Product with a sparse matrix, time", "spmv", SPARSE))]},
    {"id": "gemm", "paper": "", "figure": "", "title": "Matrix products beside BLAS and ScaLAPACK", "finding": "",
     "here": "Products of distributed matrices, compared with one rank's dgemm and with pdgemm.",
     "good": "low",
     "measure": (MPI.format(2) + "tessera-bench gemm --edges 1000,2000 -i 5", (("gemm", ".*"),), None),
     "parts": [part(MPI.format(2) + "tessera-bench gemm --edges 1000,2000", needed("products", "gemm", "gemm"))]},
]
