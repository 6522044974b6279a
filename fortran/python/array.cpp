// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/array.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "fortran/detail/typed_array.hpp"
#include "fortran/python/halo_plans.hpp"
#include "fortran/python/options.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {

using arrays::ArrayBase;
using arrays::Box;
using rma::Result;
using rma::Status;

namespace {

std::string representation(const Array& array) {
  const ArrayBase& base = array.description();
  std::string layout = to_string(base.distribution());
  // The shape is there already.
  layout.erase(0, layout.find(": ") == std::string::npos ? 0 : layout.find(": ") + 2);
  return fmt::format("<tessera.Array '{}' shape={} dtype={}{}: {}>", base.name(),
                     text_of(tuple_of(base.extents())), text_of(array.dtype()),
                     array.shared()->is_closed() ? ", freed" : "", layout);
}

/// A part of an array that lies in one block.
struct OwnedBlock {
  int owner;
  Box box;
};

std::vector<OwnedBlock> blocks_of(const Array& array, const py::object& of) {
  const arrays::Distribution& distribution = array.base().distribution();
  std::vector<OwnedBlock> blocks;
  const auto add = [&](rma::TeamRank rank) {
    for (const arrays::Patch& block : distribution.blocks(rank)) {
      blocks.push_back({rank.value, block.box});
    }
  };
  if (!of.is_none()) {
    const int rank = parse_int32(of, "rank");
    if (rank < 0 || rank >= array.team().size()) {
      refuse_index(fmt::format("{}: there is no rank {} in its team of {}", array.base().describe(),
                               rank, array.team().size()));
    }
    add(rma::TeamRank{rank});
    return blocks;
  }
  for (int rank = 0; rank < array.team().size(); ++rank) {
    add(rma::TeamRank{rank});
  }
  return blocks;
}

/// The parts of a selection that each lie in one block.
std::vector<OwnedBlock> patches_of(const Array& array, const py::object& key) {
  Selection selection;
  parse(array.base(), key.ptr(), selection);
  std::vector<OwnedBlock> blocks;
  for (const arrays::Patch& patch : array.base().distribution().patches(selection.box)) {
    blocks.push_back({patch.owner.value, patch.box});
  }
  return blocks;
}

int owner_of(const Array& array, const py::args& index) {
  // Both A.owner(3, 4) and A.owner((3, 4)).
  const bool is_tuple = index.size() == 1 && py::isinstance<py::tuple>(index[0]);
  const py::object key = is_tuple ? py::object(index[0]) : py::object(py::tuple(index));
  return array.base().owner(parse_index(array.base(), key)).value;
}

rma::AccessMode mode_of(const std::string& text) {
  if (text == "any") {
    return rma::AccessMode::any;
  }
  if (text == "read_only") {
    return rma::AccessMode::read_only;
  }
  if (text == "accumulate_only") {
    return rma::AccessMode::accumulate_only;
  }
  if (text == "no_local_access") {
    return rma::AccessMode::no_local_access;
  }
  refuse(fmt::format("'{}' is not an access mode", text),
         "modes: any, read_only, accumulate_only, no_local_access");
}

void set_mode(const Array& array, const std::string& text, bool copy_on_each_node,
              std::int64_t cache_bytes) {
  rma::AccessMode mode = {};
  Status own = status_of([&] {
    mode = mode_of(text);
    if (cache_bytes < 0) {
      refuse(fmt::format("cache_bytes={}", cache_bytes));
    }
  });
  checked_without_gil([&]() -> Status {
    if (!own.ok()) {
      array.team().agree(own).ignore("this rank raises its own error");
      return own;
    }
    return array.base().set_access_mode(mode,
                                        {.copy_on_each_node = copy_on_each_node,
                                         .cache_bytes = static_cast<std::size_t>(cache_bytes)});
  });
}

void define_blocks(py::module_& module) {
  py::class_<OwnedBlock>(module, "Block", "A part of an array that lies in one block of one rank.")
      .def_readonly("owner", &OwnedBlock::owner, "The rank of the array's team that owns it.")
      .def_property_readonly("lo", [](const OwnedBlock& block) { return tuple_of(block.box.lo()); })
      .def_property_readonly("hi", [](const OwnedBlock& block) { return tuple_of(block.box.hi()); })
      .def_property_readonly(
          "slices", [](const OwnedBlock& block) { return slices_of(block.box); },
          "The part as a tuple of slices: A[block.slices].")
      .def("__repr__", [](const OwnedBlock& block) {
        return fmt::format("<tessera.Block {} of rank {}>", to_string(block.box), block.owner);
      });
}

void define_description(ArrayClass& array) {
  array.def_property_readonly("dtype", &Array::dtype, "The elements' numpy.dtype.")
      .def_property_readonly(
          "shape", [](const Array& self) { return tuple_of(self.description().extents()); })
      .def_property_readonly("ndim", [](const Array& self) { return self.description().ndims(); })
      .def_property_readonly(
          "size", [](const Array& self) { return volume(self.description().extents()); },
          "The number of elements.")
      .def_property_readonly(
          "itemsize", [](const Array& self) { return self.description().element_bytes(); },
          "Bytes of an element.")
      .def_property_readonly(
          "nbytes",
          [](const Array& self) {
            return volume(self.description().extents()) *
                   static_cast<std::int64_t>(self.description().element_bytes());
          },
          "Bytes of all elements, without ghost cells.")
      .def_property_readonly("name", [](const Array& self) { return self.description().name(); })
      .def_property_readonly(
          "ghosts",
          [](const Array& self) { return tuple_of(self.description().distribution().ghosts()); },
          "Ghost cells at both ends of each dimension of a rank's block.")
      .def_property_readonly(
          "distribution", [](const Array& self) { return self.description().distribution(); },
          "Which rank holds each element: a Distribution.")
      .def_property_readonly(
          "team",
          [](const Array& self) {
            return std::make_shared<Team>(Team{self.job(), self.team()});
          },
          "The Team over which the array is distributed.")
      .def_property_readonly("job", &Array::job, "The Job of the array.")
      .def_property_readonly(
          "is_freed", [](const Array& self) { return self.shared()->is_closed(); },
          "True after free().")
      .def("__repr__", &representation)
      .def("__bool__", [](const Array& self) -> bool {
        refuse(self.description().describe() + " is neither true nor false",
               "compare it, or use A.size");
      });
}

}  // namespace

SharedArray::SharedArray(std::shared_ptr<SharedJob> job, rma::Team team,
                         std::shared_ptr<ArrayBase> array)
    : Owned(std::move(job), std::move(team), std::move(array)),
      halos_(std::make_unique<HaloPlans>()) {}
SharedArray::~SharedArray() = default;

void SharedArray::add_view(int change) noexcept {
  views_ += change;
  job()->add_view(change);
}

Status SharedArray::close() {
  if (is_closed_.exchange(true) || job()->is_stopped()) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t most_views,
                           team().allreduce(views(), rma::Reduction::max));
  if (most_views > 0) {
    return {};
  }
  Status halos_freed = halos_->free();
  Status freed = free();
  return halos_freed.ok() ? freed : halos_freed;
}

void Array::refuse_closed() const {
  check(base_->name_rank(Status::error(rma::Code::closed, base_->describe() + " was freed")));
  __builtin_unreachable();
}

std::shared_ptr<Array> adopt(const std::shared_ptr<SharedJob>& job, Result<ArrayBase> made,
                             py::dtype dtype) {
  auto array = take(typed_array(take(std::move(made))));
  rma::Team team = array->team();
  auto shared = std::make_shared<SharedArray>(job, std::move(team), std::move(array));
  return std::make_shared<Array>(std::move(shared), std::move(dtype));
}

void refuse_elements(const Array& array, std::string_view operation) {
  refuse_type(fmt::format("{} {}: elements of dtype {} cannot be computed with", operation,
                          array.description().describe(), text_of(array.dtype())),
              "use one of int8 to int64, uint8 to uint64, float32, float64, complex64, complex128");
}

ArrayClass define_array(py::module_& module) {
  define_blocks(module);
  ArrayClass array(module, "Array",
                   R"(A distributed N-dimensional array. job.zeros() and similar make one.

A[10:20, ::2] reads elements from whichever ranks own them, A[key] = x writes them, A.acc(key, x)
adds to them; these need no other rank to take part. A.sync() is collective: afterwards all ranks see
what was written. A.local is this rank's part as a NumPy array without a copy.

Freed by free(), by `with`, or after all ranks have dropped it, by the next call that makes an array
and by Job.barrier().)");
  define_description(array);
  array
      .def(
          "sync",
          [](const Array& self) { checked_without_gil([&] { return self.base().sync(); }); },
          R"(Complete all writes of all ranks. Collective: afterwards all ranks see them.)")
      .def(
          "fence",
          [](const Array& self) { checked_without_gil([&] { return self.base().fence(); }); },
          "Complete this rank's writes at their owners. One-sided.")
      .def(
          "free",
          [](const Array& self) { checked_without_gil([&] { return self.shared()->close(); }); },
          R"(Free the array. Collective. Operations on it raise Closed afterwards.

If NumPy arrays made by local exist on some rank, the memory is freed after they are gone.)")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__",
           [](const Array& self, const py::object& kind, const py::object&, const py::object&) {
             // After an exception other ranks may be elsewhere; the array is freed when it is
             // dropped.
             if (kind.is_none()) {
               checked_without_gil([&] { return self.shared()->close(); });
             }
           })
      .def(
          "like",
          [](const Array& self, const std::string& name) {
            checked_without_gil(
                [&] { return prepare_to_make(*self.job(), self.team(), "array", name); });
            return adopt(self.job(), without_gil([&] { return self.base().duplicate(name); }),
                         self.dtype());
          },
          py::arg("name") = "unnamed",
          "A new array of zeros with the same shape, dtype and distribution. Collective.")
      .def("set_mode", &set_mode, py::arg("mode"), py::arg("copy_on_each_node") = false,
           py::arg("cache_bytes") = 0,
           R"(Declare how the array is used until the next call. Collective.

mode is "any", "read_only", "accumulate_only" or "no_local_access"; other uses are refused.
copy_on_each_node: gets, or accumulates, stay on the node. cache_bytes: how many bytes from other
nodes this rank keeps while the array is read-only.)")
      .def("owner", &owner_of,
           R"(The rank of the array's team that owns an element: A.owner(3, 4).)")
      .def("blocks", &blocks_of, py::arg("rank") = py::none(),
           "The blocks of a rank, or of all ranks: a list of Block.")
      .def("patches", &patches_of, py::arg("key"),
           "The parts of A[key] that each lie in one block: a list of Block. Steps count as 1.");
  return array;
}

}  // namespace tessera::python
