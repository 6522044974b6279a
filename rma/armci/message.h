/* SPDX-License-Identifier: BSD-3-Clause
 *
 * message.h: ARMCI's message layer: collective operations of the default group or of a given group,
 * and two-sided messages.
 *
 * Reductions ("gop") combine n elements of all processes, element by element. op is one of "+" "*"
 * "min" "max" "absmin" "absmax" "land" "&&" "lor" "||" "band" "&" "bor" "|" "or"; from "land" on
 * they are for integers only. All processes get identical results, and repeated calls do, too.
 *
 * Scopes: SCOPE_ALL is the whole group, SCOPE_NODE its members on this node, SCOPE_MASTERS its
 * first member on each node. A process outside of the scope returns at once. Roots are ranks in the
 * group.
 *
 * Threads: one at a time.
 */
#ifndef TESSERA_ARMCI_MESSAGE_H
#define TESSERA_ARMCI_MESSAGE_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARMCI_INT (-99)
#define ARMCI_LONG (-101)
#define ARMCI_LONG_LONG (-102)
#define ARMCI_FLOAT (-306)
#define ARMCI_DOUBLE (-307)

#define SCOPE_ALL 333
#define SCOPE_NODE 337
#define SCOPE_MASTERS 339

/* Start the job, and also MPI if it launched the program and is not yet running. Call it before
 * ARMCI_Init, and armci_msg_finalize after ARMCI_Finalize; the latter also ends MPI. */
void armci_msg_init(int* argc, char*** argv);
void armci_msg_finalize(void);
int armci_msg_me(void);
int armci_msg_nproc(void);
void armci_msg_abort(int code);
double armci_timer(void); /* seconds since some time in the past */

/* Messages from one process to another with one tag arrive in the order of sending. A message
 * that is longer than the buffer is an error. msglen, which may be null, receives the length.
 * armci_msg_rcvany returns the sender. */
void armci_msg_snd(int tag, void* buffer, int len, int to);
void armci_msg_rcv(int tag, void* buffer, int buflen, int* msglen, int from);
int armci_msg_rcvany(int tag, void* buffer, int buflen, int* msglen);

void armci_msg_barrier(void);
void armci_msg_group_barrier(ARMCI_Group* group);
/* The caller's neighbours in a binary tree over the scope, by process numbers; -1 for a missing
 * one. */
void armci_msg_bintree(int scope, int* root, int* up, int* left, int* right);

void armci_msg_bcast(void* buffer, int len, int root);
void armci_msg_brdcst(void* buffer, int len, int root);
void armci_msg_bcast_scope(int scope, void* buffer, int len, int root);
void armci_msg_group_bcast_scope(int scope, void* buffer, int len, int root, ARMCI_Group* group);
void armci_msg_clus_brdcst(void* buffer, int len); /* on the node, from its first process */
/* Among count members of the group, from its member `first` on; that member is the root. */
void armci_grp_clus_brdcst(void* buffer, int len, int first, int count, ARMCI_Group* group);

void armci_msg_gop_scope(int scope, void* x, int n, const char* op, int type);
void armci_msg_igop(int* x, int n, const char* op);
void armci_msg_lgop(long* x, int n, const char* op);
void armci_msg_llgop(long long* x, int n, const char* op);
void armci_msg_fgop(float* x, int n, const char* op);
void armci_msg_dgop(double* x, int n, const char* op);
void armci_msg_group_gop_scope(int scope, void* x, int n, const char* op, int type,
                               ARMCI_Group* group);
void armci_msg_group_igop(int* x, int n, const char* op, ARMCI_Group* group);
void armci_msg_group_lgop(long* x, int n, const char* op, ARMCI_Group* group);
void armci_msg_group_llgop(long long* x, int n, const char* op, ARMCI_Group* group);
void armci_msg_group_fgop(float* x, int n, const char* op, ARMCI_Group* group);
void armci_msg_group_dgop(double* x, int n, const char* op, ARMCI_Group* group);
void armci_msg_clus_igop(int* x, int n, const char* op);
void armci_msg_clus_lgop(long* x, int n, const char* op);
void armci_msg_clus_llgop(long long* x, int n, const char* op);
void armci_msg_clus_fgop(float* x, int n, const char* op);
void armci_msg_clus_dgop(double* x, int n, const char* op);
/* Only process 0 of the scope gets the result. */
void armci_msg_reduce(void* x, int n, const char* op, int type);
void armci_msg_reduce_scope(int scope, void* x, int n, const char* op, int type);
/* x is n bytes that begin with a value of `type`. All processes get the x with the smallest
 * ("min") or largest ("max") value among the processes that contribute; if several have it, that
 * of the first. */
void armci_msg_sel(void* x, int n, const char* op, int type, int contribute);
void armci_msg_sel_scope(int scope, void* x, int n, const char* op, int type, int contribute);

/* Each process gives the pointer at its own rank in an array of n, and gets those of all. If the
 * pointer of another process points into ARMCI memory, the result is the pointer that names that
 * memory here. */
void armci_exchange_address(void* ptr_arr[], int n);
void armci_exchange_address_grp(void* ptr_arr[], int n, ARMCI_Group* group);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_ARMCI_MESSAGE_H */
