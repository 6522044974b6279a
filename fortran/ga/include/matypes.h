/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The types in MA's C interface. Included by macdecls.h. */
#ifndef MATYPES_H_
#define MATYPES_H_

#include "typesf2c.h"

typedef Integer Boolean; /* MA_TRUE or MA_FALSE */
typedef char* Pointer;
typedef long MA_AccessIndex;

typedef long double MA_LongDouble;
typedef struct {
  float dummy[2];
} MA_SingleComplex;
typedef struct {
  double dummy[2];
} MA_DoubleComplex;
typedef struct {
  double dummy[4];
} MA_LongDoubleComplex;

#endif
