/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/dense.h"

#include <float.h>
#include <math.h>

#include "tests/c_api/model.h"

const tessera_type scalars[scalar_types] = {TESSERA_F32, TESSERA_F64, TESSERA_C64, TESSERA_C128};

int is_complex(tessera_type type) {
  return type == TESSERA_C64 || type == TESSERA_C128;
}

double epsilon_of(tessera_type type) {
  return type == TESSERA_F32 || type == TESSERA_C64 ? FLT_EPSILON : DBL_EPSILON;
}

double complex small_number(int64_t i, int64_t j) {
  return (double)((i * 5 + j * 3) % 7 - 3) + (double)((i + 2 * j) % 5 - 2) * I;
}

double complex hermitian(int64_t i, int64_t j) {
  const double complex upper = small_number(i < j ? i : j, i < j ? j : i);
  return i == j ? 60 : i < j ? upper : conj(upper);
}

Dense dense_of(tessera_type type, int64_t rows, int64_t columns, DenseRule rule) {
  Dense all = {rows, columns, {0}};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const double complex number = rule(i, j);
      all.at[i * columns + j] = is_complex(type) ? number : creal(number);
    }
  }
  return all;
}

static double complex element(const Dense* a, tessera_transposition op, int64_t i, int64_t j) {
  const double complex number =
      op == TESSERA_PLAIN ? a->at[i * a->columns + j] : a->at[j * a->columns + i];
  return op == TESSERA_CONJUGATE_TRANSPOSED ? conj(number) : number;
}

Dense product(const Dense* a, tessera_transposition op_a, const Dense* b,
              tessera_transposition op_b) {
  const int64_t inner = op_a == TESSERA_PLAIN ? a->columns : a->rows;
  Dense c = {op_a == TESSERA_PLAIN ? a->rows : a->columns,
             op_b == TESSERA_PLAIN ? b->columns : b->rows,
             {0}};
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.columns; ++j) {
      for (int64_t k = 0; k < inner; ++k) {
        c.at[i * c.columns + j] += element(a, op_a, i, k) * element(b, op_b, k, j);
      }
    }
  }
  return c;
}

double difference(const Dense* a, const Dense* b) {
  double most = 0;
  CHECK_EQUAL(a->rows, b->rows);
  CHECK_EQUAL(a->columns, b->columns);
  for (int64_t place = 0; place < a->rows * a->columns; ++place) {
    const double one = cabs(a->at[place] - b->at[place]);
    most = one <= most ? most : one; /* also if it is NaN */
  }
  return most;
}

Dense triangle_of(const Dense* a, tessera_triangle triangle, int unit_diagonal) {
  Dense part = *a;
  for (int64_t i = 0; i < a->rows; ++i) {
    for (int64_t j = 0; j < a->columns; ++j) {
      if (i == j && unit_diagonal) {
        part.at[i * a->columns + j] = 1;
      } else if (triangle == TESSERA_LOWER ? j > i : j < i) {
        part.at[i * a->columns + j] = 0;
      }
    }
  }
  return part;
}

void write_number(tessera_type type, void* list, int64_t place, double complex number) {
  switch (type) {
    case TESSERA_F32:
      ((float*)list)[place] = (float)creal(number);
      break;
    case TESSERA_F64:
      ((double*)list)[place] = creal(number);
      break;
    case TESSERA_C64:
      ((float complex*)list)[place] = (float complex)number;
      break;
    default:
      ((double complex*)list)[place] = number;
  }
}

double complex read_number(tessera_type type, const void* list, int64_t place) {
  switch (type) {
    case TESSERA_F32:
      return ((const float*)list)[place];
    case TESSERA_F64:
      return ((const double*)list)[place];
    case TESSERA_C64:
      return ((const float complex*)list)[place];
    default:
      return ((const double complex*)list)[place];
  }
}

double read_value(tessera_type type, const void* values, int64_t place) {
  return type == TESSERA_F32 || type == TESSERA_C64 ? (double)((const float*)values)[place]
                                                    : ((const double*)values)[place];
}

tessera_array* spread(const Dense* values, tessera_type type, const char* name) {
  const int64_t extents[2] = {values->rows, values->columns};
  double complex numbers[most_dense];
  tessera_array* const array = make_array(type, 2, extents, name);
  for (int64_t place = 0; place < values->rows * values->columns; ++place) {
    write_number(type, numbers, place, values->at[place]);
  }
  if (member == 0) {
    CHECK_OK(tessera_array_put(array, NULL, NULL, numbers, NULL));
  }
  CHECK_OK(tessera_array_sync(array));
  return array;
}

Dense collect(const tessera_array* array) {
  Dense values = {0, 0, {0}};
  double complex numbers[most_dense];
  int64_t extents[2] = {0, 0};
  tessera_type type = TESSERA_F64;
  CHECK_OK(tessera_array_extents(array, extents));
  CHECK_OK(tessera_array_type(array, &type));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get(array, NULL, NULL, numbers, NULL));
  values.rows = extents[0];
  values.columns = extents[1];
  for (int64_t place = 0; place < extents[0] * extents[1]; ++place) {
    values.at[place] = read_number(type, numbers, place);
  }
  CHECK_OK(tessera_array_sync(array));
  return values;
}
