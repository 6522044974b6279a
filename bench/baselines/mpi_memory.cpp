// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/mpi_memory.hpp"

#include <utility>

#include "bench/baselines/mpi_api.hpp"

namespace tessera::bench {

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
