// SPDX-License-Identifier: BSD-3-Clause
//
// What EAF's names, most of which are in the table `names`, call in both languages. Requests are
// done when they begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "fortran/ga/include/eaf.h"
#include "fortran/ga/include/typesf2c.h"
#include "fortran/ga/pario/eaf_files.hpp"

namespace tessera::ga::pario::eaf {

inline constexpr int done = 0;  // the number of every request

inline int code(EafError error) {
  return static_cast<int>(error);
}

// No exception leaves a function of C.
template <class Act>
int guarded(const Act& act) noexcept {
  try {
    return code(act(EafFiles::all()));
  } catch (const std::bad_alloc&) {
    return code(EafError::memory);
  }
}

template <class I>
int open(std::string_view name, std::int64_t type, I* fd) noexcept {
  *fd = -1;
  return guarded([&](EafFiles& files) {
    const auto opened = files.open(name, type);
    *fd = opened.number;
    return opened.error;
  });
}
inline int close(std::int64_t fd) noexcept {
  return guarded([&](EafFiles& files) { return files.close(fd); });
}
inline int remove(std::string_view name) noexcept {
  return guarded([&](EafFiles& files) { return files.remove(name); });
}

inline int read(std::int64_t fd, double offset, void* buffer, std::size_t bytes) noexcept {
  return guarded([&](EafFiles& files) {
    return files.read(fd, offset, {static_cast<std::byte*>(buffer), bytes});
  });
}
inline int write(std::int64_t fd, double offset, const void* buffer, std::size_t bytes) noexcept {
  return guarded([&](EafFiles& files) {
    return files.write(fd, offset, {static_cast<const std::byte*>(buffer), bytes});
  });
}
template <class I>
int begin_read(std::int64_t fd, double offset, void* buffer, std::size_t bytes,
               I* request) noexcept {
  *request = done;
  return read(fd, offset, buffer, bytes);
}
template <class I>
int begin_write(std::int64_t fd, double offset, const void* buffer, std::size_t bytes,
                I* request) noexcept {
  *request = done;
  return write(fd, offset, buffer, bytes);
}
inline int wait(std::int64_t fd, std::int64_t id) noexcept {
  return guarded([&](const EafFiles& files) {
    return !files.is_open(fd) ? EafError::descriptor : id == done ? EafError::none : EafError::wait;
  });
}
template <class I>
int probe(std::int64_t id, I* status) noexcept {
  *status = 0;
  return code(id == done ? EafError::none : EafError::probe);
}

inline int length(std::int64_t fd, double* bytes) noexcept {
  return guarded([&](const EafFiles& files) { return files.length(fd, *bytes); });
}
inline int truncate(std::int64_t fd, double bytes) noexcept {
  return guarded([&](EafFiles& files) { return files.truncate(fd, bytes); });
}
template <class I>
int free_space(std::string_view path, I* mib) noexcept {
  *mib = 0;
  return guarded([&](const EafFiles&) {
    const auto free = File::free_space(std::string(path));
    *mib = free.ok() ? static_cast<I>(*free >> 20) : 0;
    return free.ok() ? EafError::none : EafError::stat;
  });
}
inline bool is_end(std::int64_t error) noexcept {
  return error == code(EafError::end_of_file);
}
inline void errmsg(std::int64_t error, const TextRoom& text) noexcept {
  text.set(eaf_text_of(error));
}
inline void print_stats(std::int64_t fd) noexcept {
  guarded([&](const EafFiles& files) {
    files.print_counts(fd);
    return EafError::none;
  });
}
inline double random_number(std::int64_t seed) noexcept {
  if (seed != 0) {
    srand48(seed);
  }
  return drand48();
}
inline int integer_bytes() noexcept {
  return sizeof(Integer);
}

}  // namespace tessera::ga::pario::eaf
