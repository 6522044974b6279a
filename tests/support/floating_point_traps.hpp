// SPDX-License-Identifier: BSD-3-Clause
//
// FloatingPointTraps: during its lifetime, an invalid operation, a division by zero or an overflow
// in this thread ends the process, as in programs compiled with -ffpe-trap.
#pragma once

#include <cfenv>

namespace tessera::rma::test {

class FloatingPointTraps {
 public:
  static constexpr int trapped = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

  FloatingPointTraps() noexcept {
    std::fegetenv(&before_);
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(trapped);
  }
  ~FloatingPointTraps() { std::fesetenv(&before_); }
  FloatingPointTraps(const FloatingPointTraps&) = delete;
  FloatingPointTraps& operator=(const FloatingPointTraps&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace tessera::rma::test
