# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the benchmarks. bench/CMakeLists.txt includes this file, because it builds their sources.
enable_testing()
include(rank_test)
add_compile_options(-O1)  # as in tests/: compiled often, and never measured
set(unit_tests baselines communication_log job_group measure options paths peers random_stream report
               statistics target tcp_baseline thread_time topology transfer)
list(TRANSFORM unit_tests REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tests/bench/\\1_test.cpp")
add_unit_test(bench.units SOURCES ${unit_tests} LINK tessera_bench_baselines tessera_bench_job)
target_compile_definitions(test_bench_units PRIVATE
  TESSERA_BENCH_SCHEMA="${CMAKE_CURRENT_SOURCE_DIR}/schema.json")
# Alone, since tests/rdma-vm runs it, too.
add_unit_test(bench.verbs_baseline SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/verbs_baseline_test.cpp
              LINK tessera_bench_baselines)

add_unit_test(bench.data_checks SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/data_checks_test.cpp
              ${CMAKE_CURRENT_SOURCE_DIR}/rma/memories.cpp ${CMAKE_CURRENT_SOURCE_DIR}/session.cpp
              LINK tessera_bench_baselines tessera_bench_job)

set(tcp_environment TESSERA_TRANSPORT=shm,tcp TESSERA_RANKS_PER_NODE=1)

# All suites, started in each way: that they run, and that all data are right. Few samples, since no
# test asserts a time.
set(suites rma)
if(TESSERA_SANITIZE MATCHES "thread")
  # Without rma.contention: one of its baselines is plain loops on all ranks, which race on purpose.
  set(suites rma.contiguous rma.strided rma.scattered rma.atomics rma.collectives rma.ghosts
      rma.window rma.both_ways rma.rate rma.aggregation rma.sync rma.reads rma.tasks rma.places)
endif()
# A fixed cache size: some virtual machines report their host's, of hundreds of MiB, and a sanitizer
# takes several times the program's memory.
list(APPEND suites mg --classes S -m 8:64K -i 3 -x 1 --cache 4M)
add_test(NAME bench.suites.alone COMMAND tessera-bench ${suites})
tessera_test_properties(bench.suites.alone 1 "" 400 "")
add_test(NAME bench.suites.threads.n3 COMMAND tessera-bench ${suites} --threads 3)
tessera_test_properties(bench.suites.threads.n3 3 "threads;slow" 400 "")
add_test(NAME bench.suites.fork.n2 COMMAND
  $<TARGET_FILE:tessera-run> -n 2 $<TARGET_FILE:tessera-bench> ${suites})
tessera_test_properties(bench.suites.fork.n2 2 "fork" 400 "")
add_test(NAME bench.suites.cold COMMAND tessera-bench rma.strided --cold -i 3 -x 1 --cache 4M)
tessera_test_properties(bench.suites.cold 1 "" "" "")
add_test(NAME bench.checkpoint.fork.n2 COMMAND $<TARGET_FILE:tessera-run> -n 2
  $<TARGET_FILE:tessera-bench> checkpoint -m 8:64K -i 3 -x 1 --folder ${CMAKE_CURRENT_BINARY_DIR})
tessera_test_properties(bench.checkpoint.fork.n2 2 "fork" "" "")
if(TESSERA_HAS_HDF5)
  set_tests_properties(bench.checkpoint.fork.n2 PROPERTIES FAIL_REGULAR_EXPRESSION "INVALID|exited")
else()
  set_tests_properties(bench.checkpoint.fork.n2 PROPERTIES
    PASS_REGULAR_EXPRESSION "this library was built without HDF5" FAIL_REGULAR_EXPRESSION "INVALID")
endif()
add_test(NAME bench.memory.fork.n3 COMMAND $<TARGET_FILE:tessera-run> -n 3
  $<TARGET_FILE:tessera-bench> memory --edges 200 --classes S)
tessera_test_properties(bench.memory.fork.n3 3 "fork" "" "")
# The limit includes the buffers. With less than a page of data, the peak minus the buffers must not
# be negative.
add_test(NAME bench.memory.small COMMAND tessera-bench memory.peaks --edges 10)
tessera_test_properties(bench.memory.small 1 "" "" "")
set_tests_properties(bench.memory.small PROPERTIES
  PASS_REGULAR_EXPRESSION "solve +n = 10: .* of the limit.*stated buffers[)] +<= 1.00"
  FAIL_REGULAR_EXPRESSION "INVALID|exited|: +-[0-9]")
set_tests_properties(bench.memory.fork.n3 PROPERTIES
  PASS_REGULAR_EXPRESSION "solve +n = 200.*ccsd +O = 8, V = 64" FAIL_REGULAR_EXPRESSION "INVALID|exited")
add_test(NAME bench.arrays.fork.n3 COMMAND $<TARGET_FILE:tessera-run> -n 3
  $<TARGET_FILE:tessera-bench> arrays -m 8:64K -i 3 -x 1)
tessera_test_properties(bench.arrays.fork.n3 3 "fork" "" "")
set_tests_properties(bench.arrays.fork.n3 PROPERTIES
  PASS_REGULAR_EXPRESSION "patches from 64 KiB" FAIL_REGULAR_EXPRESSION "INVALID|exited")
add_test(NAME bench.arrays_modes.fork.n3 COMMAND $<TARGET_FILE:tessera-run> -n 3 --nodes 3
  $<TARGET_FILE:tessera-bench> arrays.modes -i 1 -x 1)
tessera_test_properties(bench.arrays_modes.fork.n3 3 "fork;tcp;slow" "" "")
set_tests_properties(bench.arrays_modes.fork.n3 PROPERTIES
  PASS_REGULAR_EXPRESSION "10000 patches: speed of copies on nodes" FAIL_REGULAR_EXPRESSION "INVALID|exited")
# Compared with a bare socket: MG's own verification holds for every version.
add_test(NAME bench.mg.fork.n2.k1 COMMAND $<TARGET_FILE:tessera-run> -n 2 --nodes 2
  $<TARGET_FILE:tessera-bench> mg --classes S,W -i 3 -x 1)
tessera_test_properties(bench.mg.fork.n2.k1 2 "fork;tcp" "" "")
set_tests_properties(bench.mg.fork.n2.k1 PROPERTIES
  PASS_REGULAR_EXPRESSION "class W: exposed exchange: [^\n]*, tcp polling: .*VERIFICATION SUCCESSFUL"
  FAIL_REGULAR_EXPRESSION "INVALID|exited|missing")
add_test(NAME bench.spmv_modes.fork.n2.k1 COMMAND $<TARGET_FILE:tessera-run> -n 2 --nodes 2
  $<TARGET_FILE:tessera-bench> spmv.modes -i 3 -x 1 --json spmv.json
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
tessera_test_properties(bench.spmv_modes.fork.n2.k1 2 "fork;tcp" "" "")
set_tests_properties(bench.spmv_modes.fork.n2.k1 PROPERTIES
  PASS_REGULAR_EXPRESSION "speed of aggregate / plain" FAIL_REGULAR_EXPRESSION "INVALID|exited"
  FIXTURES_SETUP spmv_file)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/small.mtx "%%MatrixMarket matrix coordinate real symmetric\n"
  "3 3 5\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n")
foreach(matrix fe2d:30 small.mtx)
  add_test(NAME bench.cg.${matrix} COMMAND $<TARGET_FILE:tessera-run> -n 3 --nodes 2
    $<TARGET_FILE:tessera-bench> spmv.cg --matrix ${matrix} -i 3 -x 1
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  tessera_test_properties(bench.cg.${matrix} 3 "fork;tcp" "" "")
  set_tests_properties(bench.cg.${matrix} PROPERTIES
    PASS_REGULAR_EXPRESSION "rating cg ${matrix}: .*VERIFICATION SUCCESSFUL" FAIL_REGULAR_EXPRESSION "INVALID|exited")
endforeach()
# Parts in which all ranks act, between nodes, and suites that use them. Without plain loops, which
# race on purpose.
set(groups gups ccsd layouts arrays.boxes --edges 100,150 --table 64K -m 8:64K -i 3 -x 1
    --cache 4M)
if(TESSERA_SANITIZE MATCHES "thread")
  list(APPEND groups --compare mpi)
endif()
foreach(ranks 1 3)
  add_test(NAME bench.groups.threads.n${ranks} COMMAND
    tessera-bench ${groups} --threads ${ranks})
  tessera_test_properties(bench.groups.threads.n${ranks} ${ranks} "threads" 300 "")
endforeach()
add_test(NAME bench.groups.fork.n2 COMMAND
  $<TARGET_FILE:tessera-run> -n 2 $<TARGET_FILE:tessera-bench> ${groups})
tessera_test_properties(bench.groups.fork.n2 2 "fork" 300 "")
set(few_samples -m 8:64K -i 3 -x 1 --cache 4M)
foreach(ranks 2 3)
  set(label fast)
  if(ranks EQUAL 3)
    set(label slow)
  endif()
  add_test(NAME bench.groups.fork.n${ranks}.k1 COMMAND
    $<TARGET_FILE:tessera-run> -n ${ranks} $<TARGET_FILE:tessera-bench> ${groups})
  add_test(NAME bench.transfers.fork.n${ranks}.k1 COMMAND
    $<TARGET_FILE:tessera-run> -n ${ranks} $<TARGET_FILE:tessera-bench>
    rma.window rma.both_ways rma.rate rma.aggregation rma.ghosts ${few_samples})
  add_test(NAME bench.waiting.fork.n${ranks}.k1 COMMAND
    $<TARGET_FILE:tessera-run> -n ${ranks} $<TARGET_FILE:tessera-bench>
    rma.sync rma.reads rma.tasks rma.places ${few_samples})
  foreach(test groups transfers waiting)
    tessera_test_properties(bench.${test}.fork.n${ranks}.k1 ${ranks} "fork;tcp;${label}" 400
                            "${tcp_environment}")
  endforeach()
  set_tests_properties(bench.transfers.fork.n${ranks}.k1 PROPERTIES
    PASS_REGULAR_EXPRESSION "Faces Only" FAIL_REGULAR_EXPRESSION "INVALID|exited|recorded twice")
  set_tests_properties(bench.waiting.fork.n${ranks}.k1 PROPERTIES
    PASS_REGULAR_EXPRESSION "two levels.*By Place.*cas "
    FAIL_REGULAR_EXPRESSION "INVALID|exited|recorded twice")
endforeach()
foreach(test threads.n1 threads.n3 fork.n2 fork.n2.k1 fork.n3.k1)
  set_tests_properties(bench.groups.${test} PROPERTIES
    PASS_REGULAR_EXPRESSION "rating ccsd O = 4, V = 16: .* Gflop/s\nVERIFICATION SUCCESSFUL"
    FAIL_REGULAR_EXPRESSION "INVALID|exited")
endforeach()
# Two ranks per node: counters with two levels.
add_test(NAME bench.groups.fork.n4.k2 COMMAND $<TARGET_FILE:tessera-run> -n 4
  $<TARGET_FILE:tessera-bench> rma.tasks rma.rate rma.sync rma.places -i 3 -x 1)
tessera_test_properties(bench.groups.fork.n4.k2 4 "fork;tcp;slow" 300
  "TESSERA_TRANSPORT=shm,tcp;TESSERA_RANKS_PER_NODE=2")
set_tests_properties(bench.groups.fork.n4.k2 PROPERTIES
  PASS_REGULAR_EXPRESSION "two levels.*By Place.*other node.*cas "
  FAIL_REGULAR_EXPRESSION "INVALID|exited")

# Options: the tables show their effects; wrong options give exit code 2.
add_test(NAME bench.options.windows COMMAND tessera-bench rma.contiguous rma.window -W 16 -s flush
  -w create --compare memory -m 64:64 -i 3 -x 1)
tessera_test_properties(bench.options.windows 1 "" "" "")
set_tests_properties(bench.options.windows PROPERTIES
  PASS_REGULAR_EXPRESSION "up to 16 Outstanding" FAIL_REGULAR_EXPRESSION "INVALID|missing")
add_test(NAME bench.options.launches COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/repeat 3
  $<TARGET_FILE:tessera-run> -n 2 $<TARGET_FILE:tessera-bench> rma.atomics -i 3 -x 1 --quiet)
tessera_test_properties(bench.options.launches 2 "fork" "" "")
set_tests_properties(bench.options.launches PROPERTIES
  PASS_REGULAR_EXPRESSION "over 3 launches.*rma compare_swap 8 B.*fetch-and-add: time"
  FAIL_REGULAR_EXPRESSION "INVALID")
add_test(NAME bench.repeat COMMAND ${PROJECT_SOURCE_DIR}/tests/bench/repeat_test
  ${CMAKE_CURRENT_SOURCE_DIR}/repeat)
tessera_test_properties(bench.repeat 1 "" 200 "")
function(add_refusal_test name text)
  add_test(NAME bench.options.${name} COMMAND sh -c "\"$@\"; echo exit code $?" sh ${ARGN})
  tessera_test_properties(bench.options.${name} 1 "" 10 "")
  set_tests_properties(bench.options.${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "${text}.*exit code 2")
endfunction()
set(bench $<TARGET_FILE:tessera-bench>)
add_refusal_test(unknown_peer
  "'gasnet' is not a name that --compare takes; it takes memory, mpi, armci, ga, tcp, scalapack, shmem, or all"
  ${bench} rma --compare mpi,gasnet)
add_refusal_test(no_peer "'' is not a name that --compare takes" ${bench} rma --compare ,)
add_refusal_test(window "--window-size: '0': expected a whole number of at least 1" ${bench} rma -W 0)
add_refusal_test(sync "--sync-option: pscw not in" ${bench} rma -s pscw)
add_refusal_test(window_kind "--win-option: dynamic not in" ${bench} rma -w dynamic)
add_refusal_test(table "'much' is not a size such as" ${bench} gups --table much)
add_refusal_test(small_table "a table of 1 B on each rank" ${bench} gups --table 1)
add_refusal_test(folder "--folder: cannot write /nowhere/tessera-bench.*: No such file" ${bench}
  checkpoint.write --folder /nowhere)
add_refusal_test(no_folder "--folder: cannot write /dev/null/tessera-bench.*: Not a directory" ${bench}
  checkpoint.write --folder /dev/null)
add_refusal_test(unwritable_folder "--folder: cannot write /proc/tessera-bench" ${bench}
  checkpoint.write --folder /proc)
# CMake drops an empty word from a list.
add_refusal_test(empty_json "--json: an empty name is not a file" sh -c "\"$0\" rma --json ''" ${bench})
add_refusal_test(json_over_matrix "would overwrite this file" ${bench} spmv.cg
  --matrix ${CMAKE_CURRENT_LIST_FILE} --json ${CMAKE_CURRENT_LIST_FILE})
add_test(NAME bench.options.zeros_in_front COMMAND sh -c
  "\"$0\" rma.atomics -i 011 -x 01 --json zeros.json && grep -q '\"samples_n\": 11,' zeros.json" ${bench})
tessera_test_properties(bench.options.zeros_in_front 1 "" 10 "")
add_test(NAME bench.options.full_disk COMMAND sh -c "\"$0\" rma.atomics -i 3 >/dev/full; echo exit code $?" ${bench})
tessera_test_properties(bench.options.full_disk 1 "" 10 "")
set_tests_properties(bench.options.full_disk PROPERTIES PASS_REGULAR_EXPRESSION
  "tessera-bench: cannot write to standard output: No space left on device.*exit code 1")
add_refusal_test(threads_of_ranks "--threads: tessera-run already starts ranks; use only one of the two"
  $<TARGET_FILE:tessera-run> -n 2 ${bench} rma.atomics --threads 2)
add_refusal_test(comma_before_class "',S': a class is missing between commas" ${bench} memory --classes ,S)
add_refusal_test(comma_behind_class "'S,': a class is missing between commas" ${bench} mg --classes S,)
add_refusal_test(class_twice "'S,s' has class S twice" ${bench} mg --classes S,s)
add_refusal_test(comma_behind_edge "--edges: '': expected a whole number" ${bench} gemm --edges 4,)
# The value of an unknown option must not be taken for a suite's name.
add_refusal_test(unknown_option "not expected: --sizes" ${bench} --sizes 8)
add_refusal_test(no_size "-m: ':' has no size" ${bench} rma.atomics -m :)
add_refusal_test(signed_size "'[+]8' is not a size" ${bench} rma.atomics -m +8)
# About 10 TB: the message names the part that needs them, and a remedy.
foreach(part gemm layouts.redistribution memory.peaks)
  add_refusal_test(memory_of_${part}
    "tessera-bench: .* needs [0-9.]+ .iB on this machine.*hint: choose smaller[^\n]* --edges"
    ${bench} ${part} --edges 100000 --compare none)
endforeach()
# JSON, and nothing else.
add_test(NAME bench.options.json_to_output COMMAND sh -c
  "rm -f ./-; \"$0\" rma.atomics gups --table 64K -i 3 -x 1 --json - >out.json && test \"$(head -c1 out.json)$(tail -c2 out.json)\" = '{}' && grep -q '\"ratings\"' out.json && test ! -e ./-"
  ${bench})
tessera_test_properties(bench.options.json_to_output 1 "" "" "")
# Options must be inserted before suites that follow `--`.
add_test(NAME bench.options.launches_behind_dashes COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/repeat 1
  $<TARGET_FILE:tessera-bench> -i 3 -x 1 --quiet -- rma.atomics)
tessera_test_properties(bench.options.launches_behind_dashes 1 "" "" "")
set_tests_properties(bench.options.launches_behind_dashes PROPERTIES
  PASS_REGULAR_EXPRESSION "over 1 launches.*rma compare_swap 8 B")
add_test(NAME bench.options.no_check COMMAND sh -c
  "\"$0\" gups --table 64K --no-check -i 3 -x 1; echo exit code $?" ${bench})
tessera_test_properties(bench.options.no_check 1 "" "" "")
set_tests_properties(bench.options.no_check PROPERTIES
  PASS_REGULAR_EXPRESSION "VERIFICATION LEFT OUT.*exit code 0" FAIL_REGULAR_EXPRESSION "INVALID")

foreach(ranks 1 3)
  add_test(NAME bench.gemm.threads.n${ranks}
    COMMAND tessera-bench gemm --edges 100,150 -i 3 -x 1 --threads ${ranks})
  tessera_test_properties(bench.gemm.threads.n${ranks} ${ranks} "threads" "" "")
  set_tests_properties(bench.gemm.threads.n${ranks} PROPERTIES
    PASS_REGULAR_EXPRESSION "n = 150: round robin" FAIL_REGULAR_EXPRESSION "INVALID")
endforeach()
add_test(NAME bench.suites.unknown COMMAND tessera-bench rma.nothing)
tessera_test_properties(bench.suites.unknown 1 "" "" "")
set_tests_properties(bench.suites.unknown PROPERTIES
  PASS_REGULAR_EXPRESSION "'rma.nothing' is not a suite")
# Between nodes of one rank each; the same MPI baselines, over TCP.
set(net_suite net -m 8:64K -i 3 -x 1)
if(TESSERA_SANITIZE)
  # One size, without the parts with long transfers or computations: plain builds test that these
  # run and bring the right data.
  set(net_suite net.latency net.rate net.bandwidth net.strided net.scattered net.fence net.idle
      -m 4K:4K -i 3 -x 1)
endif()
add_test(NAME bench.net.fork.n2 COMMAND
  $<TARGET_FILE:tessera-run> -n 2 $<TARGET_FILE:tessera-bench> ${net_suite})
tessera_test_properties(bench.net.fork.n2 2 "fork;tcp;slow" 240 "${tcp_environment}")
set_tests_properties(bench.net.fork.n2 PROPERTIES
  PASS_REGULAR_EXPRESSION "idle agent: part of a core" FAIL_REGULAR_EXPRESSION "INVALID|exited")
if(NOT TESSERA_SANITIZE)  # its matrices are larger than caches
  add_test(NAME bench.spmv.fork.n2 COMMAND
    $<TARGET_FILE:tessera-run> -n 2 $<TARGET_FILE:tessera-bench> spmv -i 3 -x 1 --cache 4M)
  tessera_test_properties(bench.spmv.fork.n2 2 "fork;tcp" "" "${tcp_environment}")
  set_tests_properties(bench.spmv.fork.n2 PROPERTIES
    PASS_REGULAR_EXPRESSION "scattered: 99994 entries" FAIL_REGULAR_EXPRESSION "INVALID|exited")
endif()
add_test(NAME bench.net.fork.n3 COMMAND $<TARGET_FILE:tessera-run> -n 3
  $<TARGET_FILE:tessera-bench> net.fence net.contention -i 2 -x 1)
tessera_test_properties(bench.net.fork.n3 3 "fork;tcp" "" "${tcp_environment}")
# Figure 12 of [CLUSTERS02]: 3, 5 and 7 outstanding fences.
add_test(NAME bench.net.fork.n8 COMMAND $<TARGET_FILE:tessera-run> -n 8
  $<TARGET_FILE:tessera-bench> net.fence -i 2 -x 1)
tessera_test_properties(bench.net.fork.n8 8 "fork;tcp;slow" 240 "${tcp_environment}")
set_tests_properties(bench.net.fork.n8 PROPERTIES
  PASS_REGULAR_EXPRESSION "fence_all of 3 .*fence_all of 5 .*fence_all of 7 .*by All Ranks.*fence_all of 7 "
  FAIL_REGULAR_EXPRESSION "INVALID|exited")
add_test(NAME bench.net.fork.n4 COMMAND $<TARGET_FILE:tessera-run> -n 4
  $<TARGET_FILE:tessera-bench> net.places -i 3 -x 1)
tessera_test_properties(bench.net.fork.n4 4 "fork;tcp" ""
  "TESSERA_TRANSPORT=shm,tcp;TESSERA_RANKS_PER_NODE=2")
set_tests_properties(bench.net.fork.n4 PROPERTIES
  PASS_REGULAR_EXPRESSION "same node.*get .*put_here .*put_fence .*acc_fence .*lock .*unlock .*fetch_add .*swap "
  FAIL_REGULAR_EXPRESSION "INVALID|exited")
# Between nodes a put is complete at its target by default.
add_test(NAME bench.rma.fork.n2.k1 COMMAND $<TARGET_FILE:tessera-run> -n 2 --nodes 2
  $<TARGET_FILE:tessera-bench> rma.contiguous rma.contention -m 8:64 -i 3 -x 1)
tessera_test_properties(bench.rma.fork.n2.k1 2 "fork;tcp" "" "")
set_tests_properties(bench.rma.fork.n2.k1 PROPERTIES PASS_REGULAR_EXPRESSION
  "Put Latency[^\n]*\n# backend: tcp, sync: flush, .*Accumulate and Fence on One Target.*# Ranks "
  FAIL_REGULAR_EXPRESSION "INVALID|exited|left out")
# Prints why nothing can be measured, and ends with 77.
function(add_unmeasured_test name ranks text)
  add_test(NAME bench.${name} COMMAND sh -c "\"$@\"; echo exit code $?" sh
    $<TARGET_FILE:tessera-run> -n ${ranks} ${bench} ${ARGN})
  tessera_test_properties(bench.${name} ${ranks} "fork;tcp" 60 "${tcp_environment}")
  set_tests_properties(bench.${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "${text}.*nothing could be measured here.*exit code 77")
endfunction()
add_unmeasured_test(net.no_neighbour 1
  "one on another node, for example 4 ranks with TESSERA_RANKS_PER_NODE=2" net.places)
add_unmeasured_test(net.one_node 1
  "ranks 0 and 1 must be on different nodes; TESSERA_RANKS_PER_NODE=1" net.latency)
# Over TCP, whatever devices exist; tests/rdma-vm/run bench has one.
add_unmeasured_test(verbs.no_device 2
  "missing: verbs: .*8 B: time / bare loop .*not measured" verbs)
add_unmeasured_test(verbs.one_node 1
  "verbs: skipped; ranks 0 and 1 must be on different nodes; TESSERA_RANKS_PER_NODE=1" verbs.latency)
add_unmeasured_test(armci.no_mpi 2 "missing: tessera armci: start the ranks with mpirun" armci)
add_unmeasured_test(mpi.other_transport 2 "missing: mpi: rank 0 does not reach rank 1 by transport mpi" mpi)
add_test(NAME bench.suites.unwritable_json COMMAND
  $<TARGET_FILE:tessera-run> -n 2 $<TARGET_FILE:tessera-bench> rma --json /nowhere/at/all)
tessera_test_properties(bench.suites.unwritable_json 2 "fork" 10 "")
set_tests_properties(bench.suites.unwritable_json PROPERTIES PASS_REGULAR_EXPRESSION
  "cannot write /nowhere/at/all: No such file.*rank 0 exited with code 2.*rank 1 exited with code 2")
# Files that conjugate gradients can't work on: one message, without a position in the source.
function(add_bad_matrix_test name entry text kind)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.mtx)
  file(WRITE ${file} "%%MatrixMarket matrix coordinate ${kind}\n2 2 1\n${entry}\n")
  add_test(NAME bench.cg.${name} COMMAND sh -c "\"$@\" 2>&1; echo exit code $?" sh
    $<TARGET_FILE:tessera-run> -n 3 $<TARGET_FILE:tessera-bench> spmv.cg --matrix ${file})
  tessera_test_properties(bench.cg.${name} 3 "fork;shm" 10 "")
  set_tests_properties(bench.cg.${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "tessera-bench: [^\n]*${text}.*exit code 2" FAIL_REGULAR_EXPRESSION "[.]cpp:")
endfunction()
add_bad_matrix_test(bad_word "1 1 x" "bad_word.mtx:3:5: 'x' is not a number\n" "real symmetric")
add_bad_matrix_test(complex "1 1 4 1" "complex.mtx is complex: these" "complex symmetric")
add_bad_matrix_test(lopsided "2 1 4" "lopsided.mtx is general and 2 x 2" "real general")
add_test(NAME bench.suites.no_matrix COMMAND tessera-bench spmv.cg --matrix random:100)
tessera_test_properties(bench.suites.no_matrix 1 "" 10 "")
set_tests_properties(bench.suites.no_matrix PROPERTIES
  PASS_REGULAR_EXPRESSION "--matrix: conjugate gradients need a symmetric matrix")
add_test(NAME bench.suites.no_classes COMMAND tessera-bench mg --classes ,)
tessera_test_properties(bench.suites.no_classes 1 "" 10 "")
set_tests_properties(bench.suites.no_classes PROPERTIES
  PASS_REGULAR_EXPRESSION "',': a class is missing between commas")
if(TESSERA_MPI)
  add_test(NAME bench.suites.mpi.n2 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> ${suites})
  tessera_test_properties(bench.suites.mpi.n2 2 "mpi" 400 "${tessera_mpirun_environment}")
  add_test(NAME bench.net.mpi.n2 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> ${net_suite})
  tessera_test_properties(bench.net.mpi.n2 2 "mpi;tcp;slow" 400 "${tcp_environment};OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,tcp;OMPI_MCA_osc=pt2pt;${tessera_mpirun_environment}")
  set_tests_properties(bench.net.mpi.n2 PROPERTIES
    PASS_REGULAR_EXPRESSION "idle agent: part of a core"
    FAIL_REGULAR_EXPRESSION "INVALID|in memory|mpi: ")
  # By default MPI uses shared memory between emulated nodes: names say so, and no target gets a
  # ratio.
  add_test(NAME bench.paths.mpi.n2.k1 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> rma.scattered rma.collectives mg spmv.modes --classes S -m 8:64 -i 3 -x 1 --cache 4M)
  tessera_test_properties(bench.paths.mpi.n2.k1 2 "mpi;tcp" 240 "${tcp_environment};${tessera_mpirun_environment}")
  set_tests_properties(bench.paths.mpi.n2.k1 PROPERTIES PASS_REGULAR_EXPRESSION
    "its messages between these nodes use shared memory.*mpi in memory [(].*mpi collective in memory [(].*mpi two-sided in memory [(].*mpi neighbours in memory [(].*not measured: no mpi two-sided.*not measured: no mpi neighbours"
    FAIL_REGULAR_EXPRESSION "INVALID")
  # All operations with local completion; the others are left out.
  add_test(NAME bench.rma.mpi.n2.k1 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> rma.contiguous rma.strided rma.scattered net.window -s flush_local -m 8:1K -i 3 -x 1)
  tessera_test_properties(bench.rma.mpi.n2.k1 2 "mpi;tcp" 240 "${tcp_environment};OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,tcp;OMPI_MCA_osc=pt2pt;${tessera_mpirun_environment}")
  set_tests_properties(bench.rma.mpi.n2.k1 PROPERTIES PASS_REGULAR_EXPRESSION
    "left out: MPI's messages;.*Put Latency[^\n]*\n# backend: tcp, sync: flush_local.*left out: sockets and MPI's"
    FAIL_REGULAR_EXPRESSION "INVALID")
  add_test(NAME bench.rma.attached.mpi.n2 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> rma.contiguous -w create -m 8:64 -i 3 -x 1)
  tessera_test_properties(bench.rma.attached.mpi.n2 2 "mpi" "" "${tessera_mpirun_environment}")
  # ARMCI-MPI doesn't support the user's memory; a build may be without ARMCI-MPI.
  set(why_no_armci "this build has no ARMCI-MPI")
  if(tessera_has_armci_mpi)
    set(why_no_armci "[^\n]*-w create")
  endif()
  set_tests_properties(bench.rma.attached.mpi.n2 PROPERTIES PASS_REGULAR_EXPRESSION
    "missing: armci-mpi: ${why_no_armci}.*Put Latency" FAIL_REGULAR_EXPRESSION "INVALID|armci-mpi [(]")
  foreach(ranks 2 3)
    add_test(NAME bench.groups.mpi.n${ranks} COMMAND
      ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
      $<TARGET_FILE:tessera-bench> ${groups})
    tessera_test_properties(bench.groups.mpi.n${ranks} ${ranks} "mpi" 300
                            "${tessera_mpirun_environment}")
    set_tests_properties(bench.groups.mpi.n${ranks} PROPERTIES
      PASS_REGULAR_EXPRESSION "rating ccsd O = 4, V = 16: .* Gflop/s\nVERIFICATION SUCCESSFUL"
      FAIL_REGULAR_EXPRESSION "INVALID")
  endforeach()
  # Compared with OpenSHMEM, on shared memory and over TCP. It replaces malloc(), so sanitizers
  # don't work.
  if(tessera_has_shmem AND NOT TESSERA_SANITIZE)
    add_test(NAME bench.shmem.mpi.n2 COMMAND
      ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
      $<TARGET_FILE:tessera-bench> rma.contiguous rma.strided rma.scattered rma.atomics rma.window rma.both_ways
      rma.rate rma.sync rma.reads rma.tasks gups --table 64K --compare all,shmem ${few_samples})
    tessera_test_properties(bench.shmem.mpi.n2 2 "mpi" 240 "${tessera_mpirun_environment}")
    set_tests_properties(bench.shmem.mpi.n2 PROPERTIES
      PASS_REGULAR_EXPRESSION "Put Latency.*openshmem [(]us[)].*Swap.*openshmem.*Updates.*openshmem.*VERIFICATION SUCCESSFUL"
      FAIL_REGULAR_EXPRESSION "INVALID|missing: openshmem|signal|exited")
    add_test(NAME bench.shmem.mpi.n2.k1 COMMAND
      ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
      $<TARGET_FILE:tessera-bench> net.latency net.strided net.scattered -m 8:64K -i 3 -x 1 --compare shmem)
    tessera_test_properties(bench.shmem.mpi.n2.k1 2 "mpi;tcp" 240
      "${tcp_environment};OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,tcp;UCX_TLS=tcp,self;${tessera_mpirun_environment}")
    set_tests_properties(bench.shmem.mpi.n2.k1 PROPERTIES
      PASS_REGULAR_EXPRESSION "Put and Fence Latency.*openshmem [(]us[)].*Scattered"
      FAIL_REGULAR_EXPRESSION "INVALID|missing: openshmem|in memory|signal|exited")
    # OpenSHMEM's heap is too small: a remark says so, and the others are measured.
    add_test(NAME bench.shmem.small_heap COMMAND
      ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
      $<TARGET_FILE:tessera-bench> rma.atomics -i 3 -x 1 --compare mpi,shmem)
    tessera_test_properties(bench.shmem.small_heap 2 "mpi" 60
      "SHMEM_SYMMETRIC_HEAP_SIZE=8M;${tessera_mpirun_environment}")
    set_tests_properties(bench.shmem.small_heap PROPERTIES
      PASS_REGULAR_EXPRESSION
      "missing: openshmem: its heap has no room for 16 MiB; to enlarge it, set SHMEM_SYMMETRIC_HEAP_SIZE.*Swap"
      FAIL_REGULAR_EXPRESSION "INVALID|signal|exited")
  endif()
  # Compared with MPI's messages between neighbours.
  add_test(NAME bench.spmv_modes.mpi.n2 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> spmv.modes -i 3 -x 1)
  tessera_test_properties(bench.spmv_modes.mpi.n2 2 "mpi;tcp" 240
    "${tcp_environment};OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,tcp;${tessera_mpirun_environment}")
  set_tests_properties(bench.spmv_modes.mpi.n2 PROPERTIES
    PASS_REGULAR_EXPRESSION "speed of neighbours / MPI neighbours" FAIL_REGULAR_EXPRESSION "INVALID")
  add_test(NAME bench.gemm.mpi.n2 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> gemm --edges 100,150 -i 3 -x 1)
  tessera_test_properties(bench.gemm.mpi.n2 2 "mpi" "" "${tessera_mpirun_environment}")
  set_tests_properties(bench.gemm.mpi.n2 PROPERTIES
    PASS_REGULAR_EXPRESSION "n = 150: round robin" FAIL_REGULAR_EXPRESSION "INVALID")
  # Compared with Global Arrays, if available; otherwise a remark says that they are missing.
  set(beside_ga "missing: global arrays: this build has no Global Arrays")
  if(tessera_has_global_arrays)
    set(beside_ga "global arrays[^\n:]*[(]")  # a column, not the remark that they are missing
  endif()
  add_test(NAME bench.arrays.mpi.n2 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> arrays.boxes arrays.elements -m 8:64K -i 3 -x 1)
  tessera_test_properties(bench.arrays.mpi.n2 2 "mpi" "" "${tessera_mpirun_environment}")
  set_tests_properties(bench.arrays.mpi.n2 PROPERTIES
    PASS_REGULAR_EXPRESSION "${beside_ga}.*scatter_accumulate" FAIL_REGULAR_EXPRESSION "INVALID")
  # MG by messages in all of its phases: ranks divide the cube in two dimensions.
  add_test(NAME bench.mg.mpi.n4 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 4
    $<TARGET_FILE:tessera-bench> mg --classes S -i 3 -x 1 --cache 4M)
  tessera_test_properties(bench.mg.mpi.n4 4 "mpi" "" "${tessera_mpirun_environment}")
  set_tests_properties(bench.mg.mpi.n4 PROPERTIES
    PASS_REGULAR_EXPRESSION "class S: exposed exchange: " FAIL_REGULAR_EXPRESSION "INVALID")
  # Compared with messages between two nodes, for which targets exist.
  add_test(NAME bench.mg.mpi.n2.k1 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> mg --classes S,W -i 3 -x 1 --cache 4M)
  tessera_test_properties(bench.mg.mpi.n2.k1 2 "mpi;tcp" ""
    "TESSERA_RANKS_PER_NODE=1;OMPI_MCA_pml=ob1;OMPI_MCA_btl=self,tcp;${tessera_mpirun_environment}")
  set_tests_properties(bench.mg.mpi.n2.k1 PROPERTIES
    PASS_REGULAR_EXPRESSION
    "class W: exposed exchange: .*MG: time / MPI two-sided .*class [SW], 2 nodes +2 .*SUCCESSFUL"
    FAIL_REGULAR_EXPRESSION "INVALID|missing")
  # Transport mpi, compared with the MPI calls that it makes.
  foreach(transport mpi shm,mpi)
    add_test(NAME bench.windows.${transport}.mpi.n2 COMMAND
      ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
      $<TARGET_FILE:tessera-bench> mpi.contiguous mpi.buffers mpi.translation mpi.ccsd -m 8:4K -i 3 -x 1)
    tessera_test_properties(bench.windows.${transport}.mpi.n2 2 "mpi" 240
      "TESSERA_TRANSPORT=${transport};TESSERA_RANKS_PER_NODE=1;${tessera_mpirun_environment}")
    set_tests_properties(bench.windows.${transport}.mpi.n2 PROPERTIES PASS_REGULAR_EXPRESSION
      "Put and Fence Latency[^\n]*\n# backend: tessera.*mpi [(]us[)].*mpi alloc_mem.*own slice.*same region.*[(]T[)] O = 4, V = 16: time of tessera / native tcp: .*accumulate 8 B to 64 KiB: time / bare MPI.*translation among 5000 regions: ns +<= 40.00"
      FAIL_REGULAR_EXPRESSION "INVALID|missing: mpi|recorded twice")
  endforeach()
  add_test(NAME bench.windows.lists.mpi.n2 COMMAND
    ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:tessera-bench> mpi.lists -i 3 -x 1)
  tessera_test_properties(bench.windows.lists.mpi.n2 2 "mpi" 240
    "TESSERA_TRANSPORT=mpi;${tessera_mpirun_environment}")
  set_tests_properties(bench.windows.lists.mpi.n2 PROPERTIES PASS_REGULAR_EXPRESSION
    "accumulate_vector, Segments of 1024 B.*conservative [(]us[)].*put_strided, Segments of 16 B[^\n]*\n# backend: auto.*batched [(]us[)]"
    FAIL_REGULAR_EXPRESSION "INVALID|missing: mpi|recorded twice")
  # ARMCI's calls by Tessera and by ARMCI-MPI, on one node, over TCP, and by MPI's windows.
  set(armci_environment.nodes1 "TESSERA_TRANSPORT=shm,tcp")
  set(armci_environment.nodes2 "${tcp_environment}")
  set(armci_environment.windows "TESSERA_TRANSPORT=mpi")
  foreach(kind nodes1 nodes2 windows)
    add_test(NAME bench.armci.${kind} COMMAND
      ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} 2
      $<TARGET_FILE:tessera-bench> armci -m 8:64K -i 3 -x 1 --cache 4M)
    tessera_test_properties(bench.armci.${kind} 2 "mpi;tcp" 300
      "${armci_environment.${kind}};${tessera_mpirun_environment}")
    set_tests_properties(bench.armci.${kind} PROPERTIES
      PASS_REGULAR_EXPRESSION "tessera armci.*lock_unlock.*Target computing.*get from Each Allocation"
      FAIL_REGULAR_EXPRESSION "INVALID|missing: tessera|recorded twice|exited")
  endforeach()
endif()

# Pages of runs. Debian's Python has Debian's matplotlib, unlike another one that precedes it in PATH.
find_program(TESSERA_PLOT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
mark_as_advanced(TESSERA_PLOT_PYTHON)
if(NOT TESSERA_PLOT_PYTHON)
  set(TESSERA_PLOT_PYTHON ${TESSERA_PYTHON})
endif()
set(page ${CMAKE_CURRENT_BINARY_DIR}/report)
set(check_page ${TESSERA_PLOT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/bench/page_check)
add_test(NAME bench.report.page COMMAND ${TESSERA_PLOT_PYTHON} ${PROJECT_SOURCE_DIR}/tests/bench/page_test)
tessera_test_properties(bench.report.page 1 "" 300 "")
# A page of a file with sparse matrices, and of several runs, with figures of nearly all experiments.
add_test(NAME bench.report.pictures COMMAND ${check_page} spmv.html spmv.json
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME bench.report.runs COMMAND ${PROJECT_SOURCE_DIR}/tests/bench/report_runs
  $<TARGET_FILE_DIR:tessera-bench> ${page}-runs ${TESSERA_PLOT_PYTHON})
add_test(NAME bench.report.browser COMMAND ${TESSERA_PLOT_PYTHON}
  ${PROJECT_SOURCE_DIR}/tests/bench/report_browser_check ${page}-runs.html)
tessera_test_properties(bench.report.runs 4 "fork;tcp" 300 "")
set_tests_properties(bench.report.runs PROPERTIES FIXTURES_SETUP page_of_runs
  REQUIRED_FILES "$<TARGET_FILE:tessera-bench>;$<TARGET_FILE:tessera-run>")
tessera_test_properties(bench.report.browser 1 "" 120 "")
set_tests_properties(bench.report.browser PROPERTIES FIXTURES_REQUIRED page_of_runs)
tessera_test_properties(bench.report.pictures 1 "" 120 "")
set_tests_properties(bench.report.pictures PROPERTIES FIXTURES_REQUIRED spmv_file)

add_test(NAME bench.written_files COMMAND ${TESSERA_PYTHON}
  ${PROJECT_SOURCE_DIR}/tests/bench/written_files_test $<TARGET_FILE:tessera-bench>
  ${CMAKE_CURRENT_SOURCE_DIR}/schema.json rma.atomics rma.rate gups mg --classes S --table 64K
  -i 3 -x 1 --cache 4M)
tessera_test_properties(bench.written_files 1 "" "" "")
# The files of a run that a signal or an error ends early.
add_test(NAME bench.unfinished_run COMMAND ${TESSERA_PYTHON}
  ${PROJECT_SOURCE_DIR}/tests/bench/unfinished_run_test $<TARGET_FILE:tessera-bench>
  $<TARGET_FILE:tessera-run> ${CMAKE_CURRENT_SOURCE_DIR}/schema.json)
tessera_test_properties(bench.unfinished_run 2 "fork" 120 "")
