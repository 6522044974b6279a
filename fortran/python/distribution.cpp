// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/distribution.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fortran/python/array.hpp"
#include "fortran/python/options.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {

using arrays::Distribution;
using arrays::Extents;
using arrays::RegularOptions;
using arrays::StorageOptions;

namespace {

/// Lists of block starts, one for each dimension.
std::vector<std::vector<std::int64_t>> starts_of(const py::object& given, int ndims) {
  if (!py::isinstance<py::sequence>(given) || static_cast<int>(py::len(given)) != ndims) {
    refuse(fmt::format("starts={}: one list for each of {} dimensions is needed", repr_of(given),
                       ndims));
  }
  std::vector<std::vector<std::int64_t>> starts;
  for (const py::handle each : given) {
    starts.push_back(parse_numbers(each, "starts"));
  }
  return starts;
}

Distribution regular(const py::object& shape, std::int64_t ranks, const py::kwargs& given) {
  const Extents extents = parse_shape(shape);
  Options options("Distribution.regular", given, extents.ndims());
  RegularOptions made;
  options.take_list("min_block", made.min_block);
  options.take_list("grid", made.process_grid);
  options.take_list("ghosts", made.ghosts);
  options.take_number("ranks_per_node", made.ranks_per_node);
  options.take_order(made.order);
  options.finish();
  return take(Distribution::regular(extents, ranks, made));
}

Distribution restricted(const py::object& shape, const py::object& holders, std::int64_t ranks,
                        const py::kwargs& given) {
  const Extents extents = parse_shape(shape);
  Options options("Distribution.restricted", given, extents.ndims());
  RegularOptions made;
  options.take_list("min_block", made.min_block);
  options.take_list("grid", made.process_grid);
  options.take_list("ghosts", made.ghosts);
  options.take_order(made.order);
  options.finish();
  return take(Distribution::restricted(extents, parse_ranks(holders, "holders"), ranks, made));
}

StorageOptions storage_of(const char* function, const py::kwargs& given, int ndims) {
  Options options(function, given, ndims);
  StorageOptions made;
  options.take_list("ghosts", made.ghosts);
  options.take_order(made.order);
  bool is_local_matrix = false;
  options.take_flag("local_matrix", is_local_matrix);
  options.finish();
  made.storage = is_local_matrix ? arrays::Storage::local_matrix : arrays::Storage::block_by_block;
  return made;
}

Distribution irregular(const py::object& shape, const py::object& starts, std::int64_t ranks,
                       const py::kwargs& given) {
  const Extents extents = parse_shape(shape);
  const StorageOptions options = storage_of("Distribution.irregular", given, extents.ndims());
  return take(Distribution::irregular(extents, starts_of(starts, extents.ndims()), ranks, options));
}

Distribution block_cyclic(const py::object& shape, const py::object& block, std::int64_t ranks,
                          const py::kwargs& given) {
  const Extents extents = parse_shape(shape);
  const StorageOptions options = storage_of("Distribution.block_cyclic", given, extents.ndims());
  return take(Distribution::block_cyclic(
      extents, parse_list<Extents>(block, extents.ndims(), "block"), ranks, options));
}

Distribution tiled(const py::object& shape, const py::object& tile, const py::object& grid,
                   std::int64_t ranks, const py::kwargs& given) {
  const Extents extents = parse_shape(shape);
  const StorageOptions options = storage_of("Distribution.tiled", given, extents.ndims());
  return take(Distribution::tiled(extents, parse_list<Extents>(tile, extents.ndims(), "tile"),
                                  parse_list<Extents>(grid, extents.ndims(), "grid"), ranks,
                                  options));
}

Distribution scalapack(const py::object& shape, const py::object& block, const py::object& grid,
                       std::int64_t ranks, const std::string& order) {
  const Extents extents = parse_shape(shape);
  return take(Distribution::scalapack(extents, parse_list<Extents>(block, extents.ndims(), "block"),
                                      parse_list<Extents>(grid, extents.ndims(), "grid"), ranks,
                                      parse_order(order)));
}

void check_rank(const Distribution& distribution, std::int64_t rank) {
  if (rank < 0 || rank >= distribution.nranks()) {
    refuse_index(fmt::format("there is no rank {} in a distribution over {} ranks", rank,
                             distribution.nranks()));
  }
}

}  // namespace

void define_distribution(py::module_& module) {
  py::class_<Distribution>(module, "Distribution",
                           R"(Which rank holds each element, and how it is stored.

For the argument distribution= of job.zeros() and similar. `ranks` is the number of ranks of the
array's team. Making one is local: every rank makes the same one. Options: ghosts (ghost cells at both
ends of each dimension), order ("C" or "F", the memory order).)")
      .def_static("regular", &regular, py::arg("shape"), py::arg("ranks"),
                  R"(One block for each rank, of sizes as equal as possible.

Options: min_block (the shortest block in each dimension), grid (number of blocks along each
dimension; 0: chosen), ghosts, ranks_per_node, order.)")
      .def_static("irregular", &irregular, py::arg("shape"), py::arg("starts"), py::arg("ranks"),
                  "One block for each rank; the blocks of dimension d begin at starts[d], from 0.")
      .def_static("block_cyclic", &block_cyclic, py::arg("shape"), py::arg("block"),
                  py::arg("ranks"), "Blocks of the shape `block`, dealt to the ranks in turn.")
      .def_static("tiled", &tiled, py::arg("shape"), py::arg("tile"), py::arg("grid"),
                  py::arg("ranks"), "Tiles on a grid of ranks that is repeated over them.")
      .def_static("scalapack", &scalapack, py::arg("shape"), py::arg("block"), py::arg("grid"),
                  py::arg("ranks"), py::arg("order") = "F",
                  "ScaLAPACK's layout: each rank's blocks are one dense matrix.")
      .def_static("restricted", &restricted, py::arg("shape"), py::arg("holders"), py::arg("ranks"),
                  "One block for each of the ranks `holders`; the others hold nothing.")
      .def_property_readonly("shape",
                             [](const Distribution& self) { return tuple_of(self.extents()); })
      .def_property_readonly("ranks", &Distribution::nranks, "The number of ranks.")
      .def_property_readonly("ghosts",
                             [](const Distribution& self) { return tuple_of(self.ghosts()); })
      .def_property_readonly("is_one_block_per_rank", &Distribution::is_one_block_per_rank)
      .def(
          "block_count",
          [](const Distribution& self, std::int32_t rank) {
            check_rank(self, rank);
            return self.block_count(rma::TeamRank{rank});
          },
          py::arg("rank"), "The number of blocks of a rank.")
      .def("__eq__",
           [](const Distribution& self, const Distribution& other) { return self == other; })
      .def("__hash__", [](const Distribution& self) { return fingerprint(self); })
      .def("__repr__", [](const Distribution& self) {
        return fmt::format("<tessera.Distribution {}>", to_string(self));
      });
}

}  // namespace tessera::python
