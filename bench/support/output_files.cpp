// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/output_files.hpp"

#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"

namespace tessera::bench {
namespace {

bool say(const rma::Status& status) {
  if (!status.ok()) {
    apps::complain("tessera-bench", status.message());
  }
  return status.ok();
}

}  // namespace

bool OutputFile::open(const std::string& path) {
  path_ = path;
  return path.empty() || path == standard_output || say(apps::try_output_file(path));
}

bool OutputFile::close() {
  if (path_ == standard_output) {
    apps::tell(stream_.view());  // apps::finish_output() says where that fails
    return true;
  }
  return !is_wanted() || say(apps::write_output_file(path_, stream_.view()));
}

bool OutputFiles::open(RankGroup& crew, const SuiteOptions& options) {
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
