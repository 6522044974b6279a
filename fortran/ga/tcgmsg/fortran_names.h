/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names that Fortran programs call TCGMSG by. Lengths of texts come last.
 *
 * They are weak: such short names are easily those of a program's own functions, which win. */
#ifndef TESSERA_GA_TCGMSG_FORTRAN_NAMES_H
#define TESSERA_GA_TCGMSG_FORTRAN_NAMES_H

#include <stddef.h>

#include "fortran/ga/include/typesf2c.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

__attribute__((weak)) void pbeginf_(void);
__attribute__((weak)) void pbginf_(void);
__attribute__((weak)) void pend_(void);
__attribute__((weak)) Integer tcgready_(void);
__attribute__((weak)) Integer nnodes_(void);
__attribute__((weak)) Integer nodeid_(void);
__attribute__((weak)) void snd_(const Integer* type, void* buffer, const Integer* length,
                                const Integer* node, const Integer* sync);
__attribute__((weak)) void rcv_(const Integer* type, void* buffer, const Integer* length,
                                Integer* received, const Integer* node, Integer* from,
                                const Integer* sync);
__attribute__((weak)) Integer probe_(const Integer* type, const Integer* node);
__attribute__((weak)) void waitcom_(const Integer* node);
__attribute__((weak)) void brdcst_(const Integer* type, void* buffer, const Integer* length,
                                   const Integer* root);
__attribute__((weak)) void dgop_(const Integer* type, double* numbers, const Integer* count,
                                 const char* operation, size_t length);
__attribute__((weak)) void igop_(const Integer* type, Integer* numbers, const Integer* count,
                                 const char* operation, size_t length);
__attribute__((weak)) void synch_(const Integer* type);
__attribute__((weak)) Integer nxtval_(const Integer* processes);
__attribute__((weak)) void pfcopy_(const Integer* type, const Integer* root, const char* name,
                                   size_t length);
__attribute__((weak)) void pfilecopy_(const Integer* type, const Integer* root, const char* name);
__attribute__((weak)) Integer mdtob_(const Integer* count);
__attribute__((weak)) Integer mitob_(const Integer* count);
__attribute__((weak)) Integer mdtoi_(const Integer* count);
__attribute__((weak)) Integer mitod_(const Integer* count);
__attribute__((weak)) double tcgtime_(void);
__attribute__((weak)) Integer mtime_(void);
__attribute__((weak)) double drand48_(void);
__attribute__((weak)) double drand_(const Integer* seed);
__attribute__((weak)) void srand48_(const Integer* seed);
__attribute__((weak)) void parerr_(const Integer* code);
__attribute__((weak)) void llog_(void);
__attribute__((weak)) Integer niceftn_(const Integer* by);
__attribute__((weak)) void setdbg_(const Integer* value);
__attribute__((weak)) void stats_(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
