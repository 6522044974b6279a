// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/datagram_provider.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "rma/server/transport.hpp"
#include "tests/support/datagram_context.hpp"

namespace tessera::rma::test {
namespace {

class DatagramProvider final : public detail::RdmaProvider {
 public:
  DatagramProvider(const detail::RdmaProviderContext& context, const DatagramOptions& options)
      : rank_(context.rank), memory_(context.memory), options_(options) {}

  // Each context has a seed of its own.
  Result<std::unique_ptr<detail::RdmaContext>> create() override {
    constexpr std::uint64_t step = 1'000;
    const std::uint64_t number = created_.fetch_add(1);
    TESSERA_ASSIGN_OR_RETURN(
        DatagramSocket socket,
        DatagramSocket::open(
            (options_.seed * step + static_cast<std::uint64_t>(rank_.value)) * step + number));
    return std::unique_ptr<detail::RdmaContext>(
        std::make_unique<DatagramContext>(std::move(socket), memory_, options_.claims_order));
  }

 private:
  const WorldRank rank_;
  const std::shared_ptr<detail::ReachableMemory> memory_;
  const DatagramOptions options_;
  std::atomic<std::uint64_t> created_{0};
};

std::uint64_t seed_of_environment() {
  const char* const text = std::getenv("TESSERA_TEST_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

}  // namespace

Result<std::shared_ptr<detail::RdmaProvider>> find_datagram_provider(
    const detail::RdmaProviderContext& context, const DatagramOptions& options) {
  return std::shared_ptr<detail::RdmaProvider>(
      std::make_shared<DatagramProvider>(context, options));
}

TransportFactory datagram_transport() {
  return server::factory("datagrams", [](const detail::RdmaProviderContext& context) {
    return find_datagram_provider(context, {.seed = seed_of_environment()});
  });
}

}  // namespace tessera::rma::test
