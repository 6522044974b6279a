/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

static void knows_ranks_and_nodes(void) {
  int64_t rank = -1;
  int64_t size = -1;
  int64_t nodes = -1;
  CHECK_OK(tessera_job_rank(job, &rank));
  CHECK_OK(tessera_job_size(job, &size));
  CHECK_OK(tessera_job_node_count(job, &nodes));
  CHECK_EQUAL(rank, member);
  CHECK_EQUAL(size, members);
  const char* const setting = getenv("TESSERA_RANKS_PER_NODE");
  const int64_t per_node = setting == NULL ? size : strtol(setting, NULL, 10);
  CHECK_EQUAL(nodes, (size + per_node - 1) / per_node);
  for (int64_t other = 0; other < size; ++other) {
    int64_t node = -1;
    int shares = -1;
    int present = -1;
    CHECK_OK(tessera_job_node(job, other, &node));
    CHECK_OK(tessera_job_shares_node(job, other, &shares));
    CHECK_OK(tessera_job_is_present(job, other, &present));
    CHECK_EQUAL(node, other / per_node);
    CHECK_EQUAL(shares, other / per_node == rank / per_node);
    CHECK_EQUAL(present, 1);
  }
  CHECK_ERROR(tessera_job_node(job, size, &nodes), TESSERA_OUT_OF_RANGE,
              "tessera_job_node: there is no rank");
  CHECK_ERROR(tessera_job_rank(job, NULL), TESSERA_INVALID_ARGUMENT, "result is null");
}

static void gives_texts(void) {
  char name[20];
  char cut[3] = "xx";
  int64_t length = -1;
  CHECK_OK(tessera_job_transport(job, member, name, sizeof name, &length));
  CHECK_TEXT(name, "shm");
  CHECK_EQUAL(length, 3);
  CHECK_OK(tessera_job_transport(job, member, cut, sizeof cut, NULL));
  CHECK_TEXT(cut, "sh");
  CHECK_OK(tessera_job_transport(job, member, NULL, 0, &length));
  CHECK_EQUAL(length, 3);
  CHECK_OK(tessera_job_setting(job, "check_overlap", name, sizeof name, &length));
  CHECK_TEXT(name, "1");
  CHECK_ERROR(tessera_job_setting(job, "TESSERA_NONE", name, sizeof name, NULL),
              TESSERA_INVALID_ARGUMENT, "there is no setting 'TESSERA_NONE'");
  CHECK_ERROR(tessera_job_setting(job, "TESSERA_LOG", NULL, 4, NULL), TESSERA_INVALID_ARGUMENT,
              "text is null");
  CHECK_ERROR(tessera_job_setting(job, "TESSERA_LOG", name, -1, NULL), TESSERA_INVALID_ARGUMENT,
              "-1");
}

static void has_phases(void) {
  const char* const settings[2] = {"TESSERA_BOOTSTRAP=alone", "TESSERA_CHECK=races"};
  tessera_job* checked = NULL;
  CHECK_OK(tessera_job_start_with(2, settings, NULL, &checked));
  CHECK_ERROR(tessera_job_begin_phase(checked, NULL), TESSERA_INVALID_ARGUMENT,
              "tessera_job_begin_phase: a phase needs a name");
  CHECK_ERROR(tessera_job_end_phase(checked, "step"), TESSERA_INVALID_ARGUMENT,
              "tessera_job_end_phase: end of phase 'step': this thread is in no phase");
  CHECK_OK(tessera_job_begin_phase(checked, "step"));
  CHECK_OK(tessera_job_begin_phase(checked, "push"));
  CHECK_ERROR(tessera_job_end_phase(checked, "step"), TESSERA_INVALID_ARGUMENT,
              "end of phase 'step': the innermost phase of this thread is 'step/push'");
  CHECK_OK(tessera_job_end_phase(checked, "push"));
  CHECK_OK(tessera_job_end_phase(checked, NULL));
  CHECK_ERROR(tessera_job_end_phase(checked, NULL), TESSERA_INVALID_ARGUMENT, "in no phase");
  CHECK_OK(tessera_job_begin_phase(checked, "left open"));
  CHECK_OK(tessera_job_free(&checked));
  if (getenv("TESSERA_PROFILE") != NULL || getenv("TESSERA_CHECK") != NULL) {
    return;
  }
  /* Without a profile and without the check, nothing is recorded and compared. */
  CHECK_OK(tessera_job_start_with(1, settings, NULL, &checked));
  CHECK_OK(tessera_job_begin_phase(checked, "step"));
  CHECK_OK(tessera_job_end_phase(checked, "other"));
  CHECK_OK(tessera_job_free(&checked));
}

static void counts_its_traffic(void) {
  const int64_t right = (member + 1) % members;
  const double value = 5;
  int64_t before = 0;
  int64_t after = 0;
  int64_t all = 0;
  int64_t bytes_before = 0;
  int64_t bytes = 0;
  tessera_array* const array = make_vector(members, "counted");
  CHECK_OK(tessera_job_traffic_to(job, right, TESSERA_OP_PUT, &before, &bytes_before));
  CHECK_OK(tessera_array_put_element(array, &right, &value));
  CHECK_OK(tessera_job_traffic_to(job, right, TESSERA_OP_PUT, &after, &bytes));
  CHECK_OK(tessera_job_traffic(job, TESSERA_OP_PUT, &all, NULL));
  CHECK_EQUAL(after - before, 1);
  CHECK_EQUAL(bytes - bytes_before, sizeof value);
  CHECK(all >= after);
  CHECK_ERROR(tessera_job_traffic(job, 17, &all, NULL), TESSERA_INVALID_ARGUMENT,
              "no kind of operation 17");
  release(array);
}

static void waits_and_fences(void) {
  const int64_t right = (member + 1) % members;
  const double value = 7;
  double seen = 0;
  tessera_array* const array = make_vector(members, "fenced");
  tessera_handle* handle = NULL;
  CHECK_OK(tessera_array_put_async(array, &right, (int64_t[]){right + 1}, &value, NULL, &handle));
  CHECK_OK(tessera_handle_detach(&handle));
  CHECK(handle == NULL);
  CHECK_OK(tessera_job_wait_rank(job, right));
  CHECK_OK(tessera_job_wait_all(job));
  CHECK_OK(tessera_job_fence(job, right));
  CHECK_OK(tessera_job_fence_all(job));
  CHECK_OK(tessera_job_barrier(job));
  CHECK_OK(tessera_array_get_element(array, &member, &seen));
  CHECK_REAL(seen, value);
  CHECK_ERROR(tessera_job_fence(job, -1), TESSERA_OUT_OF_RANGE, "there is no rank -1");
  release(array);
}

static void gives_memory_of_the_node(void) {
  void* memory = NULL;
  CHECK_OK(tessera_job_allocate_local(job, 1000, &memory));
  CHECK(memory != NULL);
  for (int i = 0; i < 1000; ++i) {
    CHECK_EQUAL(((char*)memory)[i], 0);
  }
  CHECK_OK(tessera_job_free_local(job, memory));
  CHECK_ERROR(tessera_job_free_local(job, memory), TESSERA_INVALID_ARGUMENT,
              "tessera_job_free_local");
  CHECK_ERROR(tessera_job_allocate_local(job, -1, &memory), TESSERA_INVALID_ARGUMENT, "-1");
}

/* A separate job in the same process, and its handles after it was stopped. */
static void starts_alone(void) {
  tessera_job* alone = NULL;
  tessera_array* array = NULL;
  tessera_array* second = NULL;
  tessera_array* copy = NULL;
  int64_t size = 0;
  const int64_t extent = 10;
  double values[10];
  CHECK_OK(tessera_job_start_alone(&alone));
  CHECK_OK(tessera_job_size(alone, &size));
  CHECK_EQUAL(size, 1);
  CHECK_OK(tessera_array_create(alone, TESSERA_F64, 1, &extent, NULL, &array));
  CHECK_OK(tessera_array_create(alone, TESSERA_F64, 1, &extent, NULL, &second));
  copy = second;
  CHECK_OK(tessera_array_free(&second));
  CHECK(second == NULL);
  CHECK_ERROR(tessera_array_sync(copy), TESSERA_CLOSED, "the array 'unnamed' was freed");
  CHECK_OK(tessera_job_stop(alone));
  CHECK_OK(tessera_job_stop(alone));
  CHECK_ERROR(tessera_array_get(array, NULL, NULL, values, NULL), TESSERA_CLOSED, "stopped");
  CHECK_OK(tessera_job_free(&alone));
  CHECK(alone == NULL);
  CHECK_OK(tessera_job_free(&alone));
}

/* Handles of a stopped job can be freed, but not used. */
static void keeps_what_is_left(void) {
  tessera_job* alone = NULL;
  tessera_team* all = NULL;
  tessera_array* array = NULL;
  tessera_array* copy = NULL;
  tessera_sparse* matrix = NULL;
  tessera_locks* locks = NULL;
  tessera_counter* counter = NULL;
  tessera_mirrored* mirrored = NULL;
  tessera_access* access = NULL;
  tessera_local_block block;
  tessera_sparse_rows* rows = NULL;
  tessera_sparse_block own_rows;
  int64_t ndims = 0;
  const int64_t extents[2] = {4, 3};
  CHECK_OK(tessera_job_start_alone(&alone));
  CHECK_OK(tessera_team_world(alone, &all));
  CHECK_OK(tessera_array_create(alone, TESSERA_F64, 2, extents, NULL, &array));
  CHECK_OK(tessera_sparse_from_dense(array, 0, NULL, &matrix));
  CHECK_OK(tessera_locks_create(all, 1, &locks));
  CHECK_OK(tessera_counter_create(all, 0, &counter));
  CHECK_OK(tessera_mirrored_create(alone, TESSERA_F64, 2, extents, NULL, &mirrored));
  CHECK_OK(tessera_job_stop(alone));
  CHECK_OK(tessera_array_ndims(array, &ndims));
  CHECK_EQUAL(ndims, 2);
  CHECK_ERROR(tessera_access_begin(array, 0, &block, &access), TESSERA_CLOSED,
              "local access to array 'unnamed' (float64, 4 x 3): the job was stopped");
  CHECK(access == NULL);
  CHECK_ERROR(tessera_sparse_rows_begin(matrix, &own_rows, &rows), TESSERA_CLOSED,
              "the job was stopped");
  CHECK_ERROR(tessera_locks_lock(locks, 0, 0), TESSERA_CLOSED, "stopped");
  copy = array;
  CHECK_OK(tessera_array_free(&array));
  CHECK(array == NULL);
  CHECK_ERROR(tessera_array_free(&copy), TESSERA_CLOSED, "the array 'unnamed' was freed");
  CHECK_OK(tessera_sparse_free(&matrix));
  CHECK_OK(tessera_locks_free(&locks));
  CHECK_OK(tessera_counter_free(&counter));
  CHECK_OK(tessera_mirrored_free(&mirrored));
  CHECK_OK(tessera_team_free(&all));
  CHECK_OK(tessera_job_free(&alone));
}

/* Settings of the program override those of the environment, for this job only. */
static void starts_with_settings(void) {
  const char* const wanted[3] = {"TESSERA_BOOTSTRAP=alone", "TESSERA_TUNE=max_outstanding=77",
                                 "TESSERA_TUNE=check_overlap=0"};
  const char* const wrong[6] = {
      "TESSERA_NONE=1",       "TESSERA_LOG",       "TESSERA_TUNE=max_outstanding=many",
      "TESSERA_SERVER=never", "TESSERA_SPIN_NS=0", "TESSERA_TUNE=spin=0"};
  char text[20];
  int64_t size = 0;
  tessera_job* alone = NULL;
  CHECK_OK(tessera_job_start_with(3, wanted, NULL, &alone));
  CHECK_OK(tessera_job_size(alone, &size));
  CHECK_EQUAL(size, 1);
  CHECK_OK(tessera_job_setting(alone, "max_outstanding", text, sizeof text, NULL));
  CHECK_TEXT(text, "77");
  CHECK_OK(tessera_job_setting(alone, "check_overlap", text, sizeof text, NULL));
  CHECK_TEXT(text, "0");
  CHECK_OK(tessera_job_setting(job, "check_overlap", text, sizeof text, NULL));
  CHECK_TEXT(text, "1");
  CHECK_OK(tessera_job_free(&alone));
  CHECK_ERROR(tessera_job_start_with(1, &wrong[0], NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "tessera_job_start_with: there is no setting 'TESSERA_NONE'");
  CHECK_ERROR(tessera_job_start_with(1, &wrong[1], NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "the setting 'TESSERA_LOG' has no value");
  CHECK_HAS(tessera_last_error(), "hint: write settings as NAME=value");
  CHECK_ERROR(tessera_job_start_with(1, &wrong[2], NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "TESSERA_TUNE=max_outstanding");
  CHECK_HAS(tessera_last_error(), "many");
  CHECK_ERROR(tessera_job_start_with(1, &wrong[3], NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "block, poll or adaptive");
  CHECK_ERROR(tessera_job_start_with(1, &wrong[4], NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "there is no setting 'TESSERA_SPIN_NS'");
  CHECK_HAS(tessera_last_error(), "hint: did you mean TESSERA_TUNE=spin_ns=...?");
  CHECK_ERROR(tessera_job_start_with(1, &wrong[5], NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "there is no setting 'spin'; did you mean TESSERA_TUNE=spin_ns?");
  CHECK_ERROR(tessera_job_start_with(1, NULL, NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "settings is null");
  CHECK_ERROR(tessera_job_start_with(-1, wanted, NULL, &alone), TESSERA_INVALID_ARGUMENT,
              "-1 settings are not possible");
  CHECK_ERROR(tessera_job_start_with(3, wanted, NULL, NULL), TESSERA_INVALID_ARGUMENT,
              "job is null");
  CHECK(alone == NULL);
}

/* At most what the machine has, and more than nothing. */
static void knows_what_memory_is_left(void) {
  int64_t bytes = -1;
  CHECK_OK(tessera_memory_available(&bytes));
  CHECK(bytes > 0);
  CHECK(bytes <= (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  CHECK_ERROR(tessera_memory_available(NULL), TESSERA_INVALID_ARGUMENT, "result is null");
}

static void knows_what_memory_is_in_use(void) {
  const int64_t extents[2] = {members, 1000};
  tessera_array_options options;
  tessera_array* array = NULL;
  int64_t before = -1;
  int64_t after = -1;
  int64_t length = 0;
  char text[4096];
  tessera_array_options_init(&options);
  options.team = team;
  options.name = "rows of a thousand";
  options.process_grid = (int64_t[]){members, 1};
  CHECK_OK(tessera_job_memory_in_use(job, &before));
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array));
  CHECK_OK(tessera_job_memory_in_use(job, &after));
  CHECK_EQUAL(after - before, 8000);
  CHECK_OK(tessera_job_regions(job, text, sizeof text, &length));
  CHECK(strstr(text, "rows of a thousand") != NULL);
  CHECK_EQUAL(length, (int64_t)strlen(text));
  release(array);
  CHECK_OK(tessera_job_regions(job, text, sizeof text, NULL));
  CHECK(strstr(text, "rows of a thousand") == NULL);
  CHECK_OK(tessera_job_memory_in_use(job, &after));
  CHECK_EQUAL(after, before);
  CHECK_ERROR(tessera_job_memory_in_use(job, NULL), TESSERA_INVALID_ARGUMENT, "result is null");
}

static void names_codes_and_types(void) {
  int64_t bytes = 0;
  CHECK_TEXT(tessera_error_name(TESSERA_OK), "ok");
  CHECK_TEXT(tessera_error_name(TESSERA_PEER_LOST), "peer_lost");
  CHECK_TEXT(tessera_error_name(TESSERA_INTERNAL), "internal");
  CHECK_TEXT(tessera_error_name(12), "unknown");
  CHECK_TEXT(tessera_error_name(-1), "unknown");
  CHECK_TEXT(tessera_version(), "0.1.0");
  CHECK_OK(tessera_type_bytes(TESSERA_C128, &bytes));
  CHECK_EQUAL(bytes, 16);
  CHECK_OK(tessera_type_bytes(tessera_type_opaque(24), &bytes));
  CHECK_EQUAL(bytes, 24);
  CHECK_ERROR(tessera_type_bytes(12, &bytes), TESSERA_INVALID_ARGUMENT, "no element type 12");
  CHECK_ERROR(tessera_type_bytes(tessera_type_opaque(0), &bytes), TESSERA_INVALID_ARGUMENT,
              "at least one byte");
  CHECK_EQUAL(tessera_last_error_rank(), -1);
}

const Case job_cases[] = {{"knows_ranks_and_nodes", knows_ranks_and_nodes},
                          {"gives_texts", gives_texts},
                          {"has_phases", has_phases},
                          {"counts_its_traffic", counts_its_traffic},
                          {"waits_and_fences", waits_and_fences},
                          {"gives_memory_of_the_node", gives_memory_of_the_node},
                          {"starts_alone", starts_alone},
                          {"keeps_what_is_left", keeps_what_is_left},
                          {"starts_with_settings", starts_with_settings},
                          {"knows_what_memory_is_left", knows_what_memory_is_left},
                          {"knows_what_memory_is_in_use", knows_what_memory_is_in_use},
                          {"names_codes_and_types", names_codes_and_types},
                          {NULL, NULL}};
