// SPDX-License-Identifier: BSD-3-Clause
//
// How GoogleTest prints Tessera's values if an expectation fails.
#pragma once

#include <ostream>

#include "arrays/box.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays {

inline void PrintTo(const Index& index, std::ostream* out) {
  *out << to_string(index);
}
inline void PrintTo(const Extents& extents, std::ostream* out) {
  *out << to_string(extents);
}
inline void PrintTo(const Strides& strides, std::ostream* out) {
  *out << "strides " << to_string(Index::from(strides));
}
inline void PrintTo(const Box& box, std::ostream* out) {
  *out << to_string(box);
}

}  // namespace tessera::arrays
