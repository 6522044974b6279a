// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi/control_server.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "rma/node/futex.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::mpi {

using detail::DirectorySlice;
using detail::FutexWord;
using detail::GuestFate;
using detail::Invitation;

namespace {

constexpr std::size_t flag_bytes = sizeof(std::uint64_t);

bool fits(const DirectorySlice& slice, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return slice.use == DirectorySlice::Use::mailboxes && bytes <= slice.bytes &&
         offset <= slice.bytes - bytes;
}

}  // namespace

ControlServer::ControlServer(std::shared_ptr<detail::Node> node, Answer answer)
    : node_(std::move(node)),
      directory_(node_->arena(), node_->lock_context()),
      answer_(std::move(answer)) {}

void ControlServer::handle(const ControlHeader& header, std::span<const std::byte> bytes) {
  switch (header.kind) {
    case ControlKind::deliver:
      return deliver(header, bytes);
    case ControlKind::invite:
      return invite(header);
    case ControlKind::notify:
      return notify(header);
    case ControlKind::ring:
      return node_->ring(place_of(header));
    case ControlKind::read:
      return read(header);
    case ControlKind::answer:
      return end(header.words[0], header.words[2], header.words[1] != 0);
    case ControlKind::hand_over:
      return hand_over(header);
    case ControlKind::be_awake:  // Progress handles it
      return;
    case ControlKind::left:
      return note_left(WorldRank{header.origin});
  }
}

// Words: whether a flag follows, its offset, and its new value.
void ControlServer::deliver(const ControlHeader& header, std::span<const std::byte> bytes) {
  const auto copy = [&](const DirectorySlice& slice) {
    const auto [has_flag, flag_at, flag] = header.words;
    if (!fits(slice, header.offset, bytes.size()) || !fits(slice, flag_at, flag_bytes)) {
      return;
    }
    std::byte* const memory = node_->arena().at(slice.place);
    std::memcpy(memory + header.offset, bytes.data(), bytes.size());
    if (has_flag != 0) {
      auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(memory + flag_at);
      word->store(flag, std::memory_order_release);
      detail::futex_wake_all(*reinterpret_cast<FutexWord*>(memory + flag_at));
    }
  };
  // A message for memory that was freed is dropped.
  directory_.visit(RegionId{header.memory}, node_->ranks().front(), copy);
}

void ControlServer::invite(const ControlHeader& header) {
  const Invitation invitation{.key = header.words[0],
                              .offset = header.offset,
                              .sender = header.origin,
                              .memory = header.memory};
  detail::within_memory([&]() -> Status {
    const std::lock_guard guard(mutex_);
    invitations_.push_back({place_of(header), invitation});
    return {};
  }).ignore("the team's members find that this rank does not join");
  deliver_invitations();
}

// Messages of one sender keep their order: inboxes are tried in order, and a full one stops all.
void ControlServer::deliver_invitations() {
  const std::lock_guard guard(mutex_);
  while (!invitations_.empty()) {
    const Waiting& next = invitations_.front();
    const Result<bool> is_in = node_->try_invite(next.place, next.invitation);
    if (is_in.ok() && !*is_in) {
      return;
    }
    invitations_.pop_front();
  }
}

void ControlServer::notify(const ControlHeader& header) {
  const int place = place_of(header);
  node_->memory().guest_notices(place, WorldRank{header.origin}).fetch_add(1);
  node_->ring(place);
}

// Words: the question's number.
void ControlServer::read(const ControlHeader& header) {
  ControlHeader answer{.kind = ControlKind::answer, .words = {header.words[0], 0, 0}};
  directory_.visit(
      RegionId{header.memory}, node_->ranks().front(), [&](const DirectorySlice& slice) {
        if (fits(slice, header.offset, sizeof(std::uint32_t))) {
          const auto* const word =
              reinterpret_cast<const FutexWord*>(node_->arena().at(slice.place) + header.offset);
          answer.words[1] = 1;
          answer.words[2] = word->load();
        }
      });
  answer_(WorldRank{header.origin}, answer).ignore("the rank that asked finds that no reply comes");
}

std::uint64_t ControlServer::ask(Completion& done, std::uint64_t& word) {
  const std::lock_guard guard(mutex_);
  questions_.emplace(++last_question_, Question{&done, &word});
  return last_question_;
}

void ControlServer::give_up(std::uint64_t question) {
  end(question, 0, false);
}

void ControlServer::end(std::uint64_t question, std::uint64_t word, bool is_answered) {
  decltype(questions_)::node_type found;
  {
    const std::lock_guard guard(mutex_);
    found = questions_.extract(question);
  }
  if (!found.empty()) {
    *found.mapped().word = word;
    found.mapped().done->end(is_answered ? Status() : Status::without_text(Code::closed));
  }
}

// Words: the set, the owner and the index of the lock.
void ControlServer::hand_over(const ControlHeader& header) {
  detail::within_memory([&]() -> Status {
    handed_over_.add({header.words[0], static_cast<std::int32_t>(header.words[1]),
                      static_cast<std::int64_t>(header.words[2])});
    return {};
  }).ignore("the rank that waits for the lock keeps waiting");
  node_->ring(place_of(header));
}

void ControlServer::note_left(WorldRank rank) {
  if (node_->place_of(rank) < 0) {
    node_->memory().guest_fate(rank).store(GuestFate::left);
  }
  const std::lock_guard guard(mutex_);
  ++left_;
}

int ControlServer::left() const {
  const std::lock_guard guard(mutex_);
  return left_;
}

}  // namespace tessera::rma::mpi
