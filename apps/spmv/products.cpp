// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstring>
#include <optional>

#include "arrays/elementwise.hpp"
#include "rma/team.hpp"

namespace tessera::apps::spmv {
namespace {

using arrays::Array;
using linalg::SparseMatrix;
using linalg::SpmvMode;
using linalg::SpmvPlan;
using rma::Code;
using rma::Result;
using rma::Status;

constexpr std::array known_modes = {
    Mode{"default", {}},
    Mode{"neighbours", {.neighbours_only = true}},
    Mode{"plain", {.mode = SpmvMode::single, .share_memory = false}},
    Mode{"runs", {.mode = SpmvMode::plain, .share_memory = false}},
    Mode{"vector", {.mode = SpmvMode::vector, .share_memory = false}},
    Mode{"aggregate", {.mode = SpmvMode::aggregate, .share_memory = false}},
    Mode{"push", {.mode = SpmvMode::push, .share_memory = false}},
};

// A mode's plan and its time so far on this rank.
template <class T>
struct ModeRun {
  SpmvPlan<T> plan;
  double seconds = 0;
  double communication_before = 0;
};

template <class T>
Result<std::vector<T>> own_elements(Array<T>& y) {
  TESSERA_ASSIGN_OR_RETURN(auto access, y.local());
  const auto view = access.view();
  std::vector<T> own;
  for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) {
    own.push_back(view(i));
  }
  TESSERA_RETURN_IF_ERROR(access.end());
  return own;
}

// Collective. Computes one product of each mode into a y that was zero, and compares them.
template <class T>
Status compare_modes(SparseMatrix<T>& matrix, Array<T>& x, Array<T>& y,
                     std::vector<ModeRun<T>>& trials, const std::vector<Mode>& modes) {
  std::vector<T> first;
  Status status;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(arrays::zero(y));
    TESSERA_RETURN_IF_ERROR(trials[i].plan.multiply(matrix, x, y));
    TESSERA_ASSIGN_OR_RETURN(auto own, own_elements(y));
    if (i == 0) {
      first = std::move(own);
    } else if (!own.empty() && std::memcmp(first.data(), own.data(), own.size() * sizeof(T)) != 0) {
      status = Status::error(Code::internal, fmt::format("modes {} and {} have different results",
                                                         modes[0].name, modes[i].name));
    }
  }
  return matrix.team().agree(status);
}

// Collective. The mean times of all ranks for a mode.
template <class T>
Result<ModeResult> summarise(SparseMatrix<T>& matrix, const ModeRun<T>& trial, const Mode& mode,
                             std::int64_t iterations) {
  rma::Team team = matrix.team();
  const auto count = static_cast<double>(iterations);
  ModeResult result;
  result.name = mode.name;
  TESSERA_ASSIGN_OR_RETURN(result.seconds,
                           team.allreduce(trial.seconds / count, rma::Reduction::max));
  const double operations = 2 * static_cast<double>(matrix.entries());
  result.gflops = result.seconds > 0 ? operations / result.seconds * 1e-9 : 0;
  TESSERA_ASSIGN_OR_RETURN(result.elements_read,
                           team.allreduce(trial.plan.elements_from_others(), rma::Reduction::sum));
  TESSERA_ASSIGN_OR_RETURN(
      result.communication,
      team.allgather_value((trial.plan.communication_seconds() - trial.communication_before) /
                           count));
  return result;
}

}  // namespace

Result<std::vector<Mode>> parse_modes(const std::string& text) {
  std::vector<Mode> modes;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const auto it = std::find_if(known_modes.begin(), known_modes.end(),
                                 [&](const Mode& mode) { return mode.name == name; });
    if (it == known_modes.end()) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("--mode '{}': the modes are default, neighbours, plain, runs, "
                      "vector, aggregate and push, or several of them separated by commas",
                      name));
    }
    if (std::any_of(modes.begin(), modes.end(),
                    [&](const Mode& mode) { return mode.name == name; })) {
      return Status::error(Code::invalid_argument, fmt::format("--mode contains {} twice", name));
    }
    modes.push_back(*it);
    begin = end + 1;
  }
  return modes;
}

template <class T>
Result<std::vector<ModeResult>> run_products(SparseMatrix<T>& matrix, Array<T>& x, Array<T>& y,
                                             const std::vector<Mode>& modes,
                                             std::int64_t iterations) {
  using Clock = std::chrono::steady_clock;
  std::vector<ModeRun<T>> trials;
  for (const Mode& mode : modes) {
    TESSERA_ASSIGN_OR_RETURN(auto plan, SpmvPlan<T>::create(matrix, x, y, mode.options));
    trials.push_back({std::move(plan)});
  }
  TESSERA_RETURN_IF_ERROR(compare_modes(matrix, x, y, trials, modes));
  for (ModeRun<T>& trial : trials) {
    trial.communication_before = trial.plan.communication_seconds();
  }
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (ModeRun<T>& trial : trials) {
      const auto begin = Clock::now();
      TESSERA_RETURN_IF_ERROR(trial.plan.multiply(matrix, x, y));
      trial.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    }
  }
  std::vector<ModeResult> results;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    TESSERA_ASSIGN_OR_RETURN(auto result, summarise(matrix, trials[i], modes[i], iterations));
    results.push_back(std::move(result));
  }
  return results;
}

std::string bars_of(const std::vector<ModeResult>& results) {
  constexpr double longest = 50;
  double most = 0;
  std::size_t widest = 0;
  for (const ModeResult& result : results) {
    widest = std::max(widest, result.name.size());
    for (const double seconds : result.communication) {
      most = std::max(most, seconds);
    }
  }
  std::string text;
  for (std::size_t rank = 0; !results.empty() && rank < results[0].communication.size(); ++rank) {
    for (const ModeResult& result : results) {
      const double seconds = result.communication[rank];
      const auto length = static_cast<std::size_t>(most > 0 ? seconds / most * longest + 0.5 : 0);
      const bool is_first = &result == results.data();
      text += fmt::format("{:>8}  {:<{}}  {}{}{:.1f} us\n",
                          is_first ? fmt::format("rank {}", rank) : "", result.name, widest,
                          std::string(length, '#'), length > 0 ? " " : "", seconds * 1e6);
    }
  }
  return text;
}

template Result<std::vector<ModeResult>> run_products(SparseMatrix<double>&, Array<double>&,
                                                      Array<double>&, const std::vector<Mode>&,
                                                      std::int64_t);
template Result<std::vector<ModeResult>> run_products(SparseMatrix<std::complex<double>>&,
                                                      Array<std::complex<double>>&,
                                                      Array<std::complex<double>>&,
                                                      const std::vector<Mode>&, std::int64_t);

}  // namespace tessera::apps::spmv
