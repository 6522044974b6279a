/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/cases.h"
#include "tests/c_api/dense.h"
#include "tests/c_api/model.h"

enum { rows = 9, columns = 7, max_entries = rows * columns };

/* The entries of the cases' matrix, and their values: small integers, so that sums are exact in all
 * types. */
static int has_entry(int64_t i, int64_t j) {
  return (i * 3 + j) % 4 == 0 || i == j;
}
static double complex entry(int64_t i, int64_t j) {
  return has_entry(i, j) ? small_number(i, j) + (i == j ? 5 : 0) : 0;
}
static int64_t count_entries(void) {
  int64_t count = 0;
  for (int64_t place = 0; place < rows * columns; ++place) {
    count += has_entry(place / columns, place % columns);
  }
  return count;
}

static tessera_sparse_options team_options(const char* name) {
  tessera_sparse_options options;
  tessera_sparse_options_init(&options);
  options.name = name;
  options.team = team;
  return options;
}

/* Each entry is added by one of the members, in halves. */
static tessera_sparse* build(tessera_type type, const char* name) {
  tessera_sparse* matrix = NULL;
  tessera_sparse_builder* builder = NULL;
  const tessera_sparse_options options = team_options(name);
  int64_t of_rows[2];
  int64_t of_columns[2];
  double complex values[2];
  int64_t added = 0;
  int64_t found = -1;
  CHECK_OK(tessera_sparse_builder_create(job, type, rows, columns, &options, &builder));
  CHECK_OK(tessera_sparse_builder_reserve(builder, max_entries));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (has_entry(i, j) && (i + 2 * j) % members == member) {
        write_number(type, values, 0, entry(i, j) - 1);
        write_number(type, values, 1, 1);
        of_rows[0] = of_rows[1] = i;
        of_columns[0] = of_columns[1] = j;
        CHECK_OK(tessera_sparse_builder_add(builder, i, j, values));
        CHECK_OK(tessera_sparse_builder_add_list(builder, 2, of_rows, of_columns, values));
        write_number(type, values, 0, 1 - entry(i, j));
        CHECK_OK(tessera_sparse_builder_add(builder, i, j, values));
        added += 4;
      }
    }
  }
  CHECK_ERROR(tessera_sparse_builder_add(builder, rows, 0, values), TESSERA_OUT_OF_RANGE, "9 x 7");
  CHECK_OK(tessera_sparse_builder_added(builder, &found));
  CHECK_EQUAL(found, added);
  CHECK_OK(tessera_sparse_builder_assemble(builder, &matrix));
  CHECK_ERROR(tessera_sparse_builder_add(builder, 0, 0, values), TESSERA_CLOSED, "");
  CHECK_OK(tessera_sparse_builder_free(&builder));
  CHECK(builder == NULL);
  return matrix;
}

static void free_sparse(tessera_sparse* matrix) {
  CHECK_OK(tessera_sparse_free(&matrix));
  CHECK(matrix == NULL);
}

/* All of a matrix, by one rank. */
static Dense all_of(const tessera_sparse* matrix) {
  Dense all = {0, 0, {0}};
  int64_t row_starts[most_dense + 1];
  int64_t places[most_dense];
  double complex values[most_dense];
  int64_t entries = 0;
  tessera_type type = -1;
  CHECK_OK(tessera_sparse_shape(matrix, &all.rows, &all.columns, NULL));
  CHECK_OK(tessera_sparse_type(matrix, &type));
  CHECK_OK(tessera_sparse_sync(matrix));
  CHECK_OK(
      tessera_sparse_get(matrix, NULL, NULL, most_dense, row_starts, places, values, &entries));
  CHECK_EQUAL(row_starts[all.rows], entries);
  for (int64_t i = 0; i < all.rows; ++i) {
    for (int64_t k = row_starts[i]; k < row_starts[i + 1]; ++k) {
      all.at[i * all.columns + places[k]] = read_number(type, values, k);
    }
  }
  CHECK_OK(tessera_sparse_sync(matrix));
  return all;
}

static void check_is(const tessera_sparse* matrix, const Dense* expected) {
  const Dense found = all_of(matrix);
  CHECK_REAL(difference(&found, expected), 0);
}

static void building(void) {
  for (int number = 0; number < scalar_types; ++number) {
    const tessera_type type = scalars[number];
    const Dense expected = dense_of(type, rows, columns, entry);
    tessera_sparse* const matrix = build(type, "A");
    tessera_sparse* copy = NULL;
    int64_t entries = 0;
    CHECK_OK(tessera_sparse_shape(matrix, NULL, NULL, &entries));
    CHECK_EQUAL(entries, count_entries());
    check_is(matrix, &expected);
    CHECK_OK(tessera_sparse_duplicate(matrix, "B", &copy));
    free_sparse(matrix);
    check_is(copy, &expected);
    free_sparse(copy);
  }
}

/* Rows that each member already has: as many as its number plus one. */
static void from_own_rows(void) {
  const int64_t own = member + 1;
  int64_t starts[65];
  int64_t places[64];
  int32_t values[64];
  int64_t total = 0;
  int64_t first = 0;
  tessera_sparse* matrix = NULL;
  tessera_sparse_options options = team_options("A");
  for (int64_t i = 0; i <= own; ++i) {
    starts[i] = i;
    places[i] = i % 3;
    values[i] = (int32_t)(10 * member + i);
  }
  CHECK_OK(
      tessera_sparse_create(job, TESSERA_I32, own, 3, starts, places, values, &options, &matrix));
  CHECK_OK(tessera_sparse_shape(matrix, &total, NULL, NULL));
  CHECK_EQUAL(total, members * (members + 1) / 2);
  tessera_sparse_block block;
  tessera_sparse_rows* access = NULL;
  CHECK_OK(tessera_sparse_rows_begin(matrix, &block, &access));
  first = member * (member + 1) / 2;
  CHECK_EQUAL(block.first_row, first);
  CHECK_EQUAL(block.rows, own);
  CHECK_EQUAL(block.entries, own);
  CHECK_EQUAL(block.row_starts[own], own);
  for (int64_t i = 0; i < own; ++i) {
    CHECK_EQUAL(block.columns[i], i % 3);
    CHECK_EQUAL(((int32_t*)block.values)[i], 10 * member + i);
    ((int32_t*)block.values)[i] += 1000;
  }
  CHECK_OK(tessera_sparse_rows_end(&access));
  CHECK(access == NULL);
  CHECK_OK(tessera_sparse_sync(matrix));
  const int64_t lo[2] = {0, 0};
  const int64_t hi[2] = {1, 3};
  int64_t entries = 0;
  CHECK_OK(tessera_sparse_get(matrix, lo, hi, 1, starts, places, values, &entries));
  CHECK_EQUAL(entries, 1);
  CHECK_EQUAL(values[0], 1000);
  CHECK_OK(tessera_sparse_sync(matrix));
  free_sparse(matrix);
  starts[1] = -1;
  CHECK_ERROR(
      tessera_sparse_create(job, TESSERA_I32, 1, 3, starts, places, values, &options, &matrix),
      TESSERA_INVALID_ARGUMENT, "entries are not possible");
  CHECK_ERROR(
      tessera_sparse_create(job, TESSERA_I32, 1, 3, NULL, places, values, &options, &matrix),
      TESSERA_INVALID_ARGUMENT, "starts of rows is null");
  CHECK_ERROR(tessera_sparse_create(job, TESSERA_I8, 0, 3, NULL, NULL, NULL, &options, &matrix),
              TESSERA_INVALID_ARGUMENT, "sparse matrices do not support elements of type int8");
}

static void asking(void) {
  char text[200];
  int64_t number = 0;
  int64_t blocks[64];
  tessera_sparse_summary summary;
  tessera_team* same = NULL;
  tessera_distribution* of_rows = NULL;
  tessera_distribution* of_columns = NULL;
  tessera_sparse* const matrix = build(TESSERA_F64, "A");
  CHECK_OK(tessera_sparse_describe(matrix, text, sizeof text, NULL));
  CHECK_HAS(text, "sparse matrix 'A' (float64, 9 x 7, ");
  CHECK_OK(tessera_sparse_name(matrix, text, sizeof text, &number));
  CHECK_TEXT(text, "A");
  CHECK_OK(tessera_sparse_team(matrix, &same));
  CHECK_OK(tessera_team_size(same, &number));
  CHECK_EQUAL(number, members);
  CHECK_OK(tessera_sparse_row_distribution(matrix, &of_rows));
  CHECK_OK(tessera_distribution_shape(of_rows, NULL, &number, NULL));
  CHECK_EQUAL(number, rows);
  CHECK_OK(tessera_sparse_column_distribution(matrix, &of_columns));
  CHECK_OK(tessera_distribution_shape(of_columns, NULL, &number, NULL));
  CHECK_EQUAL(number, columns);
  CHECK_OK(tessera_sparse_column_blocks(matrix, 64, blocks, &number));
  CHECK(number <= members);
  for (int64_t i = 0; i < number; ++i) {
    CHECK(blocks[i] < members && (i == 0 || blocks[i - 1] < blocks[i]));
  }
  CHECK_OK(tessera_sparse_summarise(matrix, &summary));
  CHECK_EQUAL(summary.on_diagonal, columns);
  CHECK_EQUAL(summary.empty_rows, 0);
  CHECK_EQUAL(summary.below_diagonal, 8);
  CHECK_OK(tessera_sparse_summary_text(matrix, text, sizeof text, NULL));
  CHECK_HAS(text, "sparse matrix 'A'");
  CHECK_OK(tessera_distribution_free(&of_columns));
  CHECK_OK(tessera_distribution_free(&of_rows));
  CHECK_OK(tessera_team_free(&same));
  free_sparse(matrix);
}

/* The elements of a vector of any type. */
static tessera_array* vector_of(tessera_type type, int64_t length, DenseRule rule) {
  double complex values[64];
  for (int64_t i = 0; i < length; ++i) {
    write_number(type, values, i, rule(i, 0));
  }
  return make_vector_of(type, length, values);
}
static double complex factor(int64_t i, int64_t j) {
  (void)j;
  return (double)(i % 3 - 1) + (double)(i % 2) * I;
}
static void check_vector(const tessera_array* vector, tessera_type type, const Dense* expected) {
  double complex values[64];
  CHECK_OK(tessera_array_sync(vector));
  CHECK_OK(tessera_array_get(vector, NULL, NULL, values, NULL));
  for (int64_t i = 0; i < expected->rows * expected->columns; ++i) {
    CHECK(read_number(type, values, i) == expected->at[i]);
  }
  CHECK_OK(tessera_array_sync(vector));
}

static void diagonals_and_scaling(void) {
  for (int number = 0; number < scalar_types; ++number) {
    const tessera_type type = scalars[number];
    Dense expected = dense_of(type, rows, columns, entry);
    const Dense by_row = dense_of(type, rows, 1, factor);
    tessera_sparse* const matrix = build(type, "A");
    tessera_array* const row_factors = vector_of(type, rows, factor);
    tessera_array* const column_factors = vector_of(type, columns, factor);
    double complex two = 0;
    write_number(type, &two, 0, 2);
    CHECK_OK(tessera_sparse_scale_rows(matrix, row_factors));
    CHECK_OK(tessera_sparse_scale_columns(matrix, column_factors));
    CHECK_OK(tessera_sparse_scale(matrix, &two));
    CHECK_OK(tessera_sparse_shift_diagonal(matrix, &two));
    Dense diagonal = {columns, 1, {0}};
    Dense third = {rows, 1, {0}};
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        double complex* const one = &expected.at[i * columns + j];
        *one = *one * by_row.at[i] * by_row.at[j] * 2 + (i == j ? 2 : 0);
      }
      third.at[i] = expected.at[i * columns + 3];
    }
    for (int64_t j = 0; j < columns; ++j) {
      diagonal.at[j] = expected.at[j * columns + j];
    }
    check_is(matrix, &expected);
    CHECK_OK(tessera_sparse_get_diagonal(matrix, column_factors));
    check_vector(column_factors, type, &diagonal);
    CHECK_OK(tessera_sparse_get_column(matrix, 3, row_factors));
    check_vector(row_factors, type, &third);
    CHECK_ERROR(tessera_sparse_get_column(matrix, 7, row_factors), TESSERA_OUT_OF_RANGE,
                "there is no column 7");
    CHECK_ERROR(tessera_sparse_scale(matrix, NULL), TESSERA_INVALID_ARGUMENT, "number is null");
    release(column_factors);
    release(row_factors);
    free_sparse(matrix);
  }
}

static void dense_and_back(void) {
  for (int number = 0; number < scalar_types; ++number) {
    const tessera_type type = scalars[number];
    const Dense expected = dense_of(type, rows, columns, entry);
    const tessera_sparse_options options = team_options("from dense");
    tessera_array* const dense = spread(&expected, type, "D");
    tessera_sparse* matrix = NULL;
    tessera_sparse* turned = NULL;
    CHECK_OK(tessera_sparse_from_dense(dense, 0, &options, &matrix));
    check_is(matrix, &expected);
    CHECK_OK(tessera_sparse_transpose(matrix, &options, &turned));
    const Dense transposed = all_of(turned);
    for (int64_t place = 0; place < rows * columns; ++place) {
      CHECK(transposed.at[place % columns * rows + place / columns] == expected.at[place]);
    }
    CHECK_OK(tessera_array_zero(tessera_part_whole(dense)));
    CHECK_OK(tessera_sparse_to_dense(matrix, dense));
    const Dense back = collect(dense);
    CHECK_REAL(difference(&back, &expected), 0);
    free_sparse(turned);
    free_sparse(matrix);
    release(dense);
  }
}

static void products(void) {
  for (int number = 0; number < scalar_types; ++number) {
    const tessera_type type = scalars[number];
    const Dense a = dense_of(type, rows, columns, entry);
    const Dense right = dense_of(type, columns, 5, small_number);
    const Dense left = dense_of(type, 4, rows, small_number);
    const tessera_sparse_options options = team_options("transposed");
    tessera_sparse* const matrix = build(type, "A");
    tessera_sparse* turned = NULL;
    tessera_sparse* both = NULL;
    tessera_array* const b = spread(&right, type, "B");
    tessera_array* const l = spread(&left, type, "L");
    Dense expected = product(&a, TESSERA_PLAIN, &right, TESSERA_PLAIN);
    tessera_array* const c = spread(&expected, type, "C");
    CHECK_OK(tessera_array_zero(tessera_part_whole(c)));
    CHECK_OK(tessera_sparse_multiply_dense(matrix, b, c));
    Dense found = collect(c);
    CHECK_REAL(difference(&found, &expected), 0);
    expected = product(&left, TESSERA_PLAIN, &a, TESSERA_PLAIN);
    tessera_array* const d = spread(&expected, type, "D");
    CHECK_OK(tessera_array_zero(tessera_part_whole(d)));
    CHECK_OK(tessera_array_multiply_sparse(l, matrix, d));
    found = collect(d);
    CHECK_REAL(difference(&found, &expected), 0);
    CHECK_OK(tessera_sparse_transpose(matrix, &options, &turned));
    CHECK_OK(tessera_sparse_multiply(matrix, turned, "A A^T", &both));
    expected = product(&a, TESSERA_PLAIN, &a, TESSERA_TRANSPOSED);
    check_is(both, &expected);
    CHECK_ERROR(tessera_sparse_multiply(matrix, matrix, NULL, &both), TESSERA_INVALID_ARGUMENT,
                "sparse matrix 'A'");
    free_sparse(both);
    free_sparse(turned);
    release(d);
    release(c);
    release(l);
    release(b);
    free_sparse(matrix);
  }
}

/* The contents of the buckets: each row once, with one sign. */
static void sketches(void) {
  enum { buckets = 3 };
  tessera_sparse* const matrix = build(TESSERA_F64, "A");
  const Dense a = all_of(matrix);
  tessera_sparse* sketch = NULL;
  CHECK_OK(tessera_sparse_count_sketch(matrix, buckets, 5, 0, NULL, &sketch));
  const Dense found = all_of(sketch);
  CHECK_EQUAL(found.rows, buckets);
  for (int64_t j = 0; j < columns; ++j) {
    int64_t rest = 0;
    for (int64_t i = 0; i < rows; ++i) {
      rest += (int64_t)creal(a.at[i * columns + j]);
    }
    for (int64_t k = 0; k < buckets; ++k) {
      rest -= (int64_t)creal(found.at[k * columns + j]);
    }
    CHECK_EQUAL(rest % 2, 0);
  }
  free_sparse(sketch);
  CHECK_OK(tessera_sparse_count_sketch(matrix, buckets, 5, 1, NULL, &sketch));
  const Dense of_columns = all_of(sketch);
  CHECK_EQUAL(of_columns.columns, buckets);
  free_sparse(sketch);
  CHECK_ERROR(tessera_sparse_count_sketch(matrix, 0, 5, 0, NULL, &sketch), TESSERA_INVALID_ARGUMENT,
              "tessera_sparse_count_sketch");
  free_sparse(matrix);
}

static void with_vectors(void) {
  for (int number = 0; number < scalar_types; ++number) {
    const tessera_type type = scalars[number];
    const Dense a = dense_of(type, rows, columns, entry);
    const Dense in_x = dense_of(type, columns, 1, factor);
    const Dense in_y = dense_of(type, rows, 1, factor);
    tessera_sparse* const matrix = build(type, "A");
    tessera_array* const x = vector_of(type, columns, factor);
    tessera_array* const y = vector_of(type, rows, factor);
    const Dense y_expected = product(&a, TESSERA_PLAIN, &in_x, TESSERA_PLAIN);
    const Dense x_expected = product(&a, TESSERA_TRANSPOSED, &in_y, TESSERA_PLAIN);
    for (tessera_spmv_mode mode = TESSERA_SPMV_PLAIN; mode <= TESSERA_SPMV_PUSH; ++mode) {
      tessera_spmv* plan = NULL;
      tessera_spmv_options options;
      int64_t from_others = -1;
      int64_t shared = -1;
      int64_t without = -1;
      tessera_spmv_options_init(&options);
      options.mode = mode;
      options.through_network = mode == TESSERA_SPMV_AGGREGATE;
      options.neighbours_only = mode == TESSERA_SPMV_PUSH && number % 2 == 0;
      CHECK_OK(tessera_spmv_create(matrix, x, y, &options, &plan));
      CHECK_OK(tessera_spmv_reads(plan, &from_others, &shared, &without));
      CHECK(from_others >= 0 && from_others <= columns && shared <= from_others);
      CHECK(members > 1 || (from_others == 0 && without == rows));
      tessera_array* const fresh = vector_of(type, columns, factor);
      CHECK_OK(tessera_array_copy(tessera_part_whole(fresh), tessera_part_whole(x)));
      CHECK_OK(tessera_spmv_multiply(plan, matrix, x, y));
      CHECK_OK(tessera_array_sync(y)); /* for the one that returns early */
      check_vector(y, type, &y_expected);
      release(fresh);
      tessera_array* const old = vector_of(type, rows, factor);
      CHECK_OK(tessera_array_copy(tessera_part_whole(old), tessera_part_whole(y)));
      CHECK_OK(tessera_spmv_multiply_transposed(plan, matrix, y, x));
      check_vector(x, type, &x_expected);
      release(old);
      CHECK_OK(tessera_spmv_free(&plan));
      CHECK(plan == NULL);
    }
    release(y);
    release(x);
    free_sparse(matrix);
  }
}

/* y = 3 A x with integers that a double would round. */
static void whole_numbers(void) {
  enum { length = 12 };
  const int64_t large = ((int64_t)1 << 57) + 1;
  const int64_t three = 3;
  const int64_t extent = length;
  const tessera_sparse_options options = team_options("W");
  tessera_sparse_builder* builder = NULL;
  tessera_sparse* matrix = NULL;
  tessera_spmv* plan = NULL;
  tessera_array* const x = make_array(TESSERA_I64, 1, &extent, "x");
  tessera_array* const y = make_array(TESSERA_I64, 1, &extent, "y");
  CHECK_OK(tessera_sparse_builder_create(job, TESSERA_I64, length, length, &options, &builder));
  for (int64_t i = member; i < length; i += members) {
    CHECK_OK(tessera_sparse_builder_add(builder, i, length - 1 - i, &i));
  }
  CHECK_OK(tessera_sparse_builder_assemble(builder, &matrix));
  CHECK_OK(tessera_sparse_builder_free(&builder));
  CHECK_OK(tessera_sparse_scale(matrix, &three));
  CHECK_OK(tessera_array_fill(tessera_part_whole(x), &large));
  CHECK_OK(tessera_spmv_create(matrix, x, y, NULL, &plan));
  CHECK_OK(tessera_spmv_multiply(plan, matrix, x, y));
  for (int64_t i = 0; i < length; ++i) {
    uint64_t value = 0;
    CHECK_OK(tessera_array_get_element(y, &i, &value));
    CHECK(value == 3 * (uint64_t)i * (uint64_t)large);
  }
  CHECK_OK(tessera_array_sync(y));
  CHECK_OK(tessera_spmv_free(&plan));
  free_sparse(matrix);
  release(y);
  release(x);
}

static void mistakes(void) {
  tessera_sparse* const matrix = build(TESSERA_F64, "A");
  tessera_sparse* none = NULL;
  tessera_sparse_builder* builder = NULL;
  tessera_spmv* plan = NULL;
  tessera_sparse_options options = team_options("bad");
  tessera_array* const x = make_vector(columns, "x");
  tessera_array* const y = make_vector(rows, "y");
  const int32_t one = 1;
  tessera_array* const whole = make_vector_of(TESSERA_I32, 1, &one);
  CHECK_ERROR(tessera_spmv_create(matrix, y, x, NULL, &plan), TESSERA_INVALID_ARGUMENT, "vector x");
  CHECK_ERROR(tessera_spmv_create(matrix, x, whole, NULL, &plan), TESSERA_INVALID_ARGUMENT,
              "elements of different types");
  CHECK_ERROR(tessera_spmv_multiply(NULL, matrix, x, y), TESSERA_INVALID_ARGUMENT,
              "the plan of products is null");
  CHECK_ERROR(tessera_sparse_get_diagonal(matrix, whole), TESSERA_INVALID_ARGUMENT,
              "elements of different types");
  CHECK_ERROR(tessera_sparse_shape(NULL, NULL, NULL, NULL), TESSERA_INVALID_ARGUMENT,
              "the sparse matrix is null");
  CHECK_ERROR(tessera_sparse_transpose(matrix, NULL, NULL), TESSERA_INVALID_ARGUMENT,
              "matrix is null");
  options.balance = 5;
  CHECK_ERROR(tessera_sparse_builder_create(job, TESSERA_F64, 3, 3, &options, &builder),
              TESSERA_INVALID_ARGUMENT, "no balance of rows 5");
  options.balance = TESSERA_BALANCE_ROWS;
  CHECK_ERROR(tessera_sparse_builder_create(job, TESSERA_F64, -3, 3, &options, &builder),
              TESSERA_INVALID_ARGUMENT, "must not be negative");
  CHECK_ERROR(tessera_sparse_builder_create(job, TESSERA_U8, 3, 3, &options, &builder),
              TESSERA_INVALID_ARGUMENT, "sparse matrices do not support elements of type uint8");
  CHECK(builder == NULL && none == NULL && plan == NULL);
  /* An error of one member is reported to the others. */
  const int code = tessera_sparse_duplicate(matrix, "B", member == members - 1 ? NULL : &none);
  CHECK_EQUAL(code, TESSERA_INVALID_ARGUMENT);
  tessera_sparse* copy = matrix;
  CHECK_OK(tessera_sparse_free(&copy));
  CHECK_ERROR(tessera_sparse_sync(matrix), TESSERA_CLOSED, "the sparse matrix 'A' was freed");
  release(whole);
  release(y);
  release(x);
}

const Case sparse_cases[] = {{"building", building},
                             {"from_own_rows", from_own_rows},
                             {"asking", asking},
                             {"diagonals_and_scaling", diagonals_and_scaling},
                             {"dense_and_back", dense_and_back},
                             {"products", products},
                             {"sketches", sketches},
                             {"with_vectors", with_vectors},
                             {"whole_numbers", whole_numbers},
                             {"mistakes", mistakes},
                             {NULL, NULL}};
