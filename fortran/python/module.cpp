// SPDX-License-Identifier: BSD-3-Clause
//
// The extension module tessera._core. Each area of the package defines its part.
#include <pybind11/pybind11.h>

#include <string>

#include "fortran/python/array.hpp"
#include "fortran/python/errors.hpp"
#include "fortran/python/job.hpp"
#include "fortran/python/operands.hpp"
#include "fortran/python/transfers.hpp"
#include "rma/base/version.hpp"
#include "rma/bootstrap.hpp"

PYBIND11_MODULE(_core, module) {
  namespace python = tessera::python;
  pybind11::options options;
  options.disable_function_signatures();
  module.doc() = "Tessera's classes; import tessera instead.";
  module.attr("__version__") = std::string(tessera::rma::version());
  python::define_errors(module);
  python::define_team(module);
  python::define_distribution(module);
  python::JobClass job = python::define_job(module);
  python::ArrayClass array = python::define_array(module);
  python::define_handle(module);
  python::define_creation(job);
  python::define_local_access(module, array);
  python::define_halo(module, array);
  python::define_elements(array);
  python::define_counters_and_locks(module, job);
  python::define_phases(module, job);
  python::define_operations(module);
  python::define_linear_algebra(module);
  python::define_sparse(module);
  python::define_checkpoints(module);
  python::define_output(module);
  python::define_transfers(array);  // last: it sets slots that later definitions would change
}
