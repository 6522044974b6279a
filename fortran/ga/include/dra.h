/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Disk resident arrays: a global array, or a section of one, is written to a file and read from it,
 * by all processes together. The form of the files is our own (fortran/ga/pario/disk_layout.hpp).
 *
 * Indices begin with 0, and the last dimension is the fastest, as in ga.h. Results are 0, or the
 * number of an error, whose text goes to standard error. All functions are collective over the
 * default group. Requests are done at once. */
#ifndef DRA_H_
#define DRA_H_

#include "chemio.h"
#include "typesf2c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef long dra_size_t;

#define DRA_RW ELIO_RW
#define DRA_R ELIO_R
#define DRA_W ELIO_W
#define DRA_REQ_INVALID -333

/* -1 for what is not known. Of the sizes, max_memory limits the parts in which files are written.
 */
extern int DRA_Init(int max_arrays, double max_array_size, double total_disk_space,
                    double max_memory);
extern int DRA_Terminate(void);

/* A new array of zeros. reqdims: the lengths of a typical section, or -1. */
extern int NDRA_Create(int type, int ndim, dra_size_t dims[], char* name, char* filename, int mode,
                       dra_size_t reqdims[], int* d_a);
extern int NDRA_Create_config(int type, int ndim, dra_size_t dims[], char* name, char* filename,
                              int mode, dra_size_t reqdims[], int numfiles, int ioprocs, int* d_a);
extern int DRA_Open(char* filename, int mode, int* d_a);
extern int DRA_Close(int d_a);
extern int DRA_Delete(int d_a);
extern int NDRA_Inquire(int d_a, int* type, int* ndim, dra_size_t dims[], char* name,
                        char* filename);

/* The arrays have the same type and extents. */
extern int NDRA_Write(int g_a, int d_a, int* request);
extern int NDRA_Read(int g_a, int d_a, int* request);
/* The sections have the same extents, in opposite order of dimensions if `transp` is not 0. */
extern int NDRA_Write_section(logical transp, int g_a, int glo[], int ghi[], int d_a,
                              dra_size_t dlo[], dra_size_t dhi[], int* request);
extern int NDRA_Read_section(logical transp, int g_a, int glo[], int ghi[], int d_a,
                             dra_size_t dlo[], dra_size_t dhi[], int* request);

extern int DRA_Wait(int request);
/* *compl_status is 0 if the request is done. */
extern int DRA_Probe(int request, int* compl_status);

extern void DRA_Flick(void);
extern void DRA_Set_debug(logical flag);
extern void DRA_Print_internals(int d_a);
/* Accepted without effect: an array is one file, and all processes write. */
extern void DRA_Set_default_config(int numfiles, int numioprocs);

#ifdef __cplusplus
}
#endif

#endif
