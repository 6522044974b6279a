// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tessera::rma::detail {

Status cannot_write(const std::string& path, int error) {
  return Status::error(Code::invalid_argument,
                       fmt::format("cannot write {}: {}", path, std::strerror(error)))
      .hint("name another file with TESSERA_PROFILE_FILE");
}

Status check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return cannot_write(path, EISDIR);
  }
  if (access(path.c_str(), F_OK) == 0) {
    return access(path.c_str(), W_OK) == 0 ? Status() : cannot_write(path, errno);
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0
             ? Status()
             : cannot_write(path, errno);
}

void remove_plain_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::symlink_status(path, ignored).type() ==
      std::filesystem::file_type::regular) {
    std::filesystem::remove(path, ignored);
  }
}

Status write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return cannot_write(path, errno);
  }
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int error = is_written ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) {
    error = errno;
  }
  if (error == 0) {
    return {};
  }
  remove_plain_file(path);
  return cannot_write(path, error);
}

}  // namespace tessera::rma::detail
