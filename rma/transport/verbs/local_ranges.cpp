// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/local_ranges.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace tessera::rma::verbs {
namespace {

// Wide rows have a span of more than this many times their bytes.
constexpr std::size_t wide = 4;
// With more ranges than this, a search for each row costs too much.
constexpr std::size_t max_ranges = 64;

struct Piece {
  std::byte* from = nullptr;
  std::byte* end = nullptr;
};
using Pieces = std::vector<Piece>;

bool is_before(const std::byte* a, const std::byte* b) noexcept {
  return std::less<>()(a, b);
}

// Each slab of the arena has its own keys.
std::shared_ptr<const LocalRanges> find_in_arena(const Adapter& adapter, const LocalRows& rows) {
  auto ranges = std::make_shared<LocalRanges>();
  for (std::size_t at = 0; at < rows.span_bytes;) {
    std::byte* const from = rows.from + at;
    if (!adapter.arena->is_in_arena(from)) {
      return nullptr;
    }
    const auto known = adapter.arena->find(from, rows.span_bytes - at);
    if (!known.ok()) {
      return nullptr;
    }
    ranges->push_back({from, from + known->bytes, known->local_key, known->remote_key});
    at += known->bytes;
  }
  return ranges;
}

void add_row(Pieces& pieces, Piece row, std::size_t max_gap) {
  if (!pieces.empty()) {
    Piece& last = pieces.back();
    if (is_before(last.from, row.end + max_gap) && is_before(row.from, last.end + max_gap)) {
      last.from = std::min(last.from, row.from, std::less<>());
      last.end = std::max(last.end, row.end, std::less<>());
      return;
    }
  }
  pieces.push_back(row);
}

// The rows and the gaps between them, except gaps larger than max_gap.
Pieces gather_rows(const LocalRows& rows, std::size_t max_gap) {
  Pieces pieces;
  rows.for_each([&](std::byte* row, std::size_t bytes) {
    add_row(pieces, {row, row + bytes}, max_gap);
  });
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return is_before(a.from, b.from); });
  Pieces merged;
  for (const Piece& each : pieces) {
    add_row(merged, each, max_gap);
  }
  return merged;
}

LocalRange range_of(const Piece& piece, Registration registration) {
  const auto held = std::make_shared<const Registration>(std::move(registration));
  return {piece.from, piece.end, held->lkey(), held->rkey(), held};
}

std::shared_ptr<const LocalRanges> find_registered(Registrar& registrar, Use use,
                                                   const Pieces& pieces) {
  auto ranges = std::make_shared<LocalRanges>();
  for (const Piece& each : pieces) {
    auto found = registrar.find(each.from, static_cast<std::size_t>(each.end - each.from), use);
    if (!found) {
      return nullptr;
    }
    ranges->push_back(range_of(each, std::move(*found)));
  }
  return ranges;
}

std::shared_ptr<const LocalRanges> acquire(Registrar& registrar, Use use, const Pieces& pieces) {
  auto ranges = std::make_shared<LocalRanges>();
  for (const Piece& each : pieces) {
    auto acquired =
        registrar.acquire(each.from, static_cast<std::size_t>(each.end - each.from), use);
    if (!acquired.ok()) {
      return nullptr;
    }
    ranges->push_back(range_of(each, std::move(*acquired)));
  }
  return ranges;
}

// A setting for the length of rows has already decided.
bool registering_pays(const Adapter& adapter, const LocalRows& rows, const Pieces& pieces) {
  if (adapter.options.min_row > 0) {
    return true;
  }
  std::size_t bytes = 0;
  for (const Piece& each : pieces) {
    bytes += static_cast<std::size_t>(each.end - each.from);
  }
  const double loss = adapter.costs().packing_loss(rows.bytes, rows.count);
  const double price = adapter.costs().registration_cost(bytes, pieces.size());
  if (!adapter.registrar->keeps(bytes)) {
    return loss > price;
  }
  const auto from = reinterpret_cast<std::uintptr_t>(rows.from);
  return adapter.packing_losses.add(PageRange{from, from + rows.span_bytes}, loss, price);
}

}  // namespace

const LocalRange& range_at(const LocalRanges& ranges, const std::byte* at) noexcept {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), at,
                                      [](const std::byte* address, const LocalRange& each) {
                                        return is_before(address, each.from);
                                      });
  return *std::prev(after);
}

std::shared_ptr<const LocalRanges> find_local_ranges(const Adapter& adapter, Use use,
                                                     const LocalRows& rows) {
  if (adapter.arena->is_in_arena(rows.from)) {
    return find_in_arena(adapter, rows);
  }
  if (!adapter.options.registers) {
    return nullptr;
  }
  Registrar& registrar = *adapter.registrar;
  const Pieces whole = {{rows.from, rows.from + rows.span_bytes}};
  if (rows.span_bytes / wide <= rows.bytes) {
    return acquire(registrar, use, whole);
  }
  if (auto found = find_registered(registrar, use, whole)) {
    return found;
  }
  // If a setting has decided, nothing is measured.
  const std::size_t max_gap =
      adapter.options.min_row > 0 ? CostModel().max_gap() : adapter.costs().max_gap();
  const Pieces pieces = gather_rows(rows, max_gap);
  if (pieces.size() > max_ranges) {
    return nullptr;
  }
  if (auto found = pieces.size() > 1 ? find_registered(registrar, use, pieces) : nullptr) {
    return found;
  }
  return registering_pays(adapter, rows, pieces) ? acquire(registrar, use, pieces) : nullptr;
}

}  // namespace tessera::rma::verbs
