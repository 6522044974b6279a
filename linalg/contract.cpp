// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/contract.hpp"

#include <fmt/format.h>

#include <array>

#include "arrays/call_signature.hpp"
#include "linalg/blas_threads.hpp"
#include "linalg/detail/agree_and_begin.hpp"
#include "linalg/variants/contract_stationary_c.hpp"

namespace tessera::linalg {

using arrays::Array;
using arrays::ArrayBase;
using detail::Contraction;
using detail::LetteredArray;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

Result<Contraction> check_all(const LetteredArray& c, const LetteredArray& a,
                              const LetteredArray& b) {
  TESSERA_RETURN_IF_ERROR(c.array->check_writable().context("C"));
  for (const LetteredArray* const source : {&a, &b}) {
    TESSERA_RETURN_IF_ERROR(source->array->check_open().context(source->name));
    TESSERA_RETURN_IF_ERROR(source->array->check_readable().context(source->name));
    if (source->array->region().id() == c.array->region().id()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("C and {} are both {}", source->name, c.array->describe()))
          .hint("contract into another array");
    }
  }
  return analyse(c, a, b);
}

}  // namespace

template <Scalar T>
Status contract(std::string_view a_letters, Array<T>& a, std::string_view b_letters, Array<T>& b,
                std::string_view c_letters, Array<T>& c,
                const std::type_identity_t<ContractOptions<T>>& options) {
  const std::string attempt =
      fmt::format("contracting C[{}] = A[{}] B[{}]", c_letters, a_letters, b_letters);
  TESSERA_RETURN_IF_ERROR(c.check_open().context(attempt));
  const arrays::detail::CallScope scope("contract", c);
  const Result<Contraction> dims =
      check_all({"C", c_letters, &c}, {"A", a_letters, &a}, {"B", b_letters, &b});
  detail::CallSignature signature("contract");
  if (dims.ok()) {
    signature.add(c_letters).add(a_letters).add(b_letters);
    signature.add_scalar(options.alpha).add_scalar(options.beta);
    signature.add(c.region().id()).add(a.region().id()).add(b.region().id());
  }
  const std::array<ArrayBase*, 2> sources{&a, &b};
  TESSERA_RETURN_IF_ERROR(
      detail::agree_and_begin(c, sources, dims.status(), signature).context(attempt));
  limit_blas_threads(c.job());
  const std::int64_t buffer_bytes =
      options.buffer_bytes > 0 ? options.buffer_bytes : c.job().settings().linalg_buffer_mib << 20U;
  const variants::ContractTask<T> task{.c = c,
                                       .a = a,
                                       .b = b,
                                       .dims = *dims,
                                       .alpha = options.alpha,
                                       .beta = options.beta,
                                       .buffer_bytes = buffer_bytes};
  return c.sync([&] { return variants::contract_stationary_c(task); }).context(attempt);
}

template Status contract(std::string_view, Array<float>&, std::string_view, Array<float>&,
                         std::string_view, Array<float>&, const ContractOptions<float>&);
template Status contract(std::string_view, Array<double>&, std::string_view, Array<double>&,
                         std::string_view, Array<double>&, const ContractOptions<double>&);
template Status contract(std::string_view, Array<std::complex<float>>&, std::string_view,
                         Array<std::complex<float>>&, std::string_view, Array<std::complex<float>>&,
                         const ContractOptions<std::complex<float>>&);
template Status contract(std::string_view, Array<std::complex<double>>&, std::string_view,
                         Array<std::complex<double>>&, std::string_view,
                         Array<std::complex<double>>&,
                         const ContractOptions<std::complex<double>>&);

}  // namespace tessera::linalg
