/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TCGMSG: messages between the processes of a program, sums, and a shared counter.
 *
 * A message has a type, which its receiver names. Types are 0 to 2^30 - 1. Sizes are in bytes.
 * Errors end the program on all processes, with a message. Threads: one at a time. */
#ifndef TCGMSG_H_
#define TCGMSG_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Collective. Start, in any of these ways, and end, which does not return: it ends the process
 * successfully. tcg_ready: 1 if TCGMSG has started. */
extern void tcg_pbegin(int argc, char** argv);
extern void tcg_alt_pbegin(int* argc, char** argv[]);
extern void tcg_pbeginf(void);
extern void tcg_pbginf(void);
extern void tcg_pend(void);
extern long tcg_ready(void);

extern long tcg_nnodes(void);
extern long tcg_nodeid(void);

/* Sends to a node. With sync 0 returns at once, and `buf` must not change before tcg_waitcom. */
extern void tcg_snd(long type, void* buf, long lenbuf, long node, long sync);
/* Receives from a node, or from any if nodeselect is -1. Answers the length and the sender. With
 * sync 0 returns at once with length -1; the message is in `buf` after tcg_waitcom. */
extern void tcg_rcv(long type, void* buf, long lenbuf, long* lenmes, long nodeselect,
                    long* nodefrom, long sync);
/* 1 if a message of that type from that node, or any if it is -1, has arrived. */
extern long tcg_probe(long type, long node);
/* Waits until what was begun with sync 0 is done, with that node or with all if it is -1. */
extern void tcg_waitcom(long node);

/* Collective. The operators are + * max min absmax absmin, and for integers or && || & |. */
extern void tcg_brdcst(long type, void* buf, long lenbuf, long originator);
extern void tcg_dgop(long type, double* x, long n, char* op);
extern void tcg_igop(long type, long* x, long n, char* op);
extern void tcg_synch(long type);

/* The shared counter. mproc > 0: its value, to which 1 is added then. mproc < 0: collective, sets
 * it to 0. */
extern long tcg_nxtval(long mproc);

/* Collective. Copies a file of node0 to the file of this name of each other node. */
extern void tcg_pfcopy(long type, long node0, char* fname);

/* Bytes of n doubles and of n integers; integers that hold n doubles, and the other way round. */
extern long tcg_mdtob(long n);
extern long tcg_mitob(long n);
extern long tcg_mdtoi(long n);
extern long tcg_mitod(long n);

/* Seconds, and hundredths of a second, since the first call. */
extern double tcg_time(void);
extern long tcg_mtime(void);

extern double tcg_drand48(void);
extern void tcg_srand48(long seed);

/* Ends the program on all processes. */
extern void tcg_error(char* msg, long code);
extern void tcg_parerr(long code);

/* Standard output and error go to the file log.<node>, at its end. */
extern void tcg_llog(void);
extern long tcg_niceftn(long ival);
extern void tcg_setdbg(long value);
extern void tcg_stats(void);

#ifdef __cplusplus
}
#endif

#endif
