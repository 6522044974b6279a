/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sparse.h: sparse matrices whose rows are spread over the members of a team; see tessera.h.
 *
 *     tessera_sparse_builder* builder = NULL;
 *     tessera_sparse_builder_create(job, TESSERA_F64, n, n, NULL, &builder);
 *     tessera_sparse_builder_add(builder, i, j, &value);        any rank, any entry, in any order
 *     tessera_sparse_builder_assemble(builder, &a);
 *     tessera_spmv_create(a, x, y, NULL, &plan);
 *     tessera_spmv_multiply(plan, a, x, y);                     y = A x, as often as needed
 *
 * Each member has a block of consecutive rows, in the order of the members, in compressed form
 * (linalg/csr.hpp). The entries of its row i are those from row_starts[i] to row_starts[i + 1],
 * with strictly increasing columns. A zero may be an entry. The pattern of entries never changes;
 * their values may.
 *
 * Elements are TESSERA_I32, _I64, _F32, _F64, _C64 or _C128. Vectors and dense matrices are arrays
 * of one and two dimensions, with the matrix's type and team, distributed in any way. Scalars are
 * passed through pointers to that type.
 *
 * Collectives are over the matrix's team, begin and end with a synchronisation, and need the same
 * arguments on all members. Errors of each: closed; invalid_argument (types, extents or teams that
 * do not fit) and out_of_range, before anything is changed; no_memory, peer_lost.
 */
#ifndef TESSERA_C_SPARSE_H
#define TESSERA_C_SPARSE_H

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_sparse tessera_sparse;                 /* a sparse matrix */
typedef struct tessera_sparse_builder tessera_sparse_builder; /* entries collected for a matrix */
typedef struct tessera_sparse_rows tessera_sparse_rows;       /* access to own rows */
typedef struct tessera_spmv tessera_spmv;                     /* a plan for products with vectors */

/* What is balanced over the blocks of rows. */
typedef int tessera_row_balance;
enum { TESSERA_BALANCE_ROWS = 0, TESSERA_BALANCE_ENTRIES = 1 };

/* How a matrix is made; all members give the same. */
typedef struct tessera_sparse_options {
  int64_t struct_bytes;      /* set by tessera_sparse_options_init */
  const char* name;          /* for messages; null: "unnamed" */
  const tessera_team* team;  /* null: all ranks of the job */
  const int64_t* row_starts; /* the first row of each member; null: chosen */
  int64_t row_start_count;   /* the length of `row_starts`; later members have no rows */
  tessera_row_balance balance;
} tessera_sparse_options;

static inline void tessera_sparse_options_init(tessera_sparse_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
}

/* --- building --------------------------------------------------------------------------------- */

/* Collective over the team of `options`, which may be null. */
int tessera_sparse_builder_create(tessera_job* job, tessera_type type, int64_t rows,
                                  int64_t columns, const tessera_sparse_options* options,
                                  tessera_sparse_builder** builder);
/* Local. Adds a value to an entry; the second does so for all of a list, or for none of it if it
 * fails. Errors: out_of_range, closed after _assemble. */
int tessera_sparse_builder_add(tessera_sparse_builder* builder, int64_t row, int64_t column,
                               const void* value);
int tessera_sparse_builder_add_list(tessera_sparse_builder* builder, int64_t count,
                                    const int64_t rows[], const int64_t columns[],
                                    const void* values);
/* Local. Reserves memory for `entries` entries; the number that were added on this rank. */
int tessera_sparse_builder_reserve(tessera_sparse_builder* builder, int64_t entries);
int tessera_sparse_builder_added(const tessera_sparse_builder* builder, int64_t* entries);
/* Collective. Makes the matrix from what all members added; closes the builder. */
int tessera_sparse_builder_assemble(tessera_sparse_builder* builder, tessera_sparse** matrix);
/* Local. Sets *builder to null. */
int tessera_sparse_builder_free(tessera_sparse_builder** builder);

/* Collective over the team of `options`. Each member gives its own rows, possibly none, in the
 * order of the members: its number of rows + 1 row_starts, and a column and value for each
 * entry. */
int tessera_sparse_create(tessera_job* job, tessera_type type, int64_t rows, int64_t columns,
                          const int64_t row_starts[], const int64_t column[], const void* values,
                          const tessera_sparse_options* options, tessera_sparse** matrix);
/* Collective over the array's team; the options' team is ignored. Takes the elements with an
 * absolute value above `threshold`. */
int tessera_sparse_from_dense(const tessera_array* dense, double threshold,
                              const tessera_sparse_options* options, tessera_sparse** matrix);
/* Collective. A copy of the matrix; `name` may be null. */
int tessera_sparse_duplicate(const tessera_sparse* matrix, const char* name, tessera_sparse** copy);
/* Collective. The transpose, not conjugated, on the same team. */
int tessera_sparse_transpose(const tessera_sparse* matrix, const tessera_sparse_options* options,
                             tessera_sparse** transposed);
/* Collective. The product a b of two sparse matrices. */
int tessera_sparse_multiply(const tessera_sparse* a, const tessera_sparse* b, const char* name,
                            tessera_sparse** product);
/* Collective. A count sketch: sums rows (of_columns = 1: columns) into `buckets` buckets. Hashes of
 * the seed choose each row's bucket and sign. */
int tessera_sparse_count_sketch(const tessera_sparse* matrix, int64_t buckets, uint64_t seed,
                                int of_columns, const tessera_sparse_options* options,
                                tessera_sparse** sketch);
/* Collective. Frees the memory. Sets *matrix to null. */
int tessera_sparse_free(tessera_sparse** matrix);

/* --- asking ----------------------------------------------------------------------------------- */

/* Local. `entries` counts those of all members; each result may be null. */
int tessera_sparse_shape(const tessera_sparse* matrix, int64_t* rows, int64_t* columns,
                         int64_t* entries);
int tessera_sparse_type(const tessera_sparse* matrix, tessera_type* type);
/* Local. "sparse matrix 'A' (float64, 100 x 100, 298 entries)"; texts as in tessera_job_transport.
 */
int tessera_sparse_describe(const tessera_sparse* matrix, char* text, int64_t capacity,
                            int64_t* length);
int tessera_sparse_name(const tessera_sparse* matrix, char* text, int64_t capacity,
                        int64_t* length);
/* Local. The matrix's team, the distribution of its rows, and an even distribution of its columns,
 * for vectors that match them. The caller frees these handles. */
int tessera_sparse_team(const tessera_sparse* matrix, tessera_team** team);
int tessera_sparse_row_distribution(const tessera_sparse* matrix,
                                    tessera_distribution** distribution);
int tessera_sparse_column_distribution(const tessera_sparse* matrix,
                                       tessera_distribution** distribution);
/* Local. The blocks of the even distribution of columns in which this rank's rows have entries, by
 * the members that own them: the first `capacity`, ascending, and the number of all. */
int tessera_sparse_column_blocks(const tessera_sparse* matrix, int64_t capacity, int64_t members[],
                                 int64_t* count);

/* Collective. Statistics of a pattern; the same on all members. */
typedef struct tessera_sparse_summary {
  int64_t empty_rows;
  int64_t fewest_in_row;
  int64_t most_in_row;
  int64_t on_diagonal;
  int64_t below_diagonal; /* the largest row - column of an entry, or 0 */
  int64_t above_diagonal; /* the largest column - row of an entry, or 0 */
  int64_t fewest_on_rank;
  int64_t most_on_rank;
} tessera_sparse_summary;
int tessera_sparse_summarise(const tessera_sparse* matrix, tessera_sparse_summary* summary);
/* Collective. The same as several lines of text. */
int tessera_sparse_summary_text(const tessera_sparse* matrix, char* text, int64_t capacity,
                                int64_t* length);

/* --- entries ---------------------------------------------------------------------------------- */

/* One-sided. The entries inside a box, in compressed form. Rows and columns are counted from its
 * lower corner. row_starts has room for its rows + 1 numbers; columns and values have room for
 * `capacity` entries and get the first ones; *entries becomes the number of all entries. */
int tessera_sparse_get(const tessera_sparse* matrix, const int64_t lo[], const int64_t hi[],
                       int64_t capacity, int64_t row_starts[], int64_t columns[], void* values,
                       int64_t* entries);

/* A member's own rows, in its memory. */
typedef struct tessera_sparse_block {
  int64_t first_row;
  int64_t rows;
  int64_t entries;
  const int64_t* row_starts; /* rows + 1 numbers; null if there are no rows */
  const int64_t* columns;    /* one for each entry */
  void* values;              /* one for each entry; the caller may change them */
} tessera_sparse_block;
/* Local. Gives access to this rank's rows. The caller must end it with tessera_sparse_rows_end. */
int tessera_sparse_rows_begin(const tessera_sparse* matrix, tessera_sparse_block* block,
                              tessera_sparse_rows** rows);
int tessera_sparse_rows_end(tessera_sparse_rows** rows);
/* Collective. After it, all members see the values that members changed before. */
int tessera_sparse_sync(const tessera_sparse* matrix);

/* Collective. The diagonal, or a column, as a vector, with zeros for missing entries. */
int tessera_sparse_get_diagonal(const tessera_sparse* matrix, const tessera_array* diagonal);
int tessera_sparse_get_column(const tessera_sparse* matrix, int64_t column,
                              const tessera_array* result);
/* Collective. matrix(i, i) += shift. Errors: also invalid_argument if a diagonal entry is
 * missing. */
int tessera_sparse_shift_diagonal(const tessera_sparse* matrix, const void* shift);
/* Collective. Multiplies all entries by a factor; row i by factors(i); column j by factors(j). */
int tessera_sparse_scale(const tessera_sparse* matrix, const void* factor);
int tessera_sparse_scale_rows(const tessera_sparse* matrix, const tessera_array* factors);
int tessera_sparse_scale_columns(const tessera_sparse* matrix, const tessera_array* factors);

/* --- with dense arrays ------------------------------------------------------------------------ */

/* Collective. dense = matrix, with zeros for missing entries. */
int tessera_sparse_to_dense(const tessera_sparse* matrix, const tessera_array* dense);
/* Collective. c = a b, with the sparse factor on the left, or on the right. */
int tessera_sparse_multiply_dense(const tessera_sparse* a, const tessera_array* b,
                                  const tessera_array* c);
int tessera_array_multiply_sparse(const tessera_array* a, const tessera_sparse* b,
                                  const tessera_array* c);

/* How a product gets elements of x from other nodes: their owners put them, or it reads them. */
typedef int tessera_spmv_mode;
enum {
  TESSERA_SPMV_PLAIN = 0,     /* a non-blocking get for each run of consecutive elements */
  TESSERA_SPMV_VECTOR = 1,    /* one list for each owner */
  TESSERA_SPMV_AGGREGATE = 2, /* an aggregate for each owner */
  TESSERA_SPMV_SINGLE = 3,    /* a blocking get for each element, for comparison */
  TESSERA_SPMV_PUSH = 4       /* owners put them, by lists that are sent when the plan is made */
};

typedef struct tessera_spmv_options {
  int64_t struct_bytes; /* set by tessera_spmv_options_init */
  tessera_spmv_mode mode;
  int through_network; /* 1: use the network also for ranks on this node */
  int wide_indices;    /* 1: always store column numbers in 8 bytes, also if 4 would do */
  int neighbours_only; /* 1: a product synchronises only neighbours. Own elements of x must be set
                           before it and not change until the next collective operation of all
                          ranks. Until then other ranks' elements of y may be incomplete. */
} tessera_spmv_options;

static inline void tessera_spmv_options_init(tessera_spmv_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
  options->mode = TESSERA_SPMV_PUSH;
}

/* Collective. Makes a plan for products of the matrix, and of its duplicates, with vectors
 * distributed as x and y; the contents of x and y are not used. `options` may be null. Free plans
 * before their matrices, in the same order on all members. */
int tessera_spmv_create(const tessera_sparse* matrix, const tessera_array* x,
                        const tessera_array* y, const tessera_spmv_options* options,
                        tessera_spmv** plan);
/* Collective. y = matrix x, with the same bits for any number of ranks; x = transposed matrix y. */
int tessera_spmv_multiply(const tessera_spmv* plan, const tessera_sparse* matrix,
                          const tessera_array* x, const tessera_array* y);
int tessera_spmv_multiply_transposed(const tessera_spmv* plan, const tessera_sparse* matrix,
                                     const tessera_array* y, const tessera_array* x);
/* Local. The number of elements of x that a product reads from other ranks, the number of those
 * that it loads from shared memory, and the number of own rows that need none; each may be null. */
int tessera_spmv_reads(const tessera_spmv* plan, int64_t* from_others, int64_t* shared,
                       int64_t* rows_without);
/* Collective. Sets *plan to null. */
int tessera_spmv_free(tessera_spmv** plan);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_SPARSE_H */
