/* SPDX-License-Identifier: BSD-3-Clause
 *
 * armcix.h: what ARMCI-MPI added to ARMCI, the descriptor arrays of ARMCI's first draft, and access
 * to errors. As armci.h says in all else.
 */
#ifndef TESSERA_ARMCIX_H
#define TESSERA_ARMCIX_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over the parent. Those that give the same color form a group, ordered by key; a
 * negative color gives a group of the caller alone. */
int ARMCIX_Group_split(ARMCI_Group* parent, int color, int key, ARMCI_Group* group);
int ARMCIX_Group_dup(ARMCI_Group* parent, ARMCI_Group* group);

/* Sets of mutexes, any number of them. Processes are ranks in the group. Creation and destruction
 * are collective over it; creation gives null for an error. */
typedef struct armcix_mutex_hdl_s* armcix_mutex_hdl_t;
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group* group);
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t mutexes);
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc);
/* 0 when the mutex was free and is now the caller's, 1 when another has it; also 1 for a moment
 * after a process of another node has given it back, while the word of that is on its way. */
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc);
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc);

/* As ARMCI_Poll: moves on what is under way, and what this process can do for others. Never
 * needed: operations proceed by themselves. */
void ARMCIX_Progress(void);

/* How memory is used from here on (Dinan et al., IPDPS 2012, section VIII.A), by any combination
 * but of READ_ONLY and ACCUMULATE_ONLY. Collective over the group that allocated it; what was begun
 * before is complete then. What a mode forbids is an error.
 *   ALL              everything
 *   CONFLICT_FREE    the program promises that no process uses bytes that another one changes at
 *                    that time: accumulates take no locks, and to one element may lose some
 *   NO_LOAD_STORE    no ARMCI_Access_begin
 *   READ_ONLY        gets only
 *   ACCUMULATE_ONLY  accumulates only; several may go to one element */
#define ARMCIX_MODE_ALL 1
#define ARMCIX_MODE_CONFLICT_FREE 2
#define ARMCIX_MODE_NO_LOAD_STORE 4
#define ARMCIX_MODE_READ_ONLY 8
#define ARMCIX_MODE_ACCUMULATE_ONLY 16
int ARMCIX_Mode_set(int mode, void* ptr, ARMCI_Group* group);
int ARMCIX_Mode_get(void* ptr);

/* Offers memory that the program has to the processes of the group: collective over it, as
 * ARMCI_Malloc_group, with this process's memory, which may be null if it has 0 bytes. Pointers are
 * set as there. Detaching is collective, too, with this process's pointer, or null if it has none,
 * and comes before the memory is freed; ARMCI_Free is not for it. */
int ARMCIX_Attach(void* ptr_arr[], void* memory, armci_size_t bytes, ARMCI_Group* group);
int ARMCIX_Detach(void* ptr, ARMCI_Group* group);

/* One set of segments at equal distances. */
typedef struct {
  void* src_ptr;
  void* dst_ptr;
  int src_stride;
  int dst_stride;
  int bytes; /* of each segment */
  int count; /* segments */
} armci_strided_t;

/* Arrays of descriptors in one operation. */
int ARMCIX_PutV_dscr(armci_giov_t* sets, int len, int proc);
int ARMCIX_GetV_dscr(armci_giov_t* sets, int len, int proc);
int ARMCIX_NbPutV_dscr(armci_giov_t* sets, int len, int proc, armci_hdl_t* handle);
int ARMCIX_NbGetV_dscr(armci_giov_t* sets, int len, int proc, armci_hdl_t* handle);
int ARMCIX_PutS_dscr(armci_strided_t* sets, int len, int proc);
int ARMCIX_GetS_dscr(armci_strided_t* sets, int len, int proc);
int ARMCIX_NbPutS_dscr(armci_strided_t* sets, int len, int proc, armci_hdl_t* handle);
int ARMCIX_NbGetS_dscr(armci_strided_t* sets, int len, int proc, armci_hdl_t* handle);

/* With TESSERA_ARMCI_ERRORS=return: the code (FAIL…) and the text of this thread's last error, 0
 * and "" before the first; the text is the caller's until its next error. Clearing forgets it. */
int ARMCIX_Error_code(void);
const char* ARMCIX_Error_message(void);
void ARMCIX_Error_clear(void);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_ARMCIX_H */
