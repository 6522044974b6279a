/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/ga/matrices.h"

#include <stdlib.h>
#include <string.h>

const int matrix_types[] = {C_FLOAT, C_DBL, C_SCPL, C_DCPL, 0};

int is_complex(int type) {
  return type == C_SCPL || type == C_DCPL;
}

static size_t bytes_of(int type) {
  return type == C_FLOAT ? 4 : (type == C_DCPL ? 16 : 8);
}

Element element_of(int type, double _Complex value) {
  Element element;
  memset(&element, 0, sizeof element);
  if (type == C_FLOAT) {
    element.single = (float)creal(value);
  } else if (type == C_DBL) {
    element.real = creal(value);
  } else if (type == C_SCPL) {
    element.single_pair.real = (float)creal(value);
    element.single_pair.imag = (float)cimag(value);
  } else {
    element.pair.real = creal(value);
    element.pair.imag = cimag(value);
  }
  return element;
}

static double _Complex value_of(int type, const void* at) {
  Element element;
  memcpy(&element, at, bytes_of(type));
  if (type == C_FLOAT) {
    return element.single;
  }
  if (type == C_DBL) {
    return element.real;
  }
  return type == C_SCPL ? element.single_pair.real + I * element.single_pair.imag
                        : element.pair.real + I * element.pair.imag;
}

void random_matrix(Matrix* matrix, int type, int rows, int columns) {
  memset(matrix, 0, sizeof *matrix);
  matrix->rows = rows;
  matrix->columns = columns;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const double real = random_below(7) - 3;
      const double imaginary = random_below(7) - 3;
      matrix->at[i][j] = is_complex(type) ? real + I * imaginary : real;
    }
  }
}

void dominant_matrix(Matrix* matrix, int n, int is_symmetric) {
  random_matrix(matrix, C_DBL, n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i && is_symmetric; ++j) {
      matrix->at[j][i] = matrix->at[i][j];
    }
    matrix->at[i][i] = 4.0 * n + i;
  }
}

double _Complex op_at(const Matrix* a, char trans, int row, int column) {
  if (trans == 'n') {
    return a->at[row][column];
  }
  return trans == 't' ? a->at[column][row] : conj(a->at[column][row]);
}

void model_multiply(char trans_a, char trans_b, double _Complex alpha, const Matrix* a,
                    const Part* of_a, const Matrix* b, const Part* of_b, double _Complex beta,
                    Matrix* c, const Part* of_c) {
  for (int i = 0; i < of_c->rows; ++i) {
    for (int j = 0; j < of_c->columns; ++j) {
      double _Complex sum = 0;
      for (int k = 0; k < of_a->columns; ++k) {
        sum += op_at(a, trans_a, of_a->row + i, of_a->column + k) *
               op_at(b, trans_b, of_b->row + k, of_b->column + j);
      }
      double _Complex* const to = &c->at[of_c->row + i][of_c->column + j];
      *to = alpha * sum + beta * *to;
    }
  }
}

int matrix_array(const Matrix* matrix, int type, View view) {
  const int rows = matrix->rows;
  const int columns = matrix->columns;
  int dims[] = {view == c_view ? rows : columns, view == c_view ? columns : rows};
  const int array = NGA_Create(type, 2, dims, "matrix", NULL);
  const size_t bytes = bytes_of(type);
  char* const values = malloc((size_t)(rows * columns) * bytes);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const Element element = element_of(type, matrix->at[i][j]);
      const int at = view == c_view ? i * columns + j : j * rows + i;
      memcpy(values + (size_t)at * bytes, &element, bytes);
    }
  }
  int lo[] = {0, 0};
  int hi[] = {dims[0] - 1, dims[1] - 1};
  if (GA_Nodeid() == GA_Nnodes() - 1) {
    NGA_Put(array, lo, hi, values, &dims[1]);
  }
  GA_Sync();
  free(values);
  return array;
}

void get_matrix(Matrix* matrix, int array, int type, View view, int rows, int columns) {
  const size_t bytes = bytes_of(type);
  char* const values = malloc((size_t)(rows * columns) * bytes);
  int lo[] = {0, 0};
  int hi[] = {(view == c_view ? rows : columns) - 1, (view == c_view ? columns : rows) - 1};
  int ld[] = {hi[1] + 1};
  NGA_Get(array, lo, hi, values, ld);
  memset(matrix, 0, sizeof *matrix);
  matrix->rows = rows;
  matrix->columns = columns;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const int at = view == c_view ? i * columns + j : j * rows + i;
      matrix->at[i][j] = value_of(type, values + (size_t)at * bytes);
    }
  }
  free(values);
}

void check_matrix(const Matrix* matrix, int array, int type, View view, double error) {
  static Matrix found;
  get_matrix(&found, array, type, view, matrix->rows, matrix->columns);
  for (int i = 0; i < matrix->rows; ++i) {
    for (int j = 0; j < matrix->columns; ++j) {
      if (cabs(found.at[i][j] - matrix->at[i][j]) > error) {
        CHECK_REAL(creal(found.at[i][j]), creal(matrix->at[i][j]));
        CHECK_REAL(cimag(found.at[i][j]), cimag(matrix->at[i][j]));
        return;
      }
    }
  }
  GA_Sync();
}

void check_doubles(const Matrix* matrix, int array, double error) {
  check_matrix(matrix, array, C_DBL, fortran_view, error);
}
