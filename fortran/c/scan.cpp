// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/scan.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include "fortran/c/operations.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/operands.hpp"

namespace tessera::capi {
namespace {

static_assert(static_cast<int>(arrays::ScanKind::exclusive) == TESSERA_EXCLUSIVE);

rma::Status give_count(const rma::Result<std::int64_t>& moved, std::int64_t* count) {
  if (moved.ok() && count != nullptr) {
    *count = *moved;
  }
  return moved.status();
}

}  // namespace

extern "C" {

int tessera_array_enumerate(tessera_part result, const void* start, const void* step) {
  return on_parts(
      __func__, std::array{result}, {start, step}, [&]<class T>(Tag<T>, const auto& given) {
        return arrays::enumerate(given.template part<T>(0), number<T>(start), number<T>(step));
      });
}

int tessera_array_scan_copy(tessera_part from, tessera_part mask, tessera_part to) {
  return on_parts(
      __func__, std::array{to, from, mask}, {},
      [&]<class T>(Tag<T>, const auto& given) {
        return arrays::scan_copy(given.template part<T>(1), given.any(2),
                                 given.template part<T>(0));
      },
      1);
}

int tessera_array_scan_add(tessera_part from, tessera_part mask, tessera_part to,
                           tessera_scan kind) {
  return on_parts(
      __func__, std::array{to, from, mask}, {},
      [&]<class T>(Tag<T>, const auto& given) {
        // The result's team refuses an unknown kind together.
        TESSERA_RETURN_IF_ERROR(
            report_to_team(given.any(0).array().team(), check_choice(kind, 2, "kind of scan")));
        return arrays::scan_add(given.template part<T>(1), given.any(2), given.template part<T>(0),
                                static_cast<arrays::ScanKind>(kind));
      },
      1);
}

int tessera_array_pack(tessera_part from, tessera_part mask, tessera_part to, int64_t* count) {
  return on_parts(
      __func__, std::array{to, from, mask}, {},
      [&]<class T>(Tag<T>, const auto& given) {
        return give_count(
            arrays::pack(given.template part<T>(1), given.any(2), given.template part<T>(0)),
            count);
      },
      1);
}

int tessera_array_unpack(tessera_part from, tessera_part mask, tessera_part to, int64_t* count) {
  return on_parts(
      __func__, std::array{to, from, mask}, {},
      [&]<class T>(Tag<T>, const auto& given) {
        return give_count(
            arrays::unpack(given.template part<T>(1), given.any(2), given.template part<T>(0)),
            count);
      },
      1);
}

}  // extern "C"

}  // namespace tessera::capi
