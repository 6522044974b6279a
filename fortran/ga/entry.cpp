// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/entry.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fortran/ga/settings.hpp"
#include "rma/bootstrap.hpp"

namespace tessera::ga {

namespace {

std::string rank_prefix() {
  const rma::armci::Session* const session = rma::armci::Session::current();
  return session == nullptr ? "" : fmt::format("[{}] ", session->job.rank().value);
}

/// The box in the caller's terms: "[1:5,3:4]", in Fortran from 1 with the first dimension first.
std::string text_of_box(const Box& box, Style style) {
  std::string text;
  const int ndims = box.ndims();
  for (int dim = 0; dim < ndims; ++dim) {
    const bool is_fortran = style == Style::fortran;
    const int own = is_fortran ? ndims - 1 - dim : dim;
    const std::int64_t first = is_fortran ? 1 : 0;
    text +=
        fmt::format("{}{}:{}", dim == 0 ? "" : ",", box.lo(own) + first, box.hi(own) - 1 + first);
  }
  return '[' + text + ']';
}

Box whole_of(const Record& record) {
  return Box::whole(record.extents());
}

}  // namespace

void fail(const char* function, Status error) noexcept {
  fmt::print(stderr, "tessera: {}{}: {}\n", rank_prefix(), function, error.describe());
  if (!environment_options().returns_errors) {
    rma::end_job(EXIT_FAILURE);
  }
}

void fail_no_memory(const char* function) noexcept {
  std::fputs("tessera: ", stderr);
  std::fputs(function, stderr);
  std::fputs(": this process has no memory left\n", stderr);
  if (!environment_options().returns_errors) {
    rma::end_job(EXIT_FAILURE);
  }
}

void fail_exception(const char* function, const char* what) noexcept {
  fail(function, Status::error(Code::internal, what));
}

void require_done(const char* function, bool is_done) noexcept {
  if (!is_done) {
    fail(function, Status::error(Code::invalid_argument, "there is no array of that handle")
                       .hint("give a handle that a create function returned, and destroy it once"));
  }
}

Status explain_record(std::int64_t handle) {
  if (Session::current() == nullptr) {
    return not_running();
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("{} is not a handle of an array", handle))
      .hint("give a handle that a create function returned and that was not destroyed");
}

Status explain_array(std::int64_t handle) {
  const Record* const record = Records::find(handle);
  if (record == nullptr) {
    return explain_record(handle);
  }
  return Status::error(Code::invalid_argument, record->describe() + " is not allocated")
      .hint("call GA_Allocate before its elements are used");
}

Status find_group(std::int64_t number, Group*& group) {
  Session* const session = Session::current();
  if (session == nullptr) {
    return not_running();
  }
  TESSERA_ASSIGN_OR_RETURN(group, session->find_group(number));
  return {};
}

Status explain_box(const Record& record, const Box& box, Style style) {
  return Status::error(Code::out_of_range, fmt::format("the patch {} is not inside {}, which is {}",
                                                       text_of_box(box, style), record.describe(),
                                                       text_of_box(whole_of(record), style)))
      .hint("bounds are inclusive, and the lower ones may not exceed the upper ones");
}

Status explain_place(const Record& record, const Index& place, Style style) {
  return explain_box(record, Box::at(place), style);
}

Status explain_two(const Record& record) {
  return Status::error(Code::invalid_argument,
                       fmt::format("{} has {} dimensions, and this function takes bounds of two",
                                   record.describe(), record.ndims()))
      .hint("use the function whose name begins with nga_");
}

Status check_dims(std::int64_t ndims) {
  if (ndims < 1 || ndims > max_dims) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} dimensions; 1 to {} are possible", ndims, max_dims));
  }
  return {};
}

Status check_lengths(const Extents& extents) {
  for (const std::int64_t extent : extents) {
    if (extent < 1) {
      return Status::error(Code::invalid_argument,
                           fmt::format("a length of {}; the least is 1", extent));
    }
  }
  return {};
}

Status check_starts(const Starts& starts, const Extents& extents) {
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    const auto& list = starts.of[static_cast<std::size_t>(dim)];
    if (list.empty()) {
      return Status::error(Code::invalid_argument, "a dimension without a block");
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::int64_t before = i == 0 ? 0 : list[i - 1];
      if (list[i] < before || list[i] > extents[dim] || (i == 0 && list[i] != 0)) {
        return Status::error(
                   Code::invalid_argument,
                   fmt::format("block {} of a dimension of {} elements begins at its element {}", i,
                               extents[dim], list[i]))
            .hint("a map's entries begin with the first index and never decrease");
      }
    }
  }
  return {};
}

Status explain_lead(const Record& record, const Box& box, std::int64_t lead, int dim) {
  return Status::error(
             Code::invalid_argument,
             fmt::format(
                 "a leading dimension of {} is less than the {} elements of the patch of {}", lead,
                 box.extent(dim), record.describe()))
      .hint("leading dimensions are those of the local array that holds the patch");
}

Status check_count(std::int64_t count) {
  return count < 0 ? Status::error(Code::invalid_argument, fmt::format("{} elements", count))
                   : Status();
}

std::string_view text_of(const char* text, Length length) noexcept {
  const std::string_view given(text, length);
  const std::string_view all = given.substr(0, given.find('\0'));
  const std::size_t last = all.find_last_not_of(' ');
  return all.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace tessera::ga
