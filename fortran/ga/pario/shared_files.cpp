// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/pario/shared_files.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fortran/ga/session.hpp"

namespace tessera::ga::pario {

using rma::Result;
using rma::Status;

namespace {

// The failure, if any process has one.
Failure agreed(Group& group, Status status, Failure failure) {
  return group.team.agree(std::move(status)).ok() ? Failure::none : failure;
}

}  // namespace

SharedFiles& SharedFiles::all() {
  static auto* const files = new SharedFiles;  // a program may write until it ends
  return *files;
}

const SharedFiles::Slot* SharedFiles::find(std::int64_t handle) const {
  const std::int64_t at = handle - first_handle;
  if (at < 0 || at >= static_cast<std::int64_t>(max_files)) {
    return nullptr;
  }
  const Slot& slot = slots_[static_cast<std::size_t>(at)];
  return slot.is_used ? &slot : nullptr;
}

// The first process makes the file, so that the others find it.
SharedFiles::Created SharedFiles::create(std::string_view name,
                                         std::optional<std::int64_t> suffix) {
  Group& group = default_group();
  const auto unused =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& each) { return !each.is_used; });
  if (!group.check_member().ok() || unused == slots_.end()) {
    return {Failure::memory};
  }
  const std::int64_t number = unused - slots_.begin();
  unused->name = fmt::format("{}.{}", name, suffix.value_or(number));
  Status opened;
  const auto open = [&] {
    Result<File> file = File::open(unused->name, Access::read_write);
    opened = file.status();
    if (opened.ok()) {
      unused->file = std::move(file).take();
    }
  };
  if (group.rank == 0) {
    open();
  }
  if (Failure failure = agreed(group, opened, Failure::open); failure != Failure::none) {
    unused->file.close().ignore("the first error is returned");
    return {failure};
  }
  if (group.rank != 0) {
    open();
  }
  if (Failure failure = agreed(group, opened, Failure::open); failure != Failure::none) {
    unused->file.close().ignore("the first error is returned");
    return {failure};
  }
  unused->is_used = true;
  return {Failure::none, first_handle + number};
}

Failure SharedFiles::destroy(std::int64_t handle) {
  Group& group = default_group();
  if (find(handle) == nullptr || !group.check_member().ok()) {
    return Failure::handle;
  }
  Slot& slot = slots_[static_cast<std::size_t>(handle - first_handle)];
  Status closed = slot.file.close();
  slot.is_used = false;
  const Failure failure = agreed(group, std::move(closed), Failure::close);
  Status removed = group.rank == 0 ? File::remove(slot.name) : Status();
  const Failure not_removed = agreed(group, std::move(removed), Failure::remove);
  return failure == Failure::none ? not_removed : failure;
}

Failure SharedFiles::reopen(std::int64_t handle, Reopen how) {
  if (find(handle) == nullptr) {
    return Failure::handle;
  }
  Slot& slot = slots_[static_cast<std::size_t>(handle - first_handle)];
  if (!slot.file.close().ok()) {
    return Failure::close;
  }
  if (how == Reopen::never) {
    return Failure::none;
  }
  auto file = File::open(slot.name, how == Reopen::to_read ? Access::read : Access::read_write);
  if (!file.ok()) {
    return Failure::open;
  }
  slot.file = std::move(file).take();
  return Failure::none;
}

Failure SharedFiles::sync(std::int64_t handle) const {
  const Slot* const slot = find(handle);
  if (slot == nullptr) {
    return Failure::handle;
  }
  return slot->file.sync().ok() ? Failure::none : Failure::sync;
}

template <class Act>
Failure SharedFiles::move(std::int64_t handle, double offset, double bytes, const Act& act) const {
  const Slot* const slot = find(handle);
  if (slot == nullptr) {
    return Failure::handle;
  }
  const auto at = bytes_of(offset);
  const auto count = bytes_of(bytes);
  if (!at || !count) {
    return Failure::conversion;
  }
  return act(slot->file, *at, static_cast<std::size_t>(*count));
}

Failure SharedFiles::read(std::int64_t handle, double offset, double bytes, char* buffer) const {
  return move(handle, offset, bytes, [&](const File& file, std::int64_t at, std::size_t count) {
    const Status read = file.read_all(at, {reinterpret_cast<std::byte*>(buffer), count});
    if (read.ok()) {
      return Failure::none;
    }
    return read.code() == rma::Code::out_of_range ? Failure::end_of_file : Failure::read;
  });
}

Failure SharedFiles::write(std::int64_t handle, double offset, double bytes,
                           const char* buffer) const {
  return move(handle, offset, bytes, [&](const File& file, std::int64_t at, std::size_t count) {
    const Status written = file.write(at, {reinterpret_cast<const std::byte*>(buffer), count});
    return written.ok() ? Failure::none : Failure::write;
  });
}

}  // namespace tessera::ga::pario
