/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model.h: arrays for cases, and what they are to hold: functions of the index.
 */
#ifndef TESSERA_TESTS_C_API_MODEL_H
#define TESSERA_TESTS_C_API_MODEL_H

#include "tests/c_api/check.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number of elements of an array in a case. */
enum { most_elements = 4096 };

/* The expected value of an element. */
typedef double (*Rule)(int64_t i, int64_t j);

double by_index(int64_t i, int64_t j); /* 100 i + j + 1 */
double zero(int64_t i, int64_t j);

/* Collective on `team`. Arrays of zeros of double elements, and of any type. */
tessera_array* make_matrix(int64_t rows, int64_t columns, const char* name);
tessera_array* make_vector(int64_t length, const char* name);
tessera_array* make_array(tessera_type type, int64_t ndims, const int64_t extents[],
                          const char* name);
/* Collective on `team`. The elements in `values` of a vector of any type. */
tessera_array* make_vector_of(tessera_type type, int64_t length, const void* values);

/* Collective on `team`. Frees an array. */
void release(tessera_array* array);
/* Collective on `team`. Sets all elements of a matrix or vector (its j is the index, i is 0). */
void set_all(const tessera_array* array, Rule rule);
/* Collective on `team`. Checks that all elements have these values, as each member sees them. */
#define CHECK_ALL(array, rule) check_all((array), (rule), #array, __FILE__, __LINE__)
void check_all(const tessera_array* array, Rule rule, const char* what, const char* file, int line);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESTS_C_API_MODEL_H */
