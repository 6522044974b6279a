// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/box_panel.hpp"

#include <utility>

#include "rma/transfer.hpp"

namespace tessera::linalg::detail {

using arrays::ArrayBase;
using arrays::Box;
using arrays::Patch;
using rma::Status;

bool BoxPanel::use_in_place(const ArrayBase& array, const Box& box) {
  auto patches = array.distribution().patches(box);
  if (patches.remaining() != 1) {
    return false;
  }
  const Patch& patch = *patches.begin();
  std::byte* const slice = array.region().direct(patch.owner);
  if (slice == nullptr) {
    return false;
  }
  data_ = slice + patch.offset * static_cast<std::int64_t>(array.element_bytes());
  strides_ = patch.strides;
  return true;
}

void BoxPanel::start(const ArrayBase& array, const Box& box) {
  failed_ = Status();
  extents_ = box.extents();
  if (use_in_place(array, box)) {
    return;
  }
  const auto bytes = static_cast<std::int64_t>(array.element_bytes());
  failed_ = buffer_.reserve(static_cast<std::size_t>(box.volume() * bytes));
  if (!failed_.ok()) {
    return;
  }
  data_ = buffer_.data();
  strides_ = dense_strides(extents_, array.distribution().order());
  for (const Patch& patch : array.distribution().patches(box, array.team().rank().value)) {
    const std::int64_t offset = distance(box.lo(), patch.box.lo(), strides_) * bytes;
    fetching_.collect(rma::get_async(
        array.job(),
        array.region().at(patch.owner, static_cast<std::uint64_t>(patch.offset * bytes)),
        static_cast<std::byte*>(data_) + offset,
        copy_shape(patch, strides_, array.element_bytes())));
  }
}

Status BoxPanel::wait() {
  Status fetched = fetching_.wait();
  return failed_.ok() ? std::move(fetched) : std::exchange(failed_, Status());
}

}  // namespace tessera::linalg::detail
