// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/arrays.hpp"

#include <memory>
#include <string>
#include <utility>

#include "fortran/detail/arguments.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/typed_array.hpp"

namespace tessera::capi {

using arrays::ArrayBase;
using arrays::ArrayOptions;
using arrays::Extents;
using rma::Result;
using rma::Status;

namespace {

static_assert(static_cast<int>(rma::AccessMode::no_local_access) == TESSERA_ACCESS_NO_LOCAL);
static_assert(static_cast<int>(rma::Atomics::device) == TESSERA_ATOMICS_DEVICE);

using Options = tessera_array_options;

/// The options except the team. Lists have `ndims` entries, or none.
Result<ArrayOptions> convert(const Options& given, std::int64_t ndims) {
  TESSERA_RETURN_IF_ERROR(check_choice(given.order, 2, "memory order"));
  TESSERA_RETURN_IF_ERROR(
      check_choice(given.access_mode, TESSERA_ACCESS_NO_LOCAL + 1, "access mode"));
  TESSERA_RETURN_IF_ERROR(check_choice(given.atomics, TESSERA_ATOMICS_DEVICE + 1, "atomics"));
  ArrayOptions options;
  if (given.holder_count != 0) {
    TESSERA_RETURN_IF_ERROR(required(given.holders, "holders"));
  }
  if (given.holders != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(options.holders, team_ranks(given.holder_count, given.holders));
  }
  if (given.name != nullptr) {
    options.name = given.name;
  }
  options.min_block = list_of<Extents>(given.min_block, ndims);
  options.process_grid = list_of<Extents>(given.process_grid, ndims);
  options.ghosts = list_of<Extents>(given.ghosts, ndims);
  options.order = static_cast<arrays::MemoryOrder>(given.order);
  options.region = {.sparse = given.sparse != 0,
                    .huge_pages = given.huge_pages != 0,
                    .access_mode = static_cast<rma::AccessMode>(given.access_mode),
                    .atomics = static_cast<rma::Atomics>(given.atomics)};
  return options;
}

}  // namespace

Result<ArrayRequest> request_of(const NewArrayArguments& arguments, std::int64_t ndims,
                                Status first_error) {
  TESSERA_ASSIGN_OR_RETURN(rma::Job* const job, open(arguments.job));
  TESSERA_ASSIGN_OR_RETURN(
      const Options given,
      options_of(arguments.options, tessera_array_options_init, "tessera_array_options_init"));
  rma::Team team = job->world();
  if (given.team != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(const rma::Team* const chosen, open(given.team));
    team = *chosen;
  }
  auto options = first_error.ok() ? convert(given, ndims) : ArrayOptions();
  auto element = element_kind(arguments.type);
  for (const Status& wrong : {options.status(), element.status()}) {
    if (first_error.ok()) {
      first_error = wrong;
    }
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(team, std::move(first_error)));
  options->team = std::move(team);
  return ArrayRequest{std::move(element).take(), std::move(options).take()};
}

Status create_array_handle(tessera_job* job, Result<ArrayBase> made, tessera_array** result) {
  TESSERA_RETURN_IF_ERROR(made.status());
  TESSERA_ASSIGN_OR_RETURN(auto array, typed_array(std::move(made).take()));
  const std::string name = "array '" + array->name() + "'";
  *result = make_handle<tessera_array>(
      job, std::make_unique<ArrayContents>(ArrayContents{std::move(array)}), name);
  return {};
}

}  // namespace tessera::capi
