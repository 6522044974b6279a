/* SPDX-License-Identifier: BSD-3-Clause
 *
 * c_sparse.h: sparse matrices whose rows are spread over the members of a team; see c_api.h.
 *
 *     tessera_sparse_builder* builder = NULL;
 *     tessera_sparse_builder_create(job, TESSERA_F64, n, n, NULL, &builder);
 *     tessera_sparse_builder_add(builder, i, j, &value);        any rank, any entry, in any order
 *     tessera_sparse_builder_assemble(builder, &a);
 *     tessera_spmv_create(a, x, y, NULL, &plan);
 *     tessera_spmv_multiply(plan, a, x, y);                     y = A x, as often as needed
 *
 * Each member has a block of consecutive rows, in the order of the members, compressed: the entries
 * of its row i are those from row_starts[i] to row_starts[i + 1], with strictly increasing columns,
 * and a zero may be an entry (linalg/csr.hpp). Which entries there are never changes; values may.
 *
 * Elements are TESSERA_I32, _I64, _F32, _F64, _C64 or _C128. Vectors and dense matrices are arrays
 * of one and two dimensions, of the matrix's type, on its team, distributed in any way. Numbers are
 * given through pointers to that type.
 *
 * What is collective is so over the matrix's team, begins and ends with a synchronisation, and
 * needs the same on all members. Errors of all: closed; invalid_argument (types, extents or teams
 * that don't fit) and out_of_range, before anything is changed; no_memory, peer_lost.
 */
#ifndef TESSERA_C_SPARSE_H
#define TESSERA_C_SPARSE_H

#include "fortran/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_sparse tessera_sparse;                 /* a sparse matrix */
typedef struct tessera_sparse_builder tessera_sparse_builder; /* entries on their way into one */
typedef struct tessera_sparse_rows tessera_sparse_rows;       /* the right to own rows */
typedef struct tessera_spmv tessera_spmv;                     /* a plan of products with vectors */

/* What blocks of rows have about equally many of. */
typedef int tessera_row_balance;
enum { TESSERA_BALANCE_ROWS = 0, TESSERA_BALANCE_ENTRIES = 1 };

/* How a matrix is made; all members give the same. */
typedef struct tessera_sparse_options {
  int64_t struct_bytes;      /* set by tessera_sparse_options_init */
  const char* name;          /* for messages; null: "unnamed" */
  const tessera_team* team;  /* null: all ranks of the job */
  const int64_t* row_starts; /* where the members' rows begin; null: chosen */
  int64_t row_start_count;   /* of `row_starts`; members beyond have no rows */
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
/* Local. Adds a value to an entry; and the same for all of a list, or for none of it. Errors:
 * out_of_range, closed after _assemble. */
int tessera_sparse_builder_add(tessera_sparse_builder* builder, int64_t row, int64_t column,
                               const void* value);
int tessera_sparse_builder_add_list(tessera_sparse_builder* builder, int64_t count,
                                    const int64_t rows[], const int64_t columns[],
                                    const void* values);
/* Local. Makes room for so many entries; how many were added here. */
int tessera_sparse_builder_reserve(tessera_sparse_builder* builder, int64_t entries);
int tessera_sparse_builder_added(const tessera_sparse_builder* builder, int64_t* entries);
/* Collective. Makes the matrix of what all members added; the builder is closed then. */
int tessera_sparse_builder_assemble(tessera_sparse_builder* builder, tessera_sparse** matrix);
/* Local. Sets *builder to null. */
int tessera_sparse_builder_free(tessera_sparse_builder** builder);

/* Collective over the team of `options`. Each member gives its own rows, which may be none, all in
 * the order of the members: rows + 1 row_starts, and a column and value for each entry. */
int tessera_sparse_create(tessera_job* job, tessera_type type, int64_t rows, int64_t columns,
                          const int64_t row_starts[], const int64_t column[], const void* values,
                          const tessera_sparse_options* options, tessera_sparse** matrix);
/* Collective over the array's team, whatever the options say. The elements with an absolute value
 * above `threshold`. */
int tessera_sparse_from_dense(const tessera_array* dense, double threshold,
                              const tessera_sparse_options* options, tessera_sparse** matrix);
/* Collective. The same entries once more; `name` may be null. */
int tessera_sparse_duplicate(const tessera_sparse* matrix, const char* name, tessera_sparse** copy);
/* Collective. The transpose, not conjugated; its team is that of the matrix. */
int tessera_sparse_transpose(const tessera_sparse* matrix, const tessera_sparse_options* options,
                             tessera_sparse** transposed);
/* Collective. a b of two sparse matrices. */
int tessera_sparse_multiply(const tessera_sparse* a, const tessera_sparse* b, const char* name,
                            tessera_sparse** product);
/* Collective. A count sketch: rows (of_columns = 1: columns) are summed into so many buckets, with
 * signs, both by hashes of the seed. */
int tessera_sparse_count_sketch(const tessera_sparse* matrix, int64_t buckets, uint64_t seed,
                                int of_columns, const tessera_sparse_options* options,
                                tessera_sparse** sketch);
/* Collective. Gives the memory back. Sets *matrix to null. */
int tessera_sparse_free(tessera_sparse** matrix);

/* --- asking ----------------------------------------------------------------------------------- */

/* Local. `entries` are those of all members; each result may be null. */
int tessera_sparse_shape(const tessera_sparse* matrix, int64_t* rows, int64_t* columns,
                         int64_t* entries);
int tessera_sparse_type(const tessera_sparse* matrix, tessera_type* type);
/* Local. "sparse matrix 'A' (float64, 100 x 100, 298 entries)". Texts as in tessera_job_transport.
 */
int tessera_sparse_describe(const tessera_sparse* matrix, char* text, int64_t capacity,
                            int64_t* length);
int tessera_sparse_name(const tessera_sparse* matrix, char* text, int64_t capacity,
                        int64_t* length);
/* Local. Its team, where its rows lie, and an even cut of its columns: for vectors that are to lie
 * beside them. Handles that the caller frees. */
int tessera_sparse_team(const tessera_sparse* matrix, tessera_team** team);
int tessera_sparse_row_distribution(const tessera_sparse* matrix,
                                    tessera_distribution** distribution);
int tessera_sparse_column_distribution(const tessera_sparse* matrix,
                                       tessera_distribution** distribution);
/* Local. The blocks of that cut, by their members, in which own rows have entries: the first
 * `capacity` of them, ascending, and how many there are. */
int tessera_sparse_column_blocks(const tessera_sparse* matrix, int64_t capacity, int64_t members[],
                                 int64_t* count);

/* Collective. What a pattern looks like; the same on all members. */
typedef struct tessera_sparse_summary {
  int64_t empty_rows;
  int64_t fewest_in_row;
  int64_t most_in_row;
  int64_t on_diagonal;
  int64_t below_diagonal; /* the greatest row - column of an entry, or 0 */
  int64_t above_diagonal; /* the greatest column - row of an entry, or 0 */
  int64_t fewest_on_rank;
  int64_t most_on_rank;
} tessera_sparse_summary;
int tessera_sparse_summarise(const tessera_sparse* matrix, tessera_sparse_summary* summary);
/* Collective. The same as several lines of text. */
int tessera_sparse_summary_text(const tessera_sparse* matrix, char* text, int64_t capacity,
                                int64_t* length);

/* --- entries ---------------------------------------------------------------------------------- */

/* One-sided. The entries inside of a box, compressed; rows and columns are counted from its lower
 * corner. row_starts has room for its rows + 1; columns and values for `capacity`, the first of the
 * entries; and *entries is how many there are. */
int tessera_sparse_get(const tessera_sparse* matrix, const int64_t lo[], const int64_t hi[],
                       int64_t capacity, int64_t row_starts[], int64_t columns[], void* values,
                       int64_t* entries);

/* A member's own rows, in its memory. */
typedef struct tessera_sparse_block {
  int64_t first_row;
  int64_t rows;
  int64_t entries;
  const int64_t* row_starts; /* rows + 1 numbers; null without rows */
  const int64_t* columns;    /* a number for each entry */
  void* values;              /* these may be changed */
} tessera_sparse_block;
/* Local. The right to load and store them, which has to be ended. */
int tessera_sparse_rows_begin(const tessera_sparse* matrix, tessera_sparse_block* block,
                              tessera_sparse_rows** rows);
int tessera_sparse_rows_end(tessera_sparse_rows** rows);
/* Collective. What members did to values before is seen by all after it. */
int tessera_sparse_sync(const tessera_sparse* matrix);

/* Collective. The diagonal, and a column, as a vector, with zeros where there are no entries. */
int tessera_sparse_get_diagonal(const tessera_sparse* matrix, const tessera_array* diagonal);
int tessera_sparse_get_column(const tessera_sparse* matrix, int64_t column,
                              const tessera_array* result);
/* Collective. matrix(i, i) += shift. Errors: also invalid_argument for one that is no entry. */
int tessera_sparse_shift_diagonal(const tessera_sparse* matrix, const void* shift);
/* Collective. All entries times a factor; those of row i, of column j, times factors(i), (j). */
int tessera_sparse_scale(const tessera_sparse* matrix, const void* factor);
int tessera_sparse_scale_rows(const tessera_sparse* matrix, const tessera_array* factors);
int tessera_sparse_scale_columns(const tessera_sparse* matrix, const tessera_array* factors);

/* --- with dense arrays ------------------------------------------------------------------------ */

/* Collective. dense = matrix, with zeros where it has no entries. */
int tessera_sparse_to_dense(const tessera_sparse* matrix, const tessera_array* dense);
/* Collective. c = a b, with a sparse factor on the left, or on the right. */
int tessera_sparse_multiply_dense(const tessera_sparse* a, const tessera_array* b,
                                  const tessera_array* c);
int tessera_array_multiply_sparse(const tessera_array* a, const tessera_sparse* b,
                                  const tessera_array* c);

/* How elements of other nodes come here: their owners put them, or they are read. */
typedef int tessera_spmv_mode;
enum {
  TESSERA_SPMV_PLAIN = 0,     /* a non-blocking get for each run of neighbouring elements */
  TESSERA_SPMV_VECTOR = 1,    /* one list for each owner */
  TESSERA_SPMV_AGGREGATE = 2, /* an aggregate for each owner */
  TESSERA_SPMV_SINGLE = 3,    /* a blocking get for each element, to compare with */
  TESSERA_SPMV_PUSH = 4       /* their owners put them, by lists told when the plan was made */
};

typedef struct tessera_spmv_options {
  int64_t struct_bytes; /* set by tessera_spmv_options_init */
  tessera_spmv_mode mode;
  int through_network; /* 1: treat ranks of this node as others */
  int wide_indices;    /* 1: 8 bytes an entry also where 4 do */
  int neighbours_only; /* 1: in a product only neighbours meet: own elements of x must be there, and
                          until the ranks have met again, in any collective operation, they must
                          not be changed, and other ranks' elements of y may not be there yet */
} tessera_spmv_options;

static inline void tessera_spmv_options_init(tessera_spmv_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
  options->mode = TESSERA_SPMV_PUSH;
}

/* Collective. A plan for products of the matrix, and its duplicates, with vectors distributed as x
 * and y, whose contents don't count. `options` may be null. Free plans before their matrices, in
 * the same order on all members. */
int tessera_spmv_create(const tessera_sparse* matrix, const tessera_array* x,
                        const tessera_array* y, const tessera_spmv_options* options,
                        tessera_spmv** plan);
/* Collective. y = matrix x, the same bits for any number of ranks; x = transposed matrix y. */
int tessera_spmv_multiply(const tessera_spmv* plan, const tessera_sparse* matrix,
                          const tessera_array* x, const tessera_array* y);
int tessera_spmv_multiply_transposed(const tessera_spmv* plan, const tessera_sparse* matrix,
                                     const tessera_array* y, const tessera_array* x);
/* Local. Elements of x that a product reads from others, those of them that it loads from shared
 * memory, and own rows that need none; each may be null. */
int tessera_spmv_reads(const tessera_spmv* plan, int64_t* from_others, int64_t* shared,
                       int64_t* rows_without);
/* Collective. Sets *plan to null. */
int tessera_spmv_free(tessera_spmv** plan);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_SPARSE_H */
