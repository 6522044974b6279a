/* SPDX-License-Identifier: BSD-3-Clause
 *
 * armcix.h: ARMCI-MPI's additions to ARMCI, the descriptor arrays of ARMCI's first draft, and
 * access to errors. The rules of armci.h apply.
 */
#ifndef TESSERA_ARMCIX_H
#define TESSERA_ARMCIX_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over the parent. Processes that give the same color form a group, ordered by key. A
 * negative color gives a group of the caller alone. */
int ARMCIX_Group_split(ARMCI_Group* parent, int color, int key, ARMCI_Group* group);
int ARMCIX_Group_dup(ARMCI_Group* parent, ARMCI_Group* group);

/* Any number of sets of mutexes. Processes are ranks in the group. Creation and destruction are
 * collective over the group; creation returns null for an error. */
typedef struct armcix_mutex_hdl_s* armcix_mutex_hdl_t;
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group* group);
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t mutexes);
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc);
/* Returns 0 if the mutex was free and is now the caller's, 1 if another process holds it. Also
 * returns 1 for a moment after a process of another node unlocks it, while its message is on the
 * way. */
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc);
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc);

/* As ARMCI_Poll: advances this process's operations and serves requests of others. Never needed:
 * operations proceed without calls. */
void ARMCIX_Progress(void);

/* Sets how the memory is used from now on (Dinan et al., IPDPS 2012, section VIII.A). Modes may
 * be combined, except READ_ONLY with ACCUMULATE_ONLY. Collective over the group that allocated
 * the memory; earlier operations are complete when it returns. An operation that the mode
 * forbids is an error.
 *   ALL              allows everything
 *   CONFLICT_FREE    the program promises that no process uses bytes while another one changes
 *                    them: accumulates take no locks, and concurrent ones to an element may be lost
 *   NO_LOAD_STORE    forbids ARMCI_Access_begin
 *   READ_ONLY        allows gets only
 *   ACCUMULATE_ONLY  allows accumulates only; several may go to one element */
#define ARMCIX_MODE_ALL 1
#define ARMCIX_MODE_CONFLICT_FREE 2
#define ARMCIX_MODE_NO_LOAD_STORE 4
#define ARMCIX_MODE_READ_ONLY 8
#define ARMCIX_MODE_ACCUMULATE_ONLY 16
int ARMCIX_Mode_set(int mode, void* ptr, ARMCI_Group* group);
int ARMCIX_Mode_get(void* ptr);

/* Makes existing memory of the program accessible to the processes of the group. Collective over
 * the group, as ARMCI_Malloc_group, with this process's memory, which may be null if it has 0
 * bytes. Sets the pointers in the same way. Detaching is also collective, with this process's
 * pointer, or null if it has none. Detach before freeing the memory, and do not use ARMCI_Free
 * for it. */
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

/* Transfer an array of descriptors in one operation. */
int ARMCIX_PutV_dscr(armci_giov_t* sets, int len, int proc);
int ARMCIX_GetV_dscr(armci_giov_t* sets, int len, int proc);
int ARMCIX_NbPutV_dscr(armci_giov_t* sets, int len, int proc, armci_hdl_t* handle);
int ARMCIX_NbGetV_dscr(armci_giov_t* sets, int len, int proc, armci_hdl_t* handle);
int ARMCIX_PutS_dscr(armci_strided_t* sets, int len, int proc);
int ARMCIX_GetS_dscr(armci_strided_t* sets, int len, int proc);
int ARMCIX_NbPutS_dscr(armci_strided_t* sets, int len, int proc, armci_hdl_t* handle);
int ARMCIX_NbGetS_dscr(armci_strided_t* sets, int len, int proc, armci_hdl_t* handle);

/* With TESSERA_ARMCI_ERRORS=return: the code (FAIL…) and the text of this thread's last error,
 * or 0 and "" if there was none. The text stays valid until the thread's next error. Clearing
 * removes both. */
int ARMCIX_Error_code(void);
const char* ARMCIX_Error_message(void);
void ARMCIX_Error_clear(void);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_ARMCIX_H */
