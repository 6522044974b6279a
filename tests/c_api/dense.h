/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dense.h: small dense matrices in this process: what cases of linear algebra compare with.
 */
#ifndef TESSERA_TESTS_C_API_DENSE_H
#define TESSERA_TESTS_C_API_DENSE_H

#include <complex.h>

#include "tests/c_api/check.h"

enum { most_dense = 144, scalar_types = 4 };

/* Row-major, without gaps. */
typedef struct {
  int64_t rows;
  int64_t columns;
  double complex at[most_dense];
} Dense;

typedef double complex (*DenseRule)(int64_t i, int64_t j);

/* The element types of linear algebra, and their rounding errors. */
extern const tessera_type scalars[scalar_types];
int is_complex(tessera_type type);
double epsilon_of(tessera_type type);

/* Small integers in both parts, such that a square matrix of them is Hermitian positive
 * definite. */
double complex small_number(int64_t i, int64_t j);
double complex hermitian(int64_t i, int64_t j);

/* The value that a matrix of this type holds: for real ones the real part. */
Dense dense_of(tessera_type type, int64_t rows, int64_t columns, DenseRule rule);
/* op(A) op(B), and the largest difference of two elements. */
Dense product(const Dense* a, tessera_transposition op_a, const Dense* b,
              tessera_transposition op_b);
double difference(const Dense* a, const Dense* b);
/* The elements on one side of the diagonal, and the diagonal or ones. */
Dense triangle_of(const Dense* a, tessera_triangle triangle, int unit_diagonal);

/* A number of this type, as an element of a list. */
void write_number(tessera_type type, void* list, int64_t place, double complex number);
double complex read_number(tessera_type type, const void* list, int64_t place);
/* A list of as many real numbers as values have: float or double. */
double read_value(tessera_type type, const void* values, int64_t place);

/* Collective on `team`. An array with these elements, and the elements of an array. */
tessera_array* spread(const Dense* values, tessera_type type, const char* name);
Dense collect(const tessera_array* array);

#endif /* TESSERA_TESTS_C_API_DENSE_H */
