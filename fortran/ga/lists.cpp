// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of elements.
#include <span>

#include "arrays/gather.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/scales.hpp"

namespace tessera::ga {

namespace {

Status move_list(const Record& record, std::span<const std::int64_t> places, void* values,
                 const arrays::Transfer& transfer) {
  const auto list = arrays::IndexList::flat(places, record.ndims());
  return arrays::transfer_elements(record.array(), list, values, list.count(), transfer);
}

}  // namespace

Status gather(Record& record, void* values, std::span<const std::int64_t> places) {
  return move_list(record, places, values, arrays::Transfer::get());
}

// The source of a put is only read; one type serves both directions.
Status scatter(Record& record, const void* values, std::span<const std::int64_t> places) {
  return move_list(record, places, const_cast<void*>(values), arrays::Transfer::put());
}

Status scatter_acc(Record& record, const void* values, std::span<const std::int64_t> places,
                   const void* alpha) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Scale scale, scale_of(record, alpha));
  return move_list(record, places, const_cast<void*>(values), arrays::Transfer::accumulate(scale));
}

}  // namespace tessera::ga
