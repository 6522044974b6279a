// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/linalg.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/matrices.hpp"
#include "fortran/detail/solver_options.hpp"
#include "linalg/blas_threads.hpp"
#include "linalg/buffers.hpp"
#include "linalg/permute.hpp"

namespace tessera::capi {
namespace {

using arrays::ArrayBase;
using rma::Result;
using rma::Status;

Status contract(const std::array<const char*, 3>& letters, const std::array<tessera_matrix, 3>& of,
                const tessera_product_options* options) {
  const auto chosen = checked(options);
  Status mine = chosen.status();
  for (const char* const each : letters) {
    if (mine.ok()) {
      mine = required(each, "letters");
    }
  }
  return on_matrices(of, mine, [&]<class T>(Tag<T>, const auto& given) {
    return linalg::contract(letters[1], given.template array<T>(1), letters[2],
                            given.template array<T>(2), letters[0], given.template array<T>(0),
                            contract_options<T>(*chosen));
  });
}

/// Dimensions for the library, which reports invalid ones.
std::vector<int> list_of_dims(const std::int64_t* dims, int ndims) {
  std::vector<int> list;
  for (int dim = 0; dim < ndims; ++dim) {
    list.push_back(static_cast<int>(
        std::clamp<std::int64_t>(dims[dim], linalg::no_dim - 1, arrays::max_dims)));
  }
  return list;
}
static_assert(linalg::no_dim == TESSERA_NO_DIM);

Result<linalg::PermuteOperand> operand_of(const tessera_part& given) {
  TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const array, open_array(given.array));
  TESSERA_ASSIGN_OR_RETURN(const arrays::Box box, box_of(array->extents(), given.lo, given.hi));
  return linalg::PermuteOperand{*array, box};
}

Status permute(const tessera_part& from, const std::int64_t* dims,
               const tessera_product_options* options, const tessera_part& to) {
  // Without the result there is no team to report an error to.
  TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const result, open_array(to.array));
  const auto chosen = checked(options);
  const auto source = operand_of(from);
  const auto target = operand_of(to);
  Status mine = chosen.ok() ? required(dims, "dimensions") : chosen.status();
  for (const Status& found : {source.status(), target.status()}) {
    mine = mine.ok() ? found : mine;
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(result->team(), std::move(mine)));
  return linalg::permute(*source, *target, list_of_dims(dims, result->ndims()),
                         {.buffer_bytes = chosen->buffer_bytes});
}

constexpr std::array<std::int64_t, arrays::max_dims> turned = {1, 0};

}  // namespace

extern "C" {

int tessera_matrix_gemm(tessera_matrix a, tessera_matrix b, const tessera_product_options* options,
                        tessera_matrix c) {
  return call(__func__, [&] {
    const auto chosen = checked(options);
    return on_matrices(std::array{c, a, b}, chosen.status(),
                       [&]<class T>(Tag<T>, const auto& given) {
                         return linalg::gemm(given.template patch<T>(1), given.template patch<T>(2),
                                             given.template patch<T>(0), gemm_options<T>(*chosen));
                       });
  });
}

void tessera_release_buffers(void) {
  linalg::release_buffers();
}

int tessera_array_contract(const char* a_letters, const tessera_array* a, const char* b_letters,
                           const tessera_array* b, const tessera_product_options* options,
                           const char* c_letters, const tessera_array* c) {
  return call(__func__, [&] {
    return contract({c_letters, a_letters, b_letters},
                    {tessera_matrix_whole(c), tessera_matrix_whole(a), tessera_matrix_whole(b)},
                    options);
  });
}

int tessera_part_permute(tessera_part from, const int64_t dims[],
                         const tessera_product_options* options, tessera_part to) {
  return call(__func__, [&] { return permute(from, dims, options, to); });
}

int tessera_part_transpose(tessera_part from, const tessera_product_options* options,
                           tessera_part to) {
  return call(__func__, [&] { return permute(from, turned.data(), options, to); });
}

int tessera_array_permute(const tessera_array* from, const int64_t dims[],
                          const tessera_product_options* options, const tessera_array* to) {
  return call(__func__, [&] {
    return permute(tessera_part_whole(from), dims, options, tessera_part_whole(to));
  });
}

int tessera_array_transpose(const tessera_array* from, const tessera_product_options* options,
                            const tessera_array* to) {
  return call(__func__, [&] {
    return permute(tessera_part_whole(from), turned.data(), options, tessera_part_whole(to));
  });
}

int tessera_team_check_scalapack(const tessera_team* team) {
  return call_on(__func__, team, [&](const rma::Team& asked) {
    return linalg::check_scalapack(*job_of(team)->contents, asked);
  });
}

int tessera_job_blas_threads(const tessera_job* job, int64_t* threads) {
  return call_on(__func__, job, [&](const rma::Job& running) -> Status {
    TESSERA_RETURN_IF_ERROR(required(threads, "result"));
    *threads = linalg::blas_threads(running);
    return {};
  });
}

int tessera_job_limit_blas_threads(const tessera_job* job) {
  return call_on(__func__, job, [](const rma::Job& running) -> Status {
    linalg::limit_blas_threads(running);
    return {};
  });
}

}  // extern "C"

}  // namespace tessera::capi
