/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The suites of the test of GA's C interface, and what they share: a serial model of an array,
 * which every process keeps and changes in the same way.
 */
#ifndef TESSERA_TESTS_GA_CASES_H
#define TESSERA_TESTS_GA_CASES_H

#include "ga.h"
#include "macdecls.h"
#include "tests/armci/check.h"

extern const Case creation_cases[];
extern const Case transfer_cases[];
extern const Case list_cases[];
extern const Case group_cases[];
extern const Case access_cases[];
extern const Case locality_cases[];
extern const Case message_cases[];
extern const Case print_cases[];
extern const Case product_cases[];
extern const Case solver_cases[];
extern const Case eigen_cases[];
extern const Case ghost_cases[];
extern const Case mirrored_cases[];
extern const Case profiling_cases[];

enum { max_model = 4000 };

/* An array of doubles. */
typedef struct {
  int ndim;
  int dims[GA_MAX_DIM];
  int size;
  double values[max_model];
} Model;

/* A model of zeros. */
void model_init(Model* model, int ndim, const int* dims);
/* The position of an index in `values`. */
int model_at(const Model* model, const int* index);
/* Moves to the next index of the patch; 0 after the last one. */
int next_index(int ndim, const int* lo, const int* hi, int* index);
/* Checks that all elements of the array are those of the model. */
void check_model(const Model* model, int array);

/* Numbers that are the same on all processes: from 0 to below `end`. */
void random_start(unsigned seed);
int random_below(int end);
/* A patch inside of the model. */
void random_patch(const Model* model, int* lo, int* hi);
/* A local array for the patch: its leading dimensions and its size in elements. */
int local_shape(int ndim, const int* lo, const int* hi, int extra, int* ld);
/* The position of an element of a patch in such a local array. */
int local_at(int ndim, const int* lo, const int* ld, const int* index);

#endif
