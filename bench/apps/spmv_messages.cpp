// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/others.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "bench/baselines/mpi_api.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench {
namespace {

/// A list for each rank, one after the other, as MPI_Alltoallv needs it.
struct Lists {
  std::vector<int> counts;
  std::vector<int> starts;
  std::vector<std::int64_t> elements;

  void set_counts(std::vector<int> given) {
    counts = std::move(given);
    starts.resize(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
    elements.resize(static_cast<std::size_t>(counts.empty() ? 0 : starts.back() + counts.back()));
  }
};

/// The columns of the rows that other ranks own, ascending, and therefore in the order of the
/// ranks.
std::vector<std::int64_t> columns_of_others(const linalg::LocalCsr<double>& rows, std::int64_t lo,
                                            std::int64_t hi) {
  std::vector<std::int64_t> others;
  std::copy_if(rows.column.begin(), rows.column.end(), std::back_inserter(others),
               [&](std::int64_t column) { return column < lo || column >= hi; });
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  return others;
}

class MpiProduct final : public NeighbourProduct {
 public:
  MpiProduct(const linalg::LocalCsr<double>& rows, const std::vector<std::int64_t>& starts,
             int rank)
      : row_starts_(rows.row_starts), values_(rows.value) {
    const std::int64_t lo = starts[static_cast<std::size_t>(rank)];
    const std::int64_t hi = starts[static_cast<std::size_t>(rank) + 1];
    own_ = static_cast<std::size_t>(hi - lo);
    const std::vector<std::int64_t> others = columns_of_others(rows, lo, hi);
    exchange_lists(others, starts, lo);
    x_.resize(own_ + others.size());
    y_.resize(own_);
    for (const std::int64_t column : rows.column) {
      const bool is_own = column >= lo && column < hi;
      const auto at = std::lower_bound(others.begin(), others.end(), column) - others.begin();
      columns_.push_back(
          static_cast<std::int32_t>(is_own ? column - lo : static_cast<std::int64_t>(own_) + at));
    }
    for (std::size_t row = 0; row < own_; ++row) {
      const auto begin = columns_.begin() + row_starts_[row];
      const auto end = columns_.begin() + row_starts_[row + 1];
      const bool is_interior = std::all_of(
          begin, end, [&](std::int32_t at) { return static_cast<std::size_t>(at) < own_; });
      (is_interior ? interior_ : boundary_).push_back(row);
    }
  }

  void run() override {
    const std::int64_t start = now_ns();
    start_messages();
    const std::int64_t started = now_ns();
    multiply(interior_);
    const std::int64_t wait = now_ns();
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    communication_ns_ += started - start + now_ns() - wait;
    multiply(boundary_);
  }
  [[nodiscard]] double communication_seconds() const override {
    constexpr double seconds_per_ns = 1e-9;
    return static_cast<double>(communication_ns_) * seconds_per_ns;
  }
  [[nodiscard]] std::span<double> x() override { return std::span(x_).first(own_); }
  [[nodiscard]] std::span<const double> y() const override { return y_; }

 private:
  /// Sends each rank the list of its elements that are needed here.
  void exchange_lists(const std::vector<std::int64_t>& others,
                      const std::vector<std::int64_t>& starts, std::int64_t lo) {
    const std::size_t ranks = starts.size() - 1;
    std::vector<int> counts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto begin = std::lower_bound(others.begin(), others.end(), starts[rank]);
      const auto end = std::lower_bound(begin, others.end(), starts[rank + 1]);
      counts.push_back(static_cast<int>(end - begin));
    }
    needed_.set_counts(counts);
    needed_.elements = others;
    MPI_Alltoall(needed_.counts.data(), 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    requested_.set_counts(counts);
    MPI_Alltoallv(needed_.elements.data(), needed_.counts.data(), needed_.starts.data(),
                  MPI_INT64_T, requested_.elements.data(), requested_.counts.data(),
                  requested_.starts.data(), MPI_INT64_T, MPI_COMM_WORLD);
    for (std::int64_t& element : requested_.elements) {
      element -= lo;
    }
    packed_.resize(requested_.elements.size());
  }

  void start_messages() {
    requests_.clear();
    for (std::size_t rank = 0; rank < needed_.counts.size(); ++rank) {
      transfer(rank, needed_, x_.data() + own_, true);
    }
    for (std::size_t i = 0; i < requested_.elements.size(); ++i) {
      packed_[i] = x_[static_cast<std::size_t>(requested_.elements[i])];
    }
    for (std::size_t rank = 0; rank < requested_.counts.size(); ++rank) {
      transfer(rank, requested_, packed_.data(), false);
    }
  }

  void transfer(std::size_t rank, const Lists& lists, double* memory, bool is_receive) {
    if (lists.counts[rank] == 0) {
      return;
    }
    requests_.push_back(MPI_REQUEST_NULL);
    double* const at = memory + lists.starts[rank];
    const int peer = static_cast<int>(rank);
    if (is_receive) {
      MPI_Irecv(at, lists.counts[rank], MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests_.back());
    } else {
      MPI_Isend(at, lists.counts[rank], MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests_.back());
    }
  }

  void multiply(const std::vector<std::size_t>& rows) {
    for (const std::size_t row : rows) {
      double sum = 0;
      for (auto k = static_cast<std::size_t>(row_starts_[row]);
           k < static_cast<std::size_t>(row_starts_[row + 1]); ++k) {
        sum += values_[k] * x_[static_cast<std::size_t>(columns_[k])];
      }
      y_[row] = sum;
    }
  }

  std::vector<std::int64_t> row_starts_;
  std::vector<double> values_;
  std::vector<std::int32_t> columns_;  // positions in x_
  std::size_t own_ = 0;
  Lists needed_;
  Lists requested_;
  std::vector<double> x_;  // own elements, followed by those of others
  std::vector<double> y_;
  std::vector<double> packed_;
  std::vector<std::size_t> interior_;
  std::vector<std::size_t> boundary_;
  std::vector<MPI_Request> requests_;
  std::int64_t communication_ns_ = 0;
};

}  // namespace

std::unique_ptr<NeighbourProduct> make_neighbour_product(
    const RankGroup& group, const linalg::LocalCsr<double>& rows,
    const std::vector<std::int64_t>& row_starts) {
  return mpi::is_running(group.size())
             ? std::make_unique<MpiProduct>(rows, row_starts, group.rank())
             : nullptr;
}

}  // namespace tessera::bench
