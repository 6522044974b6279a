// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/error.hpp"

#include <fmt/format.h>

#include <string>

namespace tessera::rma::mpi {
namespace {

std::string text_of(int code) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return fmt::format("error {}", code);
  }
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

Status error_of(std::string_view call, int code) {
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &error_class);
  const std::string text = fmt::format("{}: {}", call, text_of(code));
  switch (error_class) {
    case MPI_ERR_NO_MEM:
      return Status::error(Code::no_memory, text);
    case MPI_ERR_WIN:
    case MPI_ERR_BASE:
    case MPI_ERR_SIZE:
    case MPI_ERR_DISP:
    case MPI_ERR_UNSUPPORTED_OPERATION:
      return Status::error(Code::unsupported, text);
    default:
      return Status::error(Code::unreachable, text);
  }
}

}  // namespace tessera::rma::mpi
