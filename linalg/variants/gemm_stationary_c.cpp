// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/variants/gemm_stationary_c.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

#include "linalg/detail/own_tile.hpp"
#include "linalg/detail/panel.hpp"

namespace tessera::linalg::variants {

using detail::IntervalList;
using detail::OwnPart;
using detail::OwnTile;
using detail::StepSizes;
using detail::TileTarget;
using rma::Status;

namespace {

// A tile of C and one of its panels.
struct GemmStep {
  OwnPart tile;  ///< set for the first panel only, else empty
  TileTarget target = TileTarget::in_place;
  bool is_first = false;
  bool is_last = false;
};

// All steps of a rank, in order.
template <Scalar T>
class Steps {
 public:
  explicit Steps(const GemmTask<T>& task)
      : task_(task), parts_(own_parts(task.c, task.c.array->team().rank())) {}

  // Gets the next step, and starts its fetches; false after the last step.
  bool start_next(GemmStep& step, detail::Panel& a, detail::Panel& b) {
    step.is_first = panel_ == panels_.size();
    if (step.is_first && !find_tile()) {
      return false;
    }
    const OwnPart& tile = tiles_[tile_];
    const IntervalList& inner = panels_[panel_++];
    step.target = target_;
    step.is_last = panel_ == panels_.size();
    step.tile = step.is_first ? tile : OwnPart();
    a.start(task_.factors.a, tile.rows, inner);
    b.start(task_.factors.b, inner, tile.columns);
    return true;
  }

 private:
  bool find_tile() {
    if (++tile_ >= tiles_.size()) {
      if (part_ == parts_.size()) {
        return false;
      }
      cut_part(parts_[part_++]);
    }
    panels_ = inner_panels(task_.factors, tiles_[tile_], sizes_);
    panel_ = 0;
    return true;
  }
  void cut_part(const OwnPart& part) {
    target_ = choose_target(task_.c, part);
    sizes_ = choose_step_sizes(part, task_.factors.a.columns(),
                               task_.buffer_bytes / static_cast<std::int64_t>(sizeof(T)),
                               target_ == TileTarget::scratch);
    tiles_ = cut_into_tiles(task_.factors, part, sizes_);
    tile_ = 0;
  }

  const GemmTask<T>& task_;
  std::vector<OwnPart> parts_;
  std::vector<OwnPart> tiles_;
  std::vector<IntervalList> panels_;
  StepSizes sizes_;
  TileTarget target_ = TileTarget::in_place;
  std::size_t part_ = 0;
  std::size_t tile_ = 0;
  std::size_t panel_ = 0;
};

// The two panels of one step; one pair is used while the other is fetched.
struct PanelPair {
  GemmStep step;
  detail::Panel a;
  detail::Panel b;
  bool is_started = false;
};

template <Scalar T>
Status compute(const GemmTask<T>& task, PanelPair& pair, OwnTile<T>& tile) {
  Status arrived = pair.a.wait();
  Status also_arrived = pair.b.wait();
  TESSERA_RETURN_IF_ERROR(std::move(arrived));
  TESSERA_RETURN_IF_ERROR(std::move(also_arrived));
  if (pair.step.is_first) {
    TESSERA_RETURN_IF_ERROR(tile.begin(std::move(pair.step.tile), pair.step.target));
  }
  TESSERA_RETURN_IF_ERROR(tile.add_product(task.alpha, pair.a.template matrix<T>(),
                                           task.conjugates_a, pair.b.template matrix<T>(),
                                           task.conjugates_b, task.beta));
  if (pair.step.is_last) {
    tile.end();
  }
  return {};
}

// True if panels are available without fetching: no wait is needed then, and a second pair of
// buffers would only cost memory and cache.
template <Scalar T>
bool is_all_on_node(const GemmTask<T>& task) {
  const auto is_here = [](const arrays::ArrayBase& array) {
    const auto members = array.team().members();
    return std::all_of(members.begin(), members.end(),
                       [&](rma::WorldRank member) { return array.job().shares_node(member); });
  };
  return is_here(*task.factors.a.array) && is_here(*task.factors.b.array);
}

template <Scalar T>
Status multiply(const GemmTask<T>& task, T* slice) {
  std::array<PanelPair, 2> pairs;
  OwnTile<T> tile(task.c, slice);
  Steps<T> steps(task);
  const std::size_t ahead = is_all_on_node(task) ? 0 : 1;
  const auto start = [&](PanelPair& pair) {
    pair.is_started = steps.start_next(pair.step, pair.a, pair.b);
  };
  start(pairs[0]);
  for (std::size_t now = 0; pairs[now].is_started; now = (now + ahead) % 2) {
    if (ahead > 0) {
      start(pairs[1 - now]);
    }
    TESSERA_RETURN_IF_ERROR(compute(task, pairs[now], tile));
    if (ahead == 0) {
      start(pairs[0]);
    }
  }
  return {};
}

template <Scalar T>
void scale_own(const GemmTask<T>& task, T* slice) {
  for (const OwnPart& part : own_parts(task.c, task.c.array->team().rank())) {
    detail::for_each_block(task.c, part, slice, [&](const LocalMatrix<T>& block, auto, auto) {
      detail::scale(block, task.beta);
    });
  }
}

}  // namespace

template <Scalar T>
Status gemm_stationary_c(const GemmTask<T>& task) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(task.c.array->region()));
  auto* const slice = reinterpret_cast<T*>(access.data());
  if (task.factors.a.columns() == 0 || task.alpha == T{0}) {
    scale_own(task, slice);
  } else {
    TESSERA_RETURN_IF_ERROR(multiply(task, slice));
  }
  return access.end();
}

template Status gemm_stationary_c(const GemmTask<float>&);
template Status gemm_stationary_c(const GemmTask<double>&);
template Status gemm_stationary_c(const GemmTask<std::complex<float>>&);
template Status gemm_stationary_c(const GemmTask<std::complex<double>>&);

}  // namespace tessera::linalg::variants
