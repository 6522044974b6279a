// SPDX-License-Identifier: BSD-3-Clause
//
// NumPy arrays in this rank's own memory of an array, without a copy.
//
// Each keeps the array's memory mapped, also after free() and after the job's stop.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "arrays/race_check.hpp"
#include "fortran/python/array.hpp"
#include "fortran/python/element_types.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/selection.hpp"
#include "rma/region.hpp"

namespace tessera::python {

using arrays::ArrayBase;
using arrays::Box;
using arrays::Index;
using arrays::Patch;
using rma::Status;

namespace {

/// Whether a view includes the ghost cells.
enum class Ghosts : std::uint8_t { left_out, included };

/// The base object of a view.
struct ViewOwner {
  explicit ViewOwner(Array::Shared array) : shared(std::move(array)) { shared->add_view(1); }
  ViewOwner(const ViewOwner&) = delete;
  ViewOwner& operator=(const ViewOwner&) = delete;
  ~ViewOwner() { shared->add_view(-1); }
  Array::Shared shared;
};

py::capsule view_owner(const Array& array) {
  return {new ViewOwner(array.shared()),
          [](void* owner) { delete static_cast<ViewOwner*>(owner); }};
}

Status check_access(const Array& array) {
  return array.base().check_local_access().context("local access to " + array.base().describe());
}

/// A NumPy array for a block, which the whole process may use.
py::object view_of(const Array& array, const Patch& block, Ghosts ghosts) {
  const ArrayBase& base = array.base();
  Box box = block.box;
  std::int64_t first = block.offset;
  if (ghosts == Ghosts::included && !box.is_empty()) {
    const arrays::Extents& widths = base.distribution().ghosts();
    box = box.grown(widths);
    first -= distance(Index::zeros(widths.ndims()), Index::from(widths), block.strides);
  }
  const auto bytes = static_cast<std::int64_t>(base.element_bytes());
  std::array<Py_intptr_t, arrays::max_dims> shape = {};
  std::array<Py_intptr_t, arrays::max_dims> strides = {};
  for (int dim = 0; dim < box.ndims(); ++dim) {
    shape[static_cast<std::size_t>(dim)] = box.extent(dim);
    strides[static_cast<std::size_t>(dim)] = block.strides[dim] * bytes;
  }
  const bool is_read_only = base.access_mode() == rma::AccessMode::read_only;
  const Npy& numpy = Npy::get();
  array.dtype().inc_ref();  // the call takes a reference
  // Not null, which would make NumPy allocate memory and ignore the flags.
  static const std::byte no_element{};
  std::byte* const slice = base.region().local();
  void* const data = slice == nullptr ? const_cast<std::byte*>(&no_element) : slice + first * bytes;
  py::object view = owned(numpy.PyArray_NewFromDescr_(
      numpy.PyArray_Type_, array.dtype().ptr(), box.ndims(), shape.data(), strides.data(), data,
      Npy::NPY_ARRAY_ALIGNED_ | (is_read_only ? 0 : Npy::NPY_ARRAY_WRITEABLE_), nullptr));
  if (numpy.PyArray_SetBaseObject_(view.ptr(), view_owner(array).release().ptr()) != 0) {
    pass_python_error();
  }
  return view;
}

/// This rank's only block. Throws Unsupported if it may have several.
Patch only_block(const Array& array) {
  const ArrayBase& base = array.base();
  const arrays::Distribution& distribution = base.distribution();
  if (!distribution.is_one_block_per_rank()) {
    check(base.name_rank(
        Status::error(rma::Code::unsupported,
                      base.describe() + ": .local needs a distribution with at most one block on "
                                        "each rank")
            .hint("use A.local_blocks, a list with a NumPy array for each block")));
  }
  const rma::TeamRank own = array.team().rank();
  if (distribution.block_count(own) == 0) {
    return {.box = Box::none(base.ndims()),
            .owner = own,
            .order = distribution.order(),
            .offset = 0,
            .strides = arrays::Strides::filled(base.ndims(), 1)};
  }
  return distribution.block(own, 0);
}

/// Lets this rank's stores and other ranks' puts reach each other, where memory is not coherent.
void synchronise_memory(const Array& array) {
  array.job()->check_running();
  check(check_access(array));
  checked_without_gil([&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(rma::LocalAccess right,
                             rma::LocalAccess::begin(array.base().region()));
    return right.end();
  });
}

py::object local(const Array& array, Ghosts ghosts) {
  synchronise_memory(array);
  return view_of(array, only_block(array), ghosts);
}

py::list local_blocks(const Array& array) {
  synchronise_memory(array);
  py::list views;
  const arrays::Distribution& distribution = array.base().distribution();
  for (const Patch& block : distribution.blocks(array.team().rank())) {
    views.append(view_of(array, block, Ghosts::left_out));
  }
  return views;
}

/// `with A.access() as view`: the time of an access is known, to transports whose memory is not
/// coherent and to the check for missing syncs.
class AccessScope {
 public:
  AccessScope(Array array, bool may_write, Ghosts ghosts)
      : array_(std::move(array)), may_write_(may_write), ghosts_(ghosts) {}
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;
  ~AccessScope() {
    if (right_) {
      end().ignore("the destructor of the library's access also only logs it");
    }
  }

  py::object enter() {
    if (right_) {
      refuse("this access has begun; make another one with A.access()");
    }
    array_.job()->check_running();
    check(check_access(array_));
    right_.emplace(
        checked_without_gil([&] { return rma::LocalAccess::begin(array_.base().region()); }));
    use_.emplace(array_.base().begin_local_use(may_write_));
    py::object view = array_.base().distribution().is_one_block_per_rank()
                          ? view_of(array_, only_block(array_), ghosts_)
                          : py::object(local_blocks(array_));
    if (!may_write_ && py::isinstance<py::array>(view)) {
      view.attr("flags").attr("writeable") = false;
    }
    return view;
  }
  void leave(const py::args&) { check(end()); }

 private:
  Status end() {
    if (!right_) {
      return {};
    }
    use_.reset();
    const ReleasedGil released;
    Status ended = right_->end();
    right_.reset();
    return ended;
  }

  Array array_;
  bool may_write_;
  Ghosts ghosts_;
  std::optional<rma::LocalAccess> right_;
  std::optional<arrays::detail::LocalUse> use_;
};

Box own_box(const Array& array) {
  const Patch block = only_block(array);
  return block.box;
}

}  // namespace

void define_local_access(py::module_& module, ArrayClass& array) {
  py::class_<AccessScope>(module, "Access",
                          "A time in which this rank uses its part; see Array.access().")
      .def("__enter__", &AccessScope::enter)
      .def("__exit__", &AccessScope::leave);
  array
      .def_property_readonly(
          "local", [](const Array& self) { return local(self, Ghosts::left_out); },
          R"(This rank's part as a NumPy array, without a copy and without ghost cells.

Its index (0, 0) is A[A.lo]. Other ranks see what is stored there after A.sync(), and it shows what
they put after A.sync(). It stays valid memory after A.free() and job.stop(). Raises Unsupported if a
rank may have several blocks: use local_blocks.)")
      .def_property_readonly(
          "local_with_ghosts", [](const Array& self) { return local(self, Ghosts::included); },
          "As local, with the ghost cells around it: index (0, 0) is A.lo - ghosts.")
      .def_property_readonly("local_blocks", &local_blocks,
                             "A list with a NumPy array, as local, for each of this rank's blocks.")
      .def_property_readonly(
          "lo", [](const Array& self) { return tuple_of(own_box(self).lo()); },
          "The first index of this rank's part, in each dimension.")
      .def_property_readonly(
          "hi", [](const Array& self) { return tuple_of(own_box(self).hi()); },
          "One past the last index of this rank's part, in each dimension.")
      .def_property_readonly(
          "local_slices", [](const Array& self) { return slices_of(own_box(self)); },
          "This rank's part as a tuple of slices: A[A.local_slices] equals A.local.")
      .def(
          "access",
          [](const Array& self, bool write, bool ghosts) {
            return std::make_unique<AccessScope>(self, write,
                                                 ghosts ? Ghosts::included : Ghosts::left_out);
          },
          py::arg("write") = true, py::arg("ghosts") = false,
          R"(with A.access() as view: use this rank's part for a while.

view is A.local, or A.local_blocks if a rank may have several blocks. Needed instead of A.local where
memory is not coherent (TESSERA_TRANSPORT=mpi), and by the check for missing syncs
(TESSERA_CHECK=races), both of which must know when an access begins and ends.)");
}

}  // namespace tessera::python
