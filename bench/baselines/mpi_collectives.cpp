// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/mpi_collectives.hpp"

#include <memory>
#include <vector>

#include "bench/baselines/mpi_api.hpp"

namespace tessera::bench {
namespace {

/// One layer of a block at one end of one dimension, to send or receive.
std::shared_ptr<const mpi::Datatype> layer(const GhostBlock& block, std::size_t dim, bool upper,
                                           bool ghosts) {
  const std::size_t dims = block.points.size();
  std::vector<int> sizes(dims);
  std::vector<int> part(dims);
  std::vector<int> start(dims);
  const auto width = static_cast<int>(block.width);
  for (std::size_t i = 0; i < dims; ++i) {
    const auto points = static_cast<int>(block.points[i]);
    sizes[i] = points + 2 * width;
    const bool with_ghosts = block.corners && i < dim;
    part[i] = with_ghosts ? sizes[i] : points;
    start[i] = with_ghosts ? 0 : width;
    if (i == dim) {
      part[i] = width;
      start[i] = upper ? points : width;
      if (ghosts) {
        start[i] = upper ? points + width : 0;
      }
    }
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(static_cast<int>(dims), sizes.data(), part.data(), start.data(),
                           MPI_ORDER_C, MPI_DOUBLE, &type);
  return std::make_shared<const mpi::Datatype>(type);
}

/// One message of an exchange: a layer goes to one neighbour, and the corresponding one comes from
/// the opposite neighbour.
struct Shift {
  std::shared_ptr<const mpi::Datatype> sent;
  std::shared_ptr<const mpi::Datatype> received;
  int to = 0;
  int from = 0;
};

std::vector<Shift> shifts(const GhostBlock& block) {
  std::vector<Shift> all;
  for (std::size_t dim = 0; dim < block.points.size(); ++dim) {
    const auto [below, above] = block.neighbours[dim];
    all.push_back({layer(block, dim, true, false), layer(block, dim, false, true), above, below});
    all.push_back({layer(block, dim, false, false), layer(block, dim, true, true), below, above});
  }
  return all;
}

}  // namespace

std::optional<Candidate> mpi_collective_candidate(RankGroup& group, const Collective& collective) {
  if (!mpi::is_running(group.size())) {
    return std::nullopt;
  }
  Candidate candidate;
  candidate.name = "mpi collective";
  candidate.cooperative = true;
  candidate.bytes = collective.bytes;
  const auto buffers = std::make_shared<CollectiveBuffers>(collective, group.rank(), group.size());
  const auto bytes = static_cast<int>(collective.bytes);
  const auto count = static_cast<int>(collective.bytes / sizeof(double));
  const Collective::Kind kind = collective.kind;
  candidate.run = [=](std::int64_t repetitions) {
    double* const own = buffers->own().data();
    double* const all = buffers->all().data();
    for (std::int64_t i = 0; i < repetitions; ++i) {
      switch (kind) {
        case Collective::Kind::barrier:
          MPI_Barrier(MPI_COMM_WORLD);
          break;
        case Collective::Kind::broadcast:
          MPI_Bcast(own, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
          break;
        case Collective::Kind::allreduce:
          MPI_Allreduce(MPI_IN_PLACE, own, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
          break;
        case Collective::Kind::reduce:
          MPI_Reduce(own, all, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
          break;
        case Collective::Kind::allgather:
          MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
          break;
      }
    }
  };
  const bool is_in_place =
      kind == Collective::Kind::broadcast || kind == Collective::Kind::allreduce;
  candidate.verify = [buffers, is_in_place, run = candidate.run] {
    buffers->fill();
    run(1);
    return buffers->problem(is_in_place ? buffers->own() : buffers->all());
  };
  return candidate;
}

std::optional<Candidate> mpi_barrier_candidate(RankGroup& group, int ranks) {
  if (!mpi::is_running(group.size())) {
    return std::nullopt;
  }
  const bool acts = group.rank() < ranks;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, acts ? 0 : MPI_UNDEFINED, group.rank(), &made);
  const std::shared_ptr<MPI_Comm> team(new MPI_Comm(made), [](MPI_Comm* mine) {
    if (*mine != MPI_COMM_NULL) {
      MPI_Comm_free(mine);
    }
    delete mine;
  });
  Candidate candidate;
  candidate.name = "mpi collective";
  candidate.cooperative = true;
  candidate.run = [team, acts](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && acts; ++i) {
      MPI_Barrier(*team);
    }
  };
  return candidate;
}

std::optional<Candidate> mpi_ghost_candidate(RankGroup& group, const GhostBlock& block,
                                             double* memory) {
  if (!mpi::is_running(group.size())) {
    return std::nullopt;
  }
  Candidate candidate;
  candidate.name = "mpi two-sided";
  candidate.cooperative = true;
  candidate.run = [memory, all = shifts(block)](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      for (const Shift& shift : all) {
        MPI_Sendrecv(memory, 1, shift.sent->get(), shift.to, 0, memory, 1, shift.received->get(),
                     shift.from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  };
  return candidate;
}

}  // namespace tessera::bench
