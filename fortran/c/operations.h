/* SPDX-License-Identifier: BSD-3-Clause
 *
 * operations.h: operations on whole arrays and parts of them; see tessera.h.
 *
 *     const double one = 1.0;
 *     tessera_array_fill(tessera_part_whole(a), &one);
 *     tessera_array_add(&one, tessera_part_whole(a), &one, tessera_part_box(b, lo, hi),
 *                       tessera_part_whole(c));
 *
 * All are collective over the team of the result, or of the first operand if nothing is written.
 * They begin and end with a synchronisation, and return the same on all members. The operands of
 * one operation have the same extents and element type, and may be distributed differently. Scalars
 * are passed and returned through pointers to the array's element type.
 *
 * Errors of each: invalid_argument (operands that do not fit each other, an access mode that
 * forbids the use, opaque elements), out_of_range, closed, peer_lost.
 */
#ifndef TESSERA_C_OPERATIONS_H
#define TESSERA_C_OPERATIONS_H

#include <stdio.h>

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- element by element ----------------------------------------------------------------------- */

/* Collective. result = value; = 0; *= alpha; += value; |result|; 1 / result. */
int tessera_array_fill(tessera_part result, const void* value);
int tessera_array_zero(tessera_part result);
int tessera_array_scale(tessera_part result, const void* alpha);
int tessera_array_add_constant(tessera_part result, const void* value);
int tessera_array_absolute(tessera_part result);
int tessera_array_reciprocal(tessera_part result);
/* Collective over the team of `to`. The distributions may differ. */
int tessera_array_copy(tessera_part from, tessera_part to);
/* Collective over the team of `to`. Copies between shapes with the same number of elements, in
 * row-major order of both. */
int tessera_array_copy_in_order(tessera_part from, tessera_part to);
/* Collective. result = alpha a + beta b. */
int tessera_array_add(const void* alpha, tessera_part a, const void* beta, tessera_part b,
                      tessera_part result);
/* Collective. result = a b; a / b; the larger; the smaller of each two elements. Complex elements
 * are ordered by their absolute values. */
int tessera_array_multiply(tessera_part a, tessera_part b, tessera_part result);
int tessera_array_divide(tessera_part a, tessera_part b, tessera_part result);
int tessera_array_maximum(tessera_part a, tessera_part b, tessera_part result);
int tessera_array_minimum(tessera_part a, tessera_part b, tessera_part result);
/* Collective. The median of each three elements. */
int tessera_array_median(tessera_part a, tessera_part b, tessera_part c, tessera_part result);

/* Collective. Random elements that depend only on the seed and their index: in [low, high),
 * integers in [low, high]. */
int tessera_array_fill_random(tessera_part result, uint64_t seed, double low, double high);
/* Local. Four random words that depend only on the counter and the key (Philox). */
int tessera_random_words(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]);

/* --- functions of the caller ------------------------------------------------------------------ */

/* Called for a line of `count` elements, all of which it sets. The elements of operand k begin at
 * in[k] and are strides[k] elements apart; those of the result are result_stride elements apart. */
typedef void (*tessera_line_function)(int64_t count, const void* const in[],
                                      const int64_t strides[], void* result, int64_t result_stride,
                                      void* context);
/* Called for each element, with its index in its array. It may change the element. */
typedef void (*tessera_element_function)(const int64_t index[], void* element, void* context);
/* Called for a line; it folds the line's elements into *value. */
typedef void (*tessera_fold_function)(int64_t count, const void* const in[],
                                      const int64_t strides[], void* value, void* context);

/* Collective. Each member calls `function` for its own elements of the result, with the
 * corresponding elements of up to 5 other operands. All have the same extents, and may have any
 * types. `context` is passed to `function`. These functions must not call Tessera. */
int tessera_array_transform(int64_t count, const tessera_part operands[],
                            tessera_line_function function, void* context, tessera_part result);
/* Collective. The same, one element at a time; members run concurrently. */
int tessera_array_for_each(tessera_part part, tessera_element_function function, void* context);
/* Collective over the team of the first of 1 to 6 operands. Each member folds its own elements into
 * *value, which has type `type` and holds the initial value. Then the members' values are combined,
 * and *value is the same on all members. */
int tessera_array_reduce(int64_t count, const tessera_part operands[], tessera_type type,
                         tessera_reduction reduction, tessera_fold_function function, void* context,
                         void* value);

/* --- reductions ------------------------------------------------------------------------------- */

/* Collective. The sum of all elements, of all a b, and of all conj(a) b, in the elements' type:
 * integers wrap around, those of TESSERA_I8 beyond 127. For a wider sum use tessera_array_reduce
 * with another type. With `reproducible` = 1 the result has the same bits for any number of ranks
 * and any distribution. */
int tessera_array_sum(tessera_part a, int reproducible, void* sum);
int tessera_array_dot(tessera_part a, tessera_part b, int reproducible, void* dot);
int tessera_array_dot_conjugated(tessera_part a, tessera_part b, int reproducible, void* dot);
/* Collective. The square root of the sum of all |a|^2; the largest |a|; and for matrices the
 * largest sum of |a| over a column, and over a row. */
int tessera_array_norm2(tessera_part a, int reproducible, double* norm);
int tessera_array_norm_max(tessera_part a, double* norm);
int tessera_array_norm1(tessera_part a, int reproducible, double* norm);
int tessera_array_norm_infinity(tessera_part a, int reproducible, double* norm);
/* Collective. The largest and the smallest element, and its index in its array, for which `at` has
 * room. Of several equal ones it is the first. Errors: also invalid_argument if there are no
 * elements. */
int tessera_array_select_max(tessera_part a, void* value, int64_t at[]);
int tessera_array_select_min(tessera_part a, void* value, int64_t at[]);

/* Collective. The largest step for which no element of x + step dx is negative; infinite if every
 * step is allowed. Real elements only. Errors: also invalid_argument if x has a negative
 * element. */
int tessera_array_step_max(tessera_part x, tessera_part dx, double* step);
/* Collective. For each element, the step for which x + step dx reaches its bound: the upper bound
 * if dx is positive, the lower one if dx is negative. Returns the smallest step, the smallest above
 * 0, and the largest. */
int tessera_array_step_bounds(tessera_part x, tessera_part dx, tessera_part lower,
                              tessera_part upper, double* first, double* first_positive,
                              double* last);

/* --- matrices: a has two dimensions, v has one ----------------------------------------------- */

/* Collective. a(i, i) += v(i); = v(i); v(i) = a(i, i). */
int tessera_array_add_diagonal(tessera_part a, tessera_part v);
int tessera_array_set_diagonal(tessera_part a, tessera_part v);
int tessera_array_get_diagonal(tessera_part a, tessera_part v);
/* Collective. a(i, i) += value; = value; = 0. */
int tessera_array_shift_diagonal(tessera_part a, const void* value);
int tessera_array_fill_diagonal(tessera_part a, const void* value);
int tessera_array_zero_diagonal(tessera_part a);
/* Collective. a(i, j) *= v(i); *= v(j). */
int tessera_array_scale_rows(tessera_part a, tessera_part v);
int tessera_array_scale_columns(tessera_part a, tessera_part v);
/* Collective. a = (a + transposed a) / 2. */
int tessera_array_symmetrize(tessera_part a);

/* --- vectors: all have one dimension; masks have any integer type ------------------------
 */

/* Collective. result(i) = start + i step. */
int tessera_array_enumerate(tessera_part result, const void* start, const void* step);
/* Collective. An element of `mask` that is not 0 begins a segment. Each segment of `to` becomes the
 * first element of that segment of `from`; or the running sums within it. */
int tessera_array_scan_copy(tessera_part from, tessera_part mask, tessera_part to);
int tessera_array_scan_add(tessera_part from, tessera_part mask, tessera_part to,
                           tessera_scan kind);
/* Collective. Pack moves the elements of `from` whose mask is not 0 to the beginning of `to`.
 * Unpack moves the first elements of `from` to where the mask of `to` is not 0. *count is the
 * number of elements moved; it may be null. */
int tessera_array_pack(tessera_part from, tessera_part mask, tessera_part to, int64_t* count);
int tessera_array_unpack(tessera_part from, tessera_part mask, tessera_part to, int64_t* count);

/* --- bins: lists of different lengths, one after the other in the vector `contents` -------
 */

/* Bin b is elements offsets(b) to offsets(b) + counts(b) - 1 of `contents`. All other arguments are
 * vectors of TESSERA_I64 with an element for each bin. */

/* One-sided. counts(b) += the number of times that b is among `bins`. */
int tessera_array_count_bins(const tessera_array* counts, int64_t number, const int64_t bins[]);
/* Collective. offsets(b) = the sum of the counts before b. */
int tessera_array_bin_offsets(const tessera_array* counts, const tessera_array* offsets);
/* One-sided. Adds values[i] to the bin bins[i]. filled(b) counts what all ranks have added, and
 * must begin as 0. Complete: at the next tessera_array_sync of `contents`. Errors: also
 * limit_exceeded if a bin is full; then nothing is written. */
int tessera_array_add_to_bins(const tessera_array* contents, const tessera_array* offsets,
                              const tessera_array* filled, int64_t number, const int64_t bins[],
                              const void* values);
/* Collective. Sorts each bin in ascending order; real elements only. */
int tessera_array_sort_bins(const tessera_array* contents, const tessera_array* offsets,
                            const tessera_array* counts);

/* --- printing -------------------------------------------------------------------------------- */

/* Collective. The root in `options`, which may be null, writes the elements as text: to an open
 * file (null: standard output), or to a new file at `path`. On other ranks `file` and `path` are
 * ignored. Errors: also invalid_argument if the file cannot be written. */
int tessera_array_print(tessera_part a, FILE* file, const tessera_print_options* options);
int tessera_array_print_to(tessera_part a, const char* path, const tessera_print_options* options);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_OPERATIONS_H */
