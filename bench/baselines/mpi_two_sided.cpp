// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/mpi_two_sided.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/mpi_api.hpp"
#include "bench/support/topology.hpp"

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

}  // namespace tessera::bench
