/* SPDX-License-Identifier: BSD-3-Clause
 *
 * types.h: the handles, numbers and structures of the C interface (tessera.h), and its errors.
 *
 * Enumerations are plain ints, so that an undefined number is refused with a message instead of
 * being undefined behaviour. Structures of options begin with their own size: call a structure's
 * _init function before you fill it. Then a program that was compiled before the structure grew
 * still works.
 */
#ifndef TESSERA_C_TYPES_H
#define TESSERA_C_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number of dimensions of an array. */
#define TESSERA_MAX_DIMS 8

/* --- handles ---------------------------------------------------------------------------------- */

typedef struct tessera_job tessera_job;                   /* membership in the parallel run */
typedef struct tessera_team tessera_team;                 /* an ordered group of its ranks */
typedef struct tessera_locks tessera_locks;               /* locks, each at a rank */
typedef struct tessera_counter tessera_counter;           /* a shared counter */
typedef struct tessera_distribution tessera_distribution; /* which elements are where */
typedef struct tessera_array tessera_array;               /* elements spread over a team */
typedef struct tessera_access tessera_access;             /* allows loads and stores */
typedef struct tessera_halo tessera_halo;                 /* the exchange of ghost cells */
typedef struct tessera_handle tessera_handle;             /* pending transfers */

/* --- errors ----------------------------------------------------------------------------------- */

/* What functions return; docs/errors.md says what you can do about each. */
enum {
  TESSERA_OK = 0,
  TESSERA_INVALID_ARGUMENT = 1, /* fix the program; nothing was changed */
  TESSERA_OUT_OF_RANGE = 2,     /* an index outside its array: fix the program; nothing was sent */
  TESSERA_CLOSED = 3,           /* the object was stopped or freed */
  TESSERA_UNSUPPORTED = 4,      /* not available here: choose another way */
  TESSERA_NO_MEMORY = 5,        /* free some, or use more nodes */
  TESSERA_LIMIT_EXCEEDED = 6,   /* raise the limit that the message names */
  TESSERA_UNREACHABLE = 7,      /* a peer could not be connected */
  TESSERA_PEER_LOST = 8,        /* a rank died: continue without it, or stop */
  TESSERA_TIMED_OUT = 9,        /* no progress within the stated time */
  TESSERA_PROTOCOL = 10,        /* received bytes that are not valid */
  TESSERA_INTERNAL = 11         /* an error in the library: please report it */
};

/* Local. The text of this thread's last error: the function, what was attempted, the cause, and a
 * line that says what to do; "" before the first error. Valid until this thread's next call. */
const char* tessera_last_error(void);
/* Local. The world rank that this thread's last error is about, or -1. */
int64_t tessera_last_error_rank(void);
/* Local. The name of an error code, for example "peer_lost"; "unknown" for any other number. */
const char* tessera_error_name(int code);

/* Local. The version of the library in use, for example "0.1.0". */
const char* tessera_version(void);

/* --- element types ---------------------------------------------------------------------------- */

/* One of the numbers below, or the result of tessera_type_opaque(). */
typedef int64_t tessera_type;
enum {
  TESSERA_I32 = 0,
  TESSERA_I64 = 1,
  TESSERA_F32 = 2,
  TESSERA_F64 = 3,
  TESSERA_C64 = 4,  /* two float */
  TESSERA_C128 = 5, /* two double */
  TESSERA_I8 = 6,
  TESSERA_I16 = 7,
  TESSERA_U8 = 8,
  TESSERA_U16 = 9,
  TESSERA_U32 = 10,
  TESSERA_U64 = 11
};

/* Elements of `bytes` bytes, at least 1, that are moved but not computed with. */
static inline tessera_type tessera_type_opaque(int64_t bytes) {
  return bytes < 1 ? INT64_MIN : -bytes;
}

/* Local. The size of an element in bytes. Errors: invalid_argument (no such type). */
int tessera_type_bytes(tessera_type type, int64_t* bytes);

/* --- choices ---------------------------------------------------------------------------------- */

/* How reductions combine elements; complex elements have only sum and product. */
typedef int tessera_reduction;
enum {
  TESSERA_SUM = 0,
  TESSERA_PRODUCT = 1,
  TESSERA_MIN = 2,
  TESSERA_MAX = 3,
  TESSERA_ABS_MIN = 4,
  TESSERA_ABS_MAX = 5,
  TESSERA_BIT_AND = 6, /* bitwise and logical: integers only */
  TESSERA_BIT_OR = 7,
  TESSERA_LOGICAL_AND = 8,
  TESSERA_LOGICAL_OR = 9
};

/* How an accumulate combines an element with its source. A NaN on either side gives a NaN. */
typedef int tessera_accumulate_op;
enum {
  TESSERA_ACCUMULATE_SUM = 0,
  TESSERA_ACCUMULATE_MIN = 1, /* not for complex numbers, which have no order */
  TESSERA_ACCUMULATE_MAX = 2,
  TESSERA_ACCUMULATE_BIT_OR = 3, /* bitwise: integers only */
  TESSERA_ACCUMULATE_BIT_AND = 4,
  TESSERA_ACCUMULATE_BIT_XOR = 5
};

/* How tessera_array_change_elements changes an element: the sum, with wrap-around; the operand; the
 * operand if the element has the expected value; the smaller, the larger of signed numbers; bits.
 */
typedef int tessera_atomic_op;
enum {
  TESSERA_ATOMIC_ADD = 0,
  TESSERA_ATOMIC_SWAP = 1,
  TESSERA_ATOMIC_COMPARE_SWAP = 2,
  TESSERA_ATOMIC_MIN = 3,
  TESSERA_ATOMIC_MAX = 4,
  TESSERA_ATOMIC_BIT_OR = 5,
  TESSERA_ATOMIC_BIT_AND = 6,
  TESSERA_ATOMIC_BIT_XOR = 7
};

/* Kinds of operations, for tessera_job_traffic. */
typedef int tessera_op;
enum {
  TESSERA_OP_PUT = 0,
  TESSERA_OP_GET = 1,
  TESSERA_OP_ACCUMULATE = 2,
  TESSERA_OP_ATOMIC = 3,
  TESSERA_OP_LOCK = 4,
  TESSERA_OP_NOTIFY = 5
};

/* Which dimension is the fastest in memory: the last, or the first. */
typedef int tessera_order;
enum { TESSERA_ROW_MAJOR = 0, TESSERA_COLUMN_MAJOR = 1 };

/* How a rank stores several blocks: each contiguous, or all as one dense matrix. */
typedef int tessera_storage;
enum { TESSERA_BLOCK_BY_BLOCK = 0, TESSERA_LOCAL_MATRIX = 1 };

/* What an array is used for; other uses are refused. */
typedef int tessera_access_mode;
enum {
  TESSERA_ACCESS_ANY = 0,
  TESSERA_ACCESS_READ_ONLY = 1,
  TESSERA_ACCESS_ACCUMULATE_ONLY = 2,
  TESSERA_ACCESS_NO_LOCAL = 3 /* everything but loads and stores */
};

/* Which accumulates and atomic operations on the same words are atomic: only against their own
 * kind, or all against all, or by the network's device if it can. */
typedef int tessera_atomics;
enum { TESSERA_ATOMICS_SEPARATE = 0, TESSERA_ATOMICS_STRICT = 1, TESSERA_ATOMICS_DEVICE = 2 };

/* Whether a running sum includes the element itself. */
typedef int tessera_scan;
enum { TESSERA_INCLUSIVE = 0, TESSERA_EXCLUSIVE = 1 };

/* --- structures ------------------------------------------------------------------------------- */

/* A box of an array as the operand of an operation; null bounds mean the whole array. */
typedef struct tessera_part {
  const tessera_array* array;
  const int64_t* lo; /* one number for each dimension; lo <= index < hi */
  const int64_t* hi;
} tessera_part;

static inline tessera_part tessera_part_whole(const tessera_array* array) {
  const tessera_part part = {array, NULL, NULL};
  return part;
}
static inline tessera_part tessera_part_box(const tessera_array* array, const int64_t lo[],
                                            const int64_t hi[]) {
  const tessera_part part = {array, lo, hi};
  return part;
}

/* How an array is made. Lists have one number for each dimension; null means none. */
typedef struct tessera_array_options {
  int64_t struct_bytes;            /* set by tessera_array_options_init */
  const char* name;                /* for messages; null: "unnamed" */
  const tessera_team* team;        /* null: all ranks of the job */
  const int64_t* min_block;        /* the shortest block in each dimension; 0: no limit */
  const int64_t* process_grid;     /* number of blocks along each dimension; 0: chosen */
  const int64_t* ghosts;           /* ghost cells at both ends of each dimension */
  const int64_t* holders;          /* only these members own elements; null: all */
  int64_t holder_count;            /* the length of `holders` */
  tessera_order order;             /* of dimensions in each rank's memory */
  int sparse;                      /* 1: memory is allocated on first touch */
  int huge_pages;                  /* 1: ask the system for large pages */
  tessera_access_mode access_mode; /* for the array's lifetime */
  tessera_atomics atomics;
} tessera_array_options;

static inline void tessera_array_options_init(tessera_array_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
}

/* How a distribution is made. min_block and process_grid are for regular and restricted
 * distributions, storage for those with several blocks for each rank. */
typedef struct tessera_distribution_options {
  int64_t struct_bytes; /* set by tessera_distribution_options_init */
  const int64_t* min_block;
  const int64_t* process_grid;
  const int64_t* ghosts;
  int64_t ranks_per_node; /* keeps the ranks of a node together; 0: not known */
  tessera_order order;
  tessera_storage storage;
} tessera_distribution_options;

static inline void tessera_distribution_options_init(tessera_distribution_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
}

/* What an update of ghost cells moves. A set of dimensions is a sum of bits 1 << dim. */
typedef struct tessera_halo_options {
  int64_t struct_bytes;  /* set by tessera_halo_options_init */
  int64_t periodic;      /* dimensions in which the array is periodic */
  int64_t left_out;      /* dimensions whose outer cells the program sets */
  const int64_t* widths; /* layers in each dimension; null: all ghost cells of the array */
  int faces_only;        /* 1: no edges and corners */
} tessera_halo_options;

static inline void tessera_halo_options_init(tessera_halo_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
}

/* How elements are printed. */
typedef struct tessera_print_options {
  int64_t struct_bytes; /* set by tessera_print_options_init */
  int64_t root;         /* the member that writes */
  int64_t digits;       /* significant digits, 1 to 17 */
  int64_t most_lines;   /* lines written; one more line counts those left out */
} tessera_print_options;

static inline void tessera_print_options_init(tessera_print_options* options) {
  options->struct_bytes = sizeof *options;
  options->root = 0;
  options->digits = 6;
  options->most_lines = 1000;
}

/* Elements in this process's own memory: one of its blocks with the ghost cells around it. The
 * element at index i is at data[sum over dim of (i[dim] - ghost_lo[dim]) * strides[dim]]. */
typedef struct tessera_local_block {
  void* data; /* the element at ghost_lo; null if the block is empty */
  int64_t ndims;
  int64_t lo[TESSERA_MAX_DIMS]; /* the block */
  int64_t hi[TESSERA_MAX_DIMS];
  int64_t ghost_lo[TESSERA_MAX_DIMS]; /* the block with its ghost cells */
  int64_t ghost_hi[TESSERA_MAX_DIMS];
  int64_t strides[TESSERA_MAX_DIMS]; /* in elements */
} tessera_local_block;

/* The part of a box that lies in one block. */
typedef struct tessera_patch {
  int64_t owner;  /* the member of the team that owns it */
  int64_t offset; /* of its first element from the start of the owner's memory, in elements */
  int64_t ndims;
  int64_t lo[TESSERA_MAX_DIMS];
  int64_t hi[TESSERA_MAX_DIMS];
  int64_t strides[TESSERA_MAX_DIMS]; /* in the owner's memory, in elements */
} tessera_patch;

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_TYPES_H */
