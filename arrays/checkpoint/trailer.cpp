// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/trailer.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "arrays/checkpoint/checksum.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

constexpr std::uint64_t trailer_format = 1;
constexpr std::array<char, 8> mark = {'T', 'E', 'S', 'S', 'E', 'R', 'A', '\n'};
constexpr std::array<char, 8> header_mark = {'t', 'e', 's', 's', 'e', 'r', 'a', '\n'};
constexpr std::array<unsigned char, 8> hdf5_mark = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t footer_words = 5;
constexpr std::size_t footer_bytes = footer_words * word_bytes;
// The description of a checkpoint of 2^27 pieces of elements has about this size.
constexpr std::uint64_t max_metadata_bytes = std::uint64_t{1} << 30U;

std::uint64_t little_endian(std::uint64_t word) noexcept {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

Status damaged(const File& file, const std::string& what) {
  return Status::error(Code::protocol, fmt::format("{} is damaged: {}", file.path(), what))
      .hint("use an older checkpoint; the file changed after it was written");
}

std::span<const std::byte> bytes_of(const std::vector<std::uint64_t>& words) {
  return std::as_bytes(std::span(words));
}

struct Fragment {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Table and footer as they are in the file.
std::vector<std::uint64_t> trailer_words(const FileImage& image) {
  std::vector<std::uint64_t> words;
  Checksum content;
  for (const auto& [offset, bytes] : image.fragments()) {
    words.push_back(little_endian(offset));
    words.push_back(little_endian(bytes.size()));
    content.add(bytes);
  }
  words.push_back(std::bit_cast<std::uint64_t>(mark));
  words.push_back(little_endian(trailer_format));
  words.push_back(little_endian(image.fragments().size()));
  words.push_back(little_endian(content.value()));
  words.push_back(little_endian(checksum(bytes_of(words))));
  return words;
}

// Where a trailer with a header begins and ends.
struct TrailerRange {
  std::uint64_t hdf5_end = 0;
  std::uint64_t trailer_end = 0;
};

// The superblock, of version 2 or 3, has the end of the HDF5 part after two other offsets.
Result<std::optional<TrailerRange>> find_header(const File& file, std::uint64_t size) {
  struct Superblock {
    std::array<unsigned char, 8> mark;
    unsigned char version;
    std::array<unsigned char, 3> sizes_and_flags;
    std::array<unsigned char, 16> addresses;
    std::array<unsigned char, 8> end;
  } superblock = {};
  std::array<std::uint64_t, 2> header = {};
  if (size < sizeof superblock + sizeof header) {
    return std::optional<TrailerRange>();
  }
  TESSERA_RETURN_IF_ERROR(file.read_at(0, std::as_writable_bytes(std::span(&superblock, 1))));
  const std::uint64_t end = little_endian(std::bit_cast<std::uint64_t>(superblock.end));
  const bool has_end = superblock.mark == hdf5_mark && superblock.version >= 2 &&
                       superblock.version <= 3 && superblock.sizes_and_flags[0] == word_bytes;
  if (!has_end || end > size - sizeof header) {
    return std::optional<TrailerRange>();
  }
  TESSERA_RETURN_IF_ERROR(file.read_at(end, std::as_writable_bytes(std::span(header))));
  if (header[0] != std::bit_cast<std::uint64_t>(header_mark)) {
    return std::optional<TrailerRange>();
  }
  const std::uint64_t length = little_endian(header[1]);
  if (length > size - end - sizeof header) {
    return Status::error(
               Code::protocol,
               fmt::format("{} is damaged: its trailer ends beyond the file", file.path()))
        .hint("the file is truncated; use another one");
  }
  return std::optional<TrailerRange>(TrailerRange{end, end + sizeof header + length});
}

// The trailer's words, verified; empty if the file has no trailer.
Result<std::vector<std::uint64_t>> read_words(const File& file, std::uint64_t size) {
  std::vector<std::uint64_t> words(footer_words);
  if (size < footer_bytes) {
    return std::vector<std::uint64_t>();
  }
  TESSERA_RETURN_IF_ERROR(
      file.read_at(size - footer_bytes, std::as_writable_bytes(std::span(words))));
  if (words[0] != std::bit_cast<std::uint64_t>(mark)) {
    return std::vector<std::uint64_t>();
  }
  const std::uint64_t count = little_endian(words[2]);
  if (count > (size - footer_bytes) / (2 * word_bytes) || count > max_metadata_bytes) {
    return damaged(file, fmt::format("its trailer is too small for {} fragments", count));
  }
  words.resize(footer_words + 2 * static_cast<std::size_t>(count));
  const std::size_t trailer_bytes = words.size() * word_bytes;
  TESSERA_RETURN_IF_ERROR(
      file.read_at(size - trailer_bytes, std::as_writable_bytes(std::span(words))));
  if (little_endian(words.back()) != checksum(bytes_of(words).first(trailer_bytes - word_bytes))) {
    return damaged(file, "the checksum of its trailer differs");
  }
  const std::uint64_t format = little_endian(words[words.size() - footer_words + 1]);
  if (format != trailer_format) {
    return Status::error(
               Code::unsupported,
               fmt::format(
                   "{} is a checkpoint of format {}, but this version of Tessera reads format {}",
                   file.path(), format, trailer_format))
        .hint("read it with the version of Tessera that wrote it");
  }
  return words;
}

Status load(const File& file, const std::vector<std::uint64_t>& words, FileImage& image) {
  const std::size_t count = (words.size() - footer_words) / 2;
  Checksum content;
  std::uint64_t total = 0;
  std::uint64_t min_offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Fragment fragment{little_endian(words[2 * i]), little_endian(words[2 * i + 1])};
    if (fragment.offset < min_offset || fragment.offset > image.end() ||
        fragment.bytes > image.end() - fragment.offset ||
        fragment.bytes > max_metadata_bytes - total) {
      return damaged(file, "its trailer lists bytes outside the file");
    }
    min_offset = fragment.offset + fragment.bytes;
    total += fragment.bytes;
    std::vector<std::byte> bytes(static_cast<std::size_t>(fragment.bytes));
    TESSERA_RETURN_IF_ERROR(file.read_at(fragment.offset, bytes));
    content.add(bytes);
    TESSERA_RETURN_IF_ERROR(image.write(fragment.offset, bytes));
  }
  if (content.value() != little_endian(words[words.size() - 2])) {
    return damaged(file, "the checksum of the description of its arrays differs");
  }
  return {};
}

}  // namespace

Status write_with_trailer(const File& file, const FileImage& image) {
  for (const auto& [offset, bytes] : image.fragments()) {
    TESSERA_RETURN_IF_ERROR(file.write_at(offset, bytes));
  }
  const std::vector<std::uint64_t> words = trailer_words(image);
  TESSERA_RETURN_IF_ERROR(file.resize(image.end() + words.size() * word_bytes));
  return file.write_at(image.end(), bytes_of(words));
}

std::vector<std::uint64_t> trailer_with_header(const FileImage& image) {
  std::vector<std::uint64_t> words = trailer_words(image);
  words.insert(words.begin(), {std::bit_cast<std::uint64_t>(header_mark),
                               little_endian(words.size() * word_bytes)});
  return words;
}

Result<std::uint64_t> description_end(const File& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  TESSERA_ASSIGN_OR_RETURN(const std::optional<TrailerRange> range, find_header(file, size));
  return range ? range->trailer_end : size;
}

Result<FileImage> read_image(const File& file) {
  TESSERA_ASSIGN_OR_RETURN(std::optional<FileImage> image, read_with_trailer(file));
  if (!image) {
    TESSERA_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
    image.emplace(file, size);
  }
  return *std::move(image);
}

Result<std::optional<FileImage>> read_with_trailer(const File& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  TESSERA_ASSIGN_OR_RETURN(const std::optional<TrailerRange> range, find_header(file, size));
  const std::uint64_t trailer_end = range ? range->trailer_end : size;
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> words, read_words(file, trailer_end));
  if (words.empty()) {
    return std::optional<FileImage>();
  }
  FileImage image;
  image.set_end(range ? range->hdf5_end : size - words.size() * word_bytes);
  TESSERA_RETURN_IF_ERROR(load(file, words, image));
  return std::optional<FileImage>(std::move(image));
}

}  // namespace tessera::arrays::detail
