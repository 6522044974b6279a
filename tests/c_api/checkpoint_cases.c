/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

/* A path for the team, and whether this build has checkpoints at all. */
static int path_for(char path[], int64_t capacity) {
  tessera_checkpoint* file = NULL;
  int64_t number = (int64_t)getpid();
  CHECK_OK(tessera_team_broadcast(team, &number, (int64_t)sizeof number, 0));
  snprintf(path, (size_t)capacity, "/tmp/tessera-c-api-%lld.h5", (long long)number);
  unlink(path);
  CHECK_OK(tessera_team_barrier(team));
  const int code = tessera_checkpoint_open(job, team, path, &file);
  CHECK(code != TESSERA_OK);
  CHECK(file == NULL);
  if (code == TESSERA_UNSUPPORTED) {
    CHECK_HAS(tessera_last_error(), "this library was built without HDF5");
  } else {
    CHECK_HAS(tessera_last_error(), path);
  }
  return code != TESSERA_UNSUPPORTED;
}

static void without_hdf5(const char* path) {
  tessera_checkpoint_writer* writer = NULL;
  CHECK_ERROR(tessera_checkpoint_writer_create(job, team, path, NULL, &writer), TESSERA_UNSUPPORTED,
              "this library was built without HDF5");
  CHECK(writer == NULL);
}

static void write_file(const char* path, const tessera_array* a, const tessera_array* opaque) {
  tessera_checkpoint_writer* writer = NULL;
  tessera_checkpoint_options options;
  tessera_checkpoint_options_init(&options);
  options.piece_bytes = 100;
  CHECK_OK(tessera_checkpoint_writer_create(job, team, path, &options, &writer));
  CHECK_OK(tessera_checkpoint_writer_add(writer, a, NULL));
  CHECK_OK(tessera_checkpoint_writer_add(writer, opaque, "bytes"));
  CHECK_OK(tessera_checkpoint_writer_add_integer(writer, "step", 12));
  CHECK_OK(tessera_checkpoint_writer_add_real(writer, "time", 0.375));
  CHECK_OK(tessera_checkpoint_writer_add_text(writer, "code", "heat"));
  CHECK_ERROR(tessera_checkpoint_writer_add(writer, a, "A"), TESSERA_INVALID_ARGUMENT, "'A'");
  CHECK_ERROR(tessera_checkpoint_writer_add(writer, NULL, "B"), TESSERA_INVALID_ARGUMENT,
              "the array is null");
  CHECK_ERROR(tessera_checkpoint_writer_add_text(writer, "x", NULL), TESSERA_INVALID_ARGUMENT,
              "text is null");
  CHECK_OK(tessera_checkpoint_writer_commit(writer));
  CHECK_OK(tessera_checkpoint_writer_free(&writer));
  CHECK(writer == NULL);
}

static void check_contents(const tessera_checkpoint* file) {
  char text[100];
  int64_t number = 0;
  int64_t extents[TESSERA_MAX_DIMS] = {0};
  double real = 0;
  int has_checksums = 0;
  tessera_type type = -1;
  tessera_distribution* distribution = NULL;
  CHECK_OK(tessera_checkpoint_array_count(file, &number));
  CHECK_EQUAL(number, 2);
  CHECK_OK(tessera_checkpoint_array_name(file, 1, text, sizeof text, NULL));
  CHECK(strcmp(text, "A") == 0 || strcmp(text, "bytes") == 0);
  CHECK_OK(tessera_checkpoint_attribute_count(file, &number));
  CHECK_EQUAL(number, 3);
  CHECK_OK(tessera_checkpoint_attribute_name(file, 0, text, sizeof text, &number));
  CHECK_EQUAL(number, 4);
  CHECK_OK(tessera_checkpoint_array_info(file, "A", &type, &number, extents, &has_checksums));
  CHECK_EQUAL(type, TESSERA_F64);
  CHECK_EQUAL(number, 2);
  CHECK_EQUAL(extents[0] * 100 + extents[1], 907);
  CHECK_EQUAL(has_checksums, 1);
  CHECK_OK(tessera_checkpoint_array_info(file, "bytes", &type, &number, extents, &has_checksums));
  CHECK_EQUAL(type, tessera_type_opaque(3));
  CHECK_OK(tessera_checkpoint_type_name(file, "A", text, sizeof text, NULL));
  CHECK_TEXT(text, "float64");
  CHECK_OK(tessera_checkpoint_distribution(file, "A", &distribution));
  CHECK_OK(tessera_distribution_shape(distribution, NULL, extents, &number));
  CHECK_EQUAL(number, members);
  CHECK_OK(tessera_distribution_free(&distribution));
  CHECK_OK(tessera_checkpoint_integer(file, "step", &number));
  CHECK_EQUAL(number, 12);
  CHECK_OK(tessera_checkpoint_real(file, "time", &real));
  CHECK_REAL(real, 0.375);
  CHECK_OK(tessera_checkpoint_text(file, "code", text, sizeof text, NULL));
  CHECK_TEXT(text, "heat");
}

static void check_arrays(const tessera_checkpoint* file, const void* bytes) {
  const int64_t extents[2] = {9, 7};
  const int64_t block[2] = {2, 3};
  char found[5][3] = {{0}};
  tessera_distribution* cyclic = NULL;
  tessera_array* array = NULL;
  CHECK_OK(tessera_checkpoint_read(file, "A", NULL, &array));
  CHECK_ALL(array, by_index);
  release(array);
  CHECK_OK(tessera_distribution_block_cyclic(job, members, 2, extents, block, NULL, &cyclic));
  CHECK_OK(tessera_checkpoint_read(file, "A", cyclic, &array));
  CHECK_ALL(array, by_index);
  CHECK_OK(tessera_array_zero(tessera_part_whole(array)));
  CHECK_OK(tessera_checkpoint_read_into(file, "A", array));
  CHECK_ALL(array, by_index);
  release(array);
  CHECK_OK(tessera_distribution_free(&cyclic));
  CHECK_OK(tessera_checkpoint_read(file, "bytes", NULL, &array));
  CHECK_OK(tessera_array_get(array, NULL, NULL, found, NULL));
  CHECK(memcmp(found, bytes, sizeof found) == 0);
  CHECK_ERROR(tessera_checkpoint_read_into(file, "A", array), TESSERA_INVALID_ARGUMENT,
              "it holds float64");
  release(array);
  CHECK_OK(tessera_checkpoint_verify(file, "A"));
}

static void check_errors(const tessera_checkpoint* file) {
  int64_t number = 7;
  double real = 0;
  char text[9];
  tessera_array* array = NULL;
  CHECK_ERROR(tessera_checkpoint_read(file, "B", NULL, &array), TESSERA_INVALID_ARGUMENT,
              "there is no array 'B'");
  CHECK(array == NULL);
  CHECK_ERROR(tessera_checkpoint_read(file, NULL, NULL, &array), TESSERA_INVALID_ARGUMENT,
              "array's name is null");
  CHECK_ERROR(tessera_checkpoint_verify(file, "B"), TESSERA_INVALID_ARGUMENT, "no array 'B'");
  CHECK_ERROR(tessera_checkpoint_integer(file, "time", &number), TESSERA_INVALID_ARGUMENT,
              "is a floating-point number");
  CHECK_EQUAL(number, 7);
  CHECK_ERROR(tessera_checkpoint_real(file, "nothing", &real), TESSERA_INVALID_ARGUMENT,
              "there is no attribute 'nothing'");
  CHECK_ERROR(tessera_checkpoint_text(file, "step", text, sizeof text, NULL),
              TESSERA_INVALID_ARGUMENT, "is a whole number");
  CHECK_ERROR(tessera_checkpoint_array_name(file, 2, text, sizeof text, NULL), TESSERA_OUT_OF_RANGE,
              "there is no array 2");
}

static void write_and_read(void) {
  char path[100];
  char bytes[5][3];
  const int64_t length = 5;
  tessera_checkpoint* file = NULL;
  if (!path_for(path, sizeof path)) {
    without_hdf5(path);
    return;
  }
  for (int i = 0; i < 5; ++i) {
    memset(bytes[i], 'a' + i, 3);
  }
  tessera_array* const a = make_matrix(9, 7, "A");
  tessera_array* const opaque = make_array(tessera_type_opaque(3), 1, &length, "O");
  set_all(a, by_index);
  if (member == 0) {
    CHECK_OK(tessera_array_put(opaque, NULL, NULL, bytes, NULL));
  }
  CHECK_OK(tessera_array_sync(opaque));
  write_file(path, a, opaque);
  CHECK_OK(tessera_checkpoint_open(job, team, path, &file));
  check_contents(file);
  check_arrays(file, bytes);
  check_errors(file);
  CHECK_OK(tessera_checkpoint_free(&file));
  CHECK_OK(tessera_team_barrier(team));
  if (member == 0) {
    unlink(path);
  }
  release(opaque);
  release(a);
}

/* Sums of the elements of a stored box [lo, hi), read into all of a new n x m array. */
static void check_stored_part(const tessera_checkpoint* file, const char* name, const int64_t lo[],
                              const int64_t hi[], int64_t n, int64_t m, double first, double last) {
  double found[100] = {0};
  tessera_array* const into = make_matrix(n, m, "into");
  CHECK_OK(tessera_checkpoint_read_part(file, name, lo, hi, tessera_part_whole(into)));
  CHECK_OK(tessera_array_get(into, NULL, NULL, found, NULL));
  CHECK_REAL(found[0], first);
  CHECK_REAL(found[n * m - 1], last);
  CHECK_OK(tessera_array_sync(into));
  release(into);
}

static void write_output(const char* path, const tessera_array* a) {
  const int64_t lo[2] = {1, 0};
  const int64_t hi[2] = {9, 6};
  const int64_t every[2] = {2, 3};
  const int64_t chunk[2] = {2, 2};
  const double numbers[2] = {1.5, 2.5};
  const double half = 0.5;
  const int32_t twelve = 12;
  int64_t steps = 0;
  tessera_output* output = NULL;
  tessera_dataset_options options;
  tessera_dataset_options_init(&options);
  CHECK_OK(tessera_output_open(job, team, path, TESSERA_OUTPUT_CREATE, &output));
  CHECK_OK(tessera_output_set_grid(output, 2, numbers, numbers, NULL));
  CHECK_OK(tessera_output_write(output, a, NULL, NULL, "whole", NULL));
  options.steps = every;
  options.compression = 3;
  CHECK_OK(tessera_output_write(output, a, lo, hi, "fields/part", &options));
  options.steps = NULL;
  options.chunk = chunk;
  options.has_time = 1;
  for (int step = 0; step < 3; ++step) {
    options.time = 0.25 * step;
    CHECK_OK(tessera_output_append(output, a, lo, hi, "fields/steps", &options));
  }
  CHECK_OK(tessera_output_steps(output, "fields/steps", &steps));
  CHECK_EQUAL(steps, 3);
  CHECK_OK(tessera_output_create_group(output, "empty"));
  CHECK_OK(tessera_output_set_number(output, "fields/part", "n", TESSERA_I32, &twelve));
  CHECK_OK(tessera_output_set_number(output, "/", "half", TESSERA_F64, &half));
  CHECK_OK(tessera_output_set_truth(output, "empty", "yes", 1));
  CHECK_OK(tessera_output_set_text(output, "fields", "unit", "K"));
  CHECK_OK(tessera_output_set_reals(output, "/", "numbers", 2, numbers));
  CHECK_OK(tessera_output_flush(output));
  CHECK_ERROR(tessera_output_write(output, a, NULL, NULL, "whole", NULL), TESSERA_INVALID_ARGUMENT,
              "the name 'whole' is already in use");
  CHECK_ERROR(tessera_output_write(output, NULL, NULL, NULL, "x", NULL), TESSERA_INVALID_ARGUMENT,
              "the array is null");
  CHECK_ERROR(tessera_output_write(output, a, lo, hi, NULL, NULL), TESSERA_INVALID_ARGUMENT,
              "data set's name is null");
  CHECK_ERROR(tessera_output_set_number(output, "/", "x", 99, &half), TESSERA_INVALID_ARGUMENT,
              "99");
  CHECK_ERROR(tessera_output_set_grid(output, 4, numbers, numbers, NULL), TESSERA_INVALID_ARGUMENT,
              "4 dimensions; 1 to 3 are possible");
  CHECK_OK(tessera_output_close(output));
  CHECK_OK(tessera_output_free(&output));
  CHECK(output == NULL);
  /* What is not flushed is discarded. */
  CHECK_OK(tessera_output_open(job, team, path, TESSERA_OUTPUT_APPEND, &output));
  CHECK_OK(tessera_output_write(output, a, lo, hi, "discarded", NULL));
  CHECK_OK(tessera_output_free(&output));
  CHECK_ERROR(tessera_output_open(job, team, path, TESSERA_OUTPUT_CREATE, &output),
              TESSERA_INVALID_ARGUMENT, "already exists");
  CHECK_ERROR(tessera_output_open(job, team, path, 3, &output), TESSERA_INVALID_ARGUMENT, "mode");
}

static void check_output(const tessera_checkpoint* file) {
  const int64_t step_lo[3] = {2, 0, 0};
  const int64_t step_hi[3] = {3, 8, 6};
  const int64_t first[2] = {1, 0};
  const int64_t last[2] = {8, 3};
  char text[9];
  int8_t small = 0;
  int truth = 0;
  double real = 0;
  check_stored_part(file, "fields/part", NULL, NULL, 4, 2, by_index(1, 0), by_index(7, 3));
  check_stored_part(file, "fields/steps", step_lo, step_hi, 8, 6, by_index(1, 0), by_index(8, 5));
  check_stored_part(file, "whole", first, last, 7, 3, by_index(1, 0), by_index(7, 2));
  CHECK_OK(tessera_checkpoint_number_of(file, "fields/part", "n", TESSERA_I8, &small));
  CHECK_EQUAL(small, 12);
  CHECK_OK(tessera_checkpoint_number_of(file, "/", "half", TESSERA_F64, &real));
  CHECK_REAL(real, 0.5);
  CHECK_OK(tessera_checkpoint_truth_of(file, "empty", "yes", &truth));
  CHECK_EQUAL(truth, 1);
  CHECK_OK(tessera_checkpoint_text_of(file, "fields", "unit", text, sizeof text, NULL));
  CHECK_TEXT(text, "K");
  CHECK_ERROR(tessera_checkpoint_number_of(file, "/", "half", TESSERA_I32, &small),
              TESSERA_INVALID_ARGUMENT, "is a floating-point number, not a whole number");
  CHECK_ERROR(tessera_checkpoint_text_of(file, "none", "unit", text, sizeof text, NULL),
              TESSERA_INVALID_ARGUMENT, "no array or group 'none'");
}

static void outputs(void) {
  char path[100];
  char xdmf[110];
  tessera_checkpoint* file = NULL;
  if (!path_for(path, sizeof path)) {
    tessera_output* output = NULL;
    CHECK_ERROR(tessera_output_open(job, team, path, TESSERA_OUTPUT_CREATE, &output),
                TESSERA_UNSUPPORTED, "this library was built without HDF5");
    return;
  }
  tessera_array* const a = make_matrix(9, 7, "A");
  set_all(a, by_index);
  write_output(path, a);
  CHECK_OK(tessera_checkpoint_open(job, team, path, &file));
  check_output(file);
  CHECK_OK(tessera_checkpoint_free(&file));
  CHECK_OK(tessera_team_barrier(team));
  if (member == 0) {
    snprintf(xdmf, sizeof xdmf, "%.*s.xdmf", (int)strlen(path) - 3, path);
    CHECK(unlink(xdmf) == 0);
    unlink(path);
  }
  release(a);
}

/* The bytes of a file, of which there are fewer than `capacity`; their number. */
static size_t read_bytes(const char* path, char bytes[], size_t capacity) {
  FILE* const file = fopen(path, "rb");
  if (!CHECK(file != NULL)) {
    return 0;
  }
  const size_t count = fread(bytes, 1, capacity, file);
  CHECK(count < capacity);
  fclose(file);
  return count;
}

static void write_bytes(const char* path, const char bytes[], size_t count) {
  FILE* const file = fopen(path, "wb");
  if (CHECK(file != NULL)) {
    CHECK_EQUAL(fwrite(bytes, 1, count, file), count);
    fclose(file);
  }
}

/* The position of these bytes in a file. */
static size_t find_bytes(const char bytes[], size_t count, const void* wanted, size_t size) {
  size_t place = 0;
  while (place + size <= count && memcmp(bytes + place, wanted, size) != 0) {
    ++place;
  }
  CHECK(place + size <= count);
  return place;
}

/* A file of pieces of 100 bytes with a changed byte in element (4, 4); then its first half. */
static void damaged_files(void) {
  char path[100];
  static char bytes[1 << 20];
  size_t count = 0;
  const double value = by_index(4, 4);
  tessera_checkpoint* file = NULL;
  tessera_array* none = NULL;
  if (!path_for(path, sizeof path)) {
    return;
  }
  tessera_array* const a = make_matrix(9, 7, "A");
  set_all(a, by_index);
  write_file(path, a, a);
  if (member == 0) {
    count = read_bytes(path, bytes, sizeof bytes);
    bytes[find_bytes(bytes, count, &value, sizeof value)] ^= 1;
    write_bytes(path, bytes, count);
  }
  CHECK_OK(tessera_team_barrier(team));
  CHECK_OK(tessera_checkpoint_open(job, team, path, &file));
  CHECK_ERROR(tessera_checkpoint_read(file, "A", NULL, &none), TESSERA_PROTOCOL,
              "array 'A' of checkpoint");
  CHECK_HAS(tessera_last_error(), path);
  CHECK_HAS(tessera_last_error(), "piece 3 of 6");
  CHECK_HAS(tessera_last_error(), "is damaged: its checksum differs");
  CHECK(none == NULL);
  CHECK_ERROR(tessera_checkpoint_verify(file, "A"), TESSERA_PROTOCOL, "its checksum differs");
  CHECK_OK(tessera_checkpoint_free(&file));
  CHECK_OK(tessera_team_barrier(team));
  if (member == 0) {
    write_bytes(path, bytes, count / 2);
  }
  CHECK_OK(tessera_team_barrier(team));
  CHECK_ERROR(tessera_checkpoint_open(job, team, path, &file), TESSERA_PROTOCOL,
              "can't be read as HDF5");
  CHECK_HAS(tessera_last_error(), path);
  CHECK_HAS(tessera_last_error(), "hint: it is damaged, truncated, or not an HDF5 file");
  CHECK(file == NULL);
  CHECK_OK(tessera_team_barrier(team));
  if (member == 0) {
    unlink(path);
  }
  release(a);
}

/* A writer that does not commit leaves no file. */
static void give_up(void) {
  char path[100];
  tessera_checkpoint_writer* writer = NULL;
  if (!path_for(path, sizeof path)) {
    return;
  }
  CHECK_OK(tessera_checkpoint_writer_create(job, team, path, NULL, &writer));
  CHECK_OK(tessera_checkpoint_writer_free(&writer));
  CHECK_OK(tessera_checkpoint_writer_free(&writer));
  CHECK(access(path, F_OK) != 0);
  CHECK_ERROR(tessera_checkpoint_writer_create(job, team, NULL, NULL, &writer),
              TESSERA_INVALID_ARGUMENT, "path is null");
  CHECK_ERROR(tessera_checkpoint_writer_create(job, team, "/no/such/folder/x.h5", NULL, &writer),
              TESSERA_INVALID_ARGUMENT, "/no/such/folder");
  CHECK_ERROR(tessera_checkpoint_writer_commit(NULL), TESSERA_INVALID_ARGUMENT,
              "the writer of a checkpoint is null");
}

const Case checkpoint_cases[] = {{"write_and_read", write_and_read},
                                 {"damaged_files", damaged_files},
                                 {"give_up", give_up},
                                 {"outputs", outputs},
                                 {NULL, NULL}};
