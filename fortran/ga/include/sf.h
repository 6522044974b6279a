/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared files: a file for all processes, which exists until it is destroyed. Each process reads
 * and writes anywhere. Sizes and offsets are whole numbers of bytes. The file of handle -3000 + n
 * is <name>.n, or <name>.<suffix>.
 *
 * Results are 0, or the number of an error, for SF_Errmsg. Requests are done at once. Of the
 * limits and sizes given at creation nothing depends. */
#ifndef SF_H_
#define SF_H_

#include "typesf2c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef double SFsize_t;

/* Collective. */
extern int SF_Create(char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit,
                     SFsize_t req_size, int* handle);
extern int SF_Create_suffix(char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit,
                            SFsize_t req_size, int* handle, int suffix);
extern int SF_Destroy(int handle);

/* Of this process: closes the file, and opens it again for reading, or for both. */
extern int SF_Close(int handle);
extern int SF_Rwtor(int handle);
extern int SF_Open(int handle);

extern int SF_Fsync(int handle);
extern int SF_Write(int handle, SFsize_t offset, SFsize_t bytes, char* buffer, int* req_id);
extern int SF_Read(int handle, SFsize_t offset, SFsize_t bytes, char* buffer, int* req_id);
extern int SF_Wait(int* req_id);
extern int SF_Waitall(int* list, int num);
/* `msg` has room for 80 characters. */
extern void SF_Errmsg(int code, char* msg);

#ifdef __cplusplus
}
#endif

#endif
