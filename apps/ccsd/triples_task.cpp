// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/triples_task.hpp"

#include <algorithm>

#include "apps/ccsd/local_product.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Result;
using rma::Status;

/// The six permutations of the slots 0, 1 and 2, of which each gives one term of W.
constexpr std::array<std::array<std::size_t, 3>, 6> orders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

}  // namespace

TriplesTask::TriplesTask(const Model& model, const std::vector<double>& t1, std::int64_t tile)
    : model_(model), t1_(t1), tile_(tile) {
  const auto elements = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  left_.resize(elements(6 * tile * tile * o() * (v() + o())));
  right_.resize(elements(3 * tile * o() * o() * (v() + o())));
  pair_integrals_.resize(elements(3 * tile * tile * o() * o()));
  w_.resize(elements(tile * o() * o() * o()));
  v_.resize(elements(o() * o() * o()));
  term_.resize(w_.size());
}

std::int64_t TriplesTask::elements(const OrbitalSpace& space, std::int64_t tile) noexcept {
  const std::int64_t o = space.occupied;
  const std::int64_t length = space.virtuals + o;
  return 6 * tile * tile * o * length + 3 * tile * o * o * length + 3 * tile * tile * o * o +
         (2 * tile + 1) * o * o * o;
}

double* TriplesTask::left(std::size_t slot_x, std::size_t slot_y, std::int64_t x, std::int64_t y) {
  const auto slots = static_cast<std::int64_t>(ordered_pair(slot_x, slot_y));
  // b varies fastest, so that form_w() multiplies the matrices of all b at once.
  const std::int64_t slow = slot_x == 1 ? y : x;
  const std::int64_t fast = slot_x == 1 ? x : y;
  return left_.data() + ((slots * tile_ + slow) * tile_ + fast) * o() * (v() + o());
}

double* TriplesTask::right(std::size_t slot, std::int64_t x) {
  return right_.data() + (static_cast<std::int64_t>(slot) * tile_ + x) * o() * o() * (v() + o());
}

double* TriplesTask::integrals_of(std::size_t slot_x, std::size_t slot_y, std::int64_t x,
                                  std::int64_t y) {
  const auto slots = static_cast<std::int64_t>(unordered_pair(slot_x, slot_y));
  return pair_integrals_.data() + ((slots * tile_ + x) * tile_ + y) * o() * o();
}

void TriplesTask::assemble(const TriplesFetch& fetched) {
  ranges_ = fetched.ranges();
  for (std::size_t slot = 0; slot < ranges_.size(); ++slot) {
    assemble_right(fetched, slot);
  }
  for (std::size_t x = 0; x < ranges_.size(); ++x) {
    for (std::size_t y = 0; y < ranges_.size(); ++y) {
      if (x != y) {
        assemble_left(fetched, x, y);
      }
      if (x < y) {
        assemble_integrals(fetched, x, y);
      }
    }
  }
}

// Fills the rows kj of R_c: t_kj^cd in column d, then −(jl|kc) in column V + l.
void TriplesTask::assemble_right(const TriplesFetch& fetched, std::size_t slot) {
  const std::int64_t range = ranges_[slot].size();
  const std::int64_t length = v() + o();
  for (std::int64_t k = 0; k < o(); ++k) {
    const double* amplitudes = fetched.amplitudes(slot, k);
    for (std::int64_t c = 0; c < range; ++c) {
      for (std::int64_t j = 0; j < o(); ++j) {
        std::copy_n(amplitudes, v(), right(slot, c) + (k * o() + j) * length);
        amplitudes += v();
      }
    }
  }
  for (std::int64_t l = 0; l < o(); ++l) {
    const double* integral = fetched.ooov(slot, l);
    for (std::int64_t j = 0; j < o(); ++j) {
      for (std::int64_t k = 0; k < o(); ++k) {
        for (std::int64_t c = 0; c < range; ++c) {
          right(slot, c)[(k * o() + j) * length + v() + l] = -*integral++;
        }
      }
    }
  }
}

// Fills the rows i of L_ab: (ia|bd) in column d, then t_il^ab in column V + l, copied from R_a.
void TriplesTask::assemble_left(const TriplesFetch& fetched, std::size_t x, std::size_t y) {
  const std::int64_t length = v() + o();
  for (std::int64_t i = 0; i < o(); ++i) {
    const double* integrals = fetched.ovvv(x, y, i);
    for (std::int64_t b = 0; b < ranges_[y].size(); ++b) {
      for (std::int64_t a = 0; a < ranges_[x].size(); ++a) {
        double* const row = left(x, y, a, b) + i * length;
        std::copy_n(integrals, v(), row);
        integrals += v();
        for (std::int64_t l = 0; l < o(); ++l) {
          row[v() + l] = right(x, a)[(i * o() + l) * length + ranges_[y].first + b];
        }
      }
    }
  }
}

// Fills (ia|jb) at index i·O + j.
void TriplesTask::assemble_integrals(const TriplesFetch& fetched, std::size_t x, std::size_t y) {
  for (std::int64_t a = 0; a < ranges_[x].size(); ++a) {
    const double* integral = fetched.oovv(x, y, a);
    for (std::int64_t ij = 0; ij < o() * o(); ++ij) {
      for (std::int64_t b = 0; b < ranges_[y].size(); ++b) {
        integrals_of(x, y, a, b)[ij] = *integral++;
      }
    }
  }
}

// Computes W of one a, one c and n consecutive b. Each of the six terms is one matrix product for
// all b: these are stacked in the rows of L (L_ab, L_ba, L_bc, L_cb) or, if b is the index of R,
// in the rows of R_b.
Status TriplesTask::form_w(const Stack& stack) {
  const std::int64_t n = stack.b_count;
  const std::int64_t cube = o() * o() * o();
  const std::int64_t length = v() + o();
  std::fill_n(w_.begin(), n * cube, 0.0);
  const std::array<std::int64_t, 3> stride{o() * o(), o(), 1};  // of i, j and k in W
  for (const auto& [x, y, z] : orders) {
    const bool b_is_in_right = z == 1;
    const std::int64_t rows = b_is_in_right ? o() : n * o();
    const std::int64_t columns = b_is_in_right ? n * o() * o() : o() * o();
    const ConstMatrix l = matrix(left(x, y, stack.indices[x], stack.indices[y]), rows, length);
    const ConstMatrix r = matrix(right(z, stack.indices[z]), columns, length);
    TESSERA_RETURN_IF_ERROR(linalg::blas::gemm<double>(1.0, {l}, {r.transposed()}, 0.0,
                                                       matrix(term_.data(), rows, columns)));
    const std::int64_t b_stride = b_is_in_right ? o() * o() : cube;
    for (std::int64_t b = 0; b < n; ++b) {
      for (std::int64_t i = 0; i < o(); ++i) {
        const double* term = term_.data() + b * b_stride + i * columns;
        for (std::int64_t k = 0; k < o(); ++k) {
          double* const w = w_.data() + b * cube + i * stride[x] + k * stride[z];
          for (std::int64_t j = 0; j < o(); ++j) {
            w[j * stride[y]] += *term++;
          }
        }
      }
    }
  }
  return {};
}

// V = W + t_i^a (jb|kc) + t_j^b (ia|kc) + t_k^c (ia|jb)
void TriplesTask::form_v(const Triple& indices, const Triple& abc, const double* w) {
  const double* const ab = integrals_of(0, 1, indices[0], indices[1]);
  const double* const ac = integrals_of(0, 2, indices[0], indices[2]);
  const double* const bc = integrals_of(1, 2, indices[1], indices[2]);
  const auto t = [&](std::int64_t i, std::size_t slot) {
    return t1_[static_cast<std::size_t>(i * v() + abc[slot])];
  };
  for (std::int64_t i = 0; i < o(); ++i) {
    for (std::int64_t j = 0; j < o(); ++j) {
      for (std::int64_t k = 0; k < o(); ++k) {
        const auto ijk = static_cast<std::size_t>((i * o() + j) * o() + k);
        v_[ijk] = w[ijk] + t(i, 0) * bc[j * o() + k] + t(j, 1) * ac[i * o() + k] +
                  t(k, 2) * ab[i * o() + j];
      }
    }
  }
}

// Σ_ijk (4 W_ijk + W_kij + W_jki)(3 V_ijk − V_jik − V_kji − V_ikj) / D, the part of one a ≥ b ≥ c.
// Permuting a, b, c permutes i, j, k of W and V alike. So this is the sum over all six orders,
// where V^cba has become V_jik, V_kji and V_ikj.
double TriplesTask::sum(const Triple& abc, const double* w) const {
  const auto at = [this](const double* x, std::int64_t i, std::int64_t j, std::int64_t k) {
    return x[(i * o() + j) * o() + k];
  };
  double virtual_energy = 0.0;
  for (const std::int64_t a : abc) {
    virtual_energy += model_.virtual_energies[static_cast<std::size_t>(a)];
  }
  const std::vector<double>& energies = model_.occupied_energies;
  const double* const v = v_.data();
  double result = 0.0;
  for (std::int64_t i = 0; i < o(); ++i) {
    for (std::int64_t j = 0; j < o(); ++j) {
      const double energy_ij = energies[static_cast<std::size_t>(i)] +
                               energies[static_cast<std::size_t>(j)] - virtual_energy;
      for (std::int64_t k = 0; k < o(); ++k) {
        const double w_sum = 4.0 * at(w, i, j, k) + at(w, k, i, j) + at(w, j, k, i);
        const double v_sum =
            3.0 * at(v, i, j, k) - at(v, j, i, k) - at(v, k, j, i) - at(v, i, k, j);
        result += w_sum * v_sum / (energy_ij + energies[static_cast<std::size_t>(k)]);
      }
    }
  }
  return result;
}

Result<double> TriplesTask::energy() {
  double energy = 0.0;
  for (std::int64_t a = ranges_[0].first; a < ranges_[0].last; ++a) {
    for (std::int64_t c = ranges_[2].first; c < std::min(ranges_[2].last, a); ++c) {
      TESSERA_ASSIGN_OR_RETURN(const double part, energy_between(a, c));
      energy += part;
    }
  }
  return energy;
}

// Sums over all b from c to a. The caller passes c < a only: a = b = c contributes nothing.
Result<double> TriplesTask::energy_between(std::int64_t a, std::int64_t c) {
  const std::int64_t b_first = std::max(ranges_[1].first, c);
  const std::int64_t b_last = std::min(ranges_[1].last, a + 1);
  const Triple indices{a - ranges_[0].first, b_first - ranges_[1].first, c - ranges_[2].first};
  TESSERA_RETURN_IF_ERROR(form_w({indices, b_last - b_first}));
  double energy = 0.0;
  for (std::int64_t b = b_first; b < b_last; ++b) {
    const double* const w = w_.data() + (b - b_first) * o() * o() * o();
    form_v({indices[0], b - ranges_[1].first, indices[2]}, {a, b, c}, w);
    // If two of the indices are equal, only three of the six orders of a, b and c differ.
    const double multiplicity = a == b || b == c ? 2.0 : 1.0;
    energy += 2.0 / 3.0 / multiplicity * sum({a, b, c}, w);
  }
  return energy;
}

}  // namespace tessera::apps::ccsd
