// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/output_files.hpp"

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <set>
#include <system_error>

#include <fmt/format.h>

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;

// What the system said last; streams keep no more than that something went wrong.
bool complain(const std::string& path, int error) {
  std::cerr << fmt::format("cannot write {}: {}\n", path, std::generic_category().message(error));
  return false;
}

}  // namespace

std::string file_written_twice(const std::vector<std::string>& names) {
  std::set<fs::path> seen;
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!name.empty() && name != "/dev/null" &&
        !seen.insert(fs::weakly_canonical(fs::absolute(name), ignored)).second) {
      return name;
    }
  }
  return "";
}

bool OutputFile::open(const std::string& path) {
  path_ = path;
  if (path.empty()) {
    return true;
  }
  errno = 0;
  stream_.open(path);
  return stream_.good() || complain(path, errno);
}

bool OutputFile::close() {
  if (!is_wanted()) {
    return true;
  }
  errno = 0;
  stream_.close();  // what the disk refuses shows here at the latest
  return stream_.good() || complain(path_, errno != 0 ? errno : EIO);
}

bool OutputFiles::open(Crew& crew, const SuiteOptions& options) {
  const bool is_open = crew.rank() != 0 || (json_.open(options.json) && csv_.open(options.csv));
  return crew.share(is_open);
}

bool OutputFiles::write(const Report& report) {
  if (json_.is_wanted()) {
    report.write_json(json_.stream());
  }
  if (csv_.is_wanted()) {
    report.write_csv(csv_.stream());
  }
  const bool has_json = json_.close();
  return csv_.close() && has_json;
}

}  // namespace tessera::bench
