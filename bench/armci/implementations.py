# SPDX-License-Identifier: BSD-3-Clause
"""The implementations of the ARMCI interface that the driver knows: where they are, how to compile
a program with each, and how to start it on one node and on two emulated ones."""

import os
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "bench" / "armci"
RANKS = 2
STOP_SECONDS = 5

# -march=native for the loops of the floors.
FLAGS = ("-std=c11", "-O3", "-march=native", "-Wall", "-Wextra", "-Wpedantic", "-I", str(ROOT))
WITH_MPI = "-DARMCI_BENCH_MPI"


class Missing(Exception):
    """An implementation is missing; the message is printed above the table."""


class Broken(Exception):
    """An implementation doesn't work; the message is printed above the table."""


@dataclass
class Implementation:
    name: str
    compiler: list
    libraries: list
    launcher: list               # comes before the program
    environment: dict = field(default_factory=dict)
    program: Path = None
    cases: list = None           # their names, as the program prints them


def find_program(name, package):
    path = shutil.which(name)
    if path is None:
        raise Missing(f"not found: {name} (Debian: {package})")
    return path


def open_mpi_environment():
    """The variables with which Open MPI runs as root."""
    names = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    return dict.fromkeys(names, "1") if os.geteuid() == 0 else {}


# --- Tessera -------------------------------------------------------------------------------------
def home_of_build(folder):
    """The source tree of a build folder, or None if it isn't a build folder."""
    cache = folder / "CMakeCache.txt"
    if not cache.is_file():
        return None
    for line in cache.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition("=")
        if key == "CMAKE_HOME_DIRECTORY:INTERNAL":
            return Path(value)
    return None


def message_header(folders):
    """The -D option that is needed if armci_msg_… are declared in their own header."""
    has_one = any((folder / "message.h").is_file() for folder in folders)
    return ["-DARMCI_BENCH_MESSAGE_H"] if has_one else []


def flags_of_build(folder, home):
    header = home / "rma" / "armci" / "armci.h"
    if not header.is_file():
        raise Missing(f"not found: {header}")
    library = folder / "lib" / "libtessera_armci.so"
    if not library.is_file():
        raise Missing(f"not found: {library}; build the target tessera_armci")
    rpath = f"-Wl,-rpath,{library.parent},-rpath-link,{library.parent}"
    includes = ["-I", str(header.parent), "-I", str(home)] + message_header([header.parent])
    return includes, [f"-L{library.parent}", "-ltessera_armci", rpath]


def flags_of_prefix(prefix):
    files = sorted(prefix.glob("lib*/**/pkgconfig/tessera_armci.pc"))
    if not files:
        raise Missing(f"not found: libtessera_armci in {prefix}, which is neither a build folder "
                      "nor an installed prefix with tessera_armci.pc")
    find_program("pkg-config", "pkg-config")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(files[0].parent)}

    def ask(*what):
        done = subprocess.run(["pkg-config", *what, "tessera_armci"], env=environment, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise Missing(f"pkg-config: {first_line(done.stderr)}")
        return shlex.split(done.stdout)

    includes = ask("--cflags")
    includes += message_header(Path(word[2:]) for word in includes if word.startswith("-I"))
    return includes, ask("--libs") + [f"-Wl,-rpath,{files[0].parent.parent}"]


def find_tessera(place, nodes, transport="native"):
    """`transport`: "native", or "mpi" for MPI's windows between the ranks, also of one node."""
    home = home_of_build(place)
    includes, libraries = flags_of_build(place, home) if home else flags_of_prefix(place)
    find_started = started_by_mpi if transport == "mpi" else started_by_tessera
    launcher, environment = find_started(place, nodes)
    return Implementation("tessera", [find_program("cc", "gcc"), *includes], libraries, launcher,
                          environment)


def started_by_tessera(place, nodes):
    launcher = place / "bin" / "tessera-run"
    if not launcher.is_file():
        raise Missing(f"not found: {launcher}")
    environment = {}
    if nodes > 1:
        environment = {"TESSERA_TRANSPORT": "shm,tcp", "TESSERA_RANKS_PER_NODE": "1"}
    return [str(launcher), "-n", str(RANKS)], environment


def mpiexec_of(place):
    """The launcher of the MPI that Tessera was built with; for a prefix, the one in PATH."""
    cache = place / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8", errors="replace") if cache.is_file() else ""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.startswith("MPIEXEC_EXECUTABLE:") and os.access(value, os.X_OK):
            return value
    return find_program("mpiexec", "openmpi-bin or mpich")


def started_by_mpi(place, nodes):
    """Starts Tessera as ARMCI-MPI is started, on the same MPI."""
    program = mpiexec_of(place)
    version = subprocess.run([program, "--version"], text=True, capture_output=True,
                             check=False).stdout
    if "HYDRA" in version:
        launcher, environment = mpich_launch(program, nodes)
    elif nodes > 1:
        raise Missing("Open MPI can't create windows over TCP with MPI_THREAD_MULTIPLE, which "
                      "transport mpi needs")
    else:
        launcher, environment = open_mpi_launch(program, nodes)
    return launcher, {**environment, "TESSERA_TRANSPORT": os.environ.get("TESSERA_TRANSPORT", "mpi")}


# --- ARMCI-MPI -----------------------------------------------------------------------------------
def find_archive(compiler, name):
    """The path of a library that the compiler finds; for others it prints only the name."""
    path = subprocess.run([compiler, f"-print-file-name={name}"], text=True, capture_output=True,
                          check=False).stdout.strip()
    if not os.path.isabs(path):
        raise Missing(f"not found: {name} (Debian: libarmci-mpi-dev)")
    return path


def open_mpi_launch(program, nodes):
    """(the words before a program, its environment)"""
    launcher = [program, "--oversubscribe", "--bind-to", "none"]
    if nodes > 1:
        launcher += ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "osc", "pt2pt"]
    return [*launcher, "-n", str(RANKS)], open_mpi_environment()


def mpich_launch(program, nodes):
    """The same for MPICH."""
    environment = {}
    if nodes > 1:
        # Debian's MPICH 4.0 is ch4:ucx: UCX alone would still go through memory. The other two are
        # for builds on libfabric.
        environment = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp"}
    return [program, "-n", str(RANKS)], environment


def find_on_open_mpi(nodes):
    compiler = find_program("mpicc.openmpi", "libopenmpi-dev")
    launcher, environment = open_mpi_launch(find_program("mpirun.openmpi", "openmpi-bin"), nodes)
    return Implementation("armci-mpi/openmpi", [compiler, WITH_MPI],
                          [find_archive(compiler, "libarmci-openmpi.a")], launcher, environment)


def find_on_mpich(nodes):
    compiler = find_program("mpicc.mpich", "libmpich-dev")
    launcher, environment = mpich_launch(find_program("mpirun.mpich", "mpich"), nodes)
    return Implementation("armci-mpi/mpich", [compiler, WITH_MPI],
                          [find_archive(compiler, "libarmci-mpich.a")], launcher, environment)


# --- any other -----------------------------------------------------------------------------------
def from_arguments(name, compiler, include, libraries, launcher):
    """--with: the user's own implementation. `include` has folders separated by colons."""
    includes = [word for folder in include.split(":") if folder for word in ("-I", folder)]
    command = shlex.split(compiler)
    if not command or shutil.which(command[0]) is None:
        raise Missing(f"not found: {compiler}")
    return Implementation(name, command + includes, shlex.split(libraries), shlex.split(launcher),
                          open_mpi_environment())


# --- compiling and running -----------------------------------------------------------------------
def first_line(text):
    """The first line with letters, shortened."""
    for line in text.splitlines():
        if any(c.isalpha() for c in line):
            return line.strip()[:200]
    return "no message"


def reason_in(text):
    """The line of a compiler's or a program's messages that probably states the reason."""
    for word in ("armci_bench:", "not support", "error", "rror:", "abort", "failed", "not "):
        for line in text.splitlines():
            if word in line:
                return line.strip()[:200]
    return first_line(text)


def compile_program(implementation, folder, *extra_flags):
    """Compiles the benchmark in its own folder. Returns the compiler's warnings."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "armci_bench"
    sources = sorted(str(path) for path in SOURCES.glob("*.c"))
    done = subprocess.run([*implementation.compiler, *FLAGS, *extra_flags, "-o", str(program), *sources,
                           *implementation.libraries], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise Broken(f"does not compile: {reason_in(done.stderr)}")
    implementation.program = program
    return done.stderr


def list_cases(program):
    """The names of all cases; the program prints them without starting a job."""
    done = subprocess.run([str(program), "--list"], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise Broken(f"does not start: {reason_in(done.stderr)}")
    return done.stdout.split()


def stop(process):
    """Ends a launcher and its ranks: launchers end their ranks on SIGTERM."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(STOP_SECONDS)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def run_program(implementation, arguments, limit_seconds):
    """One launch. Returns (exit code, or None if the time limit was reached; output; messages)."""
    command = [*implementation.launcher, str(implementation.program), *arguments]
    with subprocess.Popen(command, env={**os.environ, **implementation.environment}, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            output, messages = process.communicate(timeout=limit_seconds)
            return process.returncode, output, messages
        except subprocess.TimeoutExpired:
            stop(process)
            output, messages = process.communicate()
            return None, output, messages
        except BaseException:  # including a keyboard interrupt: leave no process running
            stop(process)
            raise
