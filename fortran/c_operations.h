/* SPDX-License-Identifier: BSD-3-Clause
 *
 * c_operations.h: operations on whole arrays and parts of them; see c_api.h.
 *
 *     const double one = 1.0;
 *     tessera_array_fill(tessera_part_whole(a), &one);
 *     tessera_array_add(&one, tessera_part_whole(a), &one, tessera_part_box(b, lo, hi),
 *                       tessera_part_whole(c));
 *
 * All are collective over the team of the result, or of the first operand where none is written;
 * they begin and end with a synchronisation, and give the same on all members. The operands of one
 * operation have the same extents and element type; they may be distributed differently. Numbers
 * are given, and come back, through pointers to the array's element type.
 *
 * Errors of all: invalid_argument (operands that do not fit each other, an access mode, elements
 * that are only moved), out_of_range, closed, peer_lost.
 */
#ifndef TESSERA_C_OPERATIONS_H
#define TESSERA_C_OPERATIONS_H

#include <stdio.h>

#include "fortran/c_types.h"

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
/* Collective over the team of `to`. Whatever their distributions. */
int tessera_array_copy(tessera_part from, tessera_part to);
/* Collective over the team of `to`. Between shapes of equally many elements, in row-major order of
 * both. */
int tessera_array_copy_in_order(tessera_part from, tessera_part to);
/* Collective. result = alpha a + beta b. */
int tessera_array_add(const void* alpha, tessera_part a, const void* beta, tessera_part b,
                      tessera_part result);
/* Collective. result = a b, a / b, the larger, and the smaller of each two elements; complex ones
 * are ordered by their absolute values. */
int tessera_array_multiply(tessera_part a, tessera_part b, tessera_part result);
int tessera_array_divide(tessera_part a, tessera_part b, tessera_part result);
int tessera_array_maximum(tessera_part a, tessera_part b, tessera_part result);
int tessera_array_minimum(tessera_part a, tessera_part b, tessera_part result);
/* Collective. The middle one of each three elements. */
int tessera_array_median(tessera_part a, tessera_part b, tessera_part c, tessera_part result);

/* Collective. Elements that depend on the seed and their index alone: in [low, high), integers in
 * [low, high]. */
int tessera_array_fill_random(tessera_part result, uint64_t seed, double low, double high);
/* Local. Four random words that depend on the counter and the key alone (Philox). */
int tessera_random_words(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]);

/* --- functions of the caller's ---------------------------------------------------------------- */

/* Called for a line of `count` elements: that of operand k begins at in[k], and its next element is
 * strides[k] elements on; those of the result likewise. It sets all of them. */
typedef void (*tessera_line_function)(int64_t count, const void* const in[],
                                      const int64_t strides[], void* result, int64_t result_stride,
                                      void* context);
/* Called for each element, with its index in its array. It may change it. */
typedef void (*tessera_element_function)(const int64_t index[], void* element, void* context);
/* Called for a line; *value is what it makes of it and the line. */
typedef void (*tessera_fold_function)(int64_t count, const void* const in[],
                                      const int64_t strides[], void* value, void* context);

/* Collective. Each member calls `function` for the elements that it owns of the result, with those
 * of up to 5 other operands; all have the same extents, and may have any types. `context` is handed
 * on. Nothing of Tessera's may be called by these functions. */
int tessera_array_transform(int64_t count, const tessera_part operands[],
                            tessera_line_function function, void* context, tessera_part result);
/* Collective. The same for one element after the other, in no order between members. */
int tessera_array_for_each(tessera_part part, tessera_element_function function, void* context);
/* Collective over the team of the first of 1 to 6 operands. Each member folds what it owns of it
 * into *value, which is of `type` and holds where to begin; then the members' values are combined.
 * *value is the same on all members. */
int tessera_array_reduce(int64_t count, const tessera_part operands[], tessera_type type,
                         tessera_reduction reduction, tessera_fold_function function, void* context,
                         void* value);

/* --- what operands come to -------------------------------------------------------------------- */

/* Collective. The sum of all elements, and of all a b and conj(a) b, of the elements' type:
 * integers wrap, those of TESSERA_I8 beyond 127. A wider sum is made by tessera_array_reduce, whose
 * type may be another. With `reproducible` 1 the same bits for any number of ranks and any
 * distribution. */
int tessera_array_sum(tessera_part a, int reproducible, void* sum);
int tessera_array_dot(tessera_part a, tessera_part b, int reproducible, void* dot);
int tessera_array_dot_conjugated(tessera_part a, tessera_part b, int reproducible, void* dot);
/* Collective. The root of the sum of all |a|^2; the largest |a|; and of matrices the largest sum of
 * |a| over a column, and over a row. */
int tessera_array_norm2(tessera_part a, int reproducible, double* norm);
int tessera_array_norm_max(tessera_part a, double* norm);
int tessera_array_norm1(tessera_part a, int reproducible, double* norm);
int tessera_array_norm_infinity(tessera_part a, int reproducible, double* norm);
/* Collective. The largest and the smallest element, and its index in its array, for which `at` has
 * room; the first where there are several. Errors: also invalid_argument if there are none. */
int tessera_array_select_max(tessera_part a, void* value, int64_t at[]);
int tessera_array_select_min(tessera_part a, void* value, int64_t at[]);

/* Collective. The largest step with which no element of x + step dx is negative; infinite if there
 * is no limit. Of real elements. Errors: also invalid_argument when x has a negative element. */
int tessera_array_step_max(tessera_part x, tessera_part dx, double* step);
/* Collective. The steps that lead elements of x + step dx to their bounds, the upper ones where dx
 * is positive, the lower ones where it is negative: the smallest, the smallest above 0, and the
 * largest. */
int tessera_array_step_bounds(tessera_part x, tessera_part dx, tessera_part lower,
                              tessera_part upper, double* first, double* first_positive,
                              double* last);

/* --- matrices: a has two dimensions, v one ---------------------------------------------------- */

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

/* --- vectors: all have one dimension, and masks are of any integer type ------------------------
 */

/* Collective. result(i) = start + i step. */
int tessera_array_enumerate(tessera_part result, const void* start, const void* step);
/* Collective. A mask that is not 0 begins a segment. Each segment of `to` becomes the element of
 * `from` at its beginning; or the running sums within it. */
int tessera_array_scan_copy(tessera_part from, tessera_part mask, tessera_part to);
int tessera_array_scan_add(tessera_part from, tessera_part mask, tessera_part to,
                           tessera_scan kind);
/* Collective. The elements of `from` whose mask is not 0 go to the beginning of `to`; or the first
 * of `from` to where the mask of `to` is not 0. *count is how many there were; it may be null. */
int tessera_array_pack(tessera_part from, tessera_part mask, tessera_part to, int64_t* count);
int tessera_array_unpack(tessera_part from, tessera_part mask, tessera_part to, int64_t* count);

/* --- bins: lists of different lengths, one behind the other in the vector `contents` -----------
 */

/* Bin b has the places offsets(b) to offsets(b) + counts(b) - 1. All but `contents` are vectors of
 * TESSERA_I64 with an element for each bin. */

/* One-sided. counts(b) += how often b is among `bins`. */
int tessera_array_count_bins(const tessera_array* counts, int64_t number, const int64_t bins[]);
/* Collective. offsets(b) = the sum of the counts before b. */
int tessera_array_bin_offsets(const tessera_array* counts, const tessera_array* offsets);
/* One-sided. Adds values[i] to the bin bins[i]; filled(b) counts what all ranks have added, and
 * begins as 0. Complete: at the next tessera_array_sync of `contents`. Errors: also limit_exceeded
 * for a full bin; nothing is written then. */
int tessera_array_add_to_bins(const tessera_array* contents, const tessera_array* offsets,
                              const tessera_array* filled, int64_t number, const int64_t bins[],
                              const void* values);
/* Collective. Sorts each bin, the smallest first; of real elements. */
int tessera_array_sort_bins(const tessera_array* contents, const tessera_array* offsets,
                            const tessera_array* counts);

/* --- for people ------------------------------------------------------------------------------- */

/* Collective. Writes the elements as text, at the root of `options`, which may be null: to an open
 * file, null: standard output; or to a new file at `path`. Other ranks may give anything.
 * Errors: also invalid_argument when the file can't be written. */
int tessera_array_print(tessera_part a, FILE* file, const tessera_print_options* options);
int tessera_array_print_to(tessera_part a, const char* path, const tessera_print_options* options);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_OPERATIONS_H */
