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

// The guard's words, verified; unset if the file has no guard.
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
    return damaged(file, fmt::format("its guard is too small for {} fragments", count));
  }
  words.resize(footer_words + 2 * static_cast<std::size_t>(count));
  const std::size_t guard_bytes = words.size() * word_bytes;
  TESSERA_RETURN_IF_ERROR(
      file.read_at(size - guard_bytes, std::as_writable_bytes(std::span(words))));
  if (little_endian(words.back()) != checksum(bytes_of(words).first(guard_bytes - word_bytes))) {
    return damaged(file, "the checksum of its guard differs");
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
      return damaged(file, "its guard lists bytes outside the file");
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

Result<std::optional<FileImage>> read_with_trailer(const File& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> words, read_words(file, size));
  if (words.empty()) {
    return std::optional<FileImage>();
  }
  FileImage image;
  const std::uint64_t end = size - words.size() * word_bytes;
  image.set_end(end);
  TESSERA_RETURN_IF_ERROR(load(file, words, image));
  return std::optional<FileImage>(std::move(image));
}

}  // namespace tessera::arrays::detail
