// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "rma/base/file_links.hpp"

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Status;

constexpr mode_t permissions = 0666;  // reduced by the user's umask

Status unwritable(Code code, const std::string& path, int error) {
  return Status::error(
      code, fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

// The system's error, or 0. For a file that is not regular, only permissions are checked: a pipe's
// reader would take the end of a trial as the end of the data.
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

std::filesystem::path resolve_links(const std::filesystem::path& path) {
  std::error_code circle;  // reports a circle of links
  return rma::resolve_links(path, circle);
}

int error_of_new_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
  if (descriptor < 0) {
    // Links in a circle, or a file that another program has just made.
    return errno != EEXIST ? errno : is_link(path) ? ELOOP : 0;
  }
  ::close(descriptor);
  ::unlink(path.c_str());
  return 0;
}

// Where a file would be created. Made absolute first: weakly_canonical() does not change a relative
// name if no part of it exists.
std::filesystem::path absolute_path_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(resolve_links(path), error);
  return std::filesystem::weakly_canonical(absolute, error);
}

// Devices may be given twice: nothing is overwritten.
bool is_same_file(const std::string& a, const std::string& b) {
  struct stat facts_a = {};
  struct stat facts_b = {};
  const bool exists_a = ::stat(a.c_str(), &facts_a) == 0;
  const bool exists_b = ::stat(b.c_str(), &facts_b) == 0;
  if (exists_a && exists_b) {
    return S_ISREG(facts_a.st_mode) && facts_a.st_dev == facts_b.st_dev &&
           facts_a.st_ino == facts_b.st_ino;
  }
  return exists_a == exists_b && absolute_path_of(a) == absolute_path_of(b);
}

}  // namespace

Status check_not_overwritten(const std::string& path, const std::vector<std::string>& others) {
  for (const std::string& other : others) {
    if (!path.empty() && !other.empty() && is_same_file(path, other)) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("{}: this output would overwrite {}, which the program also reads or writes",
                      path, path == other ? "this file" : other));
    }
  }
  return {};
}

Status try_output_file(const std::string& path) {
  struct stat facts = {};
  const bool is_present = ::stat(path.c_str(), &facts) == 0;
  const int error =
      is_present ? error_of_present_file(path, facts) : error_of_new_file(resolve_links(path));
  return error == 0 ? Status() : unwritable(Code::invalid_argument, path, error);
}

namespace {

// The system's error, or 0. Closes the descriptor.
int error_of_writing(int descriptor, std::string_view contents) {
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
    error = errno;  // some file systems report only here that the disk is full
  }
  return error;
}

int error_of_overwriting(const std::string& path, std::string_view contents) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions);
  return descriptor < 0 ? errno : error_of_writing(descriptor, contents);
}

bool is_open_as(int descriptor, const struct stat& facts) {
  struct stat other = {};
  return ::fstat(descriptor, &other) == 0 && other.st_dev == facts.st_dev &&
         other.st_ino == facts.st_ino;
}

// Whether a new file can replace it: it has no other name, which would keep the old contents, and
// is not the standard output of this program ("/dev/stdout").
bool is_replaceable(const struct stat& facts) {
  return S_ISREG(facts.st_mode) && facts.st_nlink == 1 && !is_open_as(STDOUT_FILENO, facts) &&
         !is_open_as(STDERR_FILENO, facts);
}

// A new file in the folder of `path`; negative on failure, with the reason in errno.
int open_beside(const std::filesystem::path& path, std::string& name) {
  constexpr int max_leftovers = 100;  // from killed programs that had the same process number
  int descriptor = -1;
  for (int number = 0; number < max_leftovers && descriptor < 0; ++number) {
    name = path.parent_path() / fmt::format(".tessera-{}-{}", ::getpid(), number);
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
    if (descriptor < 0 && errno != EEXIST) {
      break;
    }
  }
  return descriptor;
}

// Gives the new file the owner, group and permissions of the old one. False if that fails.
bool copy_ownership(int descriptor, const struct stat& old) {
  struct stat facts = {};
  const bool has_owner = ::fstat(descriptor, &facts) == 0 &&
                         ((facts.st_uid == old.st_uid && facts.st_gid == old.st_gid) ||
                          ::fchown(descriptor, old.st_uid, old.st_gid) == 0);
  return has_owner && ::fchmod(descriptor, old.st_mode & 07777U) == 0;
}

// Writes a file beside the old one and renames it: the old one stays complete until all is written.
// Returns the system's error, or 0; nullopt if that is not possible here, with the file unchanged.
std::optional<int> replace_file(const std::filesystem::path& path, const struct stat* old,
                                std::string_view contents) {
  std::string name;
  const int descriptor = open_beside(path, name);
  if (descriptor < 0) {
    const bool is_forbidden = errno == EACCES || errno == EPERM || errno == EROFS;
    return is_forbidden && old != nullptr ? std::nullopt : std::optional(errno);
  }
  if (old != nullptr && !copy_ownership(descriptor, *old)) {
    ::close(descriptor);
    ::unlink(name.c_str());
    return std::nullopt;
  }
  const int error = error_of_writing(descriptor, contents);
  if (error != 0) {
    ::unlink(name.c_str());
    return error;
  }
  if (::rename(name.c_str(), path.c_str()) != 0) {
    // A mount point, or another user's file in a shared folder.
    ::unlink(name.c_str());
    return std::nullopt;
  }
  return 0;
}

}  // namespace

Status write_output_file(const std::string& path, std::string_view contents) {
  struct stat facts = {};
  const bool is_present = ::stat(path.c_str(), &facts) == 0;
  std::optional<int> error;
  if (!is_present || is_replaceable(facts)) {
    error = replace_file(resolve_links(path), is_present ? &facts : nullptr, contents);
  }
  if (!error) {
    error = error_of_overwriting(path, contents);
  }
  return *error == 0 ? Status() : unwritable(Code::unreachable, path, *error);
}

}  // namespace tessera::apps
