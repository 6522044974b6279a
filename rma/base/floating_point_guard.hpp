// SPDX-License-Identifier: BSD-3-Clause
//
// FloatingPointGuard: calls foreign numerical code with the caller's floating-point traps off.
//
// LAPACK divides by zero on purpose to find out how the processor computes. MPI and HDF5 try
// conversions that overflow. A program that traps such exceptions would be killed. While a guard
// exists, this thread traps nothing. Its end restores the thread's traps, rounding mode and
// exception flags. Flags that were raised in between are discarded.
//
//     const FloatingPointGuard guard;
//     LAPACKE_dsyevd(…);
//
// Guards nest. A thread that is started while a guard exists traps nothing, because threads inherit
// the floating-point environment of the thread that starts them.
//
// x86-64 has two units with separate flags and masks: SSE/AVX, and the old x87, which some BLAS use
// to compute norms. VectorUnitGuard leaves the x87 unchanged, for code that doesn't use it.
//
// Cost, on x86-64: up to 25 ns if the thread traps nothing. If it does, the vector unit's guard
// takes 40 ns, and the x87 another 70 ns.
// Threads: a guard belongs to its thread.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

#include "rma/base/cxx20.hpp"

namespace tessera::rma {

#if defined(__x86_64__)

class VectorUnitGuard {
 public:
  VectorUnitGuard() noexcept : before_(_mm_getcsr()) {
    if ((before_ & all_masks) != all_masks) {
      _mm_setcsr(before_ | all_masks);
    }
  }
  ~VectorUnitGuard() {
    if (_mm_getcsr() != before_) {
      _mm_setcsr(before_);
    }
  }
  VectorUnitGuard(const VectorUnitGuard&) = delete;
  VectorUnitGuard& operator=(const VectorUnitGuard&) = delete;

 private:
  static constexpr std::uint32_t all_masks = 0x1f80;
  std::uint32_t before_;  // masks, flags and rounding mode, in one register
};

class FloatingPointGuard {
 public:
  FloatingPointGuard() noexcept : control_(control()), status_(status()) {
    if (traps()) {
      asm volatile("fnstenv %0" : "=m"(before_));  // which masks all exceptions, too
    }
  }
  // Flags and masks must change together: a raised flag that is not masked traps. Loading both
  // takes less time than loading the masks alone.
  ~FloatingPointGuard() {
    if (traps()) {
      asm volatile("fldenv %0" : : "m"(before_));
    } else if (((status() ^ status_) & raised) != 0 || control() != control_) {
      asm volatile("fnstenv %0" : "=m"(before_));
      before_.control = (before_.control & ~std::uint32_t{0xffff}) | control_;
      before_.status = (before_.status & ~std::uint32_t{raised}) | (status_ & raised);
      asm volatile("fldenv %0" : : "m"(before_));
    }
  }
  FloatingPointGuard(const FloatingPointGuard&) = delete;
  FloatingPointGuard& operator=(const FloatingPointGuard&) = delete;

 private:
  struct Environment {
    std::uint32_t control, status, tag, instruction, selector, operand, operand_selector;
  };
  static constexpr std::uint16_t all_masks = 0x3f;
  static constexpr std::uint16_t raised = 0xff;  // the flags and their summaries

  [[nodiscard]] bool traps() const noexcept { return (control_ & all_masks) != all_masks; }
  static std::uint16_t control() noexcept {
    std::uint16_t word = 0;
    asm volatile("fnstcw %0" : "=m"(word));
    return word;
  }
  static std::uint16_t status() noexcept {
    std::uint16_t word = 0;
    asm volatile("fnstsw %0" : "=am"(word));
    return word;
  }

  VectorUnitGuard vector_unit_;
  std::uint16_t control_;
  std::uint16_t status_;
  Environment before_;  // used only if the x87 traps anything
};

#else

class FloatingPointGuard {
 public:
  FloatingPointGuard() noexcept { std::feholdexcept(&environment_); }
  ~FloatingPointGuard() { std::fesetenv(&environment_); }
  FloatingPointGuard(const FloatingPointGuard&) = delete;
  FloatingPointGuard& operator=(const FloatingPointGuard&) = delete;

 private:
  std::fenv_t environment_;
};

using VectorUnitGuard = FloatingPointGuard;

#endif

}  // namespace tessera::rma
