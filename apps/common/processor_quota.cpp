// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/processor_quota.hpp"

#include <fstream>

#include "rma/control_group.hpp"

namespace tessera::apps {
namespace {

// "150000 100000" or "max 100000", in microseconds.
double quota_in(const std::string& path) {
  std::ifstream file(path);
  double quota = 0;
  double period = 0;
  return file >> quota >> period && period > 0 ? quota / period : 0;
}

// The same in two files, with -1 where there is no limit.
double old_quota_in(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period
                                                                                 : 0;
}

}  // namespace

double read_processor_quota(const std::string& root) {
  double least = 0;
  const auto take = [&](double quota) {
    least = quota > 0 && (least == 0 || quota < least) ? quota : least;
  };
  for (const std::string& folder : rma::control_group_folders(root, "")) {
    take(quota_in(folder + "/cpu.max"));
  }
  for (const std::string& folder : rma::control_group_folders(root, "cpu")) {
    take(old_quota_in(folder));
  }
  return least;
}

}  // namespace tessera::apps
