// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/array_part.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::arrays::detail {

using rma::Code;
using rma::Handle;
using rma::Result;
using rma::Status;

ArrayPart::ArrayPart(const ArrayBase& array) noexcept
    : ArrayPart(array, Section(array.box(), Extents::filled(array.ndims(), 1)), array.box()) {
  match();
}

Result<ArrayPart> ArrayPart::create(const ArrayBase& array, const Section& part,
                                    const Box& stored) {
  TESSERA_RETURN_IF_ERROR(check_inside(part, array.extents()).context(array.describe()));
  ArrayPart made(array, part, stored);
  if (!made.match()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("extents differ: {} in the file, and {} in {}",
                                     to_string(stored.extents()), to_string(part.extents()),
                                     array.describe()))
        .hint("only dimensions of length 1 may be left out");
  }
  return made;
}

bool ArrayPart::match() noexcept {
  const Extents wanted = part_.extents();
  const Extents given = stored_.extents();
  if (wanted == given) {
    for (int dim = 0; dim < wanted.ndims(); ++dim) {
      stored_dim_[static_cast<std::size_t>(dim)] = dim;
    }
    return true;
  }
  int next = 0;
  const auto skip_ones = [&] {
    while (next < given.ndims() && given[next] == 1) {
      ++next;
    }
  };
  for (int dim = 0; dim < wanted.ndims(); ++dim) {
    if (wanted[dim] == 1) {
      stored_dim_[static_cast<std::size_t>(dim)] = -1;
      continue;
    }
    skip_ones();
    if (next == given.ndims() || given[next] != wanted[dim]) {
      return false;
    }
    stored_dim_[static_cast<std::size_t>(dim)] = next++;
  }
  skip_ones();
  return next == given.ndims();
}

Handle ArrayPart::start(const Transfer& transfer, const Box& box, std::byte* first,
                        const Strides& strides) const {
  Box elements = part_.box();
  LocalBuffer local{first, Strides::filled(elements.ndims(), 1)};
  bool is_dense = true;
  for (int dim = 0; dim < elements.ndims(); ++dim) {
    const int from = stored_dim_[static_cast<std::size_t>(dim)];
    const std::int64_t step = part_.steps()[dim];
    is_dense = is_dense && step == 1;
    if (from >= 0) {
      const std::int64_t lo = part_.box().lo(dim) + (box.lo(from) - stored_.lo(from)) * step;
      elements.set(dim, lo, lo + (box.extent(from) - 1) * step + 1);
      local.strides[dim] = strides[from];
    }
  }
  return is_dense ? array_->transfer_async(elements, local, transfer)
                  : array_->transfer_async(Section(elements, part_.steps()), local, transfer);
}

}  // namespace tessera::arrays::detail
