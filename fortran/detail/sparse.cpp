// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/sparse.hpp"

#include "fortran/detail/arguments.hpp"

namespace tessera::capi {

using linalg::RowBalance;
using linalg::SparseOptions;
using rma::Code;
using rma::Result;
using rma::Status;

static_assert(static_cast<int>(RowBalance::entries) == TESSERA_BALANCE_ENTRIES);

namespace {

Result<tessera_sparse_options> filled(const tessera_sparse_options* given) {
  return options_of(given, tessera_sparse_options_init, "tessera_sparse_options_init");
}

}  // namespace

Status check_sparse_type(tessera_type type) {
  TESSERA_ASSIGN_OR_RETURN(const auto kind, element_kind(type));
  if (kind.type) {
    TESSERA_RETURN_IF_ERROR(rma::dispatch(*kind.type, [&]<class T>(Tag<T>) {
      return linalg::SparseElement<T>
                 ? Status()
                 : Status::error(Code::invalid_argument,
                                 "sparse matrices do not support elements of "
                                 "type " +
                                     kind.name)
                       .hint("use TESSERA_I32, _I64, _F32, _F64, _C64 or _C128");
    }));
    return {};
  }
  return Status::error(Code::invalid_argument, "sparse matrices do not support " + kind.name);
}

Result<rma::Team> team_of(tessera_job* job, const tessera_sparse_options* given) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Job* const running, open(job));
  TESSERA_ASSIGN_OR_RETURN(const tessera_sparse_options options, filled(given));
  if (options.team == nullptr) {
    return running->world();
  }
  TESSERA_ASSIGN_OR_RETURN(const rma::Team* const team, open(options.team));
  return *team;
}

Result<SparseOptions> convert_sparse(const tessera_sparse_options* given) {
  TESSERA_ASSIGN_OR_RETURN(const tessera_sparse_options options, filled(given));
  TESSERA_RETURN_IF_ERROR(
      check_choice(options.balance, TESSERA_BALANCE_ENTRIES + 1, "balance of rows"));
  SparseOptions converted;
  converted.balance = static_cast<RowBalance>(options.balance);
  if (options.name != nullptr) {
    converted.name = options.name;
  }
  if (options.row_starts != nullptr) {
    TESSERA_RETURN_IF_ERROR(check_count(options.row_start_count, "starts of rows"));
    converted.row_starts.assign(options.row_starts, options.row_starts + options.row_start_count);
  }
  return converted;
}

}  // namespace tessera::capi
