// SPDX-License-Identifier: BSD-3-Clause
//
// Feeds arbitrary bytes to the reader of FCIDUMP files. Headers that it accepts make sense;
// integrals are finite and refer to orbitals that exist.
//
// With libFuzzer: TESSERA_FUZZ in .cmake/options.cmake. Without it, tests/fuzz/replay_main.cpp runs
// this target over the seeds.
#include <cmath>
#include <cstdint>
#include <vector>

#include "apps/ccsd/fcidump.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using tessera::apps::ccsd::Fcidump;
using tessera::apps::ccsd::FcidumpEntry;
using tessera::apps::ccsd::FcidumpHeader;
using tessera::rma::fuzz::MemoryFile;
using tessera::rma::fuzz::must;

void check(const FcidumpHeader& header) {
  must(header.orbitals > 0 && header.electrons > 0 && header.electrons % 2 == 0);
  must(header.electrons <= 2 * header.orbitals);
  const std::vector<std::int64_t>& occupied = header.occupied;
  must(occupied.empty() || std::ssize(occupied) == header.electrons / 2);
  for (std::size_t i = 0; i < occupied.size(); ++i) {
    must(occupied[i] >= 0 && occupied[i] < header.orbitals);
    must(i == 0 || occupied[i] > occupied[i - 1]);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile bytes(data, size);
  auto file = Fcidump::open(bytes.path());
  if (!file.ok()) {
    must(!file.status().message().empty());
    return 0;
  }
  const FcidumpHeader header = file->header();
  check(header);
  const auto status = file->for_each([&](const FcidumpEntry& entry) {
    must(std::isfinite(entry.value));
    for (const std::int64_t orbital : {entry.p, entry.q, entry.r, entry.s}) {
      must(orbital >= -1 && orbital < header.orbitals);
    }
    return tessera::rma::Status();
  });
  must(status.ok() || !status.message().empty());
  return 0;
}
