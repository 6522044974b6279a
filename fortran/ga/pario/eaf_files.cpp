// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/pario/eaf_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace tessera::ga::pario {

using rma::Status;

namespace {

// In the order of EafError, from end_of_file on.
constexpr std::array<std::string_view, 20> eaf_texts{
    "end of file",
    "too many open files",
    "memory allocation failed",
    "failed opening file",
    "failed closing file",
    "invalid file descriptor",
    "write failed",
    "asynchronous write failed",
    "read failed",
    "asynchronous read failed",
    "wait failed",
    "probe failed",
    "unlink failed",
    "unimplemented operation",
    "stat failed",
    "an argument string/buffer is too short",
    "an argument string/buffer is too long",
    "offset is not an integer",
    "truncate failed",
    "length failed",
};

EafError error_unless(const Status& status, EafError error) {
  return status.ok() ? EafError::none : error;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string_view eaf_text_of(std::int64_t code) noexcept {
  const std::int64_t at = static_cast<std::int64_t>(EafError::end_of_file) - code;
  return at >= 0 && at < static_cast<std::int64_t>(eaf_texts.size())
             ? eaf_texts[static_cast<std::size_t>(at)]
             : text_of(code);
}

EafFiles& EafFiles::all() {
  static auto* const files = new EafFiles;  // a program may write until it ends
  return *files;
}

EafFiles::Entry* EafFiles::find(std::int64_t number) const {
  return number >= 0 && number < static_cast<std::int64_t>(entries_.size())
             ? entries_[static_cast<std::size_t>(number)].get()
             : nullptr;
}

EafFiles::Opened EafFiles::open(std::string_view name, std::int64_t type) {
  if (static_cast<std::int64_t>(name.size()) > max_name) {
    return {EafError::too_long};
  }
  const auto unused = std::find(entries_.begin(), entries_.end(), nullptr);
  if (unused == entries_.end() && entries_.size() == max_open) {
    return {EafError::max_open};
  }
  auto entry = std::make_unique<Entry>();
  entry->name = name;
  if (type > 0) {
    auto& memory = in_memory_[entry->name];
    if (memory == nullptr) {
      memory = make_memory(static_cast<std::size_t>(type) << 20);
    }
    if (memory == nullptr) {
      in_memory_.erase(entry->name);
      return {EafError::memory};
    }
    entry->memory = memory;
  } else {
    if (type < static_cast<std::int64_t>(Access::read) || type == 0) {
      return {EafError::open};
    }
    auto opened = File::open(entry->name, static_cast<Access>(type));
    if (!opened.ok()) {
      return {EafError::open};
    }
    entry->file = std::move(opened).take();
  }
  const auto number = unused - entries_.begin();
  if (unused == entries_.end()) {
    entries_.push_back(std::move(entry));
  } else {
    *unused = std::move(entry);
  }
  return {EafError::none, static_cast<int>(number)};
}

EafError EafFiles::close(std::int64_t number) {
  Entry* const entry = find(number);
  if (entry == nullptr) {
    return EafError::descriptor;
  }
  const EafError error = error_unless(entry->file.close(), EafError::close);
  entries_[static_cast<std::size_t>(number)].reset();
  return error;
}

EafError EafFiles::remove(std::string_view name) {
  if (const auto found = in_memory_.find(name); found != in_memory_.end()) {
    in_memory_.erase(found);
    return EafError::none;
  }
  return error_unless(File::remove(std::string(name)), EafError::remove);
}

std::shared_ptr<EafFiles::Memory> EafFiles::make_memory(std::size_t bytes) {
  auto* const zeros = static_cast<std::byte*>(std::calloc(bytes, 1));
  if (zeros == nullptr) {
    return nullptr;
  }
  auto memory = std::make_shared<Memory>();
  memory->owner.reset(zeros);
  memory->bytes = {zeros, bytes};
  return memory;
}

EafError EafFiles::read_memory(const Memory& memory, std::int64_t at, std::span<std::byte> bytes) {
  if (at > memory.used || static_cast<std::int64_t>(bytes.size()) > memory.used - at) {
    return EafError::end_of_file;
  }
  std::copy_n(memory.bytes.begin() + at, bytes.size(), bytes.begin());
  return EafError::none;
}

EafError EafFiles::write_memory(Memory& memory, std::int64_t at, std::span<const std::byte> bytes) {
  const auto room = static_cast<std::int64_t>(memory.bytes.size());
  const auto count = static_cast<std::int64_t>(bytes.size());
  if (at > room || count > room - at) {
    return EafError::write;
  }
  std::copy(bytes.begin(), bytes.end(), memory.bytes.begin() + at);
  memory.used = std::max(memory.used, at + count);
  return EafError::none;
}

template <class Byte, class Move>
EafError EafFiles::move(std::int64_t number, double offset, std::span<Byte> bytes,
                        Counts Entry::*counts, const Move& move_bytes) {
  Entry* const entry = find(number);
  if (entry == nullptr) {
    return EafError::descriptor;
  }
  const auto at = bytes_of(offset);
  if (!at) {
    return EafError::offset;
  }
  if (static_cast<std::int64_t>(bytes.size()) < 0) {
    return EafError::too_long;  // a negative number of bytes has become a large one
  }
  const double start = seconds();
  const EafError error = move_bytes(*entry, *at);
  Counts& all = entry->*counts;
  ++all.calls;
  all.bytes += error == EafError::none ? static_cast<std::int64_t>(bytes.size()) : 0;
  all.seconds += seconds() - start;
  return error;
}

EafError EafFiles::read(std::int64_t number, double offset, std::span<std::byte> bytes) {
  return move(number, offset, bytes, &Entry::reads, [&](Entry& entry, std::int64_t at) {
    if (entry.memory) {
      return read_memory(*entry.memory, at, bytes);
    }
    const Status read = entry.file.read_all(at, bytes);
    return read.code() == rma::Code::out_of_range ? EafError::end_of_file
                                                  : error_unless(read, EafError::read);
  });
}

EafError EafFiles::write(std::int64_t number, double offset, std::span<const std::byte> bytes) {
  return move(number, offset, bytes, &Entry::writes, [&](Entry& entry, std::int64_t at) {
    return entry.memory ? write_memory(*entry.memory, at, bytes)
                        : error_unless(entry.file.write(at, bytes), EafError::write);
  });
}

EafError EafFiles::length(std::int64_t number, double& length) const {
  const Entry* const entry = find(number);
  if (entry == nullptr) {
    return EafError::descriptor;
  }
  if (entry->memory) {
    length = static_cast<double>(entry->memory->used);
    return EafError::none;
  }
  const auto bytes = entry->file.length();
  if (bytes.ok()) {
    length = static_cast<double>(*bytes);
  }
  return error_unless(bytes.status(), EafError::length);
}

EafError EafFiles::truncate(std::int64_t number, double length) {
  Entry* const entry = find(number);
  if (entry == nullptr) {
    return EafError::descriptor;
  }
  const auto bytes = bytes_of(length);
  if (!bytes) {
    return EafError::offset;
  }
  if (!entry->memory) {
    return error_unless(entry->file.truncate(*bytes), EafError::truncate);
  }
  Memory& memory = *entry->memory;
  if (*bytes > static_cast<std::int64_t>(memory.bytes.size())) {
    return EafError::truncate;
  }
  // What is beyond the end reads as zeros if the file grows again.
  if (*bytes < memory.used) {
    std::fill(memory.bytes.begin() + *bytes, memory.bytes.begin() + memory.used, std::byte{});
  }
  memory.used = *bytes;
  return EafError::none;
}

void EafFiles::print_counts(std::int64_t number) const {
  const Entry* const entry = find(number);
  if (entry == nullptr) {
    return;
  }
  const auto line = [](const char* what, const Counts& counts) {
    return fmt::format(
        "  {:<6} {:>10} calls {:>14} bytes {:>10.3f} s {:>10.1f} MB/s\n", what, counts.calls,
        counts.bytes, counts.seconds,
        counts.seconds > 0 ? static_cast<double>(counts.bytes) / counts.seconds / 1e6 : 0.0);
  };
  const std::string text =
      fmt::format("EAF file '{}'{}\n{}{}", entry->name, entry->memory ? ", in memory" : "",
                  line("reads", entry->reads), line("writes", entry->writes));
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace tessera::ga::pario
