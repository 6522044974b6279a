// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/own_blocks.hpp"

#include "rma/handle.hpp"
#include "rma/region.hpp"

namespace tessera::arrays::detail {

rma::Status get_own(const ArrayBase& array, const Box& to, const ArrayBase& from,
                    const Box& from_box) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(array.region()));
  const Index shift = shift_between(to, from_box);
  rma::Handle gets;
  for_each_own_part(array, to, access.data(), [&](const Box& part, const LocalBuffer& memory) {
    gets.collect(from.get_box_async(part.shifted(shift), memory));
  });
  TESSERA_RETURN_IF_ERROR(gets.wait());
  return access.end();
}

}  // namespace tessera::arrays::detail
