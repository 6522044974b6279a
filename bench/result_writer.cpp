// SPDX-License-Identifier: BSD-3-Clause
#include "bench/result_writer.hpp"

#include <exception>
#include <sstream>

#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "bench/support/options.hpp"

namespace tessera::bench {
namespace {

constexpr const char* program = "tessera-bench";

bool say(const rma::Status& status) {
  if (!status.ok()) {
    apps::complain(program, status.message());
  }
  return status.ok();
}

}  // namespace

bool ResultWriter::open(RankGroup& group, const std::string& path) {
  path_ = path;
  const bool is_tried = group.rank() == 0 && !path.empty() && path != standard_output;
  return group.share(!is_tried || say(apps::try_output_file(path)));
}

bool ResultWriter::write_all() {
  is_written_ = true;
  if (path_.empty()) {
    return true;
  }
  std::ostringstream text;
  report_.write_json(text);
  if (path_ == standard_output) {
    apps::tell(text.view());  // apps::finish_output() says where that fails
    return true;
  }
  return say(apps::write_output_file(path_, text.view()));
}

bool ResultWriter::write() {
  const std::lock_guard lock(mutex_);
  return is_written_ || write_all();
}

void ResultWriter::write_unfinished(const std::string& why) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (is_written_ || path_.empty()) {
      return;
    }
    if (!report_.has_records()) {
      apps::complain(program, "the run ended before anything was measured; no file is written");
      return;
    }
    report_.set_unfinished(why);
    if (write_all()) {
      apps::complain(program, "the run ended early; the file holds the results until then");
    }
  } catch (const std::exception& error) {
    apps::complain(program, error.what());
  }
}

}  // namespace tessera::bench
