// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/pario/disk_arrays.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "arrays/view.hpp"
#include "fortran/ga/session.hpp"

namespace tessera::ga::pario {

namespace {

constexpr std::int64_t default_arrays = 16;
constexpr std::int64_t default_chunk_bytes = std::int64_t{1} << 20;

Status wrong(std::string what) {
  return Status::error(Code::invalid_argument, std::move(what));
}

// All processes of the default group return the first error of any of them.
Status agreed(const Status& status) {
  Group& group = default_group();
  TESSERA_RETURN_IF_ERROR(group.check_member());
  return group.team.agree(status);
}

bool is_mode(std::int64_t mode) {
  return mode >= static_cast<std::int64_t>(Access::read) &&
         mode <= static_cast<std::int64_t>(Access::read_write);
}

// The file name of process 0 is used on all: some programs put the process's number into the name.
Result<std::string> name_for_all(std::string_view own) {
  Group& group = default_group();
  TESSERA_RETURN_IF_ERROR(group.check_member());
  std::size_t length = own.size();
  TESSERA_RETURN_IF_ERROR(group.team.broadcast_value(length, rma::TeamRank{0}));
  std::string name(own);
  name.resize(length);
  TESSERA_RETURN_IF_ERROR(
      group.team.broadcast(std::as_writable_bytes(std::span(name)), rma::TeamRank{0}));
  return name;
}

// Makes the file with its full length, and then writes the header.
Status make_file(const std::string& name, const DiskLayout& layout) {
  TESSERA_ASSIGN_OR_RETURN(const File file, File::open(name, Access::write));
  TESSERA_RETURN_IF_ERROR(file.truncate(layout.file_bytes()));
  return file.write(0, layout.encode());
}

Result<DiskLayout> read_header(const std::string& name, DiskLayout::Header& header) {
  TESSERA_ASSIGN_OR_RETURN(const File file, File::open(name, Access::read));
  if (Status read = file.read_all(0, header); !read.ok()) {
    return Status::error(Code::protocol,
                         fmt::format("file '{}' is not a disk resident array of this library: {}",
                                     name, read.message()));
  }
  auto layout = DiskLayout::decode(header);
  if (!layout.ok()) {
    return std::move(layout).status().context(fmt::format("opening file '{}'", name));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t bytes, file.length());
  if (bytes < layout->file_bytes()) {
    return Status::error(Code::protocol,
                         fmt::format("file '{}' is truncated: it has {} bytes of {}", name, bytes,
                                     layout->file_bytes()));
  }
  return layout;
}

// The dimension of the global array that corresponds to dimension `dim` of the disk resident one.
int other_dim(const SectionPair& pair, int dim) {
  return pair.is_transposed ? pair.disk_box.ndims() - 1 - dim : dim;
}

std::string text_of(const Box& box) {
  std::string text;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    text += fmt::format("{}{}:{}", dim == 0 ? "" : ",", box.lo(dim), box.hi(dim) - 1);
  }
  return '[' + text + ']';
}

}  // namespace

DiskArrays& DiskArrays::all() {
  static auto* const arrays = new DiskArrays;  // a program may use them until it ends
  return *arrays;
}

Status DiskArrays::check_begun() const {
  TESSERA_RETURN_IF_ERROR(default_group().check_member());
  return is_begun_ ? Status()
                   : Status::error(Code::closed, "disk resident arrays are not initialized")
                         .hint("call dra_init first");
}

Status DiskArrays::begin(std::int64_t arrays, double most_memory) {
  if (arrays < -1 || arrays == 0 || arrays > max_arrays) {
    return agreed(wrong(fmt::format("a limit of {} arrays is not possible", arrays))
                      .hint("use 1 to 1000, or -1"));
  }
  TESSERA_RETURN_IF_ERROR(agreed({}));
  is_begun_ = true;
  most_arrays_ = arrays < 0 ? default_arrays : arrays;
  most_chunk_bytes_ = default_chunk_bytes;
  if (most_memory > 0 && most_memory < static_cast<double>(default_chunk_bytes)) {
    most_chunk_bytes_ = static_cast<std::int64_t>(most_memory);
  }
  return {};
}

Status DiskArrays::end() {
  TESSERA_RETURN_IF_ERROR(check_begun());
  Status all;
  for (auto& entry : entries_) {
    if (entry) {
      Status closed = entry->file.close();
      all = all.ok() ? std::move(closed) : std::move(all);
    }
  }
  entries_.clear();
  is_begun_ = false;
  return agreed(all);
}

Result<DiskArrays::Entry*> DiskArrays::find(std::int64_t handle) const {
  TESSERA_RETURN_IF_ERROR(check_begun());
  const std::int64_t at = handle - first_handle;
  if (at < 0 || at >= static_cast<std::int64_t>(entries_.size()) ||
      entries_[static_cast<std::size_t>(at)] == nullptr) {
    return wrong(fmt::format("{} is not the handle of a disk resident array", handle))
        .hint("give a handle that dra_create or dra_open returned");
  }
  return entries_[static_cast<std::size_t>(at)].get();
}

Result<std::int64_t> DiskArrays::add(std::unique_ptr<Entry> entry) {
  auto unused = std::find(entries_.begin(), entries_.end(), nullptr);
  if (unused == entries_.end()) {
    unused = entries_.insert(unused, nullptr);
  }
  *unused = std::move(entry);
  return first_handle + (unused - entries_.begin());
}

// ---- Creation and opening -----------------------------------------------------------------------

Result<std::int64_t> DiskArrays::create(Type type, const Extents& extents, std::string_view name,
                                        std::string_view file, std::int64_t mode,
                                        const Extents& typical) {
  TESSERA_RETURN_IF_ERROR(check_begun());
  auto entry = std::make_unique<Entry>();
  Status made;
  const auto element_bytes = static_cast<std::int64_t>(size_of(type));
  if (element_bytes == 0 || !is_mode(mode)) {
    made = element_bytes == 0
               ? wrong(fmt::format("there is no element type {}", static_cast<std::int32_t>(type)))
               : wrong(fmt::format("{} is not a mode", mode)).hint("use DRA_R, DRA_W or DRA_RW");
  } else {
    auto layout = DiskLayout::create(static_cast<std::int32_t>(type), element_bytes, extents,
                                     typical, most_chunk_bytes_, std::string(name));
    made = layout.status();
    if (made.ok()) {
      entry->layout = std::move(layout).take();
    }
  }
  TESSERA_ASSIGN_OR_RETURN(entry->name, name_for_all(file));
  entry->access = static_cast<Access>(mode);
  const auto used = std::count_if(entries_.begin(), entries_.end(),
                                  [](const auto& each) { return each != nullptr; });
  if (made.ok() && used >= most_arrays_) {
    made = Status::error(Code::limit_exceeded,
                         fmt::format("{} disk resident arrays are open already", used))
               .hint("allow for more in dra_init");
  }
  if (made.ok() && default_group().rank == 0) {
    made = make_file(entry->name, entry->layout);
  }
  TESSERA_RETURN_IF_ERROR(agreed(made));
  auto opened = File::open(entry->name, Access::read_write);
  TESSERA_RETURN_IF_ERROR(agreed(opened.status()));
  entry->file = std::move(opened).take();
  return add(std::move(entry));
}

Result<std::int64_t> DiskArrays::open(std::string_view file, std::int64_t mode) {
  TESSERA_RETURN_IF_ERROR(check_begun());
  Group& group = default_group();
  auto entry = std::make_unique<Entry>();
  TESSERA_ASSIGN_OR_RETURN(entry->name, name_for_all(file));
  Status read;
  DiskLayout::Header header{};
  if (!is_mode(mode)) {
    read = wrong(fmt::format("{} is not a mode", mode)).hint("use DRA_R, DRA_W or DRA_RW");
  } else if (group.rank == 0) {
    read = read_header(entry->name, header).status();
  }
  TESSERA_RETURN_IF_ERROR(agreed(read));
  TESSERA_RETURN_IF_ERROR(group.team.broadcast(header, rma::TeamRank{0}));
  auto layout = DiskLayout::decode(header);
  TESSERA_RETURN_IF_ERROR(agreed(layout.status()));
  entry->layout = std::move(layout).take();
  entry->access = static_cast<Access>(mode);
  auto opened =
      File::open(entry->name, entry->access == Access::read ? Access::read : Access::read_write);
  TESSERA_RETURN_IF_ERROR(agreed(opened.status()));
  entry->file = std::move(opened).take();
  return add(std::move(entry));
}

Status DiskArrays::close(std::int64_t handle) {
  TESSERA_ASSIGN_OR_RETURN(Entry* const entry, find(handle));
  Status closed = entry->file.close();
  entries_[static_cast<std::size_t>(handle - first_handle)].reset();
  return agreed(closed);
}

Status DiskArrays::remove(std::int64_t handle) {
  TESSERA_ASSIGN_OR_RETURN(const Entry* const entry, find(handle));
  const std::string name = entry->name;
  TESSERA_RETURN_IF_ERROR(close(handle));
  return agreed(default_group().rank == 0 ? File::remove(name) : Status());
}

Result<DiskArrays::Description> DiskArrays::inquire(std::int64_t handle) const {
  TESSERA_ASSIGN_OR_RETURN(const Entry* const entry, find(handle));
  return Description{entry->layout, entry->name};
}

// ---- Sections -----------------------------------------------------------------------------------

Result<SectionPair> DiskArrays::whole(std::int64_t array, std::int64_t disk) const {
  TESSERA_ASSIGN_OR_RETURN(const Entry* const entry, find(disk));
  const Record* const record = Records::find(array);
  if (record == nullptr) {
    return wrong(fmt::format("{} is not a handle of an array", array));
  }
  return SectionPair{.array = array,
                     .disk = disk,
                     .array_box = record->box(),
                     .disk_box = Box::whole(entry->layout.extents())};
}

Status DiskArrays::check(const SectionPair& pair, const Record& record, const Entry& entry,
                         Direction direction) const {
  const Access refused = direction == Direction::to_disk ? Access::read : Access::write;
  if (entry.access == refused) {
    return wrong(fmt::format("file '{}' is open for {} only", entry.name,
                             refused == Access::read ? "reading" : "writing"));
  }
  if (static_cast<std::int64_t>(size_of(record.type())) != entry.layout.element_bytes() ||
      to_string(record.type()) != to_string(static_cast<Type>(entry.layout.type()))) {
    return wrong(fmt::format("{} has elements of type {}, and file '{}' of {}", record.describe(),
                             to_string(record.type()), entry.name,
                             to_string(static_cast<Type>(entry.layout.type()))));
  }
  if (pair.array_box.ndims() != record.ndims() || pair.disk_box.ndims() != entry.layout.ndims() ||
      !arrays::is_inside(pair.array_box, record.extents()) ||
      !arrays::is_inside(pair.disk_box, entry.layout.extents()) || pair.array_box.is_empty()) {
    return Status::error(Code::out_of_range,
                         fmt::format("section {} is not inside {}, or {} not inside file '{}'",
                                     text_of(pair.array_box), record.describe(),
                                     text_of(pair.disk_box), entry.name));
  }
  bool is_same = pair.array_box.ndims() == pair.disk_box.ndims();
  for (int dim = 0; is_same && dim < pair.disk_box.ndims(); ++dim) {
    is_same = pair.disk_box.extent(dim) == pair.array_box.extent(other_dim(pair, dim));
  }
  return is_same ? Status()
                 : wrong(fmt::format("sections {} and {} have different extents",
                                     text_of(pair.array_box), text_of(pair.disk_box)));
}

Status DiskArrays::transfer_chunks(const SectionPair& pair, const Record& record,
                                   const Entry& entry, Direction direction) {
  const DiskLayout& layout = entry.layout;
  const Group& group = default_group();
  const Box chunks = layout.chunks_of(pair.disk_box);
  const arrays::Strides disk_strides = layout.strides();
  std::vector<std::byte> buffer;
  std::int64_t count = 0;
  for (Index chunk = chunks.lo();;) {
    if (count++ % group.size() == group.rank) {
      buffer.resize(static_cast<std::size_t>(layout.chunk_bytes()));
      const Box all = layout.box_of(chunk);
      const Box part = intersect(all, pair.disk_box);
      const std::int64_t offset = layout.offset_of(chunk);
      Box box = Box::none(record.ndims());
      arrays::Strides strides = arrays::Strides::zeros(record.ndims());
      std::int64_t first = 0;
      for (int dim = 0; dim < layout.ndims(); ++dim) {
        const int other = other_dim(pair, dim);
        const std::int64_t lo = pair.array_box.lo(other) + part.lo(dim) - pair.disk_box.lo(dim);
        box.set(other, lo, lo + part.extent(dim));
        strides[other] = disk_strides[dim];
        first += (part.lo(dim) - all.lo(dim)) * disk_strides[dim];
      }
      const arrays::LocalBuffer memory{buffer.data() + first * layout.element_bytes(), strides};
      if (direction == Direction::from_disk || !(part == all)) {
        TESSERA_RETURN_IF_ERROR(entry.file.read_all(offset, buffer));
      } else {
        std::fill(buffer.begin(), buffer.end(), std::byte{});  // the padding
      }
      if (direction == Direction::from_disk) {
        TESSERA_RETURN_IF_ERROR(record.array().put_box(box, memory));
      } else {
        TESSERA_RETURN_IF_ERROR(record.array().get_box(box, memory));
        TESSERA_RETURN_IF_ERROR(entry.file.write(offset, buffer));
      }
    }
    // The next chunk, the last dimension first.
    int dim = layout.ndims() - 1;
    while (dim >= 0 && ++chunk[dim] == chunks.hi(dim)) {
      chunk[dim] = chunks.lo(dim);
      --dim;
    }
    if (dim < 0) {
      return {};
    }
  }
}

Status DiskArrays::transfer(const SectionPair& pair, Direction direction) {
  TESSERA_ASSIGN_OR_RETURN(const Entry* const entry, find(pair.disk));
  const Record* const record = Records::find(pair.array);
  if (record == nullptr || !record->is_allocated()) {
    return wrong(fmt::format("{} is not a handle of an array", pair.array));
  }
  TESSERA_RETURN_IF_ERROR(check(pair, *record, *entry, direction));
  // The first fence completes earlier puts of all processes, the last one the puts of this
  // transfer.
  rma::Job& job = Session::current()->job();
  TESSERA_RETURN_IF_ERROR(agreed(job.fence_all()));
  Status moved = transfer_chunks(pair, *record, *entry, direction);
  Status fenced = job.fence_all();
  return agreed(moved.ok() ? fenced : moved);
}

Status DiskArrays::write(const SectionPair& pair) {
  return transfer(pair, Direction::to_disk);
}

Status DiskArrays::read(const SectionPair& pair) {
  return transfer(pair, Direction::from_disk);
}

}  // namespace tessera::ga::pario
