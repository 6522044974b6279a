/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of matrices: C's names, which see rows as the first dimension, and Fortran's.
 */
#include "tests/ga/matrices.h"

static const char letters[] = {'n', 't', 'c'};

typedef struct {
  int type;
  char trans_a;
  char trans_b;
  int m;
  int n;
  int k;
  double _Complex alpha;
  double _Complex beta;
} Product;

static Product random_product(int type, char trans_a, char trans_b) {
  const double imaginary = is_complex(type) ? random_below(3) - 1 : 0;
  const Product product = {.type = type,
                           .trans_a = trans_a,
                           .trans_b = trans_b,
                           .m = 1 + random_below(9),
                           .n = 1 + random_below(9),
                           .k = 1 + random_below(9),
                           .alpha = random_below(5) - 2 + I * imaginary,
                           .beta = random_below(3) - 1};
  return product;
}

/* A matrix for op() of which this part is used, somewhat larger than that. */
static void operand(Matrix* matrix, const Product* product, char trans, const Part* part) {
  const int rows = part->row + part->rows + 1 + random_below(2);
  const int columns = part->column + part->columns + 1 + random_below(2);
  random_matrix(matrix, product->type, trans == 'n' ? rows : columns,
                trans == 'n' ? columns : rows);
}

static void call_c(const Product* p, int a, int b, int c) {
  const Element alpha = element_of(p->type, p->alpha);
  const Element beta = element_of(p->type, p->beta);
  const char ta = p->trans_a;
  const char tb = p->trans_b;
  if (p->type == C_FLOAT) {
    GA_Sgemm(ta, tb, p->m, p->n, p->k, alpha.single, a, b, beta.single, c);
  } else if (p->type == C_DBL) {
    GA_Dgemm64(ta, tb, p->m, p->n, p->k, alpha.real, a, b, beta.real, c);
  } else if (p->type == C_SCPL) {
    GA_Cgemm(ta, tb, p->m, p->n, p->k, alpha.single_pair, a, b, beta.single_pair, c);
  } else {
    GA_Zgemm(ta, tb, p->m, p->n, p->k, alpha.pair, a, b, beta.pair, c);
  }
}

typedef void Fortran_gemm(char*, char*, Integer*, Integer*, Integer*, void*, Integer*, Integer*,
                          void*, Integer*, size_t, size_t);
extern Fortran_gemm ga_sgemm_;
extern Fortran_gemm ga_dgemm_;
extern Fortran_gemm ga_cgemm_;
extern Fortran_gemm ga_zgemm_;

static void call_fortran(const Product* p, int a, int b, int c) {
  Element alpha = element_of(p->type, p->alpha);
  Element beta = element_of(p->type, p->beta);
  char ta = p->trans_a;
  char tb = p->trans_b;
  Integer numbers[] = {p->m, p->n, p->k, a, b, c};
  Fortran_gemm* const call = p->type == C_FLOAT  ? ga_sgemm_
                             : p->type == C_DBL  ? ga_dgemm_
                             : p->type == C_SCPL ? ga_cgemm_
                                                 : ga_zgemm_;
  call(&ta, &tb, &numbers[0], &numbers[1], &numbers[2], &alpha, &numbers[3], &numbers[4], &beta,
       &numbers[5], 1, 1);
}

static void check_product(const Product* p, View view) {
  static Matrix a;
  static Matrix b;
  static Matrix c;
  const Part of_a = {0, 0, p->m, p->k};
  const Part of_b = {0, 0, p->k, p->n};
  const Part of_c = {0, 0, p->m, p->n};
  operand(&a, p, p->trans_a, &of_a);
  operand(&b, p, p->trans_b, &of_b);
  operand(&c, p, 'n', &of_c);
  const int array_a = matrix_array(&a, p->type, view);
  const int array_b = matrix_array(&b, p->type, view);
  const int array_c = matrix_array(&c, p->type, view);
  model_multiply(p->trans_a, p->trans_b, p->alpha, &a, &of_a, &b, &of_b, p->beta, &c, &of_c);
  (view == c_view ? call_c : call_fortran)(p, array_a, array_b, array_c);
  check_matrix(&c, array_c, p->type, view, 0);
  GA_Destroy(array_a);
  GA_Destroy(array_b);
  GA_Destroy(array_c);
}

static void of_leading_parts(View view) {
  random_start(31);
  for (const int* type = matrix_types; *type != 0; ++type) {
    for (int pair = 0; pair < 9; ++pair) {
      const Product product = random_product(*type, letters[pair / 3], letters[pair % 3]);
      check_product(&product, view);
    }
  }
}

static void in_c(void) {
  of_leading_parts(c_view);
}
/* A sum of no products: C is only scaled. */
static void of_no_terms(void) {
  random_start(33);
  for (int turn = 0; turn < 3; ++turn) {
    Product product = random_product(C_DBL, 'n', 't');
    product.m = turn == 1 ? 0 : product.m;
    product.k = turn == 1 ? product.k : 0;
    product.beta = turn;
    check_product(&product, turn == 0 ? fortran_view : c_view);
  }
}
static void in_fortran(void) {
  of_leading_parts(fortran_view);
}

/* ---- Patches */

typedef enum {
  c_patch,
  c_patch_64,
  c_patch_alt,
  c_two,
  fortran_patch,
  fortran_alt,
  fortran_two,
  fortran_matmul,
  fortran_mirrored
} Name;

extern void nga_matmul_patch_(char*, char*, void*, void*, Integer*, Integer[], Integer[], Integer*,
                              Integer[], Integer[], Integer*, Integer[], Integer[], size_t, size_t);
extern void nga_matmul_patch_alt_(char*, char*, void*, void*, Integer*, Integer[], Integer[],
                                  Integer*, Integer[], Integer[], Integer*, Integer[], Integer[],
                                  size_t, size_t);
typedef void InTwo(char*, char*, void*, void*, Integer*, Integer*, Integer*, Integer*, Integer*,
                   Integer*, Integer*, Integer*, Integer*, Integer*, Integer*, Integer*, Integer*,
                   Integer*, Integer*, size_t, size_t);
extern InTwo ga_matmul_patch_, ga_matmul_, ga_matmul_mirrored_;

/* The bounds of a part with indices from 0. Those of C's 2-D names and of Fortran are rows and
 * columns, too: only the array's dimensions differ. */
typedef struct {
  int lo[2];
  int hi[2];
  int64_t lo64[2];
  int64_t hi64[2];
  Integer lo_f[2];
  Integer hi_f[2];
} Bounds;

static Bounds bounds_of(const Part* part, int is_turned) {
  Bounds bounds;
  const int lo[] = {part->row, part->column};
  const int length[] = {part->rows, part->columns};
  for (int dim = 0; dim < 2; ++dim) {
    const int from = is_turned ? 1 - dim : dim;
    bounds.lo[dim] = lo[from];
    bounds.hi[dim] = lo[from] + length[from] - 1;
    bounds.lo64[dim] = bounds.lo[dim];
    bounds.hi64[dim] = bounds.hi[dim];
    bounds.lo_f[dim] = bounds.lo[dim] + 1;
    bounds.hi_f[dim] = bounds.hi[dim] + 1;
  }
  return bounds;
}

static void call_patch(Name name, const Product* p, const int* arrays, Bounds* a, Bounds* b,
                       Bounds* c) {
  InTwo* const in_two[] = {ga_matmul_patch_, ga_matmul_, ga_matmul_mirrored_};
  Element alpha = element_of(p->type, p->alpha);
  Element beta = element_of(p->type, p->beta);
  char ta = p->trans_a;
  char tb = p->trans_b;
  Integer f[] = {arrays[0], arrays[1], arrays[2]};
  switch (name) {
    case c_patch:
      NGA_Matmul_patch(ta, tb, &alpha, &beta, arrays[0], a->lo, a->hi, arrays[1], b->lo, b->hi,
                       arrays[2], c->lo, c->hi);
      break;
    case c_patch_64:
      NGA_Matmul_patch64(ta, tb, &alpha, &beta, arrays[0], a->lo64, a->hi64, arrays[1], b->lo64,
                         b->hi64, arrays[2], c->lo64, c->hi64);
      break;
    case c_patch_alt:
      NGA_Matmul_patch_alt(ta, tb, &alpha, &beta, arrays[0], a->lo, a->hi, arrays[1], b->lo, b->hi,
                           arrays[2], c->lo, c->hi);
      break;
    case c_two:
      GA_Matmul_patch(ta, tb, &alpha, &beta, arrays[0], a->lo[0], a->hi[0], a->lo[1], a->hi[1],
                      arrays[1], b->lo[0], b->hi[0], b->lo[1], b->hi[1], arrays[2], c->lo[0],
                      c->hi[0], c->lo[1], c->hi[1]);
      break;
    case fortran_patch:
      nga_matmul_patch_(&ta, &tb, &alpha, &beta, &f[0], a->lo_f, a->hi_f, &f[1], b->lo_f, b->hi_f,
                        &f[2], c->lo_f, c->hi_f, 1, 1);
      break;
    case fortran_alt:
      nga_matmul_patch_alt_(&ta, &tb, &alpha, &beta, &f[0], a->lo_f, a->hi_f, &f[1], b->lo_f,
                            b->hi_f, &f[2], c->lo_f, c->hi_f, 1, 1);
      break;
    case fortran_two:
    case fortran_matmul:
    case fortran_mirrored:
      in_two[name - fortran_two](&ta, &tb, &alpha, &beta, &f[0], &a->lo_f[0], &a->hi_f[0],
                                 &a->lo_f[1], &a->hi_f[1], &f[1], &b->lo_f[0], &b->hi_f[0],
                                 &b->lo_f[1], &b->hi_f[1], &f[2], &c->lo_f[0], &c->hi_f[0],
                                 &c->lo_f[1], &c->hi_f[1], 1, 1);
      break;
  }
}

static Part random_part(int rows, int columns) {
  const Part part = {random_below(3), random_below(3), rows, columns};
  return part;
}

/* Bounds of a transposed patch are those of the transpose, in names with alt those of the array. */
static void check_patch(Name name, const Product* p) {
  static Matrix a;
  static Matrix b;
  static Matrix c;
  const View view =
      name == c_patch || name == c_patch_64 || name == c_patch_alt ? c_view : fortran_view;
  const int is_alt = name == c_patch_alt || name == fortran_alt;
  const Part of_a = random_part(p->m, p->k);
  const Part of_b = random_part(p->k, p->n);
  const Part of_c = random_part(p->m, p->n);
  operand(&a, p, p->trans_a, &of_a);
  operand(&b, p, p->trans_b, &of_b);
  operand(&c, p, 'n', &of_c);
  const int arrays[] = {matrix_array(&a, p->type, view), matrix_array(&b, p->type, view),
                        matrix_array(&c, p->type, view)};
  Bounds bounds_a = bounds_of(&of_a, is_alt && p->trans_a != 'n');
  Bounds bounds_b = bounds_of(&of_b, is_alt && p->trans_b != 'n');
  Bounds bounds_c = bounds_of(&of_c, 0);
  model_multiply(p->trans_a, p->trans_b, p->alpha, &a, &of_a, &b, &of_b, p->beta, &c, &of_c);
  call_patch(name, p, arrays, &bounds_a, &bounds_b, &bounds_c);
  check_matrix(&c, arrays[2], p->type, view, 0);
  for (int i = 0; i < 3; ++i) {
    GA_Destroy(arrays[i]);
  }
}

static void of_patches(void) {
  random_start(32);
  for (Name name = c_patch; name <= fortran_mirrored; ++name) {
    for (int pair = 0; pair < 4; ++pair) {
      const Product product =
          random_product(matrix_types[random_below(4)], letters[pair / 2], letters[pair % 2]);
      check_patch(name, &product);
    }
  }
}

/* Planes of 3-D arrays, and vectors in the middle dimension, which may be rows or columns. */
static void of_planes(void) {
  static Model a;
  static Model b;
  static Model c;
  int dims_a[] = {3, 4, 5};
  int dims_b[] = {5, 2, 6};
  int dims_c[] = {4, 6, 2};
  model_init(&a, 3, dims_a);
  model_init(&b, 3, dims_b);
  model_init(&c, 3, dims_c);
  for (int i = 0; i < a.size; ++i) {
    a.values[i] = i % 7 - 3;
    b.values[i] = i % 5 - 2;
  }
  const int array_a = NGA_Create(C_DBL, 3, dims_a, "a", NULL);
  const int array_b = NGA_Create(C_DBL, 3, dims_b, "b", NULL);
  const int array_c = NGA_Create(C_DBL, 3, dims_c, "c", NULL);
  int from[] = {0, 0, 0};
  int to_a[] = {2, 3, 4};
  int to_b[] = {4, 1, 5};
  int ld_a[] = {4, 5};
  int ld_b[] = {2, 6};
  NGA_Put(array_a, from, to_a, a.values, ld_a);
  NGA_Put(array_b, from, to_b, b.values, ld_b);
  GA_Zero(array_c);
  double one = 1;
  double zero = 0;
  /* c(:, :, 1) = a(2, :, :) b(:, 1, :) */
  int lo_a[] = {2, 0, 0};
  int lo_b[] = {0, 1, 0};
  int lo_c[] = {0, 0, 1};
  int to_c[] = {3, 5, 1};
  NGA_Matmul_patch('n', 'n', &one, &zero, array_a, lo_a, to_a, array_b, lo_b, to_b, array_c, lo_c,
                   to_c);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 6; ++j) {
      for (int k = 0; k < 5; ++k) {
        c.values[(i * 6 + j) * 2 + 1] +=
            a.values[(2 * 4 + i) * 5 + k] * b.values[(k * 2 + 1) * 6 + j];
      }
    }
  }
  check_model(&c, array_c);
  GA_Sync();
  /* c(0, 0, 0) = a(1, 1, :) b(:, 0, 3): the second is a column. */
  int row_lo[] = {1, 1, 0};
  int row_hi[] = {1, 1, 4};
  int column_lo[] = {0, 0, 3};
  int column_hi[] = {4, 0, 3};
  int at[] = {0, 0, 0};
  NGA_Matmul_patch('n', 'n', &one, &zero, array_a, row_lo, row_hi, array_b, column_lo, column_hi,
                   array_c, at, at);
  for (int k = 0; k < 5; ++k) {
    c.values[0] += a.values[(1 * 4 + 1) * 5 + k] * b.values[(k * 2) * 6 + 3];
  }
  check_model(&c, array_c);
  GA_Sync();
  /* c(1, :, 0) = a(0, 0, 2) b(2, 1, :): rows of C are its middle dimension. */
  int one_lo[] = {0, 0, 2};
  int row2_lo[] = {2, 1, 0};
  int row2_hi[] = {2, 1, 5};
  int middle_lo[] = {1, 0, 0};
  int middle_hi[] = {1, 5, 0};
  NGA_Matmul_patch('n', 'n', &one, &zero, array_a, one_lo, one_lo, array_b, row2_lo, row2_hi,
                   array_c, middle_lo, middle_hi);
  for (int j = 0; j < 6; ++j) {
    c.values[(6 + j) * 2] += a.values[2] * b.values[(2 * 2 + 1) * 6 + j];
  }
  check_model(&c, array_c);
  GA_Destroy(array_a);
  GA_Destroy(array_b);
  GA_Destroy(array_c);
}

typedef void InTwo(char*, char*, void*, void*, Integer*, Integer*, Integer*, Integer*, Integer*,
                   Integer*, Integer*, Integer*, Integer*, Integer*, Integer*, Integer*, Integer*,
                   Integer*, Integer*, size_t, size_t);
extern InTwo ga_matmul_patch_, ga_matmul_, ga_matmul_mirrored_;

static int vector_of(int length, const double* values) {
  int dims[] = {length};
  int lo[] = {0};
  int hi[] = {length - 1};
  const int array = NGA_Create(C_DBL, 1, dims, "vector", NULL);
  if (GA_Nodeid() == 0) {
    NGA_Put(array, lo, hi, (void*)values, lo);
  }
  GA_Sync();
  return array;
}

static void check_vector(int array, int length, const double* expected) {
  int lo[] = {0};
  int hi[] = {length - 1};
  double values[8];
  NGA_Get(array, lo, hi, values, lo);
  for (int i = 0; i < length; ++i) {
    CHECK_REAL(values[i], expected[i]);
  }
  GA_Sync();
}

/* Arrays of one dimension are matrices of one column, or of one row. */
static void of_vectors(void) {
  enum { rows = 5, columns = 3 };
  int dims[] = {columns, rows};
  int lo[] = {0, 0};
  int hi[] = {columns - 1, rows - 1};
  int ld[] = {rows};
  double a[columns][rows];
  double x[] = {1, -2, 4};
  double y[] = {0, 1, 2, 3, 4};
  double z[columns] = {0};
  double w[rows] = {0};
  char plain[] = "n";
  char turned[] = "t";
  double alpha = 2;
  double beta = 3;
  double one = 1;
  double zero = 0;
  const int matrix = NGA_Create(C_DBL, 2, dims, "matrix", NULL);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      a[j][i] = 1 + i + 10 * j;
    }
  }
  if (GA_Nodeid() == 0) {
    NGA_Put(matrix, lo, hi, a, ld);
  }
  Integer numbers[] = {1, rows, columns, matrix};
  Integer arrays[] = {vector_of(columns, x), vector_of(rows, y), vector_of(columns, z),
                      vector_of(rows, w)};
  for (int i = 0; i < rows; ++i) {
    y[i] *= beta;
    for (int j = 0; j < columns; ++j) {
      y[i] += alpha * a[j][i] * x[j];
      w[i] += a[j][i] * x[j];
    }
  }
  ga_dgemm_(plain, plain, &numbers[1], &numbers[0], &numbers[2], &alpha, &numbers[3], &arrays[0],
            &beta, &arrays[1], 1, 1);
  check_vector((int)arrays[1], rows, y);
  ga_dgemm_(turned, plain, &numbers[2], &numbers[0], &numbers[1], &one, &numbers[3], &arrays[1],
            &zero, &arrays[2], 1, 1);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      z[j] += a[j][i] * y[i];
    }
  }
  check_vector((int)arrays[2], columns, z);
  ga_dgemm_(plain, turned, &numbers[0], &numbers[1], &numbers[2], &one, &arrays[0], &numbers[3],
            &zero, &arrays[3], 1, 1);
  check_vector((int)arrays[3], rows, w);
  /* w(2:4) = 2 A(2:4, 1:3) x(1:3), the rest stays. */
  Integer bounds[] = {1, 2, 3, 4};
  ga_matmul_patch_(plain, plain, &alpha, &zero, &numbers[3], &bounds[1], &bounds[3], &bounds[0],
                   &bounds[2], &arrays[0], &bounds[0], &bounds[2], &bounds[0], &bounds[0],
                   &arrays[3], &bounds[1], &bounds[3], &bounds[0], &bounds[0], 1, 1);
  for (int i = 1; i < 4; ++i) {
    w[i] *= 2;
  }
  check_vector((int)arrays[3], rows, w);
  for (int i = 0; i < 4; ++i) {
    GA_Destroy((int)arrays[i]);
  }
  GA_Destroy(matrix);
}

const Case product_cases[] = {{"in_c", in_c},
                              {"in_fortran", in_fortran},
                              {"of_no_terms", of_no_terms},
                              {"of_patches", of_patches},
                              {"of_planes", of_planes},
                              {"of_vectors", of_vectors},
                              {NULL, NULL}};
