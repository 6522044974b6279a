# SPDX-License-Identifier: BSD-3-Clause
"""Builds a wheel of the Python package: the backend of pyproject.toml (PEP 517).

    pip install ./fortran/python
    pip install -Cbuild-dir=build -Ccmake=-DTESSERA_NATIVE=OFF ./fortran/python

Options of -C: `build-dir`, a build folder to keep (a temporary one by default), or one that is there, which
is used as it was configured; `cmake`, more arguments for configuring, any number of times. Needs CMake, the packages that Tessera needs, and pybind11;
nothing from a package registry.

The wheel contains what one process needs: the package with the extension, in lib/ the libraries, in bin/
the launcher and the command-line tool.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
# A time for all files, so that equal contents give equal wheels.
FIRST_TIME_OF_ZIP = (1980, 1, 1, 0, 0, 0)
PROGRAMS = ("tessera-run", "tessera")
LIBRARIES = ("tessera_rma", "tessera_arrays", "tessera_linalg")
ENTRY_POINTS = """[console_scripts]
tessera = tessera._tools:tool
tessera-run = tessera._tools:run
"""


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = f"tessera-{version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, name))
    for file, text in metadata().items():
        with open(os.path.join(metadata_directory, name, file), "w", encoding="utf-8") as out:
            out.write(text)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    options = config_settings or {}
    unknown = set(options) - {"build-dir", "cmake"}
    if unknown:
        raise ValueError(f"-C{unknown.pop()}: the options are build-dir and cmake")
    with tempfile.TemporaryDirectory(prefix="tessera-wheel-") as scratch:
        build = os.path.abspath(options.get("build-dir", os.path.join(scratch, "build")))
        prefix = os.path.join(scratch, "prefix")
        make(build, prefix, options.get("cmake", []))
        return pack(prefix, wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("Tessera has no source distribution of its package: install from its sources")


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(tessera VERSION ([\d.]+)", file.read()).group(1)


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[^A-Za-z0-9_]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def metadata():
    with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return {
        "METADATA": (f"Metadata-Version: 2.1\nName: tessera\nVersion: {version()}\n"
                     "Summary: Distributed N-dimensional arrays on one-sided communication\n"
                     "License: BSD-3-Clause\nRequires-Python: >=3.9\nRequires-Dist: numpy\n"
                     "Provides-Extra: mpi\nRequires-Dist: mpi4py; extra == 'mpi'\n"
                     f"Description-Content-Type: text/markdown\n\n{readme}"),
        "WHEEL": ("Wheel-Version: 1.0\nGenerator: tessera\nRoot-Is-Purelib: false\n"
                  f"Tag: {tag()}\n"),
        "entry_points.txt": ENTRY_POINTS,
    }


def make(build, prefix, more):
    """Configures, builds what the wheel contains, and installs it below `prefix`."""
    more = [more] if isinstance(more, str) else more
    if more or not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        generator = ["-G", "Ninja"] if shutil.which("ninja") and not os.path.exists(build) else []
        run("cmake", "-S", ROOT, "-B", build, *generator, f"-DTESSERA_PYTHON_EXECUTABLE={sys.executable}",
            "-DTESSERA_PYTHON_MODULE=ON", "-DTESSERA_GA=OFF", "-DTESSERA_FORTRAN=OFF",
            "-DCMAKE_INSTALL_LIBDIR=lib", *more)
    run("cmake", "--build", build, "--parallel", str(os.cpu_count() or 1), "--target",
        *LIBRARIES, "tessera_python", *PROGRAMS)
    # CMake's installation also makes the programs and libraries find each other in any folder.
    for component in ("rma", "arrays", "linalg", "python", *PROGRAMS):
        run("cmake", "--install", build, "--prefix", prefix, "--component", component)


def run(*command):
    print("+", *command, flush=True)
    code = subprocess.run(command, check=False).returncode
    if code != 0:
        raise SystemExit(f"{' '.join(command[:2])} failed with code {code}; above is why")


def files_of(prefix):
    """What the wheel contains: pairs of a path in it and a file."""
    libraries, package = None, None
    for folder, _, names in os.walk(prefix):
        if "__init__.py" in names and os.path.basename(folder) == "tessera":
            package = folder
        if any(name.startswith("libtessera_rma.so") for name in names):
            libraries = folder
    extension = "_core" + sysconfig.get_config_var("EXT_SUFFIX")
    if package is None or extension not in os.listdir(package):
        raise SystemExit(f"{extension} was not built: configure's table says what is missing, or the build folder is "
                         "for another Python")
    for name in sorted(os.listdir(package)):
        yield f"tessera/{name}", os.path.join(package, name)
    for library in LIBRARIES:
        # The name that the programs ask for, lib….so.0.1; links do not survive in a wheel.
        names = [name for name in os.listdir(libraries) if re.fullmatch(rf"lib{library}\.so(\.\d+){{2}}", name)]
        yield f"tessera/lib/{names[0]}", os.path.realpath(os.path.join(libraries, names[0]))
    for program in PROGRAMS:
        yield f"tessera/bin/{program}", os.path.join(prefix, "bin", program)


def pack(prefix, wheel_directory):
    name = f"tessera-{version()}-{tag()}.whl"
    info = f"tessera-{version()}.dist-info"
    records = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(path, data, mode=0o644):
            entry = zipfile.ZipInfo(path, FIRST_TIME_OF_ZIP)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}")

        for path, file in files_of(prefix):
            with open(file, "rb") as source:
                add(path, source.read(), 0o755 if "/bin/" in path else 0o644)
        for file, text in metadata().items():
            add(f"{info}/{file}", text.encode())
        records.append(f"{info}/RECORD,,")
        add(f"{info}/RECORD", ("\n".join(records) + "\n").encode())
    return name
