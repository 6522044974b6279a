// SPDX-License-Identifier: BSD-3-Clause
//
// Shared code of checkpoint tests: arrays of fingerprints, written in one call.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/checkpoint.hpp"
#include "arrays/checkpoint/hdf5.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::arrays::test {

using tessera::test::contents_of;
using tessera::test::SharedFolder;
using tessera::test::write_contents;

/// Small pieces, so that small arrays have many of them.
inline constexpr CheckpointOptions small_pieces{.piece_bytes = 200};

inline bool has_hdf5() {
  return detail::check_hdf5().ok();
}

/// The first member writes all elements.
inline void fill_with_fingerprints(Array<double>& array) {
  if (array.team().rank().value == 0) {
    EXPECT_TRUE(rma::test::ok(array.put(array.box(), fingerprints(array.box()))));
  }
  EXPECT_TRUE(rma::test::ok(array.sync()));
}

/// Each member checks all elements. Collective.
inline void expect_filled(Array<double>& array) {
  std::vector<double> all(static_cast<std::size_t>(array.box().volume()));
  EXPECT_TRUE(rma::test::ok(array.get(array.box(), all)));
  EXPECT_EQ(all, fingerprints(array.box())) << to_string(array.distribution());
  EXPECT_TRUE(rma::test::ok(array.sync()));
}

/// A checkpoint of one array.
template <class T>
rma::Status write_checkpoint(const rma::Team& team, const std::string& path,
                             const CheckpointOptions& options, Array<T>& array) {
  TESSERA_ASSIGN_OR_RETURN(auto writer, CheckpointWriter::create(array.job(), team, path, options));
  TESSERA_RETURN_IF_ERROR(writer.add(array));
  return writer.commit();
}

}  // namespace tessera::arrays::test
