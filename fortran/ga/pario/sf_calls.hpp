// SPDX-License-Identifier: BSD-3-Clause
//
// What SF's names, which are in the table `names`, call in both languages. Requests are done when
// they begin.
#pragma once

#include <cstdint>
#include <new>
#include <optional>
#include <string_view>

#include "fortran/ga/include/chemio.h"
#include "fortran/ga/include/sf.h"
#include "fortran/ga/pario/shared_files.hpp"

namespace tessera::ga::pario::sf {

inline int code(Failure failure) {
  return static_cast<int>(failure);
}

template <class Act>
int guarded(const Act& act) noexcept {
  try {
    return code(act(SharedFiles::all()));
  } catch (const std::bad_alloc&) {
    return code(Failure::memory);
  }
}

template <class I>
int create(std::string_view name, I* handle, std::optional<std::int64_t> suffix) noexcept {
  return guarded([&](SharedFiles& files) {
    const auto made = files.create(name, suffix);
    *handle = static_cast<I>(made.handle);
    return made.failure;
  });
}

inline int destroy(std::int64_t handle) noexcept {
  return guarded([&](SharedFiles& files) { return files.destroy(handle); });
}
inline int reopen(std::int64_t handle, Reopen how) noexcept {
  return guarded([&](SharedFiles& files) { return files.reopen(handle, how); });
}
inline int sync(std::int64_t handle) noexcept {
  return guarded([&](const SharedFiles& files) { return files.sync(handle); });
}
template <class I>
int write(std::int64_t handle, double offset, double bytes, const char* buffer,
          I* request) noexcept {
  *request = ELIO_DONE;
  return guarded(
      [&](const SharedFiles& files) { return files.write(handle, offset, bytes, buffer); });
}
template <class I>
int read(std::int64_t handle, double offset, double bytes, char* buffer, I* request) noexcept {
  *request = ELIO_DONE;
  return guarded(
      [&](const SharedFiles& files) { return files.read(handle, offset, bytes, buffer); });
}
template <class I>
int wait_all(I* requests, std::int64_t count) noexcept {
  int result = ELIO_OK;
  for (std::int64_t i = 0; i < count; ++i) {
    if (requests[i] != ELIO_DONE) {
      result = code(Failure::handle);
    }
    requests[i] = ELIO_DONE;
  }
  return result;
}

inline void errmsg(std::int64_t error, const TextRoom& text) noexcept {
  text.set(text_of(error));
}

}  // namespace tessera::ga::pario::sf
