// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "rma/bootstrap.hpp"

namespace tessera::rma {

Result<std::vector<std::string>> allgather_texts(Bootstrap& bootstrap, std::string_view own,
                                                 std::chrono::milliseconds timeout) {
  const auto ranks = static_cast<std::size_t>(bootstrap.size());
  const std::uint64_t own_length = own.size();
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::byte> length_bytes,
                           bootstrap.allgather(std::as_bytes(std::span(&own_length, 1)), timeout));
  std::vector<std::uint64_t> lengths(ranks);
  std::memcpy(lengths.data(), length_bytes.data(), length_bytes.size());
  const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::string> texts(ranks);
  if (longest == 0) {
    return texts;
  }
  std::vector<std::byte> padded(longest);
  std::copy_n(std::as_bytes(std::span(own)).begin(), own.size(), padded.begin());
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::byte> all, bootstrap.allgather(padded, timeout));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    texts[rank].assign(reinterpret_cast<const char*>(all.data()) + rank * longest, lengths[rank]);
  }
  return texts;
}

}  // namespace tessera::rma
