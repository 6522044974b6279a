/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Serial models of matrices, and arrays with their elements. Elements of random matrices are small
 * whole numbers, so that products are exact in any order.
 */
#ifndef TESSERA_TESTS_GA_MATRICES_H
#define TESSERA_TESTS_GA_MATRICES_H

#include <complex.h>

#include "tests/ga/cases.h"

/* How an array has a matrix: in C's view its first dimension are the rows, in Fortran's its last.
 */
typedef enum { c_view, fortran_view } View;

enum { max_side = 40 };

typedef struct {
  int rows;
  int columns;
  double _Complex at[max_side][max_side];
} Matrix;

/* A part of a matrix. */
typedef struct {
  int row;
  int column;
  int rows;
  int columns;
} Part;

/* The four types of linear algebra; 0 at the end. */
extern const int matrix_types[];
int is_complex(int type);
/* The element of a type with this value. */
typedef union {
  float single;
  double real;
  SingleComplex single_pair;
  DoubleComplex pair;
} Element;
Element element_of(int type, double _Complex value);

void random_matrix(Matrix* matrix, int type, int rows, int columns);
/* Diagonally dominant, so well conditioned; symmetric and positive definite on request. */
void dominant_matrix(Matrix* matrix, int n, int is_symmetric);
/* The element of op(A); trans is n, t or c. */
double _Complex op_at(const Matrix* a, char trans, int row, int column);
/* C = alpha op(A) op(B) + beta C in parts; those of A and B are of op(A) and op(B). */
void model_multiply(char trans_a, char trans_b, double _Complex alpha, const Matrix* a,
                    const Part* of_a, const Matrix* b, const Part* of_b, double _Complex beta,
                    Matrix* c, const Part* of_c);

/* Collective. A new array with the elements. */
int matrix_array(const Matrix* matrix, int type, View view);
void get_matrix(Matrix* matrix, int array, int type, View view, int rows, int columns);
/* Checks that all elements of the array are those of the model, to within `error`. */
void check_matrix(const Matrix* matrix, int array, int type, View view, double error);
/* Checks the n x n doubles of an array as Fortran sees it. */
void check_doubles(const Matrix* matrix, int array, double error);

#endif
