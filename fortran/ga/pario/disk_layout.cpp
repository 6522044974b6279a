// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/pario/disk_layout.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "fortran/ga/pario/files.hpp"

namespace tessera::ga::pario {

using arrays::Box;
using arrays::Extents;
using arrays::Index;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

constexpr std::array<char, 8> magic{'T', 'S', 'R', 'A', 'D', 'R', 'A', 0};
constexpr std::uint32_t version = 1;
constexpr std::uint32_t byte_order = 0x01020304;
constexpr std::size_t checked_bytes = DiskLayout::header_bytes - sizeof(std::uint64_t);
constexpr std::size_t dims_in_header = 8;

std::uint64_t hash(std::span<const std::byte> bytes) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const std::byte each : bytes) {
    value = (value ^ static_cast<std::uint64_t>(each)) * 0x100000001b3U;
  }
  return value;
}

class Writer {
 public:
  explicit Writer(std::span<std::byte> to) : to_(to) {}
  template <class T>
  void put(const T& value) {
    std::memcpy(to_.data() + at_, &value, sizeof value);
    at_ += sizeof value;
  }

 private:
  std::span<std::byte> to_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> from) : from_(from) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, from_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

 private:
  std::span<const std::byte> from_;
  std::size_t at_ = 0;
};

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// Whether the product with the bytes of an element fits, with room for the padding.
bool fits(const Extents& extents, std::int64_t element_bytes) {
  std::int64_t rest = std::numeric_limits<std::int64_t>::max() / 256 / element_bytes;
  for (const std::int64_t extent : extents) {
    rest /= extent;
  }
  return rest > 0;
}

// Halves the longest dimension until the chunk is small enough.
void shrink(Extents& chunk, std::int64_t most_elements) {
  while (volume(chunk) > most_elements) {
    const auto longest =
        static_cast<int>(std::max_element(chunk.begin(), chunk.end()) - chunk.begin());
    if (chunk[longest] == 1) {
      return;
    }
    chunk[longest] = divided_up(chunk[longest], 2);
  }
}

Status foreign(std::string what) {
  return Status::error(Code::protocol, std::move(what));
}

}  // namespace

Status DiskLayout::check() const {
  if (ndims() < 1 || ndims() > max_dims) {
    return Status::error(Code::invalid_argument, fmt::format("an array of {} dimensions", ndims()))
        .hint("use 1 to 7 dimensions");
  }
  for (int dim = 0; dim < ndims(); ++dim) {
    if (extents_[dim] < 1 || chunk_[dim] < 1 || chunk_[dim] > extents_[dim]) {
      return Status::error(Code::invalid_argument,
                           fmt::format("dimension {} has {} elements, and chunks {}", dim,
                                       extents_[dim], chunk_[dim]));
    }
  }
  if (element_bytes_ < 1 || element_bytes_ > 1 << 20 || !fits(extents_, element_bytes_)) {
    return Status::error(
        Code::limit_exceeded,
        fmt::format("elements of {} bytes are too large, or too many", element_bytes_));
  }
  return {};
}

void DiskLayout::set_grid() noexcept {
  grid_ = Extents::zeros(ndims());
  for (int dim = 0; dim < ndims(); ++dim) {
    grid_[dim] = divided_up(extents_[dim], chunk_[dim]);
  }
}

Result<DiskLayout> DiskLayout::create(std::int32_t type, std::int64_t element_bytes,
                                      const Extents& extents, const Extents& typical,
                                      std::int64_t max_bytes, std::string name) {
  DiskLayout layout;
  layout.type_ = type;
  layout.element_bytes_ = element_bytes;
  layout.extents_ = extents;
  layout.chunk_ = extents;
  layout.name_ = std::move(name).substr(0, name_bytes - 1);
  TESSERA_RETURN_IF_ERROR(layout.check());
  for (int dim = 0; dim < layout.ndims() && typical.ndims() == extents.ndims(); ++dim) {
    if (typical[dim] > 0) {
      layout.chunk_[dim] = std::min(typical[dim], extents[dim]);
    }
  }
  shrink(layout.chunk_, std::max<std::int64_t>(max_bytes / element_bytes, 1));
  layout.set_grid();
  return layout;
}

DiskLayout::Header DiskLayout::encode() const noexcept {
  Header header{};
  Writer writer(header);
  writer.put(magic);
  writer.put(version);
  writer.put(byte_order);
  writer.put(type_);
  writer.put(static_cast<std::int32_t>(ndims()));
  writer.put(element_bytes_);
  for (const Extents& list : {extents_, chunk_}) {
    std::array<std::int64_t, dims_in_header> numbers{};
    std::copy(list.begin(), list.end(), numbers.begin());
    writer.put(numbers);
  }
  std::array<char, name_bytes> name{};
  copy_text(name_, name.data(), name.size());
  writer.put(name);
  writer.put(hash(std::span(header).first(checked_bytes)));
  return header;
}

Result<DiskLayout> DiskLayout::decode(const Header& header) {
  Reader reader(header);
  if (reader.get<std::array<char, 8>>() != magic) {
    return foreign("it is not a disk resident array of this library");
  }
  const auto given_version = reader.get<std::uint32_t>();
  if (const auto order = reader.get<std::uint32_t>(); order != byte_order) {
    return foreign("it is from a machine of another byte order");
  }
  if (given_version != version) {
    return foreign(
        fmt::format("it has version {}; this library reads version {}", given_version, version));
  }
  DiskLayout layout;
  layout.type_ = reader.get<std::int32_t>();
  const auto ndims = reader.get<std::int32_t>();
  layout.element_bytes_ = reader.get<std::int64_t>();
  std::uint64_t wanted = 0;
  std::memcpy(&wanted, header.data() + checked_bytes, sizeof wanted);
  if (wanted != hash(std::span(header).first(checked_bytes)) || ndims < 1 || ndims > max_dims) {
    return foreign("its header is damaged");
  }
  for (Extents* const list : {&layout.extents_, &layout.chunk_}) {
    const auto numbers = reader.get<std::array<std::int64_t, dims_in_header>>();
    *list = Extents::zeros(ndims);
    for (int dim = 0; dim < ndims; ++dim) {
      (*list)[dim] = numbers[static_cast<std::size_t>(dim)];
    }
  }
  const auto name = reader.get<std::array<char, name_bytes>>();
  layout.name_.assign(name.data(), strnlen(name.data(), name.size()));
  if (Status checked = layout.check(); !checked.ok()) {
    return foreign("its header is damaged: " + checked.message());
  }
  layout.set_grid();
  return layout;
}

Box DiskLayout::chunks_of(const Box& box) const noexcept {
  Box chunks = Box::none(ndims());
  for (int dim = 0; dim < ndims(); ++dim) {
    chunks.set(dim, box.lo(dim) / chunk_[dim], divided_up(box.hi(dim), chunk_[dim]));
  }
  return chunks;
}

Box DiskLayout::box_of(const Index& chunk) const noexcept {
  Box box = Box::none(ndims());
  for (int dim = 0; dim < ndims(); ++dim) {
    const std::int64_t lo = chunk[dim] * chunk_[dim];
    box.set(dim, lo, std::min(lo + chunk_[dim], extents_[dim]));
  }
  return box;
}

std::int64_t DiskLayout::offset_of(const Index& chunk) const noexcept {
  std::int64_t number = 0;
  for (int dim = 0; dim < ndims(); ++dim) {
    number = number * grid_[dim] + chunk[dim];
  }
  return data_offset + number * chunk_bytes();
}

}  // namespace tessera::ga::pario
