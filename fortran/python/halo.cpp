// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/halo.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "fortran/python/array.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/halo_plans.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {

using arrays::HaloOptions;
using arrays::PeriodicDims;
using rma::Status;

namespace {

/// A.halo. `started` is the exchange whose update is in progress.
struct HaloOfArray {
  Array array;
  HaloPlans::Plan started = {};
};

/// True, False, or a sequence of them with one for each dimension.
PeriodicDims dims_of(const Array& array, const py::object& given, const char* what) {
  const int ndims = array.base().ndims();
  if (py::isinstance<py::bool_>(given)) {
    return given.cast<bool>() ? PeriodicDims().set() : PeriodicDims();
  }
  if (!py::isinstance<py::sequence>(given) || static_cast<int>(py::len(given)) != ndims) {
    refuse(fmt::format("{}={} does not fit {}", what, repr_of(given), array.base().describe()),
           fmt::format("give True, False, or a tuple of {} of them", ndims));
  }
  PeriodicDims dims;
  for (int dim = 0; dim < ndims; ++dim) {
    dims[static_cast<std::size_t>(dim)] = py::bool_(given[py::int_(dim)]);
  }
  return dims;
}

HaloOptions options_of(const Array& array, const py::object& periodic, const py::object& widths,
                       bool corners) {
  HaloOptions options{.periodic = dims_of(array, periodic, "periodic"), .corners = corners};
  if (!widths.is_none()) {
    options.widths = parse_list<arrays::Extents>(widths, array.base().ndims(), "widths");
  }
  return options;
}

/// The exchange for these arguments: planned when it is first needed, on all members together.
HaloPlans::Plan plan(const Array& array, const py::object& periodic, const py::object& widths,
                     bool corners) {
  HaloOptions options;
  const Status own = status_of([&] { options = options_of(array, periodic, widths, corners); });
  SharedArray& shared = *array.shared();
  if (own.ok()) {
    if (auto found = shared.halos().find(options)) {
      return found;
    }
  }
  checked_without_gil([&] {
    return prepare_to_make(*array.job(), array.team(), "halo", array.base().name(), own);
  });
  auto made = std::make_shared<PlannedHalo>(
      checked_without_gil([&] { return arrays::Halo::create(array.base(), options); }));
  auto planned = std::make_shared<Owned<PlannedHalo>>(array.job(), array.team(), std::move(made));
  shared.halos().add(options, planned);
  return planned;
}

void update(HaloOfArray& self, const py::object& periodic, const py::object& widths, bool corners) {
  const HaloPlans::Plan planned = plan(self.array, periodic, widths, corners);
  checked_without_gil([&] { return (*planned)->halo.update(); });
}

void start_update(HaloOfArray& self, const py::object& periodic, const py::object& widths,
                  bool corners) {
  const HaloPlans::Plan planned = plan(self.array, periodic, widths, corners);
  (*planned)->update.emplace(checked_without_gil([&] { return (*planned)->halo.start(); }));
  self.started = planned;
}

void finish(HaloOfArray& self) {
  if (!self.started) {
    refuse(self.array.base().describe() + ": no update of its ghost cells was started",
           "call A.halo.start() first, on the same object: h = A.halo");
  }
  const HaloPlans::Plan planned = std::move(self.started);
  Status finished = without_gil([&] { return (*planned)->update->finish(); });
  (*planned)->update.reset();
  check(std::move(finished));
}

void post(HaloOfArray& self, const py::object& periodic, const py::object& widths, bool corners) {
  const HaloPlans::Plan planned = plan(self.array, periodic, widths, corners);
  checked_without_gil([&] { return (*planned)->halo.post(); });
}

}  // namespace

void define_halo(py::module_& module, ArrayClass& array) {
  py::class_<HaloOfArray>(module, "Halo", R"(The exchange of an array's ghost cells: A.halo.

Arguments of all functions: periodic is True, False, or a tuple with one of them for each dimension;
widths is the number of layers, one number or one for each dimension, all ghost cells by default;
corners=False leaves out cells outside in more than one dimension. The exchange is planned at the
first call with the same arguments, which is collective.)")
      .def("update", &update, py::arg("periodic") = false, py::arg("widths") = py::none(),
           py::arg("corners") = true,
           R"(Make ghost cells equal to the elements that they copy. Collective.

Sends this rank's elements as it sees them; elements that other ranks put need A.sync() before.
Cells outside the array in dimensions that are not periodic keep their values. Complete: at return.)")
      .def("start", &start_update, py::arg("periodic") = false, py::arg("widths") = py::none(),
           py::arg("corners") = true,
           "Start an update. Until finish(), do not touch ghost cells and do not change own "
           "elements.")
      .def("finish", &finish, "Finish the update that start() of this object began.")
      .def("post", &post, py::arg("periodic") = false, py::arg("widths") = py::none(),
           py::arg("corners") = true,
           "Let neighbours write this rank's ghost cells for the next update, so that they need "
           "not wait.");
  array.def_property_readonly(
      "halo", [](const Array& self) { return HaloOfArray{self}; },
      "The exchange of ghost cells: A.halo.update(periodic=True).");
}

}  // namespace tessera::python
