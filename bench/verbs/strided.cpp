// SPDX-License-Identifier: BSD-3-Clause
//
// Rows, compared with the same bytes in one piece. This job's settings choose the protocol, so each
// protocol takes one launch ([ARMCI06], figure 18). Puts have a fence after them: packed rows are
// locally complete when they are copied.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/verbs/parts.hpp"

namespace tessera::bench {
namespace {

/// 256, or fewer if these would exceed 1 MiB.
std::int64_t rows_of(std::size_t row_bytes) {
  constexpr std::size_t most_rows = 256;
  constexpr std::size_t most_bytes = 1 << 20;
  return static_cast<std::int64_t>(std::min(most_rows, most_bytes / row_bytes));
}

void measure_rows(VerbsPair& pair, Operation operation, const std::string& title) {
  Topic topic{title, Case::strided(operation, 16, 2).name(), Quantity::bandwidth, "Row"};
  for (const std::size_t row_bytes : {16U, 64U, 256U, 512U, 1024U, 2048U, 4096U, 8192U}) {
    const Case c = Case::strided(operation, row_bytes, rows_of(row_bytes));
    const Case whole = Case::contiguous(operation, c.bytes());
    std::vector<Candidate> candidates;
    add(candidates,
        operation == Operation::put ? pair.bare_put_and_read(c.bytes()) : pair.bare(whole));
    candidates.push_back(renamed(*pair.allocated().candidate(whole), "contiguous"));
    candidates.push_back(renamed(*pair.allocated().candidate(c), "rows"));
    pair.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()),
                 static_cast<std::int64_t>(row_bytes), candidates);
  }
}

}  // namespace

void measure_verbs_strided(VerbsPair& pair) {
  measure_rows(pair, Operation::get, "Get of Rows Bandwidth");
  measure_rows(pair, Operation::put, "Put and Fence of Rows Bandwidth");
}

}  // namespace tessera::bench
