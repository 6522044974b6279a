// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/same_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::apps {
namespace {

using rma::Status;

constexpr std::int64_t bytes_of_an_end = 1 << 16;

// Adds the bytes from `begin` that can be read.
void add_bytes(ContentHash& hash, int descriptor, std::int64_t begin) {
  std::vector<char> block(bytes_of_an_end);
  const ssize_t got = ::pread(descriptor, block.data(), block.size(), begin);
  hash.add({block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
}

bool is_same(const FileMark& a, const FileMark& b) {
  return a.bytes == b.bytes && a.hash == b.hash;
}

// "rank 3", "ranks 1, 2 and 5 more".
std::string name_ranks(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t most = 8;
  const auto shown = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranks.size()));
  std::string text = fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks",
                                 fmt::join(ranks.begin(), shown, ", "));
  return ranks.size() > most ? fmt::format("{} and {} more", text, ranks.size() - most) : text;
}

}  // namespace

void ContentHash::add(std::string_view text) noexcept {
  constexpr std::uint64_t prime = 0x100000001b3U;
  for (const char c : text) {
    value_ = (value_ ^ static_cast<unsigned char>(c)) * prime;
  }
}

FileMark mark_of_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe without a writer would block.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return {};
  }
  FileMark mark;
  struct stat facts = {};
  if (::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode)) {
    ContentHash hash;
    add_bytes(hash, descriptor, 0);
    add_bytes(hash, descriptor, std::max<std::int64_t>(facts.st_size - bytes_of_an_end, 0));
    mark = {true, static_cast<std::uint64_t>(facts.st_size), hash.value()};
  }
  ::close(descriptor);
  return mark;
}

Status check_same_file(rma::Team team, const std::string& path, const FileMark& own) {
  TESSERA_ASSIGN_OR_RETURN(const auto marks, team.allgather_value(own));
  const auto first = std::ranges::find_if(marks, &FileMark::is_readable);
  std::vector<std::size_t> others;
  for (std::size_t rank = 0; rank < marks.size(); ++rank) {
    if (marks[rank].is_readable && !is_same(marks[rank], *first)) {
      others.push_back(rank);
    }
  }
  if (others.empty()) {
    return {};
  }
  return Status::error(rma::Code::invalid_argument,
                       fmt::format("{}: the contents on {} differ from those on rank {}", path,
                                   name_ranks(others), first - marks.begin()))
      .hint("copy it to all nodes again, or put it on a file system that all nodes share");
}

}  // namespace tessera::apps
