// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on a rank that stays in one call, either of its own code or of a BLAS.
#include "tests/contract/busy_target.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::BusyTarget;
using test::ok;
using test::on_ranks;

// The target makes no system call either, which could free its processor for the thread that serves
// this rank.
TEST(ABusyTarget, IsOperatedOnWhileItSpinsInItsOwnCode) {
  on_ranks([](Job& job) {
    BusyTarget busy(job);
    if (busy.is_target()) {
      busy.be_in([&] {
        while (busy.seen() < job.size() - 1) {
        }
      });
    } else {
      EXPECT_TRUE(busy.operate()) << "the target left its call before the operations were complete";
      busy.show();
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

// The dgemm of OpenBLAS, loaded at run time because nothing else in this program needs it.
class Blas {
 public:
  Blas() {
    if (void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
      dgemm_ = reinterpret_cast<Dgemm*>(dlsym(library, "dgemm_"));
    }
  }
  [[nodiscard]] bool is_found() const { return dgemm_ != nullptr; }

  using Dgemm = void(const char*, const char*, const std::int32_t*, const std::int32_t*,
                     const std::int32_t*, const double*, const double*, const std::int32_t*,
                     const double*, const std::int32_t*, const double*, double*,
                     const std::int32_t*);
  /// Requires: is_found().
  [[nodiscard]] Dgemm& dgemm() const { return *dgemm_; }

 private:
  Dgemm* dgemm_ = nullptr;
};

// The product of two n × n matrices. They are filled beforehand, so that compute() is one call of
// the BLAS.
class Product {
 public:
  Product(const Blas& blas, std::int32_t n)
      : dgemm_(blas.dgemm()),
        n_(n),
        a_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 1.0),
        b_(a_.size(), 0.5),
        c_(a_.size()) {}

  void compute() {
    const double one = 1.0;
    const double zero = 0.0;
    dgemm_("N", "N", &n_, &n_, &n_, &one, a_.data(), &n_, b_.data(), &n_, &zero, c_.data(), &n_);
  }
  [[nodiscard]] bool is_right() const { return c_.back() == 0.5 * n_; }

 private:
  Blas::Dgemm& dgemm_;
  std::int32_t n_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> c_;
};

// The duration of a product is not tested: if it ends too soon, a larger one is tried. Operations
// that had to wait for its end would be too late for the largest one as well.
constexpr std::int32_t min_n = 500;
constexpr std::int32_t max_n = 4000;

TEST(ABusyTarget, IsOperatedOnWhileItIsInALongDgemm) {
  on_ranks([](Job& job) {
    const Blas blas;
    if (job.world().allreduce(std::int32_t{blas.is_found() ? 1 : 0}, Reduction::min).value() == 0) {
      GTEST_SKIP() << "libopenblas.so.0 was not found, or has no dgemm_";
    }
    BusyTarget busy(job);
    bool is_through = false;
    for (std::int32_t n = min_n; n <= max_n && !is_through; n *= 2) {
      std::int32_t mine = 1;
      if (busy.is_target()) {
        Product product(blas, n);
        busy.be_in([&] { product.compute(); });
        EXPECT_TRUE(product.is_right());
      } else {
        mine = busy.operate() ? 1 : 0;
      }
      is_through = job.world().allreduce(mine, Reduction::min).value() != 0;
    }
    EXPECT_TRUE(is_through) << "the operations ended only after a product of " << max_n << " × "
                            << max_n << " matrices had ended";
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
