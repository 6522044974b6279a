// SPDX-License-Identifier: BSD-3-Clause
//
// SF, DRA, ELIO and EAF through their C interfaces, by all processes, against values worked out by
// hand.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dra.h"
#include "eaf.h"
#include "elio.h"
#include "ga.h"
#include "macdecls.h"
#include "sf.h"

static long failures = 0;
static int me = 0;
static int nodes = 0;

static void check(long is_right, const char* what) {
  if (!is_right) {
    printf("process %d FAILED: %s\n", me, what);
    ++failures;
  }
}

// The same on all processes.
static void name_file(char* name, const char* what) {
  long id = me == 0 ? (long)getpid() : 0;
  GA_Lgop(&id, 1, "+");
  sprintf(name, "pario_%s_%d_%ld", what, nodes, id);
}

static void share_a_file(void) {
  char name[80];
  name_file(name, "sf");
  int handle = 0;
  check(SF_Create(name, 1e9, 1e6, 1e4, &handle) == 0, "sf create");
  check(handle == -3000, "sf handle");
  double part[1000];
  int ids[3] = {7, 7, 7};
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 1000; ++i) {
      part[i] = 1000.0 * (me + nodes * k) + i;
    }
    check(SF_Write(handle, 8000.0 * (me + nodes * k), 8000.0, (char*)part, &ids[k]) == 0,
          "sf write");
  }
  check(SF_Waitall(ids, 3) == 0, "sf waitall");
  check(SF_Fsync(handle) == 0, "sf fsync");
  GA_Sync();
  const int other = nodes - 1 - me;
  check(SF_Rwtor(handle) == 0, "sf rwtor");
  for (int k = 0; k < 3; ++k) {
    int id = 0;
    check(SF_Read(handle, 8000.0 * (other + nodes * k), 8000.0, (char*)part, &id) == 0, "sf read");
    check(SF_Wait(&id) == 0, "sf wait");
    check(part[999] > 1000.0 * (other + nodes * k) + 998.5 &&
              part[999] < 1000.0 * (other + nodes * k) + 999.5,
          "sf content");
  }
  int id = 0;
  char text[80];
  int error = SF_Read(handle, 24000.0 * nodes - 4000, 8000.0, (char*)part, &id);
  SF_Errmsg(error, text);
  check(error == -1977 && strcmp(text, "end of file") == 0, "sf: end of file");
  error = SF_Read(handle, 0.5, 8.0, (char*)part, &id);
  SF_Errmsg(error, text);
  check(strcmp(text, "not a whole number of bytes") == 0, "sf: offset");
  check(SF_Write(handle, 0.0, 8.0, (char*)part, &id) == -1999, "sf: written after rwtor");
  check(SF_Open(handle) == 0 && SF_Write(handle, 0.0, 8.0, (char*)part, &id) == 0, "sf open");
  check(SF_Read(-2000, 0.0, 8.0, (char*)part, &id) == -1994, "sf: a handle that is none");
  check(SF_Close(handle) == 0, "sf close");
  check(SF_Destroy(handle) == 0 && SF_Destroy(handle) == -1994, "sf destroy");
  strcat(name, ".0");
  check(access(name, F_OK) != 0, "sf: the file is gone");
  char nowhere[] = "no/such/folder/file";
  check(SF_Create(nowhere, 1, 1, 1, &handle) == -1990, "sf: a folder that is none");
}

static double value_at(long i, long j) {
  return (double)(1000 * i + j);
}

// Sets all elements of an array of up to 40 x 33.
static void set_zero(int array) {
  static double zeros[40 * 33];
  int type = 0;
  int ndim = 0;
  int dims[2];
  NGA_Inquire(array, &type, &ndim, dims);
  int lo[2] = {0, 0};
  int hi[2] = {dims[0] - 1, dims[1] - 1};
  GA_Sync();
  if (me == 0) {
    NGA_Put(array, lo, hi, zeros, &dims[1]);
  }
  GA_Sync();
}

static int filled_array(char* name, int rows, int columns) {
  int dims[2] = {rows, columns};
  const int array = NGA_Create(C_DBL, 2, dims, name, NULL);
  set_zero(array);
  if (me == 0) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        double value = value_at(i, j);
        int at[2] = {i, j};
        int ld[1] = {1};
        NGA_Put(array, at, at, &value, ld);
      }
    }
  }
  GA_Sync();
  return array;
}

static double element(int array, int i, int j) {
  double value = -1;
  int at[2] = {i, j};
  int ld[1] = {1};
  NGA_Get(array, at, at, &value, ld);
  return value;
}

static int equal(double a, double b) {
  return !(a < b) && !(b < a);
}

// Sections of all kinds against the formula, in chunks that do not fit them.
static void move_sections(int disk, int array, int copy) {
  int request = 0;
  char text[16] = "copy";
  (void)text;
  int glo[2] = {3, 5};
  int ghi[2] = {20, 30};
  dra_size_t dlo[2] = {10, 1};
  dra_size_t dhi[2] = {27, 26};
  check(NDRA_Write_section(0, array, glo, ghi, disk, dlo, dhi, &request) == 0, "write a section");
  check(request != DRA_REQ_INVALID && DRA_Wait(request) == 0, "wait");
  set_zero(copy);
  check(NDRA_Read_section(0, copy, glo, ghi, disk, dlo, dhi, &request) == 0, "read a section");
  int right = 1;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 33; ++j) {
      const int is_inside = i >= 3 && i <= 20 && j >= 5 && j <= 30;
      right = right && equal(element(copy, i, j), is_inside ? value_at(i, j) : 0.0);
    }
  }
  check(right, "elements of a section");
  // OP(g[0:9, 0:4]) -> d[30:34, 20:29]
  int tlo[2] = {0, 0};
  int thi[2] = {9, 4};
  dra_size_t olo[2] = {30, 20};
  dra_size_t ohi[2] = {34, 29};
  check(NDRA_Write_section(1, array, tlo, thi, disk, olo, ohi, &request) == 0, "transposed");
  int blo[2] = {30, 20};
  int bhi[2] = {34, 29};
  check(NDRA_Read_section(0, copy, blo, bhi, disk, olo, ohi, &request) == 0, "read it");
  right = 1;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 10; ++j) {
      right = right && equal(element(copy, 30 + i, 20 + j), value_at(j, i));
    }
  }
  check(right, "elements of a transposed section");
  check(NDRA_Read_section(1, copy, tlo, thi, disk, olo, ohi, &request) == 0, "transposed back");
  check(equal(element(copy, 9, 4), value_at(9, 4)) && equal(element(copy, 2, 3), value_at(2, 3)),
        "elements transposed twice");
}

static void refuse_sections(int disk, int array) {
  int request = 0;
  int lo[2] = {0, 0};
  int hi[2] = {4, 4};
  dra_size_t dlo[2] = {0, 0};
  dra_size_t small[2] = {4, 3};
  dra_size_t outside[2] = {400, 4};
  check(NDRA_Write_section(0, array, lo, hi, disk, dlo, small, &request) != 0, "other extents");
  check(NDRA_Write_section(0, array, lo, hi, disk, dlo, outside, &request) != 0, "outside");
  check(NDRA_Write(array, disk + 77, &request) != 0 && request == DRA_REQ_INVALID,
        "a handle that is none");
  check(NDRA_Write(-5, disk, &request) != 0, "an array that is none");
  int dims[2] = {40, 33};
  char name[] = "integers";
  const int integers = NGA_Create(C_INT, 2, dims, name, NULL);
  check(NDRA_Read(integers, disk, &request) != 0, "another type");
  GA_Destroy(integers);
}

static void damage(const char* file, const char* how) {
  if (me == 0) {
    FILE* stream = fopen(file, "r+");
    if (strcmp(how, "truncate") == 0) {
      fseek(stream, 0, SEEK_END);
      if (ftruncate(fileno(stream), ftell(stream) - 1) != 0) {
        printf("FAILED: truncate\n");
      }
    } else {
      fseek(stream, strcmp(how, "magic") == 0 ? 0 : 40, SEEK_SET);
      fputc('x', stream);
    }
    fclose(stream);
  }
  GA_Sync();
}

/* Programs put the number of the process into the file's name. */
static void keep_under_own_names(const char* file, dra_size_t* dims, dra_size_t* typical) {
  char own[100];
  sprintf(own, "%s.%d", file, me);
  char name[] = "own";
  char found_name[128];
  char found_file[128];
  dra_size_t found[7];
  int disk = 0;
  int type = 0;
  int ndim = 0;
  int request = 0;
  check(NDRA_Create(C_DBL, 2, dims, name, own, DRA_RW, typical, &disk) == 0, "own name");
  check(NDRA_Inquire(disk, &type, &ndim, found, found_name, found_file) == 0, "inquire");
  sprintf(own, "%s.0", file);
  check(strcmp(found_file, own) == 0, "process 0's name");
  const int array = filled_array(name, 40, 33);
  check(NDRA_Write(array, disk, &request) == 0, "write under own names");
  GA_Destroy(array);
  check(DRA_Delete(disk) == 0 && access(own, F_OK) != 0, "delete process 0's file");
}

static void keep_arrays_on_disk(void) {
  char file[80];
  name_file(file, "dra");
  int disk = 0;
  int request = 0;
  dra_size_t dims[2] = {40, 33};
  dra_size_t typical[2] = {7, 9};
  char name[] = "matrix";
  check(NDRA_Create(C_DBL, 2, dims, name, file, DRA_RW, typical, &disk) != 0, "before dra_init");
  check(DRA_Init(4, 1e8, 1e9, -1.0) == 0, "dra_init");
  check(NDRA_Create(C_DBL, 2, dims, name, file, DRA_RW, typical, &disk) == 0, "create");
  const int array = filled_array(name, 40, 33);
  const int copy = GA_Duplicate(array, name);
  check(NDRA_Read(copy, disk, &request) == 0 && equal(element(copy, 39, 32), 0.0),
        "zeros at first");
  move_sections(disk, array, copy);
  refuse_sections(disk, array);
  check(NDRA_Write(array, disk, &request) == 0, "write");
  int status = 5;
  check(DRA_Probe(request, &status) == 0 && status == 0, "probe");
  DRA_Print_internals(disk);
  check(DRA_Close(disk) == 0 && DRA_Close(disk) != 0, "close");

  check(DRA_Open(file, DRA_R, &disk) == 0, "open");
  int type = 0;
  int ndim = 0;
  dra_size_t found[7];
  char found_name[128];
  char found_file[128];
  check(NDRA_Inquire(disk, &type, &ndim, found, found_name, found_file) == 0, "inquire");
  check(type == C_DBL && ndim == 2 && found[0] == 40 && found[1] == 33, "type and dimensions");
  check(strcmp(found_name, "matrix") == 0 && strcmp(found_file, file) == 0, "names");
  set_zero(copy);
  check(NDRA_Read(copy, disk, &request) == 0, "read");
  int right = 1;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 33; ++j) {
      right = right && equal(element(copy, i, j), value_at(i, j));
    }
  }
  check(right, "elements that were kept");
  check(NDRA_Write(array, disk, &request) != 0, "written though open for reading");
  DRA_Close(disk);

  damage(file, "truncate");
  check(DRA_Open(file, DRA_R, &disk) == -1990, "truncated file");
  damage(file, "header");
  check(DRA_Open(file, DRA_R, &disk) == -1990, "damaged file");
  damage(file, "magic");
  check(DRA_Open(file, DRA_R, &disk) == -1990, "foreign file");
  char nowhere[] = "no/such/file";
  check(DRA_Open(nowhere, DRA_R, &disk) != 0, "no file");
  check(NDRA_Create(C_DBL, 2, dims, name, file, DRA_RW, typical, &disk) == 0, "created again");
  check(DRA_Delete(disk) == 0 && access(file, F_OK) != 0, "delete");
  keep_under_own_names(file, dims, typical);
  check(DRA_Terminate() == 0, "dra_terminate");
  GA_Destroy(array);
  GA_Destroy(copy);
}

static void write_own_files(void) {
  char name[80];
  sprintf(name, "pario_own_%d_%d_%ld", nodes, me, (long)getpid());
  Fd_t file = elio_open(name, ELIO_RW, ELIO_PRIVATE);
  check(file != NULL, "elio open");
  io_request_t request = 0;
  int status = 0;
  Off_t length = 0;
  check(elio_write(file, 100.0, "abcdef", 6) == 6, "elio write");
  check(elio_awrite(file, 106.0, "gh", 2, &request) == 0, "elio awrite");
  check(elio_probe(&request, &status) == 0 && status == ELIO_DONE, "elio probe");
  check(elio_wait(&request) == 0, "elio wait");
  char buffer[9] = {0};
  check(elio_read(file, 100.0, buffer, 8) == 8 && strcmp(buffer, "abcdefgh") == 0, "elio read");
  check(elio_read(file, 104.0, buffer, 8) == 4, "elio read at the end");
  check(elio_length(file, &length) == 0 && length > 107.5 && length < 108.5, "elio length");
  check(elio_truncate(file, 50.0) == 0 && elio_fsync(file) == 0, "elio truncate");
  check(elio_aread(file, 45.0, buffer, 8, &request) == -1977, "elio end of file");
  check(elio_read(file, 0.25, buffer, 1) == -1981, "elio offset");
  check(elio_close(file) == 0, "elio close");
  check(elio_open(name, 55, ELIO_PRIVATE) == NULL, "elio mode");
  char text[80];
  elio_errmsg(ELIO_PENDING_ERR, text);
  check(strcmp(text, "wrong mode of a file") == 0, "elio error");
  stat_t free_space;
  check(elio_stat(name, &free_space) == 0 && free_space.avail > 0, "elio stat");
  check(elio_dirname("a/b", text, 80) == 0 && strcmp(text, "a/") == 0, "elio dirname");
  check(elio_delete(name) == 0 && access(name, F_OK) != 0, "elio delete");

  int fd = -1;
  int id = 0;
  double offset = 0;
  check(EAF_Open(name, EAF_RW, &fd) == 0, "eaf open");
  check(EAF_Awrite(fd, 8.0, "abcdefgh", 8, &id) == 0 && EAF_Wait(fd, id) == 0, "eaf awrite");
  check(EAF_Aread(fd, 8.0, buffer, 8, &id) == 0 && EAF_Probe(id, &status) == 0 && status == 0,
        "eaf aread");
  check(EAF_Length(fd, &offset) == 0 && offset > 15.5 && offset < 16.5, "eaf length");
  const int error = EAF_Read(fd, 9.0, buffer, 8);
  check(EAF_Eof(error) == 0 && EAF_Eof(-10009) != 0, "eaf end of file");
  long mib = 0;
  check(EAF_Stat(name, &mib, text, 80) == 0 && mib > 0 && strcmp(text, "UFS") == 0, "eaf stat");
  EAF_Print_stats(fd);
  check(EAF_Close(fd) == 0 && EAF_Close(fd) == -10006 && EAF_Delete(name) == 0, "eaf close");
}

int main(int argc, char** argv) {
  GA_Initialize_args(&argc, &argv);
  me = GA_Nodeid();
  nodes = GA_Nnodes();
  share_a_file();
  keep_arrays_on_disk();
  write_own_files();
  GA_Lgop(&failures, 1, "+");
  if (me == 0 && failures == 0) {
    printf("files are right\n");
    fflush(stdout);
  }
  GA_Terminate();
  return failures == 0 ? 0 : 1;
}
