// SPDX-License-Identifier: BSD-3-Clause
#include "rma/label.hpp"

#include <fmt/format.h>

#include "rma/engine/team_state.hpp"
#include "rma/team.hpp"

namespace tessera::rma {
namespace {

// "array 'rho'", "a region", or "".
std::string object_of(const Label& label) {
  if (label.kind.empty()) {
    return {};
  }
  const bool is_nameless = label.name.empty() || label.name == label.kind;
  return is_nameless ? fmt::format("a {}", label.kind)
                     : fmt::format("{} '{}'", label.kind, label.name);
}

}  // namespace

std::string Label::short_text() const {
  const std::string_view of = name.empty() ? kind : name;
  return of.empty() ? std::string(verb) : fmt::format("{} {}", verb, of);
}

std::string Label::phrase() const {
  const std::string object = object_of(*this);
  if (verb == "free") {
    return fmt::format("was freeing {}", object);
  }
  if (verb == free_by_exception) {
    return fmt::format("was freeing {} because of an exception", object);
  }
  return object.empty() ? fmt::format("called {}", verb)
                        : fmt::format("called {} of {}", verb, object);
}

LabelScope::LabelScope(const Team& team, const Label& label) noexcept
    : LabelScope(team.shared_state().get(), label) {}

LabelScope::LabelScope(detail::TeamState* team, const Label& label) noexcept
    : team_(team), label_(label) {
  if (team_ != nullptr) {
    outer_ = team_->exchange_scope(this);
    hash_ = Label::mix(outer_ == nullptr ? 0 : outer_->hash_, label_.hash());
  }
}

LabelScope::~LabelScope() {
  if (team_ != nullptr) {
    team_->exchange_scope(outer_);
  }
}

}  // namespace tessera::rma
