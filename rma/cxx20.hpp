// SPDX-License-Identifier: BSD-3-Clause
//
// Refuses to be compiled as an older C++ than C++20, in one line before the compiler's many.
// Included by each public header that includes no other one.
#pragma once

#if __cplusplus < 202002L
#error "Tessera needs C++20: compile with -std=c++20 or later"
#endif
