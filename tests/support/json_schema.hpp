// SPDX-License-Identifier: BSD-3-Clause
//
// Checks a JSON file against a schema, with python3-jsonschema.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace tessera::test {

/// The result of validate_by_schema() without a validator.
inline constexpr int no_validator = 77;

/// 0: valid; 1: not valid, and the differences are printed; no_validator.
inline int validate_by_schema(const std::string& file, const std::string& schema) {
  const std::string program =
      "import sys, json\n"
      "try: import jsonschema\n"
      "except ImportError: sys.exit(77)\n"
      "schema = json.load(open(sys.argv[1]))\n"
      "jsonschema.Draft202012Validator.check_schema(schema)\n"
      "errors = list(jsonschema.Draft202012Validator(schema).iter_errors(\n"
      "    json.load(open(sys.argv[2]))))\n"
      "[print(e.json_path, e.message) for e in errors]\n"
      "sys.exit(1 if errors else 0)\n";
  constexpr int no_python = 127;
  const int status =
      std::system(fmt::format("python3 -c '{}' '{}' '{}'", program, schema, file).c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code == no_python ? no_validator : code;
}

}  // namespace tessera::test
