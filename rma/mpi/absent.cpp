// SPDX-License-Identifier: BSD-3-Clause
//
// Transport `mpi` of builds without MPI: it is there by name, so that others may follow it.
#include "rma/mpi/transport.hpp"

namespace tessera::rma::mpi {

TransportFactory factory() {
  return {"mpi", [](const TransportContext&) -> Result<std::unique_ptr<Transport>> {
            return Status::error(Code::unsupported, "this library was built without MPI")
                .hint("configure with -DTESSERA_MPI=ON, or use TESSERA_TRANSPORT=shm,tcp");
          }};
}

}  // namespace tessera::rma::mpi
