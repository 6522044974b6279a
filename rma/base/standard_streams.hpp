// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::rma::detail {

/// Local. Ensures that descriptors 0, 1 and 2 are in use. If a program was started without one of
/// them (`>&-`), the next descriptor, for example of a node's memory, would get its number, and the
/// program's output would go there. The replacement gives no input, and writing to it fails, as
/// before.
void keep_standard_streams();

}  // namespace tessera::rma::detail
