// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/status.hpp"

#include <fmt/format.h>

#include <array>
#include <new>
#include <utility>

namespace tessera::rma {
namespace {

// Short enough to need no heap memory.
constexpr const char* no_text = "no memory";

// Returns text(), or `otherwise` if there is no memory for it. No error may fail to be reported.
template <class Text, class Otherwise>
Otherwise or_else(const Text& text, Otherwise otherwise) noexcept {
  try {
    return text();
  } catch (const std::bad_alloc&) {
    return otherwise;
  }
}

}  // namespace

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
  std::optional<WorldRank> failing_rank;
  std::string what;
  std::string hint;
  const char* file = "";
  int line = 0;
  bool is_shared = false;  ///< used by all errors with only this code; never changed or deleted
};

void Status::Free::operator()(Detail* detail) const noexcept {
  if (!detail->is_shared) {
    delete detail;
  }
}

// Used if there is no memory for an own detail.
Status::Detail* Status::shared_detail(Code code) noexcept {
  constexpr std::size_t codes = static_cast<std::size_t>(Code::internal) + 1;
  static const std::array<Detail, codes> details = [] {
    std::array<Detail, codes> all;
    for (std::size_t i = 0; i < codes; ++i) {
      all[i].code = static_cast<Code>(i);
      all[i].is_shared = true;
    }
    return all;
  }();
  return const_cast<Detail*>(
      &details[static_cast<std::size_t>(code)]);  // is_shared prevents changes
}

Status::Detail* Status::copied_detail() const noexcept {
  if (detail_ == nullptr || detail_->is_shared) {
    return detail_.get();
  }
  return or_else([this] { return new Detail(*detail_); }, shared_detail(detail_->code));
}

Status::Status(const Status& other) noexcept : detail_(other.copied_detail()) {}

Status& Status::operator=(const Status& other) noexcept {
  if (this != &other) {
    detail_.reset(other.copied_detail());
  }
  return *this;
}

Status Status::error(Code code, std::string what, const char* file, int line) noexcept {
  auto* const detail = new (std::nothrow) Detail{.code = code,
                                                 .rank = {},
                                                 .failing_rank = {},
                                                 .what = std::move(what),
                                                 .hint = {},
                                                 .file = file,
                                                 .line = line};
  if (detail == nullptr) {
    return code_only(code);
  }
  Status status;
  status.detail_.reset(detail);
  return status;
}

Status Status::error_at(WorldRank rank, Code code, std::string what, const char* file,
                        int line) noexcept {
  return error(code, std::move(what), file, line).at(rank);
}

Status Status::no_memory(std::string_view what, const char* file, int line) noexcept {
  return or_else([&] { return error(Code::no_memory, std::string(what), file, line); },
                 code_only(Code::no_memory));
}

Status Status::code_only(Code code) noexcept {
  Status status;
  status.detail_.reset(shared_detail(code));
  return status;
}

Code Status::code() const noexcept {
  return detail_ ? detail_->code : Code::ok;
}

std::optional<WorldRank> Status::rank() const noexcept {
  return detail_ ? detail_->rank : std::nullopt;
}

std::optional<WorldRank> Status::failing_rank() const noexcept {
  return detail_ ? detail_->failing_rank : std::nullopt;
}

std::string Status::message() const noexcept {
  if (!detail_) {
    return "ok";
  }
  if (detail_->is_shared) {
    return no_text;
  }
  return or_else(
      [this] {
        return detail_->hint.empty() ? detail_->what
                                     : fmt::format("{}\n  hint: {}", detail_->what, detail_->hint);
      },
      std::string(no_text));
}

std::string Status::describe() const noexcept {
  if (!detail_) {
    return "ok";
  }
  const auto text = [this] {
    const std::string on =
        detail_->failing_rank ? fmt::format("[rank {}] ", detail_->failing_rank->value) : "";
    const std::string line = fmt::format("{}{}: {}", on, to_string(detail_->code), message());
    return detail_->is_shared ? line
                              : fmt::format("{} [{}:{}]", line, detail_->file, detail_->line);
  };
  return or_else(text, std::string(no_text));
}

void Status::prepend(std::string_view attempt) noexcept {
  if (detail_->is_shared) {
    return;
  }
  // Without memory the message stays without the context; below, without the hint.
  std::string with_context =
      or_else([&] { return fmt::format("{}: {}", attempt, detail_->what); }, std::string());
  if (!with_context.empty()) {
    detail_->what = std::move(with_context);
  }
}

Status&& Status::hint(std::string_view remedy) && noexcept {
  if (detail_ && !detail_->is_shared && detail_->hint.empty()) {
    detail_->hint = or_else([&] { return std::string(remedy); }, std::string());
  }
  return std::move(*this);
}

Status&& Status::failing_on(WorldRank rank) && noexcept {
  if (detail_ && !detail_->is_shared && !detail_->failing_rank) {
    detail_->failing_rank = rank;
  }
  return std::move(*this);
}

Status&& Status::at(WorldRank rank) && noexcept {
  if (detail_ && !detail_->is_shared && !detail_->rank) {
    detail_->rank = rank;
  }
  return std::move(*this);
}

}  // namespace tessera::rma
