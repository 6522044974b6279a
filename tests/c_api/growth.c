/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: test_c_api_growth [COUNT]
 *
 * Makes and frees COUNT handles of each kind, and checks that this takes no memory: less than a
 * byte for each, and 16 KiB. Copies of handles that were freed long ago still give the error
 * `closed`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fortran/c/tessera.h"
#include "tests/support/heap.h"

static tessera_job* job = NULL;
static tessera_team* world = NULL;
static tessera_array* field = NULL; /* 8 x 6, with ghost cells */
static tessera_array* x = NULL;     /* vectors, for products */
static tessera_array* y = NULL;
static char path[64];
static long long failures = 0;

static void check(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "test_c_api_growth: not so: %s; the last error: %s\n", what,
            tessera_last_error());
    ++failures;
  }
}
#define CHECK_OK(call) check((call) == TESSERA_OK, #call)

/* Each makes one object and frees it, and returns a copy of its handle. */

static void* split_team(int64_t number) {
  tessera_team* part = NULL;
  CHECK_OK(tessera_team_split(world, 0, number % 2, &part));
  void* const copy = part;
  CHECK_OK(tessera_team_free(&part));
  return copy;
}
static int use_team(void* team) {
  return tessera_team_barrier(team);
}

static void* make_team(int64_t number) {
  tessera_team* team = NULL;
  const int64_t ranks[1] = {0};
  int64_t rank = 0;
  CHECK_OK(tessera_job_rank(job, &rank));
  if (rank == 0 && number % 2 == 0) {
    CHECK_OK(tessera_team_create(job, 1, ranks, &team));
  } else {
    CHECK_OK(tessera_team_world(job, &team));
  }
  void* const copy = team;
  CHECK_OK(tessera_team_free(&team));
  return copy;
}

static void* make_distribution(int64_t number) {
  tessera_distribution* parts = NULL;
  const int64_t extents[2] = {number % 100 + 1, 7};
  CHECK_OK(tessera_distribution_regular(job, 3, 2, extents, NULL, &parts));
  void* const copy = parts;
  CHECK_OK(tessera_distribution_free(&parts));
  return copy;
}
static int use_distribution(void* distribution) {
  int64_t count = 0;
  return tessera_distribution_block_count(distribution, 0, &count);
}

static void* make_array(int64_t number) {
  tessera_array* array = NULL;
  const int64_t extents[2] = {number % 10 + 1, 7};
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &array));
  void* const copy = array;
  CHECK_OK(tessera_array_free(&array));
  return copy;
}
static void* duplicate_array(int64_t number) {
  tessera_array* array = NULL;
  CHECK_OK(tessera_array_duplicate(field, number % 2 == 0 ? "even" : "odd", &array));
  void* const copy = array;
  CHECK_OK(tessera_array_free(&array));
  return copy;
}
static int use_array(void* array) {
  return tessera_array_sync(array);
}

static void* ask_array(int64_t number) {
  tessera_distribution* parts = NULL;
  tessera_team* team = NULL;
  CHECK_OK(tessera_array_distribution(field, &parts));
  CHECK_OK(tessera_array_team(field, &team));
  void* const copy = team;
  CHECK_OK(tessera_team_free(&team));
  CHECK_OK(tessera_distribution_free(&parts));
  (void)number;
  return copy;
}

static void* access_array(int64_t number) {
  tessera_access* access = NULL;
  tessera_local_block block;
  CHECK_OK(tessera_access_begin(field, 0, &block, &access));
  void* const copy = access;
  CHECK_OK(tessera_access_end(&access));
  (void)number;
  return copy;
}
static int use_access(void* access) {
  tessera_access* place = access;
  return tessera_access_end(&place);
}

static void* make_halo(int64_t number) {
  tessera_halo* halo = NULL;
  CHECK_OK(tessera_halo_create(field, NULL, &halo));
  if (number % 10 == 0) {
    CHECK_OK(tessera_halo_update(halo));
  }
  void* const copy = halo;
  CHECK_OK(tessera_halo_free(&halo));
  return copy;
}
static int use_halo(void* halo) {
  return tessera_halo_update(halo);
}

static void* make_locks(int64_t number) {
  tessera_locks* locks = NULL;
  CHECK_OK(tessera_locks_create(world, 1 + number % 3, &locks));
  void* const copy = locks;
  CHECK_OK(tessera_locks_free(&locks));
  return copy;
}
static int use_locks(void* locks) {
  return tessera_locks_lock(locks, 0, 0);
}

static void* make_counter(int64_t number) {
  tessera_counter* counter = NULL;
  int64_t value = 0;
  CHECK_OK(tessera_counter_create(world, 0, &counter));
  CHECK_OK(tessera_counter_next(counter, 1, &value));
  void* const copy = counter;
  CHECK_OK(tessera_counter_free(&counter));
  (void)number;
  return copy;
}
static int use_counter(void* counter) {
  int64_t value = 0;
  return tessera_counter_next(counter, 1, &value);
}

static void* make_mirrored(int64_t number) {
  tessera_mirrored* mirrored = NULL;
  tessera_array* here = NULL;
  const int64_t extents[2] = {number % 10 + 1, 7};
  CHECK_OK(tessera_mirrored_create(job, TESSERA_F64, 2, extents, NULL, &mirrored));
  CHECK_OK(tessera_mirrored_local_copy(mirrored, &here));
  void* const copy = here;
  CHECK_OK(tessera_mirrored_free(&mirrored));
  return copy;
}

static void* make_sparse(int64_t number) {
  tessera_sparse_builder* builder = NULL;
  tessera_sparse* matrix = NULL;
  const double one = 1;
  CHECK_OK(tessera_sparse_builder_create(job, TESSERA_F64, 8, 8, NULL, &builder));
  CHECK_OK(tessera_sparse_builder_add(builder, number % 8, number % 7, &one));
  CHECK_OK(tessera_sparse_builder_assemble(builder, &matrix));
  CHECK_OK(tessera_sparse_builder_free(&builder));
  void* const copy = matrix;
  CHECK_OK(tessera_sparse_free(&matrix));
  return copy;
}
static int use_sparse(void* matrix) {
  return tessera_sparse_sync(matrix);
}

static tessera_sparse* identity(void) {
  tessera_sparse_builder* builder = NULL;
  tessera_sparse* matrix = NULL;
  const double one = 1;
  CHECK_OK(tessera_sparse_builder_create(job, TESSERA_F64, 8, 8, NULL, &builder));
  for (int64_t i = 0; i < 8; ++i) {
    CHECK_OK(tessera_sparse_builder_add(builder, i, i, &one));
  }
  CHECK_OK(tessera_sparse_builder_assemble(builder, &matrix));
  CHECK_OK(tessera_sparse_builder_free(&builder));
  return matrix;
}
static tessera_sparse* kept = NULL;

static void* access_rows(int64_t number) {
  tessera_sparse_rows* rows = NULL;
  tessera_sparse_block block;
  CHECK_OK(tessera_sparse_rows_begin(kept, &block, &rows));
  void* const copy = rows;
  CHECK_OK(tessera_sparse_rows_end(&rows));
  (void)number;
  return copy;
}
static int use_rows(void* rows) {
  tessera_sparse_rows* place = rows;
  return tessera_sparse_rows_end(&place);
}

static void* make_spmv(int64_t number) {
  tessera_spmv* plan = NULL;
  CHECK_OK(tessera_spmv_create(kept, x, y, NULL, &plan));
  void* const copy = plan;
  CHECK_OK(tessera_spmv_free(&plan));
  (void)number;
  return copy;
}
static int use_spmv(void* plan) {
  return tessera_spmv_multiply(plan, kept, x, y);
}

/* Freed by its wait: a copy of the handle cannot be recognised. */
static void* start_transfer(int64_t number) {
  tessera_handle* transfers = NULL;
  double values[48];
  CHECK_OK(tessera_array_get_async(field, NULL, NULL, values, NULL, &transfers));
  CHECK_OK(tessera_handle_wait(&transfers));
  (void)number;
  return NULL;
}

static void* take_memory(int64_t number) {
  void* memory = NULL;
  CHECK_OK(tessera_job_allocate_local(job, 64 + number % 64, &memory));
  CHECK_OK(tessera_job_free_local(job, memory));
  return NULL;
}

static void* write_checkpoint(int64_t number) {
  tessera_checkpoint_writer* writer = NULL;
  CHECK_OK(tessera_checkpoint_writer_create(job, NULL, path, NULL, &writer));
  CHECK_OK(tessera_checkpoint_writer_add_integer(writer, "number", number));
  CHECK_OK(tessera_checkpoint_writer_add(writer, field, "field"));
  CHECK_OK(tessera_checkpoint_writer_commit(writer));
  void* const copy = writer;
  CHECK_OK(tessera_checkpoint_writer_free(&writer));
  return copy;
}
static int use_writer(void* writer) {
  return tessera_checkpoint_writer_commit(writer);
}

static void* open_checkpoint(int64_t number) {
  tessera_checkpoint* file = NULL;
  CHECK_OK(tessera_checkpoint_open(job, NULL, path, &file));
  void* const copy = file;
  CHECK_OK(tessera_checkpoint_free(&file));
  (void)number;
  return copy;
}
static int use_file(void* file) {
  int64_t count = 0;
  return tessera_checkpoint_array_count(file, &count);
}

/* A job within the job: copies of its handle must not be used. */
static void* start_job(int64_t number) {
  tessera_job* other = NULL;
  tessera_team* team = NULL;
  CHECK_OK(tessera_job_start_alone(&other));
  CHECK_OK(tessera_team_world(other, &team));
  CHECK_OK(tessera_job_free(&other));
  (void)number;
  return NULL;
}

typedef struct {
  const char* name;
  void* (*once)(int64_t number);
  int (*use)(void* copy); /* null: there is no handle to use */
  int64_t share;          /* of COUNT: fewer of the slow ones are made */
} Kind;

static const Kind kinds[] = {{"team, split", split_team, use_team, 1},
                             {"team", make_team, use_team, 1},
                             {"distribution", make_distribution, use_distribution, 1},
                             {"array", make_array, use_array, 1},
                             {"duplicate", duplicate_array, use_array, 1},
                             {"array's team", ask_array, use_team, 1},
                             {"local access", access_array, use_access, 1},
                             {"halo", make_halo, use_halo, 1},
                             {"locks", make_locks, use_locks, 1},
                             {"counter", make_counter, use_counter, 1},
                             {"mirrored array", make_mirrored, use_array, 1},
                             {"sparse matrix", make_sparse, use_sparse, 1},
                             {"rows", access_rows, use_rows, 1},
                             {"plan of products", make_spmv, use_spmv, 1},
                             {"transfers", start_transfer, NULL, 1},
                             {"local memory", take_memory, NULL, 1},
                             {"writer of checkpoints", write_checkpoint, use_writer, 10},
                             {"checkpoint", open_checkpoint, use_file, 10},
                             {"job", start_job, NULL, 10}};

enum { copies_kept = 50 };

static void check_copies(const Kind* kind, void* const copies[]) {
  for (int64_t i = 0; kind->use != NULL && i < copies_kept; ++i) {
    const int code = kind->use(copies[i]);
    if (code != TESSERA_CLOSED || strstr(tessera_last_error(), "was freed") == NULL) {
      fprintf(stderr, "test_c_api_growth: copy %lld of a freed %s: code %d, %s\n", (long long)i,
              kind->name, code, tessera_last_error());
      ++failures;
      return;
    }
  }
}

static void run(const Kind* kind, int64_t count) {
  void* copies[copies_kept];
  const int64_t before = count / 10 + copies_kept;
  for (int64_t i = 0; i < before; ++i) {
    void* const copy = kind->once(i);
    if (i < copies_kept) {
      copies[i] = copy;
    }
  }
  const size_t at_first = heap_bytes();
  for (int64_t i = 0; i < count; ++i) {
    kind->once(i);
  }
  const size_t at_last = heap_bytes();
  const double grown = (double)at_last - (double)at_first;
  printf("%-22s %7lld times: %+9.0f bytes\n", kind->name, (long long)count, grown);
  check(grown < (double)count + 16384, kind->name);
  check_copies(kind, copies);
}

static void make_operands(void) {
  const int64_t extents[2] = {8, 6};
  const int64_t ghosts[2] = {1, 1};
  const int64_t length[1] = {8};
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.ghosts = ghosts;
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &field));
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 1, length, NULL, &x));
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 1, length, NULL, &y));
  kept = identity();
  int64_t number = (int64_t)getpid();
  CHECK_OK(tessera_team_broadcast(world, &number, (int64_t)sizeof number, 0));
  snprintf(path, sizeof path, "/tmp/tessera-growth-%lld.h5", (long long)number);
}

/* Whether this build has checkpoints: writes a file to be opened. */
static int has_checkpoints(void) {
  tessera_checkpoint_writer* writer = NULL;
  if (tessera_checkpoint_writer_create(job, NULL, path, NULL, &writer) == TESSERA_UNSUPPORTED) {
    return 0;
  }
  CHECK_OK(tessera_checkpoint_writer_free(&writer));
  return 1;
}

int main(int argc, char** argv) {
  const int64_t count = argc > 1 ? strtoll(argv[1], NULL, 10) : 300;
  if (tessera_job_start(&job) != 0 || tessera_team_world(job, &world) != 0) {
    fprintf(stderr, "test_c_api_growth: %s\n", tessera_last_error());
    return 1;
  }
  make_operands();
  const int with_files = has_checkpoints();
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && failures == 0; ++i) {
    if (with_files || (kinds[i].once != write_checkpoint && kinds[i].once != open_checkpoint)) {
      run(&kinds[i], count / kinds[i].share);
    }
  }
  CHECK_OK(tessera_job_barrier(job));
  unlink(path);
  CHECK_OK(tessera_job_free(&job));
  return failures != 0;
}
