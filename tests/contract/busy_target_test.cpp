// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on a rank that stays in one call: of its own code, and of a BLAS.
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

// No system call either, by which the processor would come free for whoever serves this rank.
TEST(ABusyTarget, IsOperatedOnWhileItSpinsInItsOwnCode) {
  on_ranks([](Job& job) {
    BusyTarget busy(job);
    if (busy.is_target()) {
      busy.be_in([&] {
        while (busy.seen() < job.size() - 1) {
        }
      });
    } else {
      EXPECT_TRUE(busy.operate()) << "the target came out before it was told to";
      busy.show();
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

// The dgemm of OpenBLAS, looked for at run time: nothing else of this program needs it.
class Blas {
 public:
  Blas() {
    if (void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
      dgemm_ = reinterpret_cast<Dgemm*>(dlsym(library, "dgemm_"));
    }
  }
  [[nodiscard]] bool is_found() const { return dgemm_ != nullptr; }

  /// Multiplies two n × n matrices.
  void multiply(std::int32_t n) const {
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const std::vector<double> a(elements, 1.0);
    const std::vector<double> b(elements, 0.5);
    std::vector<double> c(elements);
    const double one = 1.0;
    const double zero = 0.0;
    dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n);
    EXPECT_EQ(c.back(), 0.5 * n);
  }

 private:
  using Dgemm = void(const char*, const char*, const std::int32_t*, const std::int32_t*,
                     const std::int32_t*, const double*, const double*, const std::int32_t*,
                     const double*, const std::int32_t*, const double*, double*,
                     const std::int32_t*);
  Dgemm* dgemm_ = nullptr;
};

// How long a product takes is nobody's business here: if it was over too soon, a larger one is
// tried. Operations that had to wait for its end would be too late for the largest as well.
constexpr std::int32_t least_n = 500;
constexpr std::int32_t most_n = 4000;

TEST(ABusyTarget, IsOperatedOnWhileItIsInALongDgemm) {
  on_ranks([](Job& job) {
    const Blas blas;
    if (job.world().allreduce(std::int32_t{blas.is_found() ? 1 : 0}, Reduction::min).value() == 0) {
      GTEST_SKIP() << "libopenblas.so.0 was not found, or has no dgemm_";
    }
    BusyTarget busy(job);
    bool is_through = false;
    for (std::int32_t n = least_n; n <= most_n && !is_through; n *= 2) {
      std::int32_t mine = 1;
      if (busy.is_target()) {
        busy.be_in([&] { blas.multiply(n); });
      } else {
        mine = busy.operate() ? 1 : 0;
      }
      is_through = job.world().allreduce(mine, Reduction::min).value() != 0;
    }
    EXPECT_TRUE(is_through) << "operations were through only when a product of " << most_n << " × "
                            << most_n << " matrices had ended";
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
