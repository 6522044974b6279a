// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/candidate.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "bench/support/machine.hpp"

namespace tessera::bench {
namespace {

/// A prime, so that its multiples modulo the number of runs visit each run once.
constexpr std::int64_t scatter_step = 7919;

constexpr std::array<const char*, 6> layout_suffixes = {"",          "_strided",   "_vector",
                                                        "_separate", "_aggregate", "_window"};
constexpr std::array<std::array<const char*, 2>, 7> operation_names = {
    {{"put", "Put"},
     {"get", "Get"},
     {"accumulate", "Accumulate"},
     {"fetch_add", "Fetch-and-Add"},
     {"swap", "Swap"},
     {"compare_swap", "Compare-and-Swap"},
     {"lock_unlock", "Lock and Unlock"}}};

}  // namespace

const char* name_of(Operation operation) {
  return operation_names.at(static_cast<std::size_t>(operation))[0];
}
const char* title_of(Operation operation) {
  return operation_names.at(static_cast<std::size_t>(operation))[1];
}

Case Case::contiguous(Operation operation, std::size_t bytes) {
  Case result;
  result.operation = operation;
  result.run_bytes = bytes;
  result.local_stride = bytes;
  result.remote_stride = bytes;
  return result;
}

Case Case::strided(Operation operation, std::size_t row_bytes, std::int64_t rows) {
  Case result = contiguous(operation, row_bytes);
  result.layout = Layout::strided;
  result.runs = rows;
  result.remote_stride = 2 * row_bytes;
  return result;
}

Case Case::patch(Operation operation, std::int64_t n, std::int64_t leading) {
  Case result = strided(operation, static_cast<std::size_t>(n) * sizeof(double), n);
  result.remote_stride = static_cast<std::size_t>(leading) * sizeof(double);
  return result;
}

Case Case::local_patch(Operation operation, std::int64_t n, std::int64_t local_leading) {
  Case result = strided(operation, static_cast<std::size_t>(n) * sizeof(double), n);
  result.local_stride = static_cast<std::size_t>(local_leading) * sizeof(double);
  result.remote_stride = result.run_bytes;
  return result;
}

Case Case::vector(Operation operation, std::size_t run_bytes, std::int64_t runs) {
  Case result = strided(operation, run_bytes, runs);
  result.layout = Layout::vector;
  return result;
}

Case Case::separate(Operation operation, std::size_t run_bytes, std::int64_t runs) {
  Case result = vector(operation, run_bytes, runs);
  result.layout = Layout::separate;
  return result;
}

Case Case::aggregate(Operation operation, std::size_t run_bytes, std::int64_t runs) {
  Case result = vector(operation, run_bytes, runs);
  result.layout = Layout::aggregate;
  return result;
}

Case Case::window(Operation operation, std::size_t run_bytes, std::int64_t messages) {
  Case result = contiguous(operation, run_bytes);
  result.layout = Layout::window;
  result.runs = messages;
  return result;
}

Case Case::completing(Completes where) const {
  Case result = *this;
  result.completes = where;
  return result;
}

std::size_t Case::remote_offset(std::int64_t index) const {
  const std::int64_t place = is_scattered() ? index * scatter_step % runs : index;
  return static_cast<std::size_t>(place) * remote_stride;
}

std::string Case::name() const {
  return std::string(name_of(operation)) + layout_suffixes.at(static_cast<std::size_t>(layout));
}

std::string Case::shape() const {
  return layout == Layout::contiguous ? "" : fmt::format("{} x {} B", runs, run_bytes);
}

namespace {

using Bytes = std::vector<std::byte>;

/// Bytes that differ between positions; as doubles with small integer values if `numbers`.
Bytes pattern(std::size_t size, std::size_t seed, bool numbers) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 131 + i / 256 + seed) % 251);
  }
  if (numbers) {
    for (std::size_t i = 0; i + sizeof(double) <= size; i += sizeof(double)) {
      const auto value = static_cast<double>((i / sizeof(double) + seed) % 1000);
      std::memcpy(bytes.data() + i, &value, sizeof value);
    }
  }
  return bytes;
}

void accumulate_run(std::byte* to, const std::byte* from, std::size_t bytes, double scale) {
  for (std::size_t i = 0; i + sizeof(double) <= bytes; i += sizeof(double)) {
    double sum = 0;
    double term = 0;
    std::memcpy(&sum, to + i, sizeof sum);
    std::memcpy(&term, from + i, sizeof term);
    sum += scale * term;
    std::memcpy(to + i, &sum, sizeof sum);
  }
}

/// Does the case with plain loops on images of the two buffers.
void reference(const Case& c, Bytes& local, Bytes& remote) {
  for (std::int64_t run = 0; run < c.runs; ++run) {
    std::byte* here = local.data() + c.local_offset(run);
    std::byte* there = remote.data() + c.remote_offset(run);
    switch (c.operation) {
      case Operation::get:
        std::memcpy(here, there, c.run_bytes);
        break;
      case Operation::accumulate:
        accumulate_run(there, here, c.run_bytes, c.scale);
        break;
      default:
        std::memcpy(there, here, c.run_bytes);
    }
  }
}

std::optional<std::string> difference(const char* where, std::span<const std::byte> expected,
                                      std::span<const std::byte> found) {
  const auto [want, have] = std::mismatch(expected.begin(), expected.end(), found.begin());
  if (want == expected.end()) {
    return std::nullopt;
  }
  return fmt::format("{} byte {} of {} is {:#04x}, expected {:#04x}", where,
                     want - expected.begin(), expected.size(), std::to_integer<unsigned>(*have),
                     std::to_integer<unsigned>(*want));
}

}  // namespace

std::size_t cold_bytes(std::int64_t cache_bytes) {
  constexpr std::int64_t least = 64 << 20;
  return static_cast<std::size_t>(
      std::clamp(4 * cache_bytes, least, std::max(least, max_cold_bytes(memory_bytes()))));
}

bool fits(const Case& c, const Workspace& workspace) {
  return c.local_span() <= workspace.local.size() && c.remote_span() <= workspace.remote_bytes;
}

std::string verify_transfer(const Case& c, const Workspace& workspace,
                            const std::function<void()>& once) {
  const bool numbers = c.operation == Operation::accumulate;
  Bytes local = pattern(c.local_span(), 17, numbers);
  Bytes remote = pattern(c.remote_span(), 101, numbers);
  std::copy(local.begin(), local.end(), workspace.local.begin());
  workspace.write_remote(remote);
  once();
  reference(c, local, remote);
  Bytes found(remote.size());
  workspace.read_remote(found);
  if (const auto problem = difference("remote", remote, found)) {
    return fmt::format("{}: {}", c.name(), *problem);
  }
  if (const auto problem = difference("local", local, workspace.local.first(local.size()))) {
    return fmt::format("{}: {}", c.name(), *problem);
  }
  return "";
}

namespace {

/// Element `index` of the contribution of `rank`; different for all ranks and for neighbouring
/// elements.
double given(int rank, std::size_t index) {
  constexpr std::size_t period = 101;
  return static_cast<double>(rank + 1) * static_cast<double>(index % period + 1);
}

}  // namespace

CollectiveBuffers::CollectiveBuffers(const Collective& collective, int rank, int ranks)
    : collective_(collective), rank_(rank), ranks_(ranks) {
  const std::size_t block = collective.bytes / sizeof(double);
  const auto total = [](const std::vector<std::int64_t>& counts) {
    return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  };
  const bool has_blocks = collective.kind >= Collective::Kind::alltoallv;
  const bool gathers = collective.kind == Collective::Kind::allgather;
  own_.resize(has_blocks ? total(sent()) : block);
  all_.resize(has_blocks ? total(received())
                         : block * static_cast<std::size_t>(gathers ? ranks : 1));
}

std::int64_t CollectiveBuffers::elements(int from, int to) const noexcept {
  const auto block = static_cast<std::int64_t>(collective_.bytes / sizeof(double));
  switch (collective_.kind) {
    case Collective::Kind::alltoallv:
      return block;
    case Collective::Kind::alltoallv_uneven:
      return block * ((from + to) % 3);
    case Collective::Kind::gatherv:
      return to == 0 ? block * ((from + 1) % 3) : 0;
    default:
      return 0;
  }
}

std::vector<std::int64_t> CollectiveBuffers::sent() const {
  std::vector<std::int64_t> counts;
  for (int to = 0; to < ranks_; ++to) {
    counts.push_back(elements(rank_, to));
  }
  return counts;
}

std::vector<std::int64_t> CollectiveBuffers::received() const {
  std::vector<std::int64_t> counts;
  for (int from = 0; from < ranks_; ++from) {
    counts.push_back(elements(from, rank_));
  }
  return counts;
}

void CollectiveBuffers::fill() {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    own_[i] = given(rank_, i);
  }
  all_.assign(all_.size(), -1);
}

double CollectiveBuffers::expected(std::size_t index) const {
  switch (collective_.kind) {
    case Collective::Kind::allreduce:
    case Collective::Kind::reduce:  // the sum of 1 to ranks, times what the first gives
      return given(0, index) * ranks_ * (ranks_ + 1) / 2;
    case Collective::Kind::allgather:
      return given(static_cast<int>(index / own_.size()), index % own_.size());
    case Collective::Kind::alltoallv:
    case Collective::Kind::alltoallv_uneven:
    case Collective::Kind::gatherv:
      return expected_of_blocks(index);
    case Collective::Kind::barrier:
    case Collective::Kind::broadcast:
      break;
  }
  return given(0, index);
}

double CollectiveBuffers::expected_of_blocks(std::size_t index) const {
  auto left = static_cast<std::int64_t>(index);
  int from = 0;
  for (; left >= elements(from, rank_); ++from) {
    left -= elements(from, rank_);
  }
  for (int to = 0; to < rank_; ++to) {
    left += elements(from, to);
  }
  return given(from, static_cast<std::size_t>(left));
}

std::string CollectiveBuffers::problem(std::span<const double> result) const {
  if (collective_.kind == Collective::Kind::barrier ||
      (collective_.kind == Collective::Kind::reduce && rank_ != 0)) {
    return "";
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] != expected(i)) {
      return fmt::format("element {} of {} on rank {}: {} instead of {}", i, result.size(), rank_,
                         result[i], expected(i));
    }
  }
  return "";
}

}  // namespace tessera::bench
