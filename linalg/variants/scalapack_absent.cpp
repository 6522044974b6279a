// SPDX-License-Identifier: BSD-3-Clause
//
// Used in builds without ScaLAPACK. check_scalapack() returns the error; the other functions are
// never called.
#include "linalg/variants/scalapack.hpp"

#include <complex>

namespace tessera::linalg {

using detail::MatrixMap;
using detail::WorkMatrix;
using rma::Result;
using rma::Status;

namespace {

Status absent() {
  return Status::error(rma::Code::unsupported, "Tessera was built without ScaLAPACK")
      .hint("install libscalapack-openmpi-dev and configure again, or use the method own");
}

}  // namespace

Status check_scalapack(const rma::Job&, const rma::Team&) {
  return absent();
}

namespace variants::scalapack {

Result<WorkMatrix> at(const MatrixMap&, const rma::Team&, std::int64_t, WorkMatrix::Use) {
  return absent();
}
Result<WorkMatrix> zeros_like(const WorkMatrix&, std::int64_t, std::int64_t) {
  return absent();
}
Result<WorkMatrix> beside(const WorkMatrix&, const MatrixMap&, WorkMatrix::Use) {
  return absent();
}
template <Scalar T>
Result<std::int64_t> Routines<T>::cholesky(WorkMatrix&, Triangle) {
  return absent();
}
template <Scalar T>
Result<LuSteps> Routines<T>::lu(WorkMatrix&) {
  return absent();
}
template <Scalar T>
Result<std::vector<T>> Routines<T>::qr(WorkMatrix&) {
  return absent();
}
template <Scalar T>
Status Routines<T>::solve_triangular(const Triangular<T>&, WorkMatrix&, WorkMatrix&) {
  return absent();
}
template <Scalar T>
Status Routines<T>::solve_lu(WorkMatrix&, std::span<const std::int64_t>, char, WorkMatrix&) {
  return absent();
}
template <Scalar T>
Status Routines<T>::invert_cholesky(WorkMatrix&, Triangle) {
  return absent();
}
template <Scalar T>
Status Routines<T>::multiply_by_q_adjoint(WorkMatrix&, std::span<const T>, WorkMatrix&) {
  return absent();
}
template <Scalar T>
Result<RealValues<T>> Routines<T>::eigen(WorkMatrix&, WorkMatrix*) {
  return absent();
}
template <Scalar T>
Status Routines<T>::to_standard(WorkMatrix&, WorkMatrix&) {
  return absent();
}
template <Scalar T>
Result<RealValues<T>> Routines<T>::svd(WorkMatrix&, WorkMatrix*, WorkMatrix*) {
  return absent();
}

template struct Routines<float>;
template struct Routines<double>;
template struct Routines<std::complex<float>>;
template struct Routines<std::complex<double>>;

}  // namespace variants::scalapack
}  // namespace tessera::linalg
