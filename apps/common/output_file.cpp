// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Status;

constexpr mode_t permissions = 0666;  // less what the user's mask takes away

Status unwritable(Code code, const std::string& path, int error) {
  return Status::error(
      code, fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

// The system's error, or 0. Of what is no regular file only the permissions are looked at: a pipe's
// reader would take the end of a trial for the end of the data.
int error_of_present_file(const std::string& path, const struct stat& facts) {
  if (S_ISDIR(facts.st_mode)) {
    return EISDIR;
  }
  if (!S_ISREG(facts.st_mode)) {
    return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return errno;
  }
  ::close(descriptor);
  return 0;
}

bool is_link(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_symlink(path, error);
}

// What a link that leads to nothing would make there: canonical paths are of what is there only.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int most = 40;  // as the system itself
  for (int followed = 0; followed < most && is_link(path); ++followed) {
    std::error_code error;
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path;
}

int error_of_new_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
  if (descriptor < 0) {
    // Of links in a circle, or a file that another program has made meanwhile.
    return errno != EEXIST ? errno : is_link(path) ? ELOOP : 0;
  }
  ::close(descriptor);
  ::unlink(path.c_str());
  return 0;
}

// Where a file would come to be. Made absolute first: weakly_canonical() leaves a relative name as
// it is when no part of it is there.
std::filesystem::path place_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(behind_links(path), error);
  return std::filesystem::weakly_canonical(absolute, error);
}

// Devices may be given twice: nothing is overwritten there.
bool is_same_file(const std::string& a, const std::string& b) {
  struct stat facts_a = {};
  struct stat facts_b = {};
  const bool is_there_a = ::stat(a.c_str(), &facts_a) == 0;
  const bool is_there_b = ::stat(b.c_str(), &facts_b) == 0;
  if (is_there_a && is_there_b) {
    return S_ISREG(facts_a.st_mode) && facts_a.st_dev == facts_b.st_dev &&
           facts_a.st_ino == facts_b.st_ino;
  }
  return is_there_a == is_there_b && place_of(a) == place_of(b);
}

}  // namespace

Status check_not_overwritten(const std::string& path, const std::vector<std::string>& others) {
  for (const std::string& other : others) {
    if (!path.empty() && !other.empty() && is_same_file(path, other)) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("{}: what is to be written there would write over {}, which was given, too",
                      path, path == other ? "this file" : other));
    }
  }
  return {};
}

Status try_output_file(const std::string& path) {
  struct stat facts = {};
  const bool is_present = ::stat(path.c_str(), &facts) == 0;
  const int error =
      is_present ? error_of_present_file(path, facts) : error_of_new_file(behind_links(path));
  return error == 0 ? Status() : unwritable(Code::invalid_argument, path, error);
}

Status write_output_file(const std::string& path, std::string_view contents) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions);
  if (descriptor < 0) {
    return unwritable(Code::unreachable, path, errno);
  }
  int error = 0;
  while (!contents.empty() && error == 0) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written >= 0) {
      contents.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (::close(descriptor) != 0 && error == 0) {
    error = errno;  // some file systems tell only here that there is no space
  }
  return error == 0 ? Status() : unwritable(Code::unreachable, path, error);
}

}  // namespace tessera::apps
