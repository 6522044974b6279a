// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The declarations of ScaLAPACK and BLACS, which have no headers: their routines as their
// manuals declare them, for each type. They have Fortran's calling convention: all arguments by
// address, and the lengths of strings after all arguments.
#pragma once

#include <complex>
#include <cstddef>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridmap(int* context, int* ranks, int leading, int rows, int columns);
void Cblacs_barrier(int context, const char* scope);
void Cblacs_gridexit(int context);

void pspotrf_(const char*, const int* n, float* a, const int* ia, const int* ja, const int* desc_a,
              int* info, std::size_t);
void psgetrf_(const int* m, const int* n, float* a, const int* ia, const int* ja, const int* desc_a,
              int* pivots, int* info);
void psgeqrf_(const int* m, const int* n, float* a, const int* ia, const int* ja, const int* desc_a,
              float* tau, float* work, const int* size, int* info);
void pstrsm_(const char* side, const char* triangle, const char* op, const char* diagonal,
             const int* m, const int* n, const float* alpha, float* a, const int* ia, const int* ja,
             const int* desc_a, float* b, const int* ib, const int* jb, const int* desc_b);
void psgetrs_(const char* op, const int* n, const int* count, float* a, const int* ia,
              const int* ja, const int* desc_a, int* pivots, float* b, const int* ib, const int* jb,
              const int* desc_b, int* info, std::size_t);
void pspotri_(const char*, const int* n, float* a, const int* ia, const int* ja, const int* desc_a,
              int* info, std::size_t);
void psormqr_(const char* side, const char* op, const int* m, const int* n, const int* k, float* a,
              const int* ia, const int* ja, const int* desc_a, float* tau, float* c, const int* ic,
              const int* jc, const int* desc_c, float* work, const int* size, int* info,
              std::size_t, std::size_t);
void pssyev_(const char* job, const char* triangle, const int* n, float* a, const int* ia,
             const int* ja, const int* desc_a, float* values, float* z, const int* iz,
             const int* jz, const int* desc_z, float* work, const int* size, int* info, std::size_t,
             std::size_t);
void pssyevd_(const char* job, const char* triangle, const int* n, float* a, const int* ia,
              const int* ja, const int* desc_a, float* values, float* z, const int* iz,
              const int* jz, const int* desc_z, float* work, const int* size, int* numbers,
              const int* count, int* info, std::size_t, std::size_t);
void psgesvd_(const char* job_u, const char* job_vh, const int* m, const int* n, float* a,
              const int* ia, const int* ja, const int* desc_a, float* values, float* u,
              const int* iu, const int* ju, const int* desc_u, float* vh, const int* iv,
              const int* jv, const int* desc_v, float* work, const int* size, int* info,
              std::size_t, std::size_t);
void pssygst_(const int* type, const char* triangle, const int* n, float* a, const int* ia,
              const int* ja, const int* desc_a, float* b, const int* ib, const int* jb,
              const int* desc_b, float* scale, int* info, std::size_t);
void pdpotrf_(const char*, const int* n, double* a, const int* ia, const int* ja, const int* desc_a,
              int* info, std::size_t);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja,
              const int* desc_a, int* pivots, int* info);
void pdgeqrf_(const int* m, const int* n, double* a, const int* ia, const int* ja,
              const int* desc_a, double* tau, double* work, const int* size, int* info);
void pdtrsm_(const char* side, const char* triangle, const char* op, const char* diagonal,
             const int* m, const int* n, const double* alpha, double* a, const int* ia,
             const int* ja, const int* desc_a, double* b, const int* ib, const int* jb,
             const int* desc_b);
void pdgetrs_(const char* op, const int* n, const int* count, double* a, const int* ia,
              const int* ja, const int* desc_a, int* pivots, double* b, const int* ib,
              const int* jb, const int* desc_b, int* info, std::size_t);
void pdpotri_(const char*, const int* n, double* a, const int* ia, const int* ja, const int* desc_a,
              int* info, std::size_t);
void pdormqr_(const char* side, const char* op, const int* m, const int* n, const int* k, double* a,
              const int* ia, const int* ja, const int* desc_a, double* tau, double* c,
              const int* ic, const int* jc, const int* desc_c, double* work, const int* size,
              int* info, std::size_t, std::size_t);
void pdsyev_(const char* job, const char* triangle, const int* n, double* a, const int* ia,
             const int* ja, const int* desc_a, double* values, double* z, const int* iz,
             const int* jz, const int* desc_z, double* work, const int* size, int* info,
             std::size_t, std::size_t);
void pdsyevd_(const char* job, const char* triangle, const int* n, double* a, const int* ia,
              const int* ja, const int* desc_a, double* values, double* z, const int* iz,
              const int* jz, const int* desc_z, double* work, const int* size, int* numbers,
              const int* count, int* info, std::size_t, std::size_t);
void pdgesvd_(const char* job_u, const char* job_vh, const int* m, const int* n, double* a,
              const int* ia, const int* ja, const int* desc_a, double* values, double* u,
              const int* iu, const int* ju, const int* desc_u, double* vh, const int* iv,
              const int* jv, const int* desc_v, double* work, const int* size, int* info,
              std::size_t, std::size_t);
void pdsygst_(const int* type, const char* triangle, const int* n, double* a, const int* ia,
              const int* ja, const int* desc_a, double* b, const int* ib, const int* jb,
              const int* desc_b, double* scale, int* info, std::size_t);
void pcpotrf_(const char*, const int* n, std::complex<float>* a, const int* ia, const int* ja,
              const int* desc_a, int* info, std::size_t);
void pcgetrf_(const int* m, const int* n, std::complex<float>* a, const int* ia, const int* ja,
              const int* desc_a, int* pivots, int* info);
void pcgeqrf_(const int* m, const int* n, std::complex<float>* a, const int* ia, const int* ja,
              const int* desc_a, std::complex<float>* tau, std::complex<float>* work,
              const int* size, int* info);
void pctrsm_(const char* side, const char* triangle, const char* op, const char* diagonal,
             const int* m, const int* n, const std::complex<float>* alpha, std::complex<float>* a,
             const int* ia, const int* ja, const int* desc_a, std::complex<float>* b, const int* ib,
             const int* jb, const int* desc_b);
void pcgetrs_(const char* op, const int* n, const int* count, std::complex<float>* a, const int* ia,
              const int* ja, const int* desc_a, int* pivots, std::complex<float>* b, const int* ib,
              const int* jb, const int* desc_b, int* info, std::size_t);
void pcpotri_(const char*, const int* n, std::complex<float>* a, const int* ia, const int* ja,
              const int* desc_a, int* info, std::size_t);
void pcunmqr_(const char* side, const char* op, const int* m, const int* n, const int* k,
              std::complex<float>* a, const int* ia, const int* ja, const int* desc_a,
              std::complex<float>* tau, std::complex<float>* c, const int* ic, const int* jc,
              const int* desc_c, std::complex<float>* work, const int* size, int* info, std::size_t,
              std::size_t);
void pcheev_(const char* job, const char* triangle, const int* n, std::complex<float>* a,
             const int* ia, const int* ja, const int* desc_a, float* values, std::complex<float>* z,
             const int* iz, const int* jz, const int* desc_z, std::complex<float>* work,
             const int* size, float* real_work, const int* real_size, int* info, std::size_t,
             std::size_t);
void pcheevd_(const char* job, const char* triangle, const int* n, std::complex<float>* a,
              const int* ia, const int* ja, const int* desc_a, float* values,
              std::complex<float>* z, const int* iz, const int* jz, const int* desc_z,
              std::complex<float>* work, const int* size, float* real_work, const int* real_size,
              int* numbers, const int* count, int* info, std::size_t, std::size_t);
void pcgesvd_(const char* job_u, const char* job_vh, const int* m, const int* n,
              std::complex<float>* a, const int* ia, const int* ja, const int* desc_a,
              float* values, std::complex<float>* u, const int* iu, const int* ju,
              const int* desc_u, std::complex<float>* vh, const int* iv, const int* jv,
              const int* desc_v, std::complex<float>* work, const int* size, float* real_work,
              int* info, std::size_t, std::size_t);
void pchegst_(const int* type, const char* triangle, const int* n, std::complex<float>* a,
              const int* ia, const int* ja, const int* desc_a, std::complex<float>* b,
              const int* ib, const int* jb, const int* desc_b, float* scale, int* info,
              std::size_t);
void pzpotrf_(const char*, const int* n, std::complex<double>* a, const int* ia, const int* ja,
              const int* desc_a, int* info, std::size_t);
void pzgetrf_(const int* m, const int* n, std::complex<double>* a, const int* ia, const int* ja,
              const int* desc_a, int* pivots, int* info);
void pzgeqrf_(const int* m, const int* n, std::complex<double>* a, const int* ia, const int* ja,
              const int* desc_a, std::complex<double>* tau, std::complex<double>* work,
              const int* size, int* info);
void pztrsm_(const char* side, const char* triangle, const char* op, const char* diagonal,
             const int* m, const int* n, const std::complex<double>* alpha, std::complex<double>* a,
             const int* ia, const int* ja, const int* desc_a, std::complex<double>* b,
             const int* ib, const int* jb, const int* desc_b);
void pzgetrs_(const char* op, const int* n, const int* count, std::complex<double>* a,
              const int* ia, const int* ja, const int* desc_a, int* pivots, std::complex<double>* b,
              const int* ib, const int* jb, const int* desc_b, int* info, std::size_t);
void pzpotri_(const char*, const int* n, std::complex<double>* a, const int* ia, const int* ja,
              const int* desc_a, int* info, std::size_t);
void pzunmqr_(const char* side, const char* op, const int* m, const int* n, const int* k,
              std::complex<double>* a, const int* ia, const int* ja, const int* desc_a,
              std::complex<double>* tau, std::complex<double>* c, const int* ic, const int* jc,
              const int* desc_c, std::complex<double>* work, const int* size, int* info,
              std::size_t, std::size_t);
void pzheev_(const char* job, const char* triangle, const int* n, std::complex<double>* a,
             const int* ia, const int* ja, const int* desc_a, double* values,
             std::complex<double>* z, const int* iz, const int* jz, const int* desc_z,
             std::complex<double>* work, const int* size, double* real_work, const int* real_size,
             int* info, std::size_t, std::size_t);
void pzheevd_(const char* job, const char* triangle, const int* n, std::complex<double>* a,
              const int* ia, const int* ja, const int* desc_a, double* values,
              std::complex<double>* z, const int* iz, const int* jz, const int* desc_z,
              std::complex<double>* work, const int* size, double* real_work, const int* real_size,
              int* numbers, const int* count, int* info, std::size_t, std::size_t);
void pzgesvd_(const char* job_u, const char* job_vh, const int* m, const int* n,
              std::complex<double>* a, const int* ia, const int* ja, const int* desc_a,
              double* values, std::complex<double>* u, const int* iu, const int* ju,
              const int* desc_u, std::complex<double>* vh, const int* iv, const int* jv,
              const int* desc_v, std::complex<double>* work, const int* size, double* real_work,
              int* info, std::size_t, std::size_t);
void pzhegst_(const int* type, const char* triangle, const int* n, std::complex<double>* a,
              const int* ia, const int* ja, const int* desc_a, std::complex<double>* b,
              const int* ib, const int* jb, const int* desc_b, double* scale, int* info,
              std::size_t);
}
