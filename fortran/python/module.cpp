// SPDX-License-Identifier: BSD-3-Clause
//
// The extension module tessera._core. Each area of the package defines its part.
#include <pybind11/pybind11.h>

#include "fortran/python/array.hpp"
#include "fortran/python/errors.hpp"
#include "fortran/python/job.hpp"
#include "rma/base/version.hpp"

// NOLINTNEXTLINE: the macro of pybind11
PYBIND11_MODULE(_core, module) {
  using namespace tessera::python;  // NOLINT(google-build-using-namespace)
  module.doc() = "Tessera's classes; import tessera instead.";
  module.attr("__version__") = tessera::rma::version().data();
  define_errors(module);
  define_team(module);
  define_job(module);
  define_array(module);
}
