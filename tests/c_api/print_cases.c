/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

/* What is in a file from its beginning. */
static void read_text(FILE* file, char* text, size_t capacity) {
  rewind(file);
  text[fread(text, 1, capacity - 1, file)] = '\0';
}

static void writes_to_a_file(void) {
  tessera_array* const array = make_matrix(2, 3, "A");
  const int64_t lo[2] = {1, 0};
  const int64_t hi[2] = {2, 2};
  tessera_print_options options;
  FILE* const file = tmpfile();
  char text[400];
  set_all(array, by_index);
  tessera_print_options_init(&options);
  options.root = members - 1;
  CHECK_OK(tessera_array_print(tessera_part_whole(array), file, &options));
  read_text(file, text, sizeof text);
  if (member == members - 1) {
    CHECK_HAS(text, "array 'A' (float64, 2 x 3)\n");
    CHECK_HAS(text, " 101 ");
    CHECK_HAS(text, " 103\n");
  } else {
    CHECK_TEXT(text, "");
  }
  CHECK_OK(tessera_array_print(tessera_part_box(array, lo, hi), file, NULL));
  read_text(file, text, sizeof text);
  if (member == 0) {
    CHECK_HAS(text, "the elements [1,2) x [0,2)\n");
  }
  options.digits = 0;
  CHECK_ERROR(tessera_array_print(tessera_part_whole(array), file, &options),
              TESSERA_INVALID_ARGUMENT, "1 to 17 digits");
  options.digits = -1;
  CHECK_ERROR(tessera_array_print(tessera_part_whole(array), file, &options),
              TESSERA_INVALID_ARGUMENT, "digits are -1");
  fclose(file);
  release(array);
}

static void writes_to_a_path(void) {
  tessera_array* const array = make_vector(3, "v");
  char path[] = "/tmp/tessera_print_XXXXXX";
  char text[200];
  const int descriptor = mkstemp(path);
  FILE* const file = fdopen(descriptor, "r");
  set_all(array, by_index);
  CHECK_OK(tessera_array_print_to(tessera_part_whole(array), path, NULL));
  read_text(file, text, sizeof text);
  if (member == 0) {
    CHECK_HAS(text, "array 'v' (float64, 3)\n");
  }
  fclose(file);
  unlink(path);
  CHECK_ERROR(tessera_array_print_to(tessera_part_whole(array), "/no/such/folder/file", NULL),
              TESSERA_INVALID_ARGUMENT, "'/no/such/folder/file' can't be written");
  CHECK_ERROR(tessera_array_print_to(tessera_part_whole(array), member == 0 ? NULL : path, NULL),
              TESSERA_INVALID_ARGUMENT, "path is null");
  release(array);
}

const Case print_cases[] = {
    {"writes_to_a_file", writes_to_a_file}, {"writes_to_a_path", writes_to_a_path}, {NULL, NULL}};
