// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/credits.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::verbs {
namespace {

// A peer that begins to send gets at least this many: it is likely to send more.
constexpr std::uint32_t first_credits = 3;

constexpr unsigned returned_at = 8;
constexpr unsigned wanted_at = 16;
constexpr unsigned backing_at = 24;
constexpr std::uint32_t frees_uncredited_bit = 1U << 26U;
constexpr std::uint32_t is_scarce_bit = 1U << 27U;
constexpr std::uint32_t recalls_bit = 1U << 28U;

std::uint8_t in_a_byte(std::size_t count) noexcept {
  return static_cast<std::uint8_t>(std::min<std::size_t>(count, max_window));
}

std::uint8_t byte_of(std::uint32_t word, unsigned at) noexcept {
  return static_cast<std::uint8_t>(word >> at & 0xffU);
}

}  // namespace

std::uint32_t CreditUpdate::encode() const noexcept {
  return granted | std::uint32_t{returned} << returned_at | std::uint32_t{wanted} << wanted_at |
         static_cast<std::uint32_t>(backing) << backing_at |
         (frees_uncredited ? frees_uncredited_bit : 0U) | (is_scarce ? is_scarce_bit : 0U) |
         (recalls ? recalls_bit : 0U);
}

CreditUpdate CreditUpdate::decode(std::uint32_t word) noexcept {
  return {.backing = static_cast<CreditUse>(word >> backing_at & 3U),
          .granted = byte_of(word, 0),
          .returned = byte_of(word, returned_at),
          .wanted = byte_of(word, wanted_at),
          .frees_uncredited = (word & frees_uncredited_bit) != 0,
          .is_scarce = (word & is_scarce_bit) != 0,
          .recalls = (word & recalls_bit) != 0};
}

void Credits::begin(std::uint32_t credits, std::uint32_t window,
                    std::size_t message_bytes) noexcept {
  available_ = credits;
  peer_window_ = window;
  message_bytes_ = message_bytes;
}

// --- as a sender

// If credits are returning, waiting for them is better than an uncredited message, unless that
// message's request lets the other end grant more.
bool Credits::may_send_uncredited() const noexcept {
  return has_uncredited_ && (in_flight_ == 0 || (!returns_unused_ && in_flight_ < peer_window_));
}

std::size_t Credits::next_bytes(std::size_t bytes) const noexcept {
  return std::min(bytes, available_ == 0 ? max_uncredited_bytes : message_bytes_);
}

CreditUpdate Credits::spend(std::size_t bytes) noexcept {
  const std::size_t left = (bytes - next_bytes(bytes) + message_bytes_ - 1) / message_bytes_;
  if (available_ == 0) {
    has_uncredited_ = false;
    return {.backing = CreditUse::uncredited,
            .wanted = in_a_byte(returns_unused_ ? left : std::max<std::size_t>(left, 1))};
  }
  --available_;
  const bool are_enough = available_ >= left;
  if (!returns_unused_ || !are_enough) {
    ++in_flight_;
    return {.backing = CreditUse::kept, .wanted = in_a_byte(are_enough ? 0 : left - available_)};
  }
  if (left == 0) {
    unreported_returns_ += std::exchange(available_, 0U);
  }
  return {.backing = CreditUse::last};
}

// --- as a receiver

// `granted` includes the credits of messages that were read. So in_flight_ never exceeds the true
// number, and a sender without credits waits only for updates that will arrive.
void Credits::process_update(const CreditUpdate& update) noexcept {
  available_ += update.granted;
  in_flight_ -= std::min<std::uint32_t>(in_flight_, update.granted);
  has_uncredited_ = has_uncredited_ || update.frees_uncredited;
  returns_unused_ = update.is_scarce;
  if (update.recalls) {
    unreported_returns_ += std::exchange(available_, 0U);
  }
  const std::uint32_t returned = std::min<std::uint32_t>(granted_, update.returned);
  granted_ -= returned;
  released_ += returned;
  if (update.backing != CreditUse::none) {
    wanted_ = update.wanted;
    unused_ = 0;
  }
}

void Credits::Read::count(CreditUse backing) noexcept {
  kept += backing == CreditUse::kept ? 1U : 0U;
  last += backing == CreditUse::last ? 1U : 0U;
  is_uncredited = is_uncredited || backing == CreditUse::uncredited;
}

void Credits::record_read(const Read& read) noexcept {
  const std::uint32_t last = std::min(read.last, granted_);
  unreported_ += read.kept;
  granted_ -= last;
  released_ += last;
  frees_uncredited_ = frees_uncredited_ || read.is_uncredited;
}

std::uint32_t Credits::credits_to_request(bool is_scarce) const noexcept {
  if (wanted_ == 0 || granted_ >= window_) {
    return 0;
  }
  const std::uint32_t useful = is_scarce ? wanted_ : std::max({wanted_, granted_, first_credits});
  return std::min(useful, window_ - granted_);
}

void Credits::grant(std::uint32_t count) noexcept {
  granted_ += count;
  unreported_ += count;
  wanted_ -= std::min(wanted_, count);
}

std::uint32_t Credits::take_released() noexcept {
  return std::exchange(released_, 0U);
}

void Credits::recall_unused() noexcept {
  constexpr std::uint8_t max_calls = 2;
  if (granted_ > 0 && unused_ < max_calls) {
    recalls_ = ++unused_ == max_calls;
  }
}

// --- both

// Up to half of the credits may wait for the next message of this end: the sender has the others,
// or they return when its messages are read.
bool Credits::needs_update() const noexcept {
  return unreported_returns_ > 0 || recalls_ || (unreported_ > 0 && 2 * unreported_ >= granted_) ||
         (frees_uncredited_ && granted_ == 0);
}

void Credits::fill_update(CreditUpdate& update, bool is_scarce) noexcept {
  update.granted = in_a_byte(unreported_);
  unreported_ -= update.granted;
  update.returned = in_a_byte(unreported_returns_);
  unreported_returns_ -= update.returned;
  update.frees_uncredited = std::exchange(frees_uncredited_, false);
  update.recalls = std::exchange(recalls_, false);
  update.is_scarce = is_scarce;
}

}  // namespace tessera::rma::verbs
