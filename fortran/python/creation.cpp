// SPDX-License-Identifier: BSD-3-Clause
//
// The methods of Job that make arrays.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "fortran/python/array.hpp"
#include "fortran/python/buffers.hpp"
#include "fortran/python/element_types.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/objects.hpp"
#include "fortran/python/options.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {

using arrays::ArrayBase;
using arrays::Distribution;
using rma::Result;
using rma::Status;

namespace {

rma::Atomics atomics_of(const std::string& text) {
  if (text == "separate") {
    return rma::Atomics::separate;
  }
  if (text == "strict") {
    return rma::Atomics::strict;
  }
  if (text == "device") {
    return rma::Atomics::device;
  }
  refuse(fmt::format("atomics='{}' is not possible", text), "choices: separate, strict, device");
}

/// The options of all functions here.
void read_options(const char* function, const py::kwargs& given, const rma::Team& team,
                  ArrayTerms& asked) {
  Options options(function, given, asked.extents.ndims());
  arrays::ArrayOptions& to = asked.options;
  options.take("team");  // read before, because errors are reported to it
  options.take_text("name", to.name);
  const py::object distribution = options.take("distribution");
  options.take_list("ghosts", to.ghosts);
  options.take_list("grid", to.process_grid);
  options.take_list("min_block", to.min_block);
  if (const py::object holders = options.take("holders"); !holders.is_none()) {
    to.holders = parse_ranks(holders, "holders");
  }
  options.take_order(to.order);
  options.take_flag("sparse", to.region.sparse);
  options.take_flag("huge_pages", to.region.huge_pages);
  std::string atomics = "separate";
  options.take_text("atomics", atomics);
  to.region.atomics = atomics_of(atomics);
  options.finish();
  to.team = team;
  if (distribution.is_none()) {
    return;
  }
  if (!py::isinstance<Distribution>(distribution)) {
    refuse_type(fmt::format("distribution={} is not a tessera.Distribution", repr_of(distribution)),
                "example: tessera.Distribution.block_cyclic((100, 100), (10, 10), job.size)");
  }
  asked.distribution = distribution.cast<const Distribution&>();
  if (asked.distribution->extents() != asked.extents) {
    refuse(fmt::format("the shape is {}, and the distribution's {}", to_string(asked.extents),
                       to_string(asked.distribution->extents())));
  }
  if (!to.ghosts.is_empty() || !to.process_grid.is_empty() || !to.min_block.is_empty() ||
      !to.holders.empty()) {
    refuse("ghosts, grid, min_block and holders are options of the distribution",
           "give them to tessera.Distribution, or leave distribution out");
  }
}

rma::Team team_option(SharedJob& job, const py::kwargs& given) {
  return team_of(job, given.contains("team") ? py::object(given["team"]) : py::none());
}

Result<ArrayBase> make_base(SharedJob& job, const ArrayTerms& asked) {
  const arrays::ElementKind element = element_kind(asked.dtype);
  return asked.distribution
             ? ArrayBase::create(job.rma(), *asked.distribution, element, asked.options)
             : ArrayBase::create(job.rma(), asked.extents, element, asked.options);
}

/// Makes the array if the arguments of all members are right.
std::shared_ptr<Array> make_checked(const std::shared_ptr<SharedJob>& job, const ArrayTerms& asked,
                                    rma::Team& team, const Status& own) {
  checked_without_gil(
      [&] { return prepare_to_make(*job, team, "array", asked.options.name, own); });
  return adopt(job, without_gil([&] { return make_base(*job, asked); }), asked.dtype);
}

std::shared_ptr<Array> zeros(const std::shared_ptr<SharedJob>& job, const char* function,
                             const py::object& shape, const py::object& dtype,
                             const py::kwargs& given) {
  job->check_running();
  rma::Team team = team_option(*job, given);
  ArrayTerms asked{.extents = {}, .dtype = py::dtype::of<double>()};
  const Status own = status_of([&] {
    asked.extents = parse_shape(shape);
    asked.dtype = dtype_of(dtype);
    read_options(function, given, team, asked);
  });
  return make_checked(job, asked, team, own);
}

std::shared_ptr<Array> full(const std::shared_ptr<SharedJob>& job, const py::object& shape,
                            const py::object& value, const py::object& dtype,
                            const py::kwargs& given) {
  const py::object chosen =
      dtype.is_none() ? py::module_::import("numpy").attr("asarray")(value).attr("dtype") : dtype;
  auto array = zeros(job, "Job.full", shape, chosen, given);
  fill(*array, value);
  return array;
}

std::shared_ptr<Array> ones(const std::shared_ptr<SharedJob>& job, const py::object& shape,
                            const py::object& dtype, const py::kwargs& given) {
  auto array = zeros(job, "Job.ones", shape, dtype, given);
  fill(*array, py::int_(1));
  return array;
}

/// Puts this rank's own parts of a NumPy array that has the whole array's elements.
void put_own_parts(const Array& array, const py::object& all) {
  for (const arrays::Patch& block : array.base().distribution().blocks(array.team().rank())) {
    const py::tuple slices = slices_of(block.box);
    Selection selection;
    parse(array.base(), slices.ptr(), selection);
    const NumpyMemory memory = source_of(array, selection, all[slices], "put to");
    checked_without_gil([&] {
      return array.base().transfer(selection.box, memory.untyped(), arrays::Transfer::put());
    });
  }
}

void put_all(const Array& array, const py::object& all) {
  const Selection selection = whole(array.base());
  const NumpyMemory memory = source_of(array, selection, all, "put to");
  checked_without_gil([&] {
    return array.base().transfer(selection.box, memory.untyped(), arrays::Transfer::put());
  });
}

/// The array of all members, of which only `root` has the elements if there is one.
std::shared_ptr<Array> from_numpy(const std::shared_ptr<SharedJob>& job, const py::object& elements,
                                  const py::object& dtype, const py::object& root,
                                  const py::kwargs& given) {
  job->check_running();
  rma::Team team = team_option(*job, given);
  const auto numpy = py::module_::import("numpy");
  py::object all;
  py::object shape;
  ArrayTerms asked{.extents = {}, .dtype = py::dtype::of<double>()};
  Status own = status_of([&] {
    const int chosen = root.is_none() ? -1 : parse_int32(root, "root");
    if (!root.is_none()) {
      check_root(team, rma::TeamRank{chosen});
    }
    if (root.is_none() || chosen == team.rank().value) {
      all = dtype.is_none() ? numpy.attr("asarray")(elements)
                            : numpy.attr("asarray")(elements, dtype_of(dtype));
      shape = py::make_tuple(all.attr("shape"), all.attr("dtype"));
    }
  });
  if (!root.is_none()) {
    checked_without_gil([&] { return team.agree(own); });
    shape = broadcast(team, shape, rma::TeamRank{parse_int32(root, "root")});
  }
  if (own.ok()) {
    own = status_of([&] {
      asked.extents = parse_shape(shape[py::int_(0)]);
      asked.dtype = dtype_of(shape[py::int_(1)]);
      read_options("Job.from_numpy", given, team, asked);
    });
  }
  auto array = make_checked(job, asked, team, own);
  const Status put = status_of([&] {
    if (root.is_none()) {
      put_own_parts(*array, all);
    } else if (all) {
      put_all(*array, all);
    }
  });
  checked_without_gil([&] { return array->base().sync(put); });
  return array;
}

constexpr const char* options_text = R"(

Options, all by keyword: name (for messages), ghosts (ghost cells at both ends of each dimension, one
number or one for each), team (a Team; all ranks by default), distribution (a Distribution; one even
block for each rank by default), grid (number of blocks along each dimension; 0: chosen), min_block
(the shortest block), holders (only these ranks hold elements), order ("C" or "F", each rank's memory),
sparse (memory is allocated when touched), huge_pages, atomics ("separate", "strict", "device").

Collective: all ranks of the team call it with equal arguments. All succeed, or all raise the error of
one.)";

}  // namespace

std::shared_ptr<Array> make(const std::shared_ptr<SharedJob>& job, const ArrayTerms& asked) {
  rma::Team team = asked.options.team ? *asked.options.team : job->rma().world();
  return make_checked(job, asked, team, Status());
}

void fill(const Array& array, const py::object& value) {
  const Status own = status_of([&] {
    for (const arrays::Patch& block : array.base().distribution().blocks(array.team().rank())) {
      const py::tuple slices = slices_of(block.box);
      Selection selection;
      parse(array.base(), slices.ptr(), selection);
      const NumpyMemory memory = source_of(array, selection, value, "fill of");
      checked_without_gil([&] {
        return array.base().transfer(selection.box, memory.untyped(), arrays::Transfer::put());
      });
    }
  });
  checked_without_gil([&] { return array.base().sync(own); });
}

void define_creation(JobClass& job) {
  static const std::string zeros_text =
      std::string("Make an array of zeros. dtype is NumPy's, float64 by default.") + options_text;
  static const std::string full_text =
      std::string(
          "Make an array with all elements equal to value. dtype is that of value by default.") +
      options_text;
  static const std::string from_text = std::string(R"(Make an array from a NumPy array.

Without root, every rank gives the same array and stores its own part. With root, only that rank's is
used, and the others may give None. dtype converts it.)") +
                                       options_text;
  const auto make_zeros = [](const std::shared_ptr<SharedJob>& self, const py::object& shape,
                             const py::object& dtype, const py::kwargs& given) {
    return zeros(self, "Job.zeros", shape, dtype, given);
  };
  job.def("zeros", make_zeros, py::arg("shape"), py::arg("dtype") = "f8", zeros_text.c_str())
      .def("empty", make_zeros, py::arg("shape"), py::arg("dtype") = "f8",
           "As zeros(): new memory is always zero.")
      .def("ones", &ones, py::arg("shape"), py::arg("dtype") = "f8", "As zeros(), but all are 1.")
      .def("full", &full, py::arg("shape"), py::arg("value"), py::arg("dtype") = py::none(),
           full_text.c_str())
      .def("from_numpy", &from_numpy, py::arg("array"), py::arg("dtype") = py::none(),
           py::arg("root") = py::none(), from_text.c_str())
      .def("array", &from_numpy, py::arg("elements"), py::arg("dtype") = py::none(),
           py::arg("root") = py::none(), "As from_numpy(), from lists too.");
}

}  // namespace tessera::python
