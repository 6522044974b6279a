// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/packing_choice.hpp"

#include <algorithm>
#include <cstdint>

#include "rma/reachability.hpp"

namespace tessera::rma::server {
namespace {

bool gives_all(const Settings& settings) noexcept {
  return settings.direct_row > 0 && settings.chunk_kib > 0 && settings.pipeline > 0;
}

// A scatter by the kernel may tear a word, which must not happen to aligned words
// (docs/memory-model.md).
std::size_t direct_row(std::int64_t wanted) noexcept {
  constexpr std::int64_t beyond_words = sizeof(std::uint64_t) + 1;
  return static_cast<std::size_t>(std::max(wanted, beyond_words));
}

}  // namespace

std::string_view to_string(TimesFrom source) noexcept {
  switch (source) {
    case TimesFrom::none:
      return "not needed";
    case TimesFrom::settings:
      return "given";
    case TimesFrom::measurement:
      return "measured";
    default:
      return "fixed";
  }
}

Result<ChosenTimes> choose_times(const Settings& settings, TcpAddress network,
                                 bool is_one_machine) {
  const bool is_measured = settings.tcp_times == "measured";
  if (!is_measured && settings.tcp_times != "fixed") {
    TESSERA_ASSIGN_OR_RETURN(const TcpTimes given, parse_tcp_times(settings.tcp_times));
    return ChosenTimes{TimesFrom::settings, given};
  }
  if (gives_all(settings)) {
    return ChosenTimes{TimesFrom::none, {}};
  }
  if (!is_measured) {
    return ChosenTimes{};
  }
  auto measured = measure_tcp_times();
  if (!measured.ok()) {
    return ChosenTimes{};
  }
  measured->wire_kib = is_one_machine ? 0 : wire_kib_of(network);
  return ChosenTimes{TimesFrom::measurement, *measured};
}

Packing choose_packing(const Settings& settings, const ChosenTimes& chosen) noexcept {
  Packing packing;
  if (chosen.from == TimesFrom::settings || chosen.from == TimesFrom::measurement) {
    const PackingModel model(chosen.times);
    packing.limits.min_direct_row = model.min_direct_row();
    packing.parts = PartSizes(model);
  }
  if (settings.direct_row > 0) {
    packing.limits.min_direct_row = direct_row(settings.direct_row);
  }
  if (settings.chunk_kib > 0) {
    packing.parts = PartSizes::equal(static_cast<std::size_t>(settings.chunk_kib) * 1024);
  }
  if (settings.pipeline > 0) {
    packing.parts.pipeline_from(static_cast<std::size_t>(settings.pipeline));
  }
  return packing;
}

}  // namespace tessera::rma::server

namespace tessera::rma {

Result<TcpPacking> describe_tcp_packing(const Settings& settings) {
  const auto address = server::interface_address(settings.interface);
  TESSERA_ASSIGN_OR_RETURN(
      const server::ChosenTimes chosen,
      server::choose_times(settings, address.ok() ? *address : server::TcpAddress{}, false));
  const server::Packing packing = server::choose_packing(settings, chosen);
  TcpPacking found;
  found.source = server::to_string(chosen.from);
  found.times = server::to_text(chosen.times);
  found.direct_row = packing.limits.min_direct_row;
  found.pipeline = packing.parts.min_pipelined();
  constexpr std::size_t shortest = std::size_t{2} << 10U;
  constexpr std::size_t longest = std::size_t{2} << 20U;
  for (std::size_t bytes = shortest; bytes <= longest; bytes *= 2) {
    const server::Parts parts = packing.parts.of(bytes);
    found.parts.push_back({bytes, std::min(parts.first, bytes), std::min(parts.each, bytes)});
  }
  return found;
}

}  // namespace tessera::rma
