// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/mpi.hpp"
#include "bench/baselines/mpi_api.hpp"
#include "bench/support/machine.hpp"

namespace tessera::bench {
namespace {

/// Rank 0 begins, rank 1 is the other end; further ranks do nothing.
constexpr int ends = 2;

using Buffer = std::vector<std::byte>;

/// Bytes that differ between positions.
std::byte pattern(std::size_t place) {
  return static_cast<std::byte>((place * 131 + place / 256) % 251);
}

/// Runs it on known data, and checks this rank's result; rank 0 has the data that all should have.
std::string check(int rank, Buffer& buffer, const std::function<void(std::int64_t)>& run) {
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    buffer[i] = rank == 0 ? pattern(i) : std::byte{255};
  }
  run(1);
  for (std::size_t i = 0; i < buffer.size() && rank < ends; ++i) {
    if (buffer[i] != pattern(i)) {
      return fmt::format("byte {} of {} arrived with a wrong value", i, buffer.size());
    }
  }
  return "";
}

bool is_possible(const RankGroup& group, std::size_t bytes) {
  return group.size() >= ends && mpi::is_running(group.size()) &&
         bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

Candidate two_sided(const RankGroup& group, const std::shared_ptr<Buffer>& buffer,
                    std::function<void(std::int64_t)> run) {
  Candidate candidate;
  candidate.name = "mpi two-sided";
  candidate.cooperative = true;
  candidate.verify = [buffer, run, rank = group.rank()] { return check(rank, *buffer, run); };
  candidate.run = std::move(run);
  return candidate;
}

/// Rank 0's and rank 1's parts of a stream; `requests` has room for all messages.
void stream_once(int rank, Buffer& buffer, std::vector<MPI_Request>& requests) {
  const std::size_t bytes = buffer.size() / requests.size();
  const auto count = static_cast<int>(bytes);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    std::byte* const message = buffer.data() + i * bytes;
    if (rank == 0) {
      MPI_Isend(message, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(message, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  std::int64_t done = 1;
  if (rank == 0) {
    MPI_Recv(&done, 1, MPI_INT64_T, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&done, 1, MPI_INT64_T, 0, 1, MPI_COMM_WORLD);
  }
}

}  // namespace

std::optional<Candidate> mpi_ping_pong_candidate(RankGroup& group, std::size_t bytes) {
  if (!is_possible(group, bytes)) {
    return std::nullopt;
  }
  const auto buffer = std::make_shared<Buffer>(bytes);
  Candidate candidate =
      two_sided(group, buffer, [buffer, rank = group.rank()](std::int64_t repetitions) {
        const auto count = static_cast<int>(buffer->size());
        const int peer = 1 - rank;
        for (std::int64_t i = 0; i < repetitions && rank < ends; ++i) {
          if (rank == 0) {
            MPI_Send(buffer->data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
          }
          MPI_Recv(buffer->data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          if (rank == 1) {
            MPI_Send(buffer->data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
          }
        }
      });
  candidate.bytes = bytes;  // as all candidates count: the payload without the reply
  return candidate;
}

std::optional<Candidate> mpi_stream_candidate(RankGroup& group, std::size_t bytes,
                                              std::int64_t messages) {
  if (!is_possible(group, bytes)) {
    return std::nullopt;
  }
  const auto count = static_cast<std::size_t>(messages);
  const auto buffer = std::make_shared<Buffer>(bytes * count);
  const auto requests = std::make_shared<std::vector<MPI_Request>>(count);
  Candidate candidate =
      two_sided(group, buffer, [buffer, requests, rank = group.rank()](std::int64_t repetitions) {
        for (std::int64_t i = 0; i < repetitions && rank < ends; ++i) {
          stream_once(rank, *buffer, *requests);
        }
      });
  candidate.bytes = bytes * count;
  return candidate;
}

std::optional<Started> mpi_started_get(RankGroup& group, std::size_t bytes) {
  if (!is_possible(group, bytes)) {
    return std::nullopt;
  }
  const auto buffer = std::make_shared<Buffer>(bytes);
  const auto request = std::make_shared<MPI_Request>(MPI_REQUEST_NULL);
  const int rank = group.rank();
  const auto count = static_cast<int>(bytes);
  Started get;
  get.name = "mpi two-sided";
  get.bytes = bytes;
  get.is_cooperative = true;
  get.computes = rank == 0;
  get.start = [=] {
    std::int64_t wanted = 1;
    if (rank == 0) {
      MPI_Irecv(buffer->data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, request.get());
      MPI_Send(&wanted, 1, MPI_INT64_T, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(&wanted, 1, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer->data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  };
  get.wait = [request] { MPI_Wait(request.get(), MPI_STATUS_IGNORE); };
  get.verify = [=, start = get.start, wait = get.wait]() -> std::string {
    for (std::size_t i = 0; i < bytes; ++i) {
      (*buffer)[i] = rank == 1 ? pattern(i) : std::byte{255};
    }
    start();
    wait();
    for (std::size_t i = 0; i < bytes && rank == 0; ++i) {
      if ((*buffer)[i] != pattern(i)) {
        return fmt::format("byte {} of {} arrived with a wrong value", i, bytes);
      }
    }
    return "";
  };
  return get;
}

Candidate mpi_helped_by_target(RankGroup& group, Candidate candidate) {
  const int rank = group.rank();
  // Rank 0 sends a message when it has finished; until then rank 1 waits for it, inside MPI.
  const auto meet = [rank] {
    std::int64_t done = 1;
    if (rank == 0) {
      MPI_Send(&done, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(&done, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  };
  candidate.cooperative = true;
  candidate.run = [rank, meet, alone = candidate.run](std::int64_t repetitions) {
    if (rank == 0) {
      alone(repetitions);
    }
    meet();
  };
  candidate.verify = [meet, alone = candidate.verify] {
    std::string problem = alone ? alone() : "";
    meet();
    return problem;
  };
  return candidate;
}

namespace {

/// Collective. Whether ranks 0 and 1 can share memory.
bool are_on_one_host(RankGroup& group) {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int lowest = group.rank();
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, host);
  MPI_Comm_free(&host);
  return group.share(lowest, 1) == group.share(lowest, 0);
}

}  // namespace

MpiPath mpi_path(RankGroup& group) {
  if (group.size() < ends || !mpi::is_running(group.size()) || !are_on_one_host(group)) {
    return {};
  }
  const std::vector<std::string> devices = adapters("/sys");
  const bool has_mellanox = std::any_of(
      devices.begin(), devices.end(), [](const auto& device) { return device.starts_with("mlx"); });
  return mpi_path_on_a_host([](const char* name) { return std::getenv(name); }, has_mellanox);
}

std::string mpi_compare_swap_problem(RankGroup& group) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION <= 4
  constexpr bool may_break = true;
#else
  constexpr bool may_break = false;
#endif
  if (!may_break || group.size() < ends || !mpi::is_running(group.size()) ||
      !are_on_one_host(group) || !may_use(std::getenv("OMPI_MCA_osc"), {"rdma"})) {
    return "";
  }
  return "mpi: compare-and-swap is not measured, because Open MPI 4 may end with a segmentation "
         "fault in it; OMPI_MCA_osc=sm,pt2pt chooses a working one";
}

namespace {

/// One layer of a block at one end of one dimension, to send or receive.
std::shared_ptr<const mpi::Datatype> ghost_layer(const GhostBlock& block, std::size_t dim,
                                                 bool upper, bool ghosts) {
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
    all.push_back(
        {ghost_layer(block, dim, true, false), ghost_layer(block, dim, false, true), above, below});
    all.push_back(
        {ghost_layer(block, dim, false, false), ghost_layer(block, dim, true, true), below, above});
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
  const std::vector<int> counts(static_cast<std::size_t>(group.size()), bytes);
  std::vector<int> starts;
  for (int rank = 0; rank < group.size(); ++rank) {
    starts.push_back(rank * bytes);
  }
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
        case Collective::Kind::alltoallv:
          MPI_Alltoallv(own, counts.data(), starts.data(), MPI_BYTE, all, counts.data(),
                        starts.data(), MPI_BYTE, MPI_COMM_WORLD);
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
  return by_all("mpi two-sided", [memory, all = shifts(block)] {
    for (const Shift& shift : all) {
      MPI_Sendrecv(memory, 1, shift.sent->get(), shift.to, 0, memory, 1, shift.received->get(),
                   shift.from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  });
}

struct MpiMemory::Window {
  explicit Window(std::size_t bytes) : window(bytes, true) {}
  mpi::Window window;
};

std::unique_ptr<MpiMemory> MpiMemory::create(RankGroup& group, std::size_t bytes_each) {
  if (!mpi::missing_windows(group.size()).empty()) {
    return nullptr;
  }
  return std::unique_ptr<MpiMemory>(new MpiMemory(std::make_unique<Window>(bytes_each)));
}

MpiMemory::MpiMemory(std::unique_ptr<Window> window) : window_(std::move(window)) {}
MpiMemory::~MpiMemory() = default;

void MpiMemory::put(int rank, std::size_t at, const void* from, std::size_t bytes) {
  const auto count = static_cast<int>(bytes);
  MPI_Put(from, count, MPI_BYTE, rank, static_cast<MPI_Aint>(at), count, MPI_BYTE,
          window_->window.get());
}

void MpiMemory::start_get(int rank, std::size_t at, void* to, std::size_t bytes) {
  const auto count = static_cast<int>(bytes);
  MPI_Get(to, count, MPI_BYTE, rank, static_cast<MPI_Aint>(at), count, MPI_BYTE,
          window_->window.get());
}

void MpiMemory::add(int rank, std::size_t at, std::int64_t value) {
  add(rank, std::span(&at, 1), std::span(&value, 1));
  complete(rank);  // the value's lifetime ends with this call
}

void MpiMemory::add(int rank, std::span<const std::size_t> at,
                    std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    MPI_Accumulate(&values[i], 1, MPI_INT64_T, rank, static_cast<MPI_Aint>(at[i]), 1, MPI_INT64_T,
                   MPI_SUM, window_->window.get());
  }
}

void MpiMemory::complete(int rank) const {
  MPI_Win_flush(rank, window_->window.get());
}

void MpiMemory::complete_all() {
  MPI_Win_flush_all(window_->window.get());
}

std::function<void()> MpiMemory::box_mover(Operation operation, int rank, const Box& box,
                                           double* local) const {
  const auto as_ints = [](const std::vector<std::int64_t>& values) {
    return std::vector<int>(values.begin(), values.end());
  };
  const std::vector<int> block = as_ints(box.block);
  const std::vector<int> lo = as_ints(box.lo);
  const std::vector<int> extents = as_ints(box.extents);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(static_cast<int>(block.size()), block.data(), extents.data(), lo.data(),
                           MPI_ORDER_C, MPI_DOUBLE, &type);
  const auto there = std::make_shared<const mpi::Datatype>(type);
  int count = 1;
  for (const int extent : extents) {
    count *= extent;
  }
  return [=, window = window_->window.get()] {
    switch (operation) {
      case Operation::get:
        MPI_Get(local, count, MPI_DOUBLE, rank, 0, 1, there->get(), window);
        break;
      case Operation::accumulate:
        MPI_Accumulate(local, count, MPI_DOUBLE, rank, 0, 1, there->get(), MPI_SUM, window);
        break;
      default:
        MPI_Put(local, count, MPI_DOUBLE, rank, 0, 1, there->get(), window);
    }
    MPI_Win_flush_local(rank, window);
  };
}

std::int64_t MpiMemory::fetch_add(int rank, std::size_t at, std::int64_t increment) {
  std::int64_t before = 0;
  MPI_Fetch_and_op(&increment, &before, MPI_INT64_T, rank, static_cast<MPI_Aint>(at), MPI_SUM,
                   window_->window.get());
  MPI_Win_flush(rank, window_->window.get());
  return before;
}

}  // namespace tessera::bench
