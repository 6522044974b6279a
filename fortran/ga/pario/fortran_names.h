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

Integer dra_init_(const Integer* arrays, const double* array_bytes, const double* disk_bytes,
                  const double* memory);
Integer dra_terminate_(void);
Integer dra_create_(const Integer* type, const Integer* dim1, const Integer* dim2, const char* name,
                    const char* file, const Integer* mode, const Integer* req1, const Integer* req2,
                    Integer* handle, size_t name_length, size_t file_length);
Integer ndra_create_(const Integer* type, const Integer* ndim, const Integer* dims,
                     const char* name, const char* file, const Integer* mode,
                     const Integer* typical, Integer* handle, size_t name_length,
                     size_t file_length);
Integer ndra_create_config_(const Integer* type, const Integer* ndim, const Integer* dims,
                            const char* name, const char* file, const Integer* mode,
                            const Integer* typical, const Integer*, const Integer*, Integer* handle,
                            size_t name_length, size_t file_length);
Integer dra_open_(const char* file, const Integer* mode, Integer* handle, size_t length);
Integer dra_close_(const Integer* disk);
Integer dra_delete_(const Integer* disk);
Integer ndra_inquire_(const Integer* disk, Integer* type, Integer* ndim, Integer* dims, char* name,
                      char* file, size_t name_length, size_t file_length);
Integer dra_inquire_(const Integer* disk, Integer* type, Integer* dim1, Integer* dim2, char* name,
                     char* file, size_t name_length, size_t file_length);
Integer ndra_write_(const Integer* array, const Integer* disk, Integer* request);
Integer ndra_read_(const Integer* array, const Integer* disk, Integer* request);
Integer dra_write_(const Integer* array, const Integer* disk, Integer* request);
Integer dra_read_(const Integer* array, const Integer* disk, Integer* request);
Integer ndra_write_section_(const Integer* transpose, const Integer* array, const Integer* glo,
                            const Integer* ghi, const Integer* disk, const Integer* dlo,
                            const Integer* dhi, Integer* request);
Integer ndra_read_section_(const Integer* transpose, const Integer* array, const Integer* glo,
                           const Integer* ghi, const Integer* disk, const Integer* dlo,
                           const Integer* dhi, Integer* request);
Integer dra_write_section_(const Integer* transpose, const Integer* array, const Integer* gilo,
                           const Integer* gihi, const Integer* gjlo, const Integer* gjhi,
                           const Integer* disk, const Integer* dilo, const Integer* dihi,
                           const Integer* djlo, const Integer* djhi, Integer* request);
Integer dra_read_section_(const Integer* transpose, const Integer* array, const Integer* gilo,
                          const Integer* gihi, const Integer* gjlo, const Integer* gjhi,
                          const Integer* disk, const Integer* dilo, const Integer* dihi,
                          const Integer* djlo, const Integer* djhi, Integer* request);
Integer dra_wait_(const Integer* request);
Integer dra_probe_(const Integer* request, Integer* status);
void dra_flick_(void);
void dra_set_debug_(const Integer* flag);
void dra_print_internals_(const Integer* disk);
void dra_set_default_config_(const Integer* files, const Integer* processes);

#ifdef __cplusplus
}
#endif

#endif
