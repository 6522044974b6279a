/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EAF_H
#define EAF_H

#define EAF_RW -1
#define EAF_W -2
#define EAF_R -3

#ifndef EAF_FORTRAN

/* A process's own files. Offsets are whole numbers of bytes. The type of a file is one of the
 * numbers above, or above 0: a file in memory with that number of MiB, which exists until it is
 * deleted.
 *
 * Results are 0, or the number of an error, for EAF_Errmsg. Requests are done at once. */

#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef double eaf_off_t;

extern int EAF_Open(const char* fname, int type, int* fd);
extern int EAF_Close(int fd);
extern int EAF_Delete(const char* fname);

extern int EAF_Read(int fd, eaf_off_t offset, void* buf, size_t bytes);
extern int EAF_Write(int fd, eaf_off_t offset, const void* buf, size_t bytes);
extern int EAF_Aread(int fd, eaf_off_t offset, void* buf, size_t bytes, int* req_id);
extern int EAF_Awrite(int fd, eaf_off_t offset, const void* buf, size_t bytes, int* req_id);
extern int EAF_Wait(int fd, int id);
/* *status is 0 if the request is done, else 1. */
extern int EAF_Probe(int id, int* status);

extern int EAF_Length(int fd, eaf_off_t* length);
extern int EAF_Truncate(int fd, eaf_off_t length);
/* The space that is free where `path` is, in MiB. */
extern int EAF_Stat(const char* path, long* avail_mb, char* fstype, int fslen);
/* 0 if the error is that a file ended too soon, else 1. (Fortran's eaf_eof is .true. then.) */
extern int EAF_Eof(int code);
/* `msg` has room for 80 characters. */
extern void EAF_Errmsg(int code, char* msg);
extern void EAF_Print_stats(int fd);

#ifdef __cplusplus
}
#endif

#endif
#endif
