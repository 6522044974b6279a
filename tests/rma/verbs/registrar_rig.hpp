// SPDX-License-Identifier: BSD-3-Clause
//
// A Registrar on a libibverbs that only counts.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "rma/transport/verbs/registration.hpp"
#include "tests/rma/verbs/memory_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::verbs::test {

class RegistrarTest : public testing::Test {
 protected:
  /// Skips the test if nothing can be cached, unless caching isn't requested.
  void make(RegistrationOptions options = {}) {
    registrar.reset();
    auto made = Registrar::create(library, nullptr, options);
    ASSERT_TRUE(rma::test::ok(made));
    registrar = std::move(made).take();
    if (options.may_cache && !registrar->is_caching()) {
      GTEST_SKIP() << "SKIPPED: " << registrar->why_not_caching();
    }
  }

  Registration acquire(const void* address, std::size_t bytes, Use use = Use::source) {
    auto acquired = registrar->acquire(address, bytes, use);
    EXPECT_TRUE(rma::test::ok(acquired));
    return acquired.ok() ? std::move(acquired).take() : Registration();
  }
  Registration acquire(const Mapping& memory, std::size_t first, std::size_t pages,
                       Use use = Use::source) {
    return acquire(memory.page(first), pages * page_bytes(), use);
  }
  [[nodiscard]] CacheCounters cache() const { return registrar->counters().cache; }

  std::shared_ptr<RegisteringLibrary> library = std::make_shared<RegisteringLibrary>();
  std::unique_ptr<Registrar> registrar;
};

}  // namespace tessera::rma::verbs::test
