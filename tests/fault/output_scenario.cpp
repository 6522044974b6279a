// SPDX-License-Identifier: BSD-3-Clause
//
// Scenario: a rank dies while all append time steps to a file. Environment: FAULT_OUTPUT names it.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "arrays/checkpoint.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/output.hpp"
#include "tests/fault/stage.hpp"

namespace tessera::fault {
namespace {

using arrays::Array;
using arrays::Checkpoint;
using arrays::Index;
using arrays::Output;
using rma::Code;
using rma::Status;

const arrays::Extents extents{40, 30};

Status wrong(const std::string& what) {
  return Status::error(Code::internal, "the file is wrong: " + what);
}

/// Each element of step s is s + 1.
Status check_data_set(Checkpoint& file, const std::string& name, std::int64_t steps) {
  TESSERA_RETURN_IF_ERROR(file.verify(name));
  TESSERA_ASSIGN_OR_RETURN(auto array, file.read<double>(name));
  if (array.extents() != arrays::Extents{steps, extents[0], extents[1]}) {
    return wrong(fmt::format("{} has the extents {}, and the attribute says {} steps", name,
                             to_string(array.extents()), steps));
  }
  TESSERA_ASSIGN_OR_RETURN(auto access, array.local());
  const auto view = access.view();
  const arrays::Box own = access.own();
  for (std::int64_t step = own.lo(0); step < own.hi(0); ++step) {
    for (std::int64_t i = own.lo(1); i < own.hi(1); ++i) {
      for (std::int64_t j = own.lo(2); j < own.hi(2); ++j) {
        if (view[Index{step, i, j}] != static_cast<double>(step + 1)) {
          return wrong(fmt::format("element ({}, {}, {}) of {} is {}", step, i, j, name,
                                   view[Index{step, i, j}]));
        }
      }
    }
  }
  return {};
}

/// What an earlier run left: both data sets have the steps that the attribute says.
Status check_file(rma::Job& job, const std::string& path) {
  const bool exists = std::filesystem::exists(path);
  TESSERA_RETURN_IF_ERROR(job.barrier());
  if (!exists) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(auto file, Checkpoint::open(job, path));
  TESSERA_ASSIGN_OR_RETURN(const auto steps, file.attribute<std::int64_t>("steps"));
  TESSERA_RETURN_IF_ERROR(check_data_set(file, "T", steps));
  return check_data_set(file, "fields/plain", steps);
}

Status append_to(Stage& stage, const std::string& path, long& flushed) {
  if (stage.rank() == stage.victim) {
    stage.line.ready();
  }
  TESSERA_ASSIGN_OR_RETURN(auto array, Array<double>::create(stage.job, extents, {.name = "T"}));
  TESSERA_ASSIGN_OR_RETURN(auto out, Output::open(stage.job, path, arrays::OutputMode::append));
  flushed = static_cast<long>(out.steps("T"));
  while (true) {
    const std::int64_t step = flushed + 1;
    TESSERA_RETURN_IF_ERROR(fill(array, static_cast<double>(step)));
    TESSERA_RETURN_IF_ERROR(out.append(array, "T", {.compression = 1}));
    TESSERA_RETURN_IF_ERROR(out.append(array, "fields/plain", {.chunk = {7, 11}}));
    TESSERA_RETURN_IF_ERROR(out.set_attribute("/", "steps", step));
    TESSERA_RETURN_IF_ERROR(out.flush());
    ++flushed;
  }
}

}  // namespace

Status append_steps(Stage& stage) {
  const char* const path = std::getenv("FAULT_OUTPUT");
  if (path == nullptr) {
    return wrong("FAULT_OUTPUT names none");
  }
  TESSERA_RETURN_IF_ERROR(check_file(stage.job, path));
  long flushed = 0;
  Status failed = append_to(stage, path, flushed);
  // Their number takes the place of the time.
  stage.line.report("flushed", Status(), flushed);
  return failed;
}

void append_steps_to_the_end(Stage& stage) {
  append_steps(stage).ignore("the director ends this rank");
  wait_for_the_end();
}

}  // namespace tessera::fault
