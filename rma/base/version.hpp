// SPDX-License-Identifier: BSD-3-Clause
//
// The version of the library that a program runs with.
#pragma once

#include <string_view>

#include "rma/base/cxx20.hpp"

namespace tessera::rma {

/// "0.1.0".
std::string_view version() noexcept;

}  // namespace tessera::rma
