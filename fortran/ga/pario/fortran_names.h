/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names that Fortran programs call SF, EAF and DRA by. Lengths of texts come last. */
#ifndef TESSERA_GA_PARIO_FORTRAN_NAMES_H
#define TESSERA_GA_PARIO_FORTRAN_NAMES_H

#include <stddef.h>

#include "fortran/ga/include/typesf2c.h"

#ifdef __cplusplus
extern "C" {
#endif

Integer eaf_open_(const char* name, const Integer* type, Integer* fd, size_t length);
Integer eaf_close_(const Integer* fd);
Integer eaf_delete_(const char* name, size_t length);
Integer eaf_read_(const Integer* fd, const double* offset, void* buffer, const Integer* bytes);
Integer eaf_write_(const Integer* fd, const double* offset, const void* buffer,
                   const Integer* bytes);
Integer eaf_aread_(const Integer* fd, const double* offset, void* buffer, const Integer* bytes,
                   Integer* request);
Integer eaf_awrite_(const Integer* fd, const double* offset, const void* buffer,
                    const Integer* bytes, Integer* request);
Integer eaf_wait_(const Integer* fd, const Integer* request);
Integer eaf_probe_(const Integer* request, Integer* status);
Integer eaf_length_(const Integer* fd, double* bytes);
Integer eaf_truncate_(const Integer* fd, const double* bytes);
Integer eaf_stat_(const char* path, Integer* free_mib, char* kind, size_t path_length,
                  size_t kind_length);
Integer eaf_eof_(const Integer* error);
void eaf_errmsg_(const Integer* error, char* text, size_t length);
void eaf_print_stats_(const Integer* fd);
double eaf_util_random_(const Integer* seed);
Integer eaf_util_szint_(void);

Integer sf_create_(const char* name, const double* hard_limit, const double* soft_limit,
                   const double* request, Integer* handle, size_t length);
Integer sf_create_suffix_(const char* name, const double* hard_limit, const double* soft_limit,
                          const double* request, Integer* handle, const Integer* suffix,
                          size_t length);
Integer sf_destroy_(const Integer* handle);
Integer sf_rwtor_(const Integer* handle);
Integer sf_open_(const Integer* handle);
Integer sf_close_(const Integer* handle);
Integer sf_fsync_(const Integer* handle);
Integer sf_write_(const Integer* handle, const double* offset, const double* bytes,
                  const char* buffer, Integer* request);
Integer sf_read_(const Integer* handle, const double* offset, const double* bytes, char* buffer,
                 Integer* request);
Integer sf_wait_(Integer* request);
Integer sf_waitall_(Integer* requests, const Integer* count);
void sf_errmsg_(const Integer* error, char* text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
