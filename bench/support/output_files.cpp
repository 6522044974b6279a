// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/output_files.hpp"

#include <cerrno>
#include <iostream>
#include <system_error>

#include <fmt/format.h>

namespace tessera::bench {
namespace {

// What the system said last; streams keep no more than that something went wrong.
bool complain(const std::string& path, int error) {
  std::cerr << fmt::format("cannot write {}: {}\n", path, std::generic_category().message(error));
  return false;
}

}  // namespace

bool OutputFiles::open(File& file, const std::string& path) {
  file.path = path;
  if (path.empty()) {
    return true;
  }
  errno = 0;
  file.stream.open(path);
  return file.stream.good() || complain(path, errno);
}

bool OutputFiles::close(File& file) {
  if (file.path.empty()) {
    return true;
  }
  errno = 0;
  file.stream.close();  // what the disk refuses shows here at the latest
  return file.stream.good() || complain(file.path, errno != 0 ? errno : EIO);
}

bool OutputFiles::open(Crew& crew, const SuiteOptions& options) {
  const bool is_open = crew.rank() != 0 || (open(json_, options.json) && open(csv_, options.csv));
  return crew.share(is_open);
}

bool OutputFiles::write(const Report& report) {
  if (!json_.path.empty()) {
    report.write_json(json_.stream);
  }
  if (!csv_.path.empty()) {
    report.write_csv(csv_.stream);
  }
  const bool has_json = close(json_);
  return close(csv_) && has_json;
}

}  // namespace tessera::bench
