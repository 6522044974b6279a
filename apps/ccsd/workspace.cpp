// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/workspace.hpp"

#include <utility>

namespace tessera::apps::ccsd {

std::vector<Shape> integral_shapes(const OrbitalSpace& space) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  return {{"vvvv", pair_count(v), v * v}, {"ovvv", o * v, v * v}, {"ovov", o * v, o * v},
          {"oovv", o * o, v * v},         {"ooov", o * o, o * v}, {"oooo", o * o, o * o}};
}

std::vector<Shape> Workspace::shapes(const OrbitalSpace& space) {
  const std::int64_t oo = space.occupied * space.occupied;
  const std::int64_t ov = space.occupied * space.virtuals;
  const std::int64_t vv = space.virtuals * space.virtuals;
  const std::int64_t pairs = pair_count(space.occupied);
  return {{"v", ov, ov},
          {"v_swapped", ov, ov},
          {"l", ov, ov},
          {"t_swapped", ov, ov},
          {"u", ov, ov},
          {"m", ov, ov},
          {"n", ov, ov},
          {"x", ov, ov},
          {"scratch_a", ov, ov},
          {"scratch_b", ov, ov},
          {"tau", oo, vv},
          {"x_pair", oo, vv},
          {"tau_folded", pairs, vv},
          {"ladder", pairs, 2 * pair_count(space.virtuals)},
          {"h", oo, oo},
          {"h_half", oo, oo},
          {"ooov_dressed", oo, ov},
          {"vo_dressing", ov, oo},
          {"vv_dressing", ov, oo},
          {"z", oo, ov}};
}

rma::Result<Workspace> Workspace::create(const rma::Job& job, const OrbitalSpace& space) {
  std::vector<RowMatrix> made;
  for (const Shape& shape : shapes(space)) {
    TESSERA_ASSIGN_OR_RETURN(auto matrix,
                             create_row_matrix(job, shape.name, shape.rows, shape.columns));
    made.push_back(std::move(matrix));
  }
  auto next = made.begin();
  const auto take = [&next]() -> RowMatrix&& { return std::move(*next++); };
  // Members are initialised in the order of their declaration, and so are the clauses of this list.
  return Workspace{take(), take(), take(), take(), take(), take(), take(), take(), take(), take(),
                   take(), take(), take(), take(), take(), take(), take(), take(), take(), take()};
}

}  // namespace tessera::apps::ccsd
