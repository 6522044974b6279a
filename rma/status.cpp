// SPDX-License-Identifier: BSD-3-Clause
#include "rma/status.hpp"

#include <fmt/format.h>

#include <utility>

namespace tessera::rma {

std::string_view to_string(Code code) noexcept {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::out_of_range:
      return "out_of_range";
    case Code::closed:
      return "closed";
    case Code::unsupported:
      return "unsupported";
    case Code::no_memory:
      return "no_memory";
    case Code::limit_exceeded:
      return "limit_exceeded";
    case Code::unreachable:
      return "unreachable";
    case Code::peer_lost:
      return "peer_lost";
    case Code::timed_out:
      return "timed_out";
    case Code::protocol:
      return "protocol";
    case Code::internal:
      return "internal";
  }
  return "unknown";
}

struct Status::Detail {
  Code code = Code::internal;
  std::optional<WorldRank> rank;
  std::string what;
  std::string hint;
  const char* file = "";
  int line = 0;
};

void Status::Free::operator()(Detail* detail) const noexcept {
  delete detail;
}

Status::Status(const Status& other)
    : detail_(other.detail_ ? new Detail(*other.detail_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) {
    detail_.reset(other.detail_ ? new Detail(*other.detail_) : nullptr);
  }
  return *this;
}

Status Status::error(Code code, std::string what, const char* file, int line) {
  Status status;
  status.detail_.reset(new Detail{
      .code = code, .rank = {}, .what = std::move(what), .hint = {}, .file = file, .line = line});
  return status;
}

Status Status::error_at(WorldRank rank, Code code, std::string what, const char* file, int line) {
  return error(code, std::move(what), file, line).at(rank);
}

Code Status::code() const noexcept {
  return detail_ ? detail_->code : Code::ok;
}

std::optional<WorldRank> Status::rank() const noexcept {
  return detail_ ? detail_->rank : std::nullopt;
}

std::string Status::message() const {
  if (!detail_) {
    return "ok";
  }
  return detail_->hint.empty() ? detail_->what
                               : fmt::format("{}\n  hint: {}", detail_->what, detail_->hint);
}

std::string Status::describe() const {
  if (!detail_) {
    return "ok";
  }
  return fmt::format("{}: {} [{}:{}]", to_string(detail_->code), message(), detail_->file,
                     detail_->line);
}

void Status::prepend(std::string_view attempt) {
  detail_->what = fmt::format("{}: {}", attempt, detail_->what);
}

Status&& Status::hint(std::string_view remedy) && {
  if (detail_ && detail_->hint.empty()) {
    detail_->hint = remedy;
  }
  return std::move(*this);
}

Status&& Status::at(WorldRank rank) && {
  if (detail_ && !detail_->rank) {
    detail_->rank = rank;
  }
  return std::move(*this);
}

}  // namespace tessera::rma
