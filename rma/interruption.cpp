// SPDX-License-Identifier: BSD-3-Clause
#include "rma/interruption.hpp"

#include <utility>

namespace tessera::rma {
namespace {

constinit thread_local Interruption* interruption_of_thread = nullptr;

}  // namespace

Interruption::Interruption() noexcept : replaced_(std::exchange(interruption_of_thread, this)) {}

Interruption::~Interruption() {
  interruption_of_thread = replaced_;
}

bool Interruption::is_requested() noexcept {
  Interruption* const current = interruption_of_thread;
  if (current == nullptr) {
    return false;
  }
  current->is_requested_ = current->is_requested_ || current->ask();
  return current->is_requested_;
}

}  // namespace tessera::rma
