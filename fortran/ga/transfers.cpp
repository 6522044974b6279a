// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided transfers that are complete when they return.
#include <fmt/format.h>

#include "arrays/array.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/scales.hpp"

namespace tessera::ga {

namespace {

using arrays::PeriodicBox;
using arrays::Section;
using arrays::Transfer;

template <class T>
Result<std::int64_t> add_to(const Record& record, const Index& place, std::int64_t amount) {
  const auto& array = static_cast<const arrays::Array<T>&>(record.array());
  TESSERA_ASSIGN_OR_RETURN(const T before, array.fetch_add(place, static_cast<T>(amount)));
  return std::int64_t{before};
}

}  // namespace

Status put(Record& record, const Box& box, const Memory& memory) {
  return record.array().put_box(box, memory);
}

Status get(Record& record, const Box& box, const Memory& memory) {
  return record.array().get_box(box, memory);
}

Status acc(Record& record, const Box& box, const Memory& memory, const void* alpha) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Scale scale, scale_of(record, alpha));
  return record.array().accumulate_box(box, memory, scale);
}

Status strided_put(Record& record, const Box& box, const Extents& steps, const Memory& memory) {
  return record.array().transfer(Section(box, steps), memory, Transfer::put());
}

Status strided_get(Record& record, const Box& box, const Extents& steps, const Memory& memory) {
  return record.array().transfer(Section(box, steps), memory, Transfer::get());
}

Status strided_acc(Record& record, const Box& box, const Extents& steps, const Memory& memory,
                   const void* alpha) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Scale scale, scale_of(record, alpha));
  return record.array().transfer(Section(box, steps), memory, Transfer::accumulate(scale));
}

Status periodic_put(Record& record, const Box& box, const Memory& memory) {
  return record.array().transfer(arrays::periodic(box), memory, Transfer::put());
}

Status periodic_get(Record& record, const Box& box, const Memory& memory) {
  return record.array().transfer(arrays::periodic(box), memory, Transfer::get());
}

Status periodic_acc(Record& record, const Box& box, const Memory& memory, const void* alpha) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Scale scale, scale_of(record, alpha));
  return record.array().transfer(arrays::periodic(box), memory, Transfer::accumulate(scale));
}

Status periodic(Record& record, const Box& box, const Memory& memory, const void* alpha,
                std::int64_t code) {
  constexpr std::int64_t code_of_get = 1;
  constexpr std::int64_t code_of_put = 2;
  constexpr std::int64_t code_of_acc = 3;
  switch (code) {
    case code_of_get:
      return periodic_get(record, box, memory);
    case code_of_put:
      return periodic_put(record, box, memory);
    case code_of_acc:
      return periodic_acc(record, box, memory, alpha);
    default:
      return Status::error(Code::invalid_argument,
                           fmt::format("there is no periodic operation {}", code))
          .hint("get is 1, put is 2 and accumulate is 3");
  }
}

Result<std::int64_t> read_inc(Record& record, const Index& place, std::int64_t amount) {
  const auto& type = record.array().element().type;
  if (type == rma::ElementType::i32) {
    return add_to<std::int32_t>(record, place, amount);
  }
  if (type == rma::ElementType::i64) {
    return add_to<std::int64_t>(record, place, amount);
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("{} has elements of type {}, which do not count",
                                   record.describe(), to_string(record.type())))
      .hint("create it with C_INT, C_LONG, C_LONGLONG or MT_F_INT");
}

}  // namespace tessera::ga
