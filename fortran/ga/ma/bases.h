/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The base arrays of Fortran's types: the program's COMMON blocks. Those of C's types are in
 * macdecls.h. */
#ifndef TESSERA_GA_MA_BASES_H
#define TESSERA_GA_MA_BASES_H

#include "fortran/ga/include/macdecls.h"

#ifdef __cplusplus
extern "C" {
#endif

extern char mbc_byte_[];
extern Integer mbc_int_[];
extern Integer mbc_log_[];
extern float mbc_real_[];
extern double mbc_dbl_[];
extern float mbc_scpl_[];
extern double mbc_dcpl_[];

#ifdef __cplusplus
}
#endif

#endif
