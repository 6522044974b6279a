/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that are read and written at offsets, which are whole numbers of bytes. Results below 0 are
 * errors; elio_errmsg has their texts. Requests that begin without waiting are done at once. */
#ifndef ELIO_H_
#define ELIO_H_

#include <stdio.h>
#include <sys/types.h>

#include "chemio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ELIO_UFS 0
#define ELIO_PFS 1
#define ELIO_PIOFS 2
#define ELIO_PENDING_ERR -44 /* the error of the last elio_open that failed */
#define ELIO_SHARED 77
#define ELIO_PRIVATE 88

typedef long Size_t;
typedef double Off_t;
typedef struct fd_struct {
  int fd;
  int fs;
  int mode;
  int type;
  char* name;
  int extent;
  struct fd_struct* next;
} fd_struct;
typedef fd_struct* Fd_t;
typedef unsigned long avail_t;
typedef struct {
  int fs;
  avail_t avail; /* KiB */
} stat_t;
typedef long io_request_t;

/* Null after an error. ELIO_W empties the file. */
extern Fd_t elio_open(const char* fname, int type, int mode);
extern int elio_close(Fd_t fd);
extern int elio_delete(const char* filename);

/* Bytes read, which are fewer at the end of the file; bytes written. */
extern Size_t elio_read(Fd_t fd, Off_t offset, void* buf, Size_t bytes);
extern Size_t elio_write(Fd_t fd, Off_t offset, const void* buf, Size_t bytes);
extern int elio_aread(Fd_t fd, Off_t offset, void* buf, Size_t bytes, io_request_t* req_id);
extern int elio_awrite(Fd_t fd, Off_t offset, const void* buf, Size_t bytes, io_request_t* req_id);
extern int elio_wait(io_request_t* id);
extern int elio_probe(io_request_t* id, int* status);

extern int elio_truncate(Fd_t fd, Off_t length);
extern int elio_length(Fd_t fd, Off_t* length);
extern int elio_fsync(Fd_t fd);
extern int elio_stat(char* fname, stat_t* statinfo);
extern int elio_dirname(const char* fname, char* statinfo, int len);
/* `msg` has room for 80 characters. */
extern void elio_errmsg(int code, char* msg);

#ifdef __cplusplus
}
#endif

#endif
