// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/attributes.hpp"

#include <fmt/format.h>

#include <concepts>
#include <span>
#include <type_traits>
#include <variant>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/checksum.hpp"
#include "arrays/checkpoint/hdf5.hpp"

namespace tessera::arrays {

namespace {

struct KindOfAttribute {
  std::string_view operator()(const std::string& /*text*/) const { return "a string"; }
  std::string_view operator()(bool /*value*/) const { return "a truth value"; }
  std::string_view operator()(double /*value*/) const { return "a floating-point number"; }
  std::string_view operator()(float /*value*/) const { return "a floating-point number"; }
  std::string_view operator()(std::complex<float> /*value*/) const { return "a complex number"; }
  std::string_view operator()(std::complex<double> /*value*/) const { return "a complex number"; }
  std::string_view operator()(const std::vector<std::int64_t>& /*list*/) const {
    return "a list of whole numbers";
  }
  std::string_view operator()(const std::vector<double>& /*list*/) const {
    return "a list of floating-point numbers";
  }
  template <std::integral T>
  std::string_view operator()(T /*value*/) const {
    return "a whole number";
  }
};

}  // namespace

std::string_view kind_of(const AttributeValue& value) noexcept {
  return std::visit(KindOfAttribute(), value);
}

namespace detail {

rma::Status check_attribute(const std::string& name, const AttributeValue& value) {
  if (name.starts_with(reserved_prefix)) {
    return invalid(fmt::format("'{}' is reserved", name))
        .hint(fmt::format("names that begin with {} are reserved for Tessera", reserved_prefix));
  }
  const auto* const text = std::get_if<std::string>(&value);
  if (text != nullptr && text->find('\0') != std::string::npos) {
    return invalid(fmt::format("the text of '{}' contains a zero byte", name));
  }
  return {};
}

std::uint64_t hash_of(const AttributeValue& value) {
  const std::uint64_t content = std::visit(
      []<class T>(const T& held) {
        if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<double>> ||
                      std::is_same_v<T, std::vector<std::int64_t>>) {
          return checksum(std::as_bytes(std::span(held)));
        } else {
          return checksum(std::as_bytes(std::span(&held, 1)));
        }
      },
      value);
  return content + value.index();
}

}  // namespace detail
}  // namespace tessera::arrays
