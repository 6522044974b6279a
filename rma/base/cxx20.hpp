// SPDX-License-Identifier: BSD-3-Clause
//
// Stops compilation as older C++ than C++20 with one line, before the compiler's own errors.
// Included by each public header that includes no other one.
#pragma once

#if __cplusplus < 202002L
#error "Tessera needs C++20: compile with -std=c++20 or later"
#endif
