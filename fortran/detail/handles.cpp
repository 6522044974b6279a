// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/handles.hpp"

#include <fmt/format.h>

namespace tessera::capi {

using rma::Code;
using rma::Status;

const char* name_of(HandleKind mark) noexcept {
  switch (mark) {
    case HandleKind::job:
      return "job";
    case HandleKind::team:
      return "team";
    case HandleKind::locks:
      return "set of locks";
    case HandleKind::counter:
      return "counter";
    case HandleKind::distribution:
      return "distribution";
    case HandleKind::array:
      return "array";
    case HandleKind::access:
      return "local access";
    case HandleKind::halo:
      return "halo";
    case HandleKind::sparse:
      return "sparse matrix";
    case HandleKind::sparse_builder:
      return "builder of a sparse matrix";
    case HandleKind::sparse_rows:
      return "access to rows";
    case HandleKind::spmv:
      return "plan of products";
    case HandleKind::checkpoint_writer:
      return "writer of a checkpoint";
    case HandleKind::checkpoint:
      return "checkpoint";
    case HandleKind::mirrored:
      return "mirrored array";
    case HandleKind::output:
      return "output";
    case HandleKind::transfers:
      break;
  }
  return "handle of transfers";
}

Status explain_null(HandleKind kind) {
  return Status::error(Code::invalid_argument, fmt::format("the {} is null", name_of(kind)))
      .hint("check the error code of the function that should have set it");
}

Status explain_other(HandleKind kind) {
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
