// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/amplitude_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "arrays/checkpoint.hpp"

namespace tessera::apps::ccsd {
namespace {

using arrays::Checkpoint;
using arrays::CheckpointWriter;
using rma::Result;
using rma::Status;

struct Field {
  const char* name;
  std::int64_t OrbitalSpace::*value;
};
constexpr std::array<Field, 3> fields{{{"frozen", &OrbitalSpace::frozen},
                                       {"occupied", &OrbitalSpace::occupied},
                                       {"virtuals", &OrbitalSpace::virtuals}}};

/// Collective. An array for t1; elsewhere each rank has all of t1.
Result<RowMatrix> create_t1(const rma::Job& job, const OrbitalSpace& space) {
  return create_row_matrix(job, "t1", space.occupied, space.virtuals);
}

/// Collective. Opens a file of amplitudes for these orbitals.
Result<Checkpoint> open_for(const rma::Job& job, const std::string& path,
                            const OrbitalSpace& space) {
  TESSERA_ASSIGN_OR_RETURN(auto file, Checkpoint::open(job, path));
  for (const Field& field : fields) {
    TESSERA_ASSIGN_OR_RETURN(const auto stored, file.attribute<std::int64_t>(field.name));
    if (stored != space.*field.value) {
      return Status::error(rma::Code::invalid_argument,
                           fmt::format("{} has amplitudes for {} {} orbitals, not {}", path, stored,
                                       field.name, space.*field.value))
          .hint("restart with the molecule and the frozen core that the file was written with");
    }
  }
  return file;
}

}  // namespace

Status save_amplitudes(const rma::Job& job, const std::string& path, const OrbitalSpace& space,
                       Amplitudes& amplitudes) {
  TESSERA_ASSIGN_OR_RETURN(auto t1, create_t1(job, space));
  Status status;
  if (job.rank().value == 0) {
    status = t1.put(t1.box(), std::span<const double>(amplitudes.t1));
  }
  TESSERA_RETURN_IF_ERROR(t1.sync(status));
  TESSERA_ASSIGN_OR_RETURN(auto writer, CheckpointWriter::create(job, path));
  for (const Field& field : fields) {
    TESSERA_RETURN_IF_ERROR(writer.add_attribute(field.name, space.*field.value));
  }
  TESSERA_RETURN_IF_ERROR(writer.add(t1));
  TESSERA_RETURN_IF_ERROR(writer.add(amplitudes.t2, "t2"));
  return writer.commit();
}

Status try_amplitude_file(const rma::Job& job, const std::string& path) {
  // A writer that is not committed removes its temporary file.
  return CheckpointWriter::create(job, path).status();
}

Status check_amplitude_file(const rma::Job& job, const std::string& path,
                            const OrbitalSpace& space) {
  return open_for(job, path, space).status();
}

Status load_amplitudes(const rma::Job& job, const std::string& path, const OrbitalSpace& space,
                       Amplitudes& amplitudes) {
  TESSERA_ASSIGN_OR_RETURN(auto file, open_for(job, path, space));
  TESSERA_ASSIGN_OR_RETURN(auto t1, create_t1(job, space));
  TESSERA_RETURN_IF_ERROR(file.read_into("t1", t1));
  TESSERA_RETURN_IF_ERROR(file.read_into("t2", amplitudes.t2));
  return t1.sync(t1.get(t1.box(), std::span<double>(amplitudes.t1)));
}

}  // namespace tessera::apps::ccsd
