// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/handles.hpp"

#include <fmt/format.h>

namespace tessera::capi {

using rma::Code;
using rma::Status;

const char* name_of(Mark mark) noexcept {
  switch (mark) {
    case Mark::job:
      return "job";
    case Mark::team:
      return "team";
    case Mark::locks:
      return "set of locks";
    case Mark::counter:
      return "counter";
    case Mark::distribution:
      return "distribution";
    case Mark::array:
      return "array";
    case Mark::access:
      return "local access";
    case Mark::halo:
      return "halo";
    case Mark::sparse:
      return "sparse matrix";
    case Mark::sparse_builder:
      return "builder of a sparse matrix";
    case Mark::sparse_rows:
      return "access to rows";
    case Mark::spmv:
      return "plan of products";
    case Mark::checkpoint_writer:
      return "writer of a checkpoint";
    case Mark::checkpoint:
      return "checkpoint";
    case Mark::mirrored:
      return "mirrored array";
    case Mark::transfers:
      break;
  }
  return "handle of transfers";
}

Status explain_null(Mark kind) {
  return Status::error(Code::invalid_argument, fmt::format("the {} is null", name_of(kind)))
      .hint("check the error code of the function that should have set it");
}

Status explain_other(Mark kind) {
  return Status::error(
             Code::invalid_argument,
             fmt::format("the argument for the {} is not a handle of that kind", name_of(kind)))
      .hint("pass the handle that the function which creates such objects has set");
}

Status explain_freed(const AnyShell& shell, std::size_t use) {
  return Status::error(Code::closed,
                       fmt::format("the {} was freed",
                                   use == shell.use ? shell.name.c_str() : name_of(shell.mark)))
      .hint("keep one copy of a handle: the function that frees it sets it to null");
}

}  // namespace tessera::capi
