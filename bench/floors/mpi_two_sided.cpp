// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/mpi_two_sided.hpp"

#include <limits>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "bench/floors/mpi_api.hpp"

namespace tessera::bench {
namespace {

/// The end that begins is rank 0, the other rank 1; further ranks look on.
constexpr int ends = 2;

using Buffer = std::vector<std::byte>;

/// Bytes that differ from place to place.
std::byte pattern(std::size_t place) {
  return static_cast<std::byte>((place * 131 + place / 256) % 251);
}

/// Runs it on known data, and looks at what this rank then has; rank 0 has what all should have.
std::string check(int rank, Buffer& buffer, const std::function<void(std::int64_t)>& run) {
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    buffer[i] = rank == 0 ? pattern(i) : std::byte{255};
  }
  run(1);
  for (std::size_t i = 0; i < buffer.size() && rank < ends; ++i) {
    if (buffer[i] != pattern(i)) {
      return fmt::format("byte {} of {} arrived wrong", i, buffer.size());
    }
  }
  return "";
}

bool is_possible(const Crew& crew, std::size_t bytes) {
  return crew.size() >= ends && mpi::is_running(crew.size()) &&
         bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

Candidate two_sided(const Crew& crew, const std::shared_ptr<Buffer>& buffer,
                    std::function<void(std::int64_t)> run) {
  Candidate candidate;
  candidate.name = "mpi two-sided";
  candidate.cooperative = true;
  candidate.verify = [buffer, run, rank = crew.rank()] { return check(rank, *buffer, run); };
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

std::optional<Candidate> mpi_ping_pong_candidate(Crew& crew, std::size_t bytes) {
  if (!is_possible(crew, bytes)) {
    return std::nullopt;
  }
  const auto buffer = std::make_shared<Buffer>(bytes);
  Candidate candidate =
      two_sided(crew, buffer, [buffer, rank = crew.rank()](std::int64_t repetitions) {
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
  candidate.bytes = 2 * bytes;
  return candidate;
}

std::optional<Candidate> mpi_stream_candidate(Crew& crew, std::size_t bytes,
                                              std::int64_t messages) {
  if (!is_possible(crew, bytes)) {
    return std::nullopt;
  }
  const auto count = static_cast<std::size_t>(messages);
  const auto buffer = std::make_shared<Buffer>(bytes * count);
  const auto requests = std::make_shared<std::vector<MPI_Request>>(count);
  Candidate candidate =
      two_sided(crew, buffer, [buffer, requests, rank = crew.rank()](std::int64_t repetitions) {
        for (std::int64_t i = 0; i < repetitions && rank < ends; ++i) {
          stream_once(rank, *buffer, *requests);
        }
      });
  candidate.bytes = bytes * count;
  return candidate;
}

}  // namespace tessera::bench
