// SPDX-License-Identifier: BSD-3-Clause
//
// triples_energy(): the perturbative triples of CCSD(T), closed shell (Raghavachari, Trucks, Pople
// and Head-Gordon, Chem. Phys. Lett. 157, 479 (1989); spin-adapted by Rendell, Lee and Komornicki,
// ibid. 178, 462 (1991)).
//
//   W_ijk^abc = S₆ [ Σ_d (ia|bd) t_kj^cd − Σ_l (jl|kc) t_il^ab ],   S₆ over the orders of the pairs
//               (i,a) (j,b) (k,c);
//   V_ijk^abc = W_ijk^abc + t_i^a (jb|kc) + t_j^b (ia|kc) + t_k^c (ia|jb);
//   E(T) = ⅓ Σ (4 W_ijk^abc + W_ijk^bca + W_ijk^cab)(V_ijk^abc − V_ijk^cba) / D_ijk^abc
//
// A task is a triple of tiles of virtual orbitals A ≥ B ≥ C; ranks draw tasks from a shared
// counter. For each a ≥ b ≥ c all ijk are computed at once, so that W consists of products of
// matrices over d and l. The tile limits the buffers. The amplitudes and integrals of the next task
// are fetched while one is computed.
//
// Cost: 2 O³ V³ (O + V) operations: six orders for each of V³/6 triples.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/ccsd/equations.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// The size of a rank's buffers.
std::int64_t triples_buffer_bytes(const OrbitalSpace& space);

/// The operations of matrix products, over all ranks.
double triples_operations(const OrbitalSpace& space);

/// Called when this rank draws a task, with the share of tasks drawn so far.
using TriplesProgress = std::function<void(double share)>;

/// Collective. E(T) for converged amplitudes. Errors: those of any rank, on all.
rma::Result<double> triples_energy(rma::Job& job, const Model& model, Integrals& integrals,
                                   Amplitudes& amplitudes, const TriplesProgress& progress = {});

}  // namespace tessera::apps::ccsd
