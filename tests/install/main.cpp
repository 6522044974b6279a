// SPDX-License-Identifier: BSD-3-Clause
//
// The smallest program that uses Tessera's headers and library.
#include <iostream>

#include <tessera/rma/base/status.hpp>

int main() {
  using tessera::rma::Code;
  using tessera::rma::Status;
  const Status status = Status::error(Code::unsupported, "nothing to do").context("installing");
  std::cout << status.message() << '\n';
  return status.message() == "installing: nothing to do" ? 0 : 1;
}
