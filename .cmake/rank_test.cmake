# SPDX-License-Identifier: BSD-3-Clause
# Functions that add tests for ctest; docs/testing.md says which kind to choose.
#
#   add_test_program(TARGET SOURCES … [LINK …])
#       a test executable in <build>/tests/bin, with GoogleTest; its own main(), if any, replaces
#       that of tests/support/unit_main.cpp. add_rank_test() runs it.
#
#   add_unit_test(NAME SOURCES … [LINK …] [LABELS fast] [TIMEOUT 120] [ENVIRONMENT A=1 …])
#       builds such an executable, of one process, and adds it as one ctest entry of that NAME.
#
#   add_rank_test(NAME PROGRAM target [ARGS …] RANKS 1 2 3 4 7 [TRANSPORTS loopback shm]
#                 [BOOTSTRAPS threads fork mpi] [RANKS_PER_NODE 1] [LABELS fast] [TIMEOUT 120]
#                 [ENVIRONMENT A=1 …])
#       one ctest entry for each way to start the program on N ranks: NAME.shm.fork.n4
#         threads   PROGRAM --ranks N        ranks are threads of one process
#         fork      tessera-run -n N PROGRAM
#         mpi       mpirun -n N PROGRAM
#       TESSERA_TRANSPORT holds the transport. `tcp` is used between emulated nodes of RANKS_PER_NODE
#       ranks; the entry's name is then NAME.tcp.fork.n4.k1. The same holds for `shm_mpi`, which
#       stands for shm,mpi. `loopback` runs with threads only, and `mpi` is left out if Tessera is
#       built without MPI. More than 4 ranks in processes are `slow`.
#
#   add_end_of_job_test(NAME PROGRAM)
#       the last of the program's two ranks ends the job with the given code: NAME.7 for 7, and
#       NAME.0 for 0, where the job must end as failed.
#
#   use_reference_gemv(TARGET)
#       lets a sanitized TARGET, and the libraries in it, call tests/support/reference_gemv.cpp; for
#       programs that compute with complex matrices.
#
# Each entry has its transport and its bootstrap as labels too, so `ctest -L '^shm$'` works. A
# program that exits with 77 counts as skipped. If a test needs a file of the build that its command does
# not name, REQUIRED_FILES names it: .ci/test_targets reads both.

set(tessera_skip_code 77)

# Settings of sanitizers, which a test's own environment may replace.
set(tessera_sanitizer_environment "")
# For tests in which the leak check cannot find Tessera's leaks; empty without it.
set(tessera_without_leak_check "")
if(TESSERA_SANITIZE MATCHES "address")
  # Without detect_stack_use_after_return: its stacks are not aligned to the 64 bytes that g++ 12 assumes
  # for its own temporaries.
  set(tessera_sanitizer_environment
    ASAN_OPTIONS=strict_string_checks=1:allocator_may_return_null=1
    "LSAN_OPTIONS=print_suppressions=0:suppressions='${PROJECT_SOURCE_DIR}/.ci/lsan.supp'"
    UBSAN_OPTIONS=print_stacktrace=1)
  set(tessera_without_leak_check
    ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1:allocator_may_return_null=1)
elseif(TESSERA_SANITIZE MATCHES "thread")
  string(CONCAT tessera_sanitizer_environment "TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1:"
    "second_deadlock_stack=1:suppressions='${PROJECT_SOURCE_DIR}/.ci/tsan.supp'")
endif()

# Lets mpirun of this MPI start more ranks than there are cores, also as root.
set(tessera_mpirun_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_btl_base_warn_component_unused=0)
# MPI libraries unload modules that keep memory, so no suppression can name them. Leaks of Tessera are
# found without MPI.
list(APPEND tessera_mpirun_environment ${tessera_without_leak_check})
set(tessera_mpirun_flags "")
if(TESSERA_MPI AND MPIEXEC_EXECUTABLE)
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE tessera_mpirun_version
                  ERROR_VARIABLE tessera_mpirun_version)
  if(tessera_mpirun_version MATCHES "Open MPI|OpenRTE")
    set(tessera_mpirun_flags --oversubscribe)
  endif()
endif()

function(add_test_program target)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE tessera_flags ${arg_LINK} unit_main GTest::gtest)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
endfunction()

function(use_reference_gemv target)
  if(TESSERA_SANITIZE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/reference_gemv.cpp)
    set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  endif()
endfunction()

function(add_unit_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_unit_test(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(MAKE_C_IDENTIFIER "test_${name}" target)
  add_test_program(${target} SOURCES ${arg_SOURCES} LINK ${arg_LINK})
  add_test(NAME ${name} COMMAND ${target})
  tessera_test_properties(${name} 1 "unit;${arg_LABELS}" "${arg_TIMEOUT}" "${arg_ENVIRONMENT}")
endfunction()

# If each rank has its own core, it polls while it waits, and needs the core.
cmake_host_system_information(RESULT tessera_cores QUERY NUMBER_OF_LOGICAL_CORES)

# Labels default to `fast`, the timeout to 120 s. A test takes as many places in `ctest -j` as it has
# ranks. A fast test with more ranks than cores mostly sleeps and takes one place; under a sanitizer it
# needs the cores to end in time.
function(tessera_test_properties name ranks labels timeout environment)
  if(NOT labels MATCHES "(^|;)(fast|slow|long)(;|$)")
    list(APPEND labels fast)
  endif()
  list(REMOVE_ITEM labels "")
  if(timeout STREQUAL "")
    set(timeout 120)
  endif()
  set(places ${ranks})
  if(ranks GREATER tessera_cores AND "fast" IN_LIST labels AND NOT TESSERA_SANITIZE)
    set(places 1)
  endif()
  set(environment ${tessera_sanitizer_environment} ${environment})
  set_tests_properties(${name} PROPERTIES
    LABELS "${labels}" TIMEOUT "${timeout}" PROCESSORS ${places} ENVIRONMENT "${environment}"
    SKIP_RETURN_CODE ${tessera_skip_code})
  if(environment MATCHES "PYTHONPATH=")
    set_tests_properties(${name} PROPERTIES REQUIRED_FILES $<TARGET_FILE:tessera_python>)
  endif()
endfunction()

# The command line that starts `program` on `ranks` ranks.
function(tessera_rank_command bootstrap ranks program result)
  set(start $<TARGET_FILE:${program}>)
  if(bootstrap STREQUAL threads)
    list(APPEND start ${ARGN} --ranks ${ranks})
  elseif(bootstrap STREQUAL fork)
    set(start $<TARGET_FILE:tessera-run> -n ${ranks} ${start} ${ARGN})
  elseif(bootstrap STREQUAL mpi)
    set(start ${MPIEXEC_EXECUTABLE} ${tessera_mpirun_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
        ${start} ${ARGN})
  else()
    message(FATAL_ERROR "unknown bootstrap '${bootstrap}': use threads, fork or mpi")
  endif()
  set(${result} ${start} PARENT_SCOPE)
endfunction()

function(add_rank_test name)
  cmake_parse_arguments(arg "" "PROGRAM;TIMEOUT;RANKS_PER_NODE"
    "ARGS;RANKS;TRANSPORTS;BOOTSTRAPS;LABELS;ENVIRONMENT" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_PROGRAM OR NOT arg_RANKS)
    message(FATAL_ERROR "add_rank_test(${name}): PROGRAM and RANKS are needed, and these arguments "
                        "are unknown: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_TRANSPORTS)
    set(arg_TRANSPORTS loopback shm)
  endif()
  if(NOT arg_BOOTSTRAPS)
    set(arg_BOOTSTRAPS threads fork mpi)
  endif()
  foreach(transport IN LISTS arg_TRANSPORTS)
    foreach(bootstrap IN LISTS arg_BOOTSTRAPS)
      if(transport STREQUAL loopback AND NOT bootstrap STREQUAL threads)
        continue()
      endif()
      if(bootstrap STREQUAL mpi AND NOT TESSERA_MPI)
        continue()
      endif()
      foreach(ranks IN LISTS arg_RANKS)
        set(entry ${name}.${transport}.${bootstrap}.n${ranks})
        set(labels ${transport} ${bootstrap} ${arg_LABELS})
        if(ranks GREATER 4 AND NOT bootstrap STREQUAL threads)
          list(REMOVE_ITEM labels fast slow)
          list(APPEND labels slow)
        endif()
        set(environment TESSERA_TRANSPORT=${transport} ${arg_ENVIRONMENT})
        if(transport STREQUAL shm_mpi)
          set(environment TESSERA_TRANSPORT=shm,mpi ${arg_ENVIRONMENT})
          if(arg_RANKS_PER_NODE)
            string(APPEND entry .k${arg_RANKS_PER_NODE})
            list(APPEND environment TESSERA_RANKS_PER_NODE=${arg_RANKS_PER_NODE})
          endif()
        endif()
        if(transport MATCHES "^(tcp|verbs|fake_verbs|datagrams)$")
          # Between emulated nodes; shm provides the memory.
          if(NOT arg_RANKS_PER_NODE)
            set(arg_RANKS_PER_NODE 1)
          endif()
          string(APPEND entry .k${arg_RANKS_PER_NODE})
          set(environment TESSERA_TRANSPORT=shm,${transport} TESSERA_RANKS_PER_NODE=${arg_RANKS_PER_NODE}
              ${arg_ENVIRONMENT})
        endif()
        if(bootstrap STREQUAL mpi)
          list(APPEND environment ${tessera_mpirun_environment})
        endif()
        tessera_rank_command(${bootstrap} ${ranks} ${arg_PROGRAM} command ${arg_ARGS})
        add_test(NAME ${entry} COMMAND ${command})
        tessera_test_properties(${entry} ${ranks} "${labels}" "${arg_TIMEOUT}" "${environment}")
      endforeach()
    endforeach()
  endforeach()
endfunction()

function(add_end_of_job_test name program)
  foreach(given 7 0)
    tessera_rank_command(fork 2 ${program} command ${given})
    add_test(NAME ${name}.${given}
      COMMAND sh -c "\"$0\" \"$@\"; echo \" ended with $?.\"" ${command})
    tessera_test_properties(${name}.${given} 2 "fork" 30 "")
  endforeach()
  set_tests_properties(${name}.7 PROPERTIES PASS_REGULAR_EXPRESSION "the last words.* ended with 7[.]")
  set_tests_properties(${name}.0 PROPERTIES PASS_REGULAR_EXPRESSION "the last words.* ended with 1[.]")
endfunction()
