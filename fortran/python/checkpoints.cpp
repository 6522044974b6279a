// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays/checkpoint.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/python/attributes.hpp"
#include "fortran/python/element_types.hpp"
#include "fortran/python/operands.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {
namespace {

using arrays::Checkpoint;
using arrays::CheckpointWriter;
using arrays::StoredArrayInfo;
using rma::Result;
using rma::Status;

/// The C++ part of tessera.checkpoint.Writer. The end of the object only discards its file.
struct CheckpointOutput {
  std::shared_ptr<SharedJob> job;
  rma::Team team;
  std::optional<CheckpointWriter> writer;

  [[nodiscard]] CheckpointWriter& open() {
    job->check_running();
    if (!writer) {
      refuse("this checkpoint was committed or closed", "make another writer");
    }
    return *writer;
  }
};

/// The C++ part of tessera.checkpoint.Reader.
struct CheckpointInput {
  std::shared_ptr<SharedJob> job;
  rma::Team team;
  std::optional<Checkpoint> file;

  [[nodiscard]] Checkpoint& open() {
    job->check_running();
    if (!file) {
      refuse("this checkpoint was closed", "open it again");
    }
    return *file;
  }
};

std::unique_ptr<CheckpointOutput> make_writer(const std::shared_ptr<SharedJob>& job,
                                              const std::string& path, const py::object& team,
                                              std::int64_t piece_bytes) {
  const rma::Team chosen = team_of(*job, team);
  auto made = std::make_unique<CheckpointOutput>(CheckpointOutput{job, chosen, {}});
  made->writer.emplace(checked_without_gil([&] {
    return CheckpointWriter::create(job->rma(), chosen, path, {.piece_bytes = piece_bytes});
  }));
  return made;
}

void add(CheckpointOutput& writer, const Array& array, const std::string& name) {
  CheckpointWriter& file = writer.open();
  checked_without_gil([&] { return file.add(array.base(), name); });
}

void add_attribute(CheckpointOutput& writer, const std::string& name, const py::object& value) {
  CheckpointWriter& file = writer.open();
  arrays::AttributeValue converted;
  const Status own = status_of([&] { converted = attribute_value(name, value); });
  checked_without_gil([&]() -> Status {
    TESSERA_RETURN_IF_ERROR(capi::report_to_team(writer.team, own));
    return file.add_attribute(name, converted);
  });
}

void commit(CheckpointOutput& writer) {
  CheckpointWriter& file = writer.open();
  Status status = without_gil([&] { return file.commit(); });
  writer.writer.reset();
  check(std::move(status));
}

std::unique_ptr<CheckpointInput> make_reader(const std::shared_ptr<SharedJob>& job,
                                             const std::string& path, const py::object& team) {
  rma::Team chosen = team_of(*job, team);
  auto file = checked_without_gil([&] { return Checkpoint::open(job->rma(), chosen, path); });
  return std::make_unique<CheckpointInput>(
      CheckpointInput{job, std::move(chosen), std::move(file)});
}

/// The dtype of stored elements; bytes if the type has no arithmetic.
py::dtype stored_dtype(const StoredArrayInfo& info) {
  return info.type ? py::dtype(numpy_type(*info.type))
                   : py::dtype(fmt::format("V{}", info.element_bytes));
}

py::dict info_of(CheckpointInput& reader, const std::string& name) {
  const StoredArrayInfo info = take(reader.open().info(name));
  py::dict found;
  found["name"] = info.name;
  found["shape"] = tuple_of(info.extents);
  found["dtype"] = stored_dtype(info);
  found["has_checksums"] = info.has_checksums;
  found["chunks"] = info.chunk.ndims() > 0 ? py::object(tuple_of(info.chunk)) : py::none();
  found["has_steps"] = info.is_extendible;
  found["distribution"] =
      info.distribution ? py::object(py::str(arrays::to_string(*info.distribution))) : py::none();
  return found;
}

py::object attribute(CheckpointInput& reader, const std::string& object, const std::string& name) {
  return python_value(take(reader.open().find_attribute(object, name)));
}

std::shared_ptr<Array> read(CheckpointInput& reader, const std::string& name, const Array* like) {
  Checkpoint& file = reader.open();
  const StoredArrayInfo info = take(file.info(name));
  const py::dtype dtype = stored_dtype(info);
  const arrays::ElementKind kind = element_kind(dtype);
  auto made = without_gil([&]() -> Result<arrays::ArrayBase> {
    TESSERA_RETURN_IF_ERROR(prepare_to_make(*reader.job, reader.team, "array", name));
    return like == nullptr ? file.read(name, kind)
                           : file.read(name, like->base().distribution(), kind);
  });
  return adopt(reader.job, std::move(made), dtype);
}

void read_into(CheckpointInput& reader, const std::string& name, const Array& array) {
  Checkpoint& file = reader.open();
  checked_without_gil([&] { return file.read_into(name, array.base()); });
}

void read_part(CheckpointInput& reader, const std::string& name,
               const std::vector<std::int64_t>& lo, const std::vector<std::int64_t>& hi,
               const Array& array) {
  Checkpoint& file = reader.open();
  const arrays::Box from{arrays::Index(std::span(lo)), arrays::Index(std::span(hi))};
  checked_without_gil([&] { return file.read_part(name, from, array.base(), array.base().box()); });
}

void verify(CheckpointInput& reader, const std::string& name) {
  Checkpoint& file = reader.open();
  checked_without_gil([&] { return file.verify(name); });
}

}  // namespace

void define_checkpoints(py::module_& module) {
  py::class_<CheckpointOutput>(module, "_CheckpointWriter")
      .def(py::init(&make_writer))
      .def("add", &add)
      .def("add_attribute", &add_attribute)
      .def("commit", &commit)
      .def("close", [](CheckpointOutput& writer) { writer.writer.reset(); });
  py::class_<CheckpointInput>(module, "_CheckpointReader")
      .def(py::init(&make_reader))
      .def("names", [](CheckpointInput& reader) { return reader.open().names(); })
      .def("attribute_names",
           [](CheckpointInput& reader, const std::string& object) {
             return take(reader.open().attribute_names(object));
           })
      .def("info", &info_of)
      .def("attribute", &attribute)
      .def("read", &read, py::arg("name"), py::arg("like") = nullptr)
      .def("read_into", &read_into)
      .def("read_part", &read_part)
      .def("verify", &verify)
      .def("close", [](CheckpointInput& reader) { reader.file.reset(); });
}

}  // namespace tessera::python
