// SPDX-License-Identifier: BSD-3-Clause
#include "tests/apps/ccsd/spin_orbital.hpp"

#include <array>
#include <cmath>

namespace tessera::apps::ccsd::test {

// The intermediates of Stanton et al., eqs. 3 to 10.
struct SpinOrbitalCcsd::Intermediates {
  Matrix2 f_ae;
  Matrix2 f_mi;
  Matrix2 f_me;
  Tensor4 w_mnij;
  Tensor4 w_abef;
  Tensor4 w_mbej;
};

namespace {

double delta(std::size_t p, std::size_t q) {
  return p == q ? 1.0 : 0.0;
}

double tau(const SpinAmplitudes& t, std::size_t i, std::size_t j, std::size_t a, std::size_t b,
           double factor = 1.0) {
  return t.t2(i, j, a, b) + factor * (t.t1(i, a) * t.t1(j, b) - t.t1(i, b) * t.t1(j, a));
}

/// The even and odd ways in which P(p/qr) moves one of three indices.
struct Exchange {
  std::size_t first;
  std::size_t second;
  std::size_t third;
  double sign;
};
constexpr std::array<Exchange, 3> exchanges{{{0, 1, 2, 1.0}, {1, 0, 2, -1.0}, {2, 1, 0, -1.0}}};

}  // namespace

SpinOrbitalCcsd::SpinOrbitalCcsd(std::size_t occupied, std::size_t orbitals,
                                 const std::vector<double>& fock, const SpatialIntegral& integral)
    : o_(2 * occupied), v_(2 * (orbitals - occupied)), f_(2 * orbitals, 2 * orbitals) {
  const std::size_t n = o_ + v_;
  for (std::size_t p = 0; p < n; ++p) {
    e_.push_back(fock[p / 2 * (orbitals + 1)]);
    for (std::size_t q = p % 2; q < n; q += 2) {
      f_(p, q) = p == q ? 0.0 : fock[p / 2 * orbitals + q / 2];
    }
  }
  g_ = Tensor4(n, n, n, n);
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t q = 0; q < n; ++q) {
      for (std::size_t r = 0; r < n; ++r) {
        for (std::size_t s = 0; s < n; ++s) {
          g_(p, q, r, s) =
              delta(p % 2, r % 2) * delta(q % 2, s % 2) * integral(p / 2, r / 2, q / 2, s / 2) -
              delta(p % 2, s % 2) * delta(q % 2, r % 2) * integral(p / 2, s / 2, q / 2, r / 2);
        }
      }
    }
  }
}

SpinAmplitudes SpinOrbitalCcsd::from_closed_shell(const Matrix2& t1, const Tensor4& t2) const {
  SpinAmplitudes t{Matrix2(o_, v_), Tensor4(o_, o_, v_, v_)};
  for (std::size_t i = 0; i < o_; ++i) {
    for (std::size_t a = 0; a < v_; ++a) {
      t.t1(i, a) = delta(i % 2, a % 2) * t1(i / 2, a / 2);
      for (std::size_t j = 0; j < o_; ++j) {
        for (std::size_t b = 0; b < v_; ++b) {
          t.t2(i, j, a, b) =
              delta(i % 2, a % 2) * delta(j % 2, b % 2) * t2(i / 2, j / 2, a / 2, b / 2) -
              delta(i % 2, b % 2) * delta(j % 2, a % 2) * t2(i / 2, j / 2, b / 2, a / 2);
        }
      }
    }
  }
  return t;
}

SpinAmplitudes SpinOrbitalCcsd::guess() const {
  SpinAmplitudes t{Matrix2(o_, v_), Tensor4(o_, o_, v_, v_)};
  for (std::size_t i = 0; i < o_; ++i) {
    for (std::size_t j = 0; j < o_; ++j) {
      for (std::size_t a = 0; a < v_; ++a) {
        for (std::size_t b = 0; b < v_; ++b) {
          t.t2(i, j, a, b) = g(i, j, at(a), at(b)) / (e_[i] + e_[j] - e_[at(a)] - e_[at(b)]);
        }
      }
    }
  }
  return t;
}

SpinOrbitalCcsd::Intermediates SpinOrbitalCcsd::intermediates(const SpinAmplitudes& t) const {
  Intermediates w{Matrix2(v_, v_),         Matrix2(o_, o_),         Matrix2(o_, v_),
                  Tensor4(o_, o_, o_, o_), Tensor4(v_, v_, v_, v_), Tensor4(o_, v_, v_, o_)};
  add_fock(t, w);
  add_one_body(t, w);
  add_ladders(t, w);
  add_rings(t, w);
  return w;
}

void SpinOrbitalCcsd::add_fock(const SpinAmplitudes& t, Intermediates& w) const {
  for (std::size_t e = 0; e < v_; ++e) {
    for (std::size_t m = 0; m < o_; ++m) {
      w.f_me(m, e) += f_(m, at(e));
      for (std::size_t a = 0; a < v_; ++a) {
        w.f_ae(a, e) -= 0.5 * f_(m, at(e)) * t.t1(m, a);
      }
      for (std::size_t i = 0; i < o_; ++i) {
        w.f_mi(m, i) += 0.5 * t.t1(i, e) * f_(m, at(e));
      }
    }
    for (std::size_t a = 0; a < v_; ++a) {
      w.f_ae(a, e) += f_(at(a), at(e));
    }
  }
  for (std::size_t m = 0; m < o_; ++m) {
    for (std::size_t i = 0; i < o_; ++i) {
      w.f_mi(m, i) += f_(m, i);
    }
  }
}

void SpinOrbitalCcsd::add_one_body(const SpinAmplitudes& t, Intermediates& w) const {
  for (std::size_t m = 0; m < o_; ++m) {
    for (std::size_t f = 0; f < v_; ++f) {
      for (std::size_t n = 0; n < o_; ++n) {
        for (std::size_t e = 0; e < v_; ++e) {
          const double g_mnef = g(m, n, at(e), at(f));
          w.f_me(m, e) += t.t1(n, f) * g_mnef;
          for (std::size_t a = 0; a < v_; ++a) {
            w.f_ae(a, e) -= 0.5 * tau(t, m, n, a, f, 0.5) * g_mnef;
          }
          for (std::size_t i = 0; i < o_; ++i) {
            w.f_mi(m, i) += 0.5 * tau(t, i, n, e, f, 0.5) * g_mnef;
          }
        }
      }
      for (std::size_t a = 0; a < v_; ++a) {
        for (std::size_t e = 0; e < v_; ++e) {
          w.f_ae(a, e) += t.t1(m, f) * g(m, at(a), at(f), at(e));
        }
      }
      for (std::size_t n = 0; n < o_; ++n) {
        for (std::size_t i = 0; i < o_; ++i) {
          w.f_mi(m, i) += t.t1(n, f) * g(m, n, i, at(f));
        }
      }
    }
  }
}

void SpinOrbitalCcsd::add_ladders(const SpinAmplitudes& t, Intermediates& w) const {
  for (std::size_t m = 0; m < o_; ++m) {
    for (std::size_t n = 0; n < o_; ++n) {
      for (std::size_t i = 0; i < o_; ++i) {
        for (std::size_t j = 0; j < o_; ++j) {
          double sum = g(m, n, i, j);
          for (std::size_t e = 0; e < v_; ++e) {
            sum += t.t1(j, e) * g(m, n, i, at(e)) - t.t1(i, e) * g(m, n, j, at(e));
            for (std::size_t f = 0; f < v_; ++f) {
              sum += 0.25 * tau(t, i, j, e, f) * g(m, n, at(e), at(f));
            }
          }
          w.w_mnij(m, n, i, j) = sum;
        }
      }
    }
  }
  for (std::size_t a = 0; a < v_; ++a) {
    for (std::size_t b = 0; b < v_; ++b) {
      for (std::size_t e = 0; e < v_; ++e) {
        for (std::size_t f = 0; f < v_; ++f) {
          double sum = g(at(a), at(b), at(e), at(f));
          for (std::size_t m = 0; m < o_; ++m) {
            sum -= t.t1(m, b) * g(at(a), m, at(e), at(f)) - t.t1(m, a) * g(at(b), m, at(e), at(f));
            for (std::size_t n = 0; n < o_; ++n) {
              sum += 0.25 * tau(t, m, n, a, b) * g(m, n, at(e), at(f));
            }
          }
          w.w_abef(a, b, e, f) = sum;
        }
      }
    }
  }
}

void SpinOrbitalCcsd::add_rings(const SpinAmplitudes& t, Intermediates& w) const {
  for (std::size_t m = 0; m < o_; ++m) {
    for (std::size_t b = 0; b < v_; ++b) {
      for (std::size_t e = 0; e < v_; ++e) {
        for (std::size_t j = 0; j < o_; ++j) {
          double sum = g(m, at(b), at(e), j);
          for (std::size_t f = 0; f < v_; ++f) {
            sum += t.t1(j, f) * g(m, at(b), at(e), at(f));
          }
          for (std::size_t n = 0; n < o_; ++n) {
            sum -= t.t1(n, b) * g(m, n, at(e), j);
            for (std::size_t f = 0; f < v_; ++f) {
              sum -= (0.5 * t.t2(j, n, f, b) + t.t1(j, f) * t.t1(n, b)) * g(m, n, at(e), at(f));
            }
          }
          w.w_mbej(m, b, e, j) = sum;
        }
      }
    }
  }
}

// Eq. 1, without t_i^a D_i^a.
double SpinOrbitalCcsd::singles(const SpinAmplitudes& t, const Intermediates& w, std::size_t i,
                                std::size_t a) const {
  double sum = f_(i, at(a));
  for (std::size_t e = 0; e < v_; ++e) {
    sum += t.t1(i, e) * w.f_ae(a, e);
  }
  for (std::size_t m = 0; m < o_; ++m) {
    sum -= t.t1(m, a) * w.f_mi(m, i);
    for (std::size_t e = 0; e < v_; ++e) {
      sum += t.t2(i, m, a, e) * w.f_me(m, e);
      sum -= t.t1(m, e) * g(m, at(a), i, at(e));
      for (std::size_t f = 0; f < v_; ++f) {
        sum -= 0.5 * t.t2(i, m, e, f) * g(m, at(a), at(e), at(f));
      }
      for (std::size_t n = 0; n < o_; ++n) {
        sum -= 0.5 * t.t2(m, n, a, e) * g(n, m, at(e), i);
      }
    }
  }
  return sum;
}

// Eq. 2, without t_ij^ab D_ij^ab.
double SpinOrbitalCcsd::doubles(const SpinAmplitudes& t, const Intermediates& w, std::size_t i,
                                std::size_t j, std::size_t a, std::size_t b) const {
  double sum = g(i, j, at(a), at(b));
  for (std::size_t e = 0; e < v_; ++e) {
    double f_be = w.f_ae(b, e);
    double f_ae = w.f_ae(a, e);
    for (std::size_t m = 0; m < o_; ++m) {
      f_be -= 0.5 * t.t1(m, b) * w.f_me(m, e);
      f_ae -= 0.5 * t.t1(m, a) * w.f_me(m, e);
    }
    sum += t.t2(i, j, a, e) * f_be - t.t2(i, j, b, e) * f_ae;
    sum += t.t1(i, e) * g(at(a), at(b), at(e), j) - t.t1(j, e) * g(at(a), at(b), at(e), i);
    for (std::size_t f = 0; f < v_; ++f) {
      sum += 0.5 * tau(t, i, j, e, f) * w.w_abef(a, b, e, f);
    }
  }
  for (std::size_t m = 0; m < o_; ++m) {
    double f_mj = w.f_mi(m, j);
    double f_mi = w.f_mi(m, i);
    for (std::size_t e = 0; e < v_; ++e) {
      f_mj += 0.5 * t.t1(j, e) * w.f_me(m, e);
      f_mi += 0.5 * t.t1(i, e) * w.f_me(m, e);
      const auto ring = [&](std::size_t p, std::size_t q, std::size_t c, std::size_t d) {
        return t.t2(p, m, c, e) * w.w_mbej(m, d, e, q) -
               t.t1(p, e) * t.t1(m, c) * g(m, at(d), at(e), q);
      };
      sum += ring(i, j, a, b) - ring(j, i, a, b) - ring(i, j, b, a) + ring(j, i, b, a);
    }
    sum -= t.t2(i, m, a, b) * f_mj - t.t2(j, m, a, b) * f_mi;
    sum -= t.t1(m, a) * g(m, at(b), i, j) - t.t1(m, b) * g(m, at(a), i, j);
    for (std::size_t n = 0; n < o_; ++n) {
      sum += 0.5 * tau(t, m, n, a, b) * w.w_mnij(m, n, i, j);
    }
  }
  return sum;
}

SpinAmplitudes SpinOrbitalCcsd::next(const SpinAmplitudes& t) const {
  const Intermediates w = intermediates(t);
  SpinAmplitudes result{Matrix2(o_, v_), Tensor4(o_, o_, v_, v_)};
  for (std::size_t i = 0; i < o_; ++i) {
    for (std::size_t a = 0; a < v_; ++a) {
      result.t1(i, a) = singles(t, w, i, a) / (e_[i] - e_[at(a)]);
      for (std::size_t j = 0; j < i; ++j) {
        for (std::size_t b = 0; b < a; ++b) {
          const double value = doubles(t, w, i, j, a, b) / (e_[i] + e_[j] - e_[at(a)] - e_[at(b)]);
          result.t2(i, j, a, b) = value;
          result.t2(j, i, b, a) = value;
          result.t2(j, i, a, b) = -value;
          result.t2(i, j, b, a) = -value;
        }
      }
    }
  }
  return result;
}

double SpinOrbitalCcsd::energy(const SpinAmplitudes& t) const {
  double energy = 0.0;
  for (std::size_t i = 0; i < o_; ++i) {
    for (std::size_t a = 0; a < v_; ++a) {
      energy += f_(i, at(a)) * t.t1(i, a);
    }
    for (std::size_t j = 0; j < o_; ++j) {
      for (std::size_t a = 0; a < v_; ++a) {
        for (std::size_t b = 0; b < v_; ++b) {
          energy +=
              0.25 * g(i, j, at(a), at(b)) * (t.t2(i, j, a, b) + 2.0 * t.t1(i, a) * t.t1(j, b));
        }
      }
    }
  }
  return energy;
}

SpinAmplitudes SpinOrbitalCcsd::solve() const {
  constexpr int max_iterations = 200;
  SpinAmplitudes t = guess();
  double before = 0.0;
  for (int i = 0; i < max_iterations && std::abs(energy(t) - before) > 1e-13; ++i) {
    before = energy(t);
    t = next(t);
  }
  return t;
}

// D t of the connected triples: P(i/jk) P(a/bc) [Σ_e t_jk^ae ⟨ei||bc⟩ − Σ_m t_im^bc ⟨ma||jk⟩]
double SpinOrbitalCcsd::connected(const SpinAmplitudes& t, const Three& ijk,
                                  const Three& abc) const {
  double sum = 0.0;
  for (const Exchange& x : exchanges) {
    for (const Exchange& y : exchanges) {
      const std::size_t i = ijk[x.first];
      const std::size_t j = ijk[x.second];
      const std::size_t k = ijk[x.third];
      const std::size_t a = abc[y.first];
      const std::size_t b = abc[y.second];
      const std::size_t c = abc[y.third];
      double part = 0.0;
      for (std::size_t e = 0; e < v_; ++e) {
        part += t.t2(j, k, a, e) * g(at(e), i, at(b), at(c));
      }
      for (std::size_t m = 0; m < o_; ++m) {
        part -= t.t2(i, m, b, c) * g(m, at(a), j, k);
      }
      sum += x.sign * y.sign * part;
    }
  }
  return sum;
}

// D t of the disconnected triples: P(i/jk) P(a/bc) t_i^a ⟨jk||bc⟩
double SpinOrbitalCcsd::disconnected(const SpinAmplitudes& t, const Three& ijk,
                                     const Three& abc) const {
  double sum = 0.0;
  for (const Exchange& x : exchanges) {
    for (const Exchange& y : exchanges) {
      sum += x.sign * y.sign * t.t1(ijk[x.first], abc[y.first]) *
             g(ijk[x.second], ijk[x.third], at(abc[y.second]), at(abc[y.third]));
    }
  }
  return sum;
}

double SpinOrbitalCcsd::triples(const SpinAmplitudes& t) const {
  double energy = 0.0;
  for (std::size_t i = 0; i < o_; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (std::size_t k = 0; k < j; ++k) {
        for (std::size_t a = 0; a < v_; ++a) {
          for (std::size_t b = 0; b < a; ++b) {
            for (std::size_t c = 0; c < b; ++c) {
              const Three ijk{i, j, k};
              const Three abc{a, b, c};
              const double w = connected(t, ijk, abc);
              energy += w * (w + disconnected(t, ijk, abc)) /
                        (e_[i] + e_[j] + e_[k] - e_[at(a)] - e_[at(b)] - e_[at(c)]);
            }
          }
        }
      }
    }
  }
  return energy;
}

}  // namespace tessera::apps::ccsd::test
