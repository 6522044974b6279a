// SPDX-License-Identifier: BSD-3-Clause
//
// Transport `mpi` in builds without MPI: the name exists, so that settings may list it before
// others.
#include "rma/transport/mpi/transport.hpp"

namespace tessera::rma::mpi {

TransportFactory factory() {
  return {"mpi", [](const TransportContext&) -> Result<std::unique_ptr<Transport>> {
            return Status::error(Code::unsupported, "this library was built without MPI")
                .hint("configure with -DTESSERA_MPI=ON, or use TESSERA_TRANSPORT=shm,tcp");
          }};
}

}  // namespace tessera::rma::mpi
