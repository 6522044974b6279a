// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "arrays/print.hpp"
#include "fortran/c/operations.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"

namespace tessera::capi {
namespace {

using arrays::ArrayBase;
using arrays::PrintOptions;
using rma::Code;
using rma::Result;
using rma::Status;

/// The options for the library. Errors: values that they cannot have.
Result<PrintOptions> convert(const tessera_print_options* given) {
  TESSERA_ASSIGN_OR_RETURN(
      const tessera_print_options options,
      options_of(given, tessera_print_options_init, "tessera_print_options_init"));
  using Limits = std::numeric_limits<std::int32_t>;
  for (const std::int64_t value : {options.root, options.digits}) {
    if (value < 0 || value > Limits::max()) {
      return Status::error(Code::invalid_argument, fmt::format("the root is {}, the digits are {}",
                                                               options.root, options.digits));
    }
  }
  return PrintOptions{.root = {static_cast<std::int32_t>(options.root)},
                      .digits = static_cast<int>(options.digits),
                      .most_lines = options.most_lines};
}

Status cannot_write(const std::string& where) {
  return Status::error(Code::invalid_argument,
                       fmt::format("{} can't be written: {}", where, std::strerror(errno)));
}

/// The text of a part on the root, empty elsewhere.
Result<std::string> text_of(const ArrayBase& array, const tessera_part& given,
                            const tessera_print_options* options) {
  const auto box = box_of(array.extents(), given.lo, given.hi);
  const auto chosen = convert(options);
  TESSERA_RETURN_IF_ERROR(report_to_team(array.team(), box.ok() ? chosen.status() : box.status()));
  std::ostringstream text;
  TESSERA_RETURN_IF_ERROR(print(array, *box, text, *chosen));
  return text.str();
}

Status write(std::FILE* file, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0) {
    return cannot_write("the file");
  }
  return {};
}

Status write(const char* path, const std::string& text) {
  TESSERA_RETURN_IF_ERROR(required(path, "path"));
  std::ofstream file(path);
  file << text << std::flush;
  return file.good() ? Status() : cannot_write(fmt::format("'{}'", path));
}

/// The root writes its text to `where`; the other members get its status.
template <class Where>
int print_to(const char* function, const tessera_part& given, const tessera_print_options* options,
             Where where) {
  return call_on(function, given.array, [&](const ArrayBase& array) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::string text, text_of(array, given, options));
    return array.team().agree(text.empty() ? Status() : write(where, text));
  });
}

}  // namespace

extern "C" {

int tessera_array_print(tessera_part a, FILE* file, const tessera_print_options* options) {
  return print_to(__func__, a, options, file == nullptr ? stdout : file);
}

int tessera_array_print_to(tessera_part a, const char* path, const tessera_print_options* options) {
  return print_to(__func__, a, options, path);
}

}  // extern "C"

}  // namespace tessera::capi
