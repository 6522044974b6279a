// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/output.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fortran/detail/collective.hpp"
#include "fortran/python/array.hpp"
#include "fortran/python/attributes.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/operands.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {
namespace {

using arrays::DatasetOptions;
using arrays::Extents;
using arrays::Output;
using arrays::OutputMode;
using arrays::Section;
using rma::Result;
using rma::Status;

/// What the team made together, and ends together.
struct OutputFile {
  std::optional<Output> output;

  /// Discards what was not flushed.
  Status free() {
    output.reset();
    return {};
  }
};

/// The C++ part of tessera.Output.
class OutputObject {
 public:
  OutputObject(std::string path, std::shared_ptr<Owned<OutputFile>> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string describe() const { return fmt::format("output '{}'", path_); }
  [[nodiscard]] bool is_closed() const noexcept { return file_ == nullptr; }

  /// Throws Closed.
  [[nodiscard]] Output& output() const {
    if (file_ == nullptr) {
      check(Status::error(rma::Code::closed, describe() + " was closed")
                .hint("tessera.Output(job, path, 'a') adds to the file"));
    }
    file_->job()->check_running();
    return *(*file_)->output;
  }

  /// Collective. Returns act(output). If this member found an error in its arguments, all get one,
  /// and nothing is written.
  template <class Act>
  void together(const Status& own, const Act& act) const {
    Output& file = output();
    rma::Team& team = file_->team();
    checked_without_gil([&]() -> Status {
      TESSERA_RETURN_IF_ERROR(capi::report_to_team(team, own));
      return act(file);
    });
  }

  void close() {
    if (file_ != nullptr) {
      Output& file = output();
      checked_without_gil([&]() -> Status {
        TESSERA_RETURN_IF_ERROR(file.close());
        return file_->free();
      });
      file_.reset();
    }
  }
  /// Local. The file is closed by the next collective call that makes an object.
  void drop() noexcept { file_.reset(); }

 private:
  std::string path_;
  std::shared_ptr<Owned<OutputFile>> file_;  // null: closed or dropped
};

std::string path_of(const py::object& given) {
  try {
    const auto path = py::module_::import("os").attr("fsdecode")(given);
    return path.cast<std::string>();
  } catch (py::error_already_set&) {
    refuse_type(fmt::format("{} is not a path", repr_of(given)));
  }
}

OutputMode mode_of(const py::object& given) {
  const std::string text = text_of(given);
  if (text == "x") {
    return OutputMode::create;
  }
  if (text == "w") {
    return OutputMode::replace;
  }
  if (text == "a") {
    return OutputMode::append;
  }
  refuse(
      fmt::format("mode={} is not a mode of an output", repr_of(given)),
      "'x' makes a new file, 'w' replaces one, 'a' adds to one; tessera.checkpoint.Reader reads");
}

std::string text_argument(const py::object& given, const char* what) {
  if (!py::isinstance<py::str>(given)) {
    refuse_type(fmt::format("{}={} is not a text", what, repr_of(given)));
  }
  return given.cast<std::string>();
}

std::unique_ptr<OutputObject> open_output(const std::shared_ptr<SharedJob>& job,
                                          const py::object& path, const py::object& mode,
                                          const py::object& given) {
  job->check_running();
  rma::Team team = team_of(*job, given);
  std::string name;
  OutputMode how = OutputMode::create;
  const Status own = status_of([&] {
    name = path_of(path);
    how = mode_of(mode);
  });
  auto file = std::make_shared<OutputFile>();
  file->output.emplace(checked_without_gil([&]() -> Result<Output> {
    TESSERA_RETURN_IF_ERROR(prepare_to_make(*job, team, "output", name, own));
    return Output::open(job->rma(), team, name, how);
  }));
  return std::make_unique<OutputObject>(
      std::move(name), std::make_shared<Owned<OutputFile>>(job, std::move(team), std::move(file)));
}

/// Keywords of write() and append().
struct DatasetArguments {
  py::object chunks;
  py::object compression;
  bool shuffle;
  py::object time;
};

/// What a call writes.
struct PartToWrite {
  arrays::ArrayBase* array = nullptr;
  Section part = {{}, {}};
  std::string name;
  DatasetOptions options;
};

DatasetOptions options_from(const DatasetArguments& given, int ndims) {
  DatasetOptions options{.shuffle = given.shuffle};
  if (PyBool_Check(given.chunks.ptr()) && !given.chunks.cast<bool>()) {
    refuse_type("chunks=False is not possible",
                "give the extents of a chunk, or None for the usual ones");
  }
  if (!given.chunks.is_none() && !PyBool_Check(given.chunks.ptr())) {
    options.chunk = parse_list<Extents>(given.chunks, ndims, "chunks");
  }
  const bool is_number =
      PyIndex_Check(given.compression.ptr()) != 0 && !PyBool_Check(given.compression.ptr());
  if (!is_number) {
    refuse_type(fmt::format("compression={} is not an integer", repr_of(given.compression)),
                "0 is none, 1 fast to 9 small: zlib's levels, which h5py calls gzip");
  }
  const std::int64_t level = parse_number(given.compression, "compression");
  if (level < 0 || level > 9) {
    refuse(fmt::format("compression is {}; 0 to 9 are possible", level));
  }
  options.compression = static_cast<int>(level);
  if (!given.time.is_none()) {
    const double time = PyFloat_AsDouble(given.time.ptr());
    if (time == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse_type(fmt::format("time={} is not a number", repr_of(given.time)));
    }
    options.time = time;
  }
  return options;
}

PartToWrite convert(const py::object& given, const py::object& name, const py::object& key,
                    const DatasetArguments& options) {
  if (!py::isinstance<Array>(given)) {
    refuse_type(fmt::format("{} is not a tessera.Array", text_of(py::type::handle_of(given))),
                "job.from_numpy(x) makes one of a NumPy array, A.T.copy() one of A.T");
  }
  const auto& array = given.cast<const Array&>();
  if (has_index_arrays(key.ptr())) {
    refuse_type(fmt::format("{}: a part is a box or has steps, but the key has a list of indices",
                            array.base().describe()),
                "write a part that contains them, or copy them to another array");
  }
  Selection selection;
  parse(array.base(), key.ptr(), selection);
  return {&array.base(), selection.section(),
          name.is_none() ? array.base().name() : text_argument(name, "name"),
          options_from(options, array.base().ndims())};
}

using Write = Status (Output::*)(arrays::ArrayBase&, const Section&, const std::string&,
                                 const DatasetOptions&);

void write_part(const OutputObject& output, const py::object& array, const py::object& name,
                const py::object& key, const DatasetArguments& options, Write write) {
  PartToWrite request;
  const Status own = status_of([&] { request = convert(array, name, key, options); });
  output.together(own.ok() ? Status() : Status(own).context("writing to " + output.describe()),
                  [&](Output& file) {
                    return (file.*write)(*request.array, request.part, request.name,
                                         request.options);
                  });
}

void set_attribute(const OutputObject& output, const py::object& object, const py::object& name,
                   const py::object& value) {
  std::string object_name;
  std::string attribute_name;
  arrays::AttributeValue converted;
  const Status own = status_of([&] {
    object_name = text_argument(object, "object");
    attribute_name = text_argument(name, "name");
    converted = attribute_value(attribute_name, value);
  });
  output.together(own, [&](Output& file) {
    return file.set_attribute(object_name, attribute_name, converted);
  });
}

void create_group(const OutputObject& output, const py::object& given) {
  std::string name;
  const Status own = status_of([&] { name = text_argument(given, "name"); });
  output.together(own, [&](Output& file) { return file.create_group(name); });
}

/// A number, or a list of them.
std::vector<double> reals_from(const py::object& given, const char* what) {
  const auto list = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!list || list.ndim() > 1) {
    PyErr_Clear();
    refuse_type(fmt::format("{}={} is not a list of numbers", what, repr_of(given)));
  }
  return {list.data(), list.data() + list.size()};
}

void set_grid(const OutputObject& output, const py::object& origin, const py::object& spacing,
              const py::object& points) {
  arrays::UniformGrid grid;
  const Status own = status_of([&] {
    grid.origin = reals_from(origin, "origin");
    grid.spacing = reals_from(spacing, "spacing");
    if (!points.is_none()) {
      grid.points = parse_list<Extents>(points, static_cast<int>(grid.origin.size()), "points");
    }
  });
  output.together(own, [&](Output& file) { return file.set_grid(grid); });
}

using OutputClass = py::class_<OutputObject>;

void define_writing(OutputClass& output) {
  const py::object all = py::ellipsis();
  output
      .def(
          "write",
          [](const OutputObject& self, const py::object& array, const py::object& name,
             const py::object& key, const py::object& chunks, const py::object& compression,
             bool shuffle) {
            write_part(self, array, name, key, {chunks, compression, shuffle, py::none()},
                       &Output::write);
          },
          py::arg("array"), py::arg("name") = py::none(), py::arg("key") = all, py::kw_only(),
          py::arg("chunks") = py::none(), py::arg("compression") = 0, py::arg("shuffle") = true,
          R"(Write an array, or its part array[key], as a new data set. Collective.

name: such as "fields/T", whose groups are made; the array's name if it is None. key: integers and
slices with positive steps; an integer keeps its dimension, with length 1. chunks: the extents of a
chunk; about 1 MiB if it is None. compression: 0 none, 1 fast to 9 small, as h5py's gzip. shuffle:
sort the bytes of elements before compression, which often helps. Complete: the array may be changed
afterwards; the data set is in the file after flush().)")
      .def(
          "append",
          [](const OutputObject& self, const py::object& array, const py::object& name,
             const py::object& key, const py::object& chunks, const py::object& compression,
             bool shuffle, const py::object& time) {
            write_part(self, array, name, key, {chunks, compression, shuffle, time},
                       &Output::append);
          },
          py::arg("array"), py::arg("name") = py::none(), py::arg("key") = all, py::kw_only(),
          py::arg("chunks") = py::none(), py::arg("compression") = 0, py::arg("shuffle") = true,
          py::arg("time") = py::none(),
          R"(Write the same as the next step of a data set, whose first dimension counts steps. Collective.

The first call makes the data set; later ones need the same shape and dtype, and ignore chunks and
compression. time: of this step, for the XDMF file and the attribute "time" of the data set.)")
      .def("create_group", &create_group, py::arg("name"),
           "Make a group, and those that it is in; it may exist. Collective.")
      .def("set_attribute", &set_attribute, py::arg("object"), py::arg("name"), py::arg("value"),
           R"(Set an attribute of a data set, a group or, with "/", the file. Collective.

value: a number, a text, or a list of integers or floats, the same on all ranks. Numbers of NumPy keep
their type.)")
      .def("set_grid", &set_grid, py::arg("origin"), py::arg("spacing"),
           py::arg("points") = py::none(),
           R"(Write an XDMF file, too: run.xdmf beside run.h5, for ParaView. Collective.

It describes data sets of one to three dimensions, or one more for steps, on a uniform grid. origin:
the position of the first point; spacing: the distances; points: how many along each dimension, the
shape of the first data set if it is None. An array with one element less along each dimension is
shown in the cells. The grid is stored, so an output that appends needn't set it again.)");
}

void define_completing(OutputClass& output) {
  output
      .def(
          "flush",
          [](const OutputObject& self) {
            self.together({}, [](Output& file) { return file.flush(); });
          },
          "Complete all that was written, on the device, so that others can read it. Collective.")
      .def("close", &OutputObject::close, "flush(), and the end of this output. Collective.")
      .def(
          "steps",
          [](const OutputObject& self, const py::object& name) {
            return self.output().steps(text_argument(name, "name"));
          },
          py::arg("name"), "The number of steps of a data set; 0 if there is none of that name.")
      .def_property_readonly("path", &OutputObject::path, "The name of the file.")
      .def_property_readonly("is_closed", &OutputObject::is_closed, "True after close().")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__",
           [](OutputObject& self, const py::object& kind, const py::object&, const py::object&) {
             // After an exception other ranks may be elsewhere.
             if (kind.is_none()) {
               self.close();
             } else {
               self.drop();
             }
           })
      .def("__repr__", [](const OutputObject& self) {
        return fmt::format("<tessera.Output '{}'{}>", self.path(),
                           self.is_closed() ? ", closed" : "");
      });
}

}  // namespace

void define_output(py::module_& module) {
  OutputClass output(module, "Output",
                     R"(Results for analysis in an HDF5 file, written by all ranks together.

    with tessera.Output(job, "run.h5") as out:
        out.set_grid(origin=(0, 0), spacing=(0.1, 0.1))      # run.xdmf, too
        out.write(A, "edges/top", np.s_[:1])                 # a part, in a group
        for step in range(100):
            out.append(T, "fields/T", compression=4, time=step * dt)   # T[step, :, :]
            out.flush()                                      # now others can read it
        out.set_attribute("fields/T", "unit", "K")

h5py, ParaView and tessera.checkpoint.Reader read it. mode: "x" makes a new file, "w" replaces one at
the first flush, "a" adds to one or makes it. Collective, as its methods. The end of a `with` block
closes the file; after an exception the file is as the last flush left it. Raises InvalidArgument if
the file exists (mode "x") or another output writes it, Unsupported without HDF5.)");
  output.def(py::init(&open_output), py::arg("job"), py::arg("path"), py::arg("mode") = "x",
             py::arg("team") = py::none(), "Open the file; see help(tessera.Output).");
  define_writing(output);
  define_completing(output);
}

}  // namespace tessera::python
