// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::rma::detail {

/// Local. Sees to it that descriptors 0, 1 and 2 are taken. Where a program was started without one
/// of them (`>&-`), the next that is opened, a node's memory say, would get its number, and what
/// the program prints would go there. Such a stream gives no input, and writing to it fails, as
/// before.
void keep_standard_streams();

}  // namespace tessera::rma::detail
