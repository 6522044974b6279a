// SPDX-License-Identifier: BSD-3-Clause
//
// Finding: the result of one check.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tessera::tool {

enum class State {
  green,   ///< as it should be
  yellow,  ///< jobs run, but something is slower or smaller than possible
  red,     ///< jobs do not start, or not as intended
};

/// "green", "yellow" or "red".
constexpr std::string_view to_string(State state) noexcept {
  return state == State::green ? "green" : (state == State::yellow ? "yellow" : "red");
}

struct Finding {
  State state = State::green;
  std::string name;    ///< of the check
  std::string found;   ///< one sentence
  std::string remedy;  ///< what to do, in one sentence; empty exactly for green
  friend bool operator==(const Finding&, const Finding&) = default;
};

inline Finding green(std::string_view name, std::string found) {
  return {State::green, std::string(name), std::move(found), {}};
}
inline Finding yellow(std::string_view name, std::string found, std::string remedy) {
  return {State::yellow, std::string(name), std::move(found), std::move(remedy)};
}
inline Finding red(std::string_view name, std::string found, std::string remedy) {
  return {State::red, std::string(name), std::move(found), std::move(remedy)};
}

}  // namespace tessera::tool
