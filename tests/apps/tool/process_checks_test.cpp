// SPDX-License-Identifier: BSD-3-Clause
//
// Each check of a process: its states, and its messages.
#include <gtest/gtest.h>

#include "tests/apps/tool/environment_of.hpp"

namespace tessera::tool {
namespace {

TEST(CheckSettings, IsGreenWithDefaultsAndWithValuesThatAreGood) {
  Environment own = healthy();
  EXPECT_EQ(check_settings(own), green("settings", "all have their defaults"));
  own.configuration.changed = {"TESSERA_SERVER=poll", "TESSERA_TUNE=chunk=64"};
  EXPECT_EQ(check_settings(own),
            green("settings",
                  "TESSERA_SERVER=poll, TESSERA_TUNE=chunk=64; all others have their defaults"));
}

TEST(CheckSettings, IsYellowForANameThatIsNotASetting) {
  Environment own = healthy();
  own.configuration.warnings = {
      "TESSERA_SPIN is not a setting and was ignored; did you mean TESSERA_TUNE=spin_ns?",
      "TESSERA_X is not a setting and was ignored; did you mean TESSERA_LOG?"};
  EXPECT_EQ(check_settings(own),
            yellow("settings",
                   "TESSERA_SPIN is not a setting and was ignored; and 1 more names are unknown",
                   "unset TESSERA_SPIN, or set TESSERA_TUNE=spin_ns instead"));
}

TEST(CheckSettings, IsRedForAValueThatJobsRefuse) {
  Environment own = healthy();
  own.configuration.error = "TESSERA_TUNE=spin_ns=soon is not usable: expected -1 or more (ns)";
  EXPECT_EQ(check_settings(own),
            red("settings", "TESSERA_TUNE=spin_ns=soon is not usable: expected -1 or more (ns)",
                "unset the variable, or set it to a value that `tessera info` lists"));
  own.configuration.warnings = {
      "TESSERA_X is not a setting and was ignored; did you mean TESSERA_LOG?"};
  EXPECT_EQ(
      check_settings(own),
      red("settings",
          "TESSERA_TUNE=spin_ns=soon is not usable: expected -1 or more (ns); and TESSERA_X is not "
          "a setting and was ignored",
          "unset the variable, or set it to a value that `tessera info` lists"));
}

TEST(CheckAddressSpace, HasAllStates) {
  Environment own = healthy();
  EXPECT_EQ(check_address_space(own), green("address space", "not limited"));
  own.limits.address_space = 40 * gib;
  EXPECT_EQ(check_address_space(own),
            yellow("address space",
                   "limited to 40.0 GiB (ulimit -v): all arrays of a node must fit into this limit",
                   "ulimit -v unlimited"));
  own.limits.address_space = 64 * mib;
  EXPECT_EQ(check_address_space(own), red("address space",
                                          "limited to 64.0 MiB (ulimit -v), but a program and its "
                                          "node's memory need at least 128.0 MiB",
                                          "ulimit -v unlimited"));
}

// It would ask for the buffers forever.
TEST(CheckAddressSpace, IsRedIfOpenBlasGetsNoBuffers) {
  Environment own = healthy();
  own.limits.address_space = 1200 * mib;
  EXPECT_EQ(check_address_space(own),
            red("address space",
                "limited to 1.2 GiB (ulimit -v), with which programs that multiply matrices do not "
                "run: OpenBLAS needs 128.0 MiB for each of its 4 threads",
                "ulimit -v unlimited; or export OPENBLAS_NUM_THREADS=1"));
  own.blas.threads = 1;
  EXPECT_EQ(check_address_space(own).state, State::yellow);
  own.limits.address_space = 300 * mib;
  EXPECT_EQ(check_address_space(own).remedy, "ulimit -v unlimited");
  EXPECT_EQ(check_address_space(own).state, State::red);
}

TEST(CheckFileSizes, HasAllStates) {
  Environment own = healthy();
  EXPECT_EQ(check_file_sizes(own), green("file sizes", "not limited"));
  own.limits.file_size = 10 * gib;
  EXPECT_EQ(check_file_sizes(own),
            yellow("file sizes",
                   "limited to 10.0 GiB (ulimit -f): all arrays of a node must fit into this limit",
                   "ulimit -f unlimited"));
  own.limits.file_size = 32 * mib;
  EXPECT_EQ(check_file_sizes(own), red("file sizes",
                                       "limited to 32.0 MiB (ulimit -f), but a program and its "
                                       "node's memory need at least 64.0 MiB",
                                       "ulimit -f unlimited"));
}

TEST(CheckDescriptors, IsGreenIfThereAreEnough) {
  Environment own = healthy();
  EXPECT_EQ(check_descriptors(own), green("descriptors", "at most 20000 may be open (ulimit -n)"));
  own.limits.descriptors = no_limit;
  EXPECT_EQ(check_descriptors(own), green("descriptors", "not limited"));
}

TEST(CheckDescriptors, IsYellowBelowWhatTheJobMayNeed) {
  Environment own = healthy();
  own.limits.descriptors = 64;
  EXPECT_EQ(check_descriptors(own), yellow("descriptors",
                                           "at most 64 may be open (ulimit -n), but a process may "
                                           "need 1024: one for each node it communicates with",
                                           "ulimit -n 4096"));
  own.limits.descriptors = 4096;
  own.launch.ranks = 5000;
  EXPECT_EQ(check_descriptors(own).remedy, "ulimit -n 10032");
  own.launch.ranks = 1;
  own.limits.descriptors = 256;
  own.limits.max_descriptors = 2048;
  EXPECT_EQ(check_descriptors(own).remedy, "ulimit -n 2048") << "more is refused";
}

TEST(CheckDescriptors, OnlyTheAdministratorRaisesAHardLimit) {
  Environment own = healthy();
  own.limits.descriptors = 64;
  own.limits.max_descriptors = 256;
  EXPECT_EQ(check_descriptors(own).remedy,
            "raise the hard limit from 256 to 4096 (nofile in /etc/security/limits.d)");
}

TEST(CheckDescriptors, IsRedIfRanksCannotStart) {
  Environment own = healthy();
  own.limits.descriptors = 12;
  EXPECT_EQ(check_descriptors(own),
            red("descriptors", "at most 12 may be open (ulimit -n), but a rank needs 16 to start",
                "ulimit -n 4096"));
}

TEST(CheckLockedMemory, IsGreenIfNothingNeedsIt) {
  Environment own = healthy();
  EXPECT_EQ(check_locked_memory(own), green("locked memory", "not limited"));
  own.limits.max_locked = 8 * mib;
  EXPECT_EQ(check_locked_memory(own), green("locked memory",
                                            "8.0 MiB may be locked (ulimit -l); only RDMA devices "
                                            "need it, and this machine has none"));
  own.limits.has_ipc_lock = true;
  EXPECT_EQ(check_locked_memory(own),
            green("locked memory", "8.0 MiB may be locked (ulimit -l), and more by CAP_IPC_LOCK"));
}

TEST(CheckLockedMemory, IsYellowOrRedIfADeviceNeedsIt) {
  Environment own = healthy();
  own.rdma.ports = {{.device = "mlx5_0",
                     .port = 1,
                     .state = "ACTIVE",
                     .link_layer = "InfiniBand",
                     .rate = "100 Gb/sec (4X EDR)"}};
  const char* const remedy =
      "raise it to unlimited: memlock in /etc/security/limits.d, LimitMEMLOCK=infinity for "
      "services such as slurmd";
  own.limits.max_locked = 2 * gib;
  EXPECT_EQ(check_locked_memory(own), green("locked memory", "2.0 GiB may be locked (ulimit -l)"));
  own.limits.max_locked = 64 * mib;
  EXPECT_EQ(check_locked_memory(own),
            yellow("locked memory", "64.0 MiB may be locked (ulimit -l), which RDMA devices share",
                   remedy));
  own.limits.max_locked = 8 * mib;
  EXPECT_EQ(
      check_locked_memory(own),
      red("locked memory",
          "8.0 MiB may be locked (ulimit -l), which is too little for an RDMA device", remedy));
}

TEST(CheckMpi, NamesTheLibraryAndItsThreadLevel) {
  Environment own = healthy();
  EXPECT_EQ(check_mpi(own), green("MPI", "Open MPI v4.1.4, not running"));
  own.mpi.thread_level = "MPI_THREAD_FUNNELED";
  EXPECT_EQ(check_mpi(own), green("MPI", "Open MPI v4.1.4, at MPI_THREAD_FUNNELED"));
  own.mpi.windows = "not used: this machine has no network but Ethernet";
  EXPECT_EQ(check_mpi(own), green("MPI",
                                  "Open MPI v4.1.4, at MPI_THREAD_FUNNELED; transport mpi: not "
                                  "used: this machine has no network but Ethernet"));
  own.mpi.thread_level = "MPI_THREAD_SINGLE";
  EXPECT_EQ(
      check_mpi(own),
      yellow("MPI",
             "Open MPI v4.1.4, at MPI_THREAD_SINGLE, but Tessera asked for MPI_THREAD_FUNNELED",
             "use an MPI library that was built with support for threads"));
}

TEST(CheckMpi, IsRedUnderItsLauncherWhenItIsNotBuiltIn) {
  Environment own = healthy();
  own.mpi = {};
  EXPECT_EQ(check_mpi(own), green("MPI", "not built in; use tessera-run, on one machine"));
  own.launch.launcher = "srun";
  EXPECT_EQ(check_mpi(own), red("MPI", "this Tessera was built without MPI, but srun started it",
                                "start it with tessera-run, or build it with -DTESSERA_MPI=ON"));
}

TEST(CheckTracing, IsYellowIfTheKernelSeparatesRanks) {
  Environment own = healthy();
  const char* const name = "memory of other processes";
  EXPECT_EQ(check_tracing(own), green(name, "ranks of one user may access it"));
  own.ptrace_scope = 1;
  EXPECT_EQ(check_tracing(own),
            yellow(name,
                   "the kernel forbids access (ptrace_scope 1): operations on attached memory of "
                   "another rank fail",
                   "as root: sysctl kernel.yama.ptrace_scope=0; or do not use attached memory"));
  own.has_sys_ptrace = true;
  EXPECT_EQ(check_tracing(own), green(name, "CAP_SYS_PTRACE gives access (ptrace_scope 1)"));
  own.ptrace_scope = 3;  // for root, too
  EXPECT_EQ(check_tracing(own).remedy,
            "boot without kernel.yama.ptrace_scope=3, which cannot be undone while it runs; or do "
            "not use attached memory");
}

}  // namespace
}  // namespace tessera::tool
