// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "arrays/checkpoint/element_converter.hpp"
#include "arrays/checkpoint/hdf5_types.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Result;
using rma::Status;

struct ElementConverter::State {
  Hdf5Id from;
  Hdf5Id to;
  std::size_t to_bytes = 0;
  bool is_compound = false;  // then libhdf5 needs a second buffer
};

ElementConverter::ElementConverter() noexcept = default;
ElementConverter::ElementConverter(ElementConverter&&) noexcept = default;
ElementConverter& ElementConverter::operator=(ElementConverter&&) noexcept = default;
ElementConverter::~ElementConverter() {
  const Hdf5ErrorSilencer quiet;
  state_.reset();
}

Result<ElementConverter> ElementConverter::create(const StoredArray& stored,
                                                  std::optional<rma::ElementType> type) {
  ElementConverter made;
  if (!type || (stored.is_native && stored.type == type)) {
    return made;
  }
  const Hdf5ErrorSilencer quiet;
  made.state_ = std::make_unique<State>();
  made.state_->from = Hdf5Id(H5Tdecode(stored.encoded_type.data()));
  made.state_->to = type_of_element(*type);
  made.state_->to_bytes = rma::size_of(*type);
  made.state_->is_compound = H5Tget_class(made.state_->from.get()) == H5T_COMPOUND;
  if (!made.state_->from.is_valid() || !made.state_->to.is_valid()) {
    return Status::error(Code::internal, fmt::format("libhdf5 can't convert {}: {}",
                                                     stored.type_text, hdf5_error_message()));
  }
  return made;
}

std::int64_t ElementConverter::max_bytes(const StoredArray& stored) const noexcept {
  return state_ ? std::max(stored.element_bytes, static_cast<std::int64_t>(state_->to_bytes))
                : stored.element_bytes;
}

Status ElementConverter::convert(std::byte* elements, std::int64_t count) const {
  if (!state_ || count == 0) {
    return {};
  }
  const Hdf5ErrorSilencer quiet;
  const auto number = static_cast<std::size_t>(count);
  std::vector<std::byte> second(state_->is_compound ? number * state_->to_bytes : 0);
  const herr_t code = H5Tconvert(state_->from.get(), state_->to.get(), number, elements,
                                 second.empty() ? nullptr : second.data(), H5P_DEFAULT);
  return code >= 0 ? Status()
                   : Status::error(Code::internal, fmt::format("libhdf5 can't convert elements: {}",
                                                               hdf5_error_message()));
}

}  // namespace tessera::arrays::detail
