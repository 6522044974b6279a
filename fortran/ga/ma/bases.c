// SPDX-License-Identifier: BSD-3-Clause
//
// MA's base arrays. An index into one of them addresses a block (macdecls.h).
//
// The arrays for Fortran are COMMON blocks, which the program defines as well. They are tentative
// definitions here, so that the linker joins both and the program's definition wins, also if this
// is a shared library. The alignments are those that gfortran gives the blocks.
#include "fortran/ga/ma/bases.h"

#define TESSERA_GA_COMMON __attribute__((common, visibility("default")))

char mbc_byte_[2] TESSERA_GA_COMMON;
Integer mbc_int_[2] TESSERA_GA_COMMON __attribute__((aligned(16)));
Integer mbc_log_[2] TESSERA_GA_COMMON __attribute__((aligned(16)));
float mbc_real_[2] TESSERA_GA_COMMON __attribute__((aligned(8)));
double mbc_dbl_[2] TESSERA_GA_COMMON __attribute__((aligned(16)));
float mbc_scpl_[4] TESSERA_GA_COMMON __attribute__((aligned(16)));
double mbc_dcpl_[4] TESSERA_GA_COMMON __attribute__((aligned(32)));

#define TESSERA_GA_BASE __attribute__((aligned(32), visibility("default")))

char ma_cb_char[2] TESSERA_GA_BASE;
int ma_cb_int[2] TESSERA_GA_BASE;
long ma_cb_long[2] TESSERA_GA_BASE;
long long ma_cb_longlong[2] TESSERA_GA_BASE;
float ma_cb_float[2] TESSERA_GA_BASE;
double ma_cb_dbl[2] TESSERA_GA_BASE;
MA_LongDouble ma_cb_ldbl[2] TESSERA_GA_BASE;
MA_SingleComplex ma_cb_scpl[2] TESSERA_GA_BASE;
MA_DoubleComplex ma_cb_dcpl[2] TESSERA_GA_BASE;
MA_LongDoubleComplex ma_cb_ldcpl[2] TESSERA_GA_BASE;
