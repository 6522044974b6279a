/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C types of Fortran's INTEGER, LOGICAL, REAL, DOUBLE PRECISION and COMPLEX. In the library for
 * programs with 4-byte integers, TESSERA_GA_I4 is defined. */
#ifndef TYPESF2C_H_
#define TYPESF2C_H_

#define FATR

#ifdef TESSERA_GA_I4
typedef int Integer;
#else
typedef long Integer;
#endif
typedef Integer logical;
typedef Integer Logical;
typedef float Real;
typedef double DoublePrecision;

typedef struct {
  Real real;
  Real imag;
} SingleComplex;

typedef struct {
  DoublePrecision real;
  DoublePrecision imag;
} DoubleComplex;

/* An integer that holds a pointer. */
typedef long intp;

#endif
