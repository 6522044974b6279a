// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What handles of mirrored arrays point to.
#pragma once

#include <memory>

#include "fortran/c_mirrored.h"
#include "fortran/detail/handles.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

struct MirroredContents {
  rma::Team team;
  std::shared_ptr<void> mirrored;  ///< a Mirrored<T> of the type that the elements of `here` have
  tessera_array* here;             ///< its array, whose memory it is
};

template <>
struct ShellOf<tessera_mirrored> {
  using Type = Shell<Mark::mirrored, MirroredContents>;
};

}  // namespace tessera::capi
