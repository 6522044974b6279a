// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/call_signature.hpp"
#include "arrays/chunk_engine.hpp"
#include "arrays/random.hpp"
#include "fortran/c/operations.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/operands.hpp"

namespace tessera::capi {
namespace {

using arrays::Chunk;
using arrays::ChunkOperand;
using arrays::LoopNest;
using arrays::max_operands;
using rma::Code;
using rma::Reduction;
using rma::Status;

/// The result, if any, comes first.
using OperandList = std::vector<ChunkOperand>;

/// The operands of `given`. Collective over the first one's team if there is an error; `mine` is an
/// error found before.
Status list_operands(std::span<const tessera_part> given, Status mine, OperandList& operands) {
  std::vector<AnyPart> parts(given.size());
  TESSERA_RETURN_IF_ERROR(check_operands(given, 0, std::move(mine), parts));
  for (const AnyPart& part : parts) {
    operands.push_back(arrays::reads(part));
  }
  return {};
}

Status check_given(std::int64_t count, int most, const tessera_part* parts, bool has_function) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "operands"));
  if (count > most) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} operands; at most {} are possible", count, most));
  }
  if (count > 0) {
    TESSERA_RETURN_IF_ERROR(required(parts, "operands"));
  }
  return has_function ? Status() : required(nullptr, "function");
}

/// Calls act(count, places, strides) for each line of a chunk, with its start in each operand.
template <class Act>
void for_each_line(const Chunk& chunk, const OperandList& operands, const Act& act) {
  const int count = static_cast<int>(operands.size());
  const LoopNest nest = loop_nest(chunk, count);
  std::array<void*, max_operands> places = {};
  for_each_run(nest, [&](const auto& offsets) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const auto bytes = static_cast<std::int64_t>(operands[k].array->element_bytes());
      places[k] = chunk.operands[k].data + offsets[k] * bytes;
    }
    act(nest.run.count, places.data(), nest.run.strides.data());
  });
}

Status transform(std::int64_t count, const tessera_part* in, tessera_line_function function,
                 void* context, tessera_part result) {
  Status mine = check_given(count, max_operands - 1, in, function != nullptr);
  std::vector<tessera_part> given = {result};
  if (mine.ok()) {
    given.insert(given.end(), in, in + count);
  }
  OperandList operands;
  TESSERA_RETURN_IF_ERROR(list_operands(given, std::move(mine), operands));
  operands[0].is_written = true;
  return on_chunks("transform", operands, [&](const Chunk& chunk) {
    for_each_line(chunk, operands, [&](std::int64_t length, void** at, const auto* strides) {
      function(length, at + 1, strides + 1, at[0], strides[0], context);
    });
    return Status();
  });
}

Status for_each(tessera_part part, tessera_element_function function, void* context) {
  OperandList operands;
  TESSERA_RETURN_IF_ERROR(
      list_operands(std::span(&part, 1), check_given(1, 1, &part, function != nullptr), operands));
  operands[0].is_written = true;
  const auto bytes = static_cast<std::int64_t>(operands[0].array->element_bytes());
  return on_chunks("for_each", operands, [&](const Chunk& chunk) {
    const auto& memory = chunk.operands[0];
    const arrays::Extents extents = chunk.box.extents();
    arrays::Index within = arrays::Index::zeros(extents.ndims());
    do {
      arrays::Index at = within;
      std::int64_t place = 0;
      for (int dim = 0; dim < at.ndims(); ++dim) {
        at[dim] += chunk.box.lo(dim);
        place += within[dim] * memory.strides[dim];
      }
      function(at.begin(), memory.data + place * bytes, context);
    } while (advance(within, extents, arrays::MemoryOrder::row_major));
    return Status();
  });
}

/// How members' values are combined, and of what type they are.
struct Fold {
  tessera_type type;
  tessera_reduction reduction;
  tessera_fold_function function;
  void* context;
  void* value;
};

Status check_fold(const Fold& fold) {
  TESSERA_RETURN_IF_ERROR(element_type(fold.type).status());
  TESSERA_RETURN_IF_ERROR(check_choice(fold.reduction, rma::reduction_count, "reduction"));
  return required(fold.value, "value");
}

Status reduce(std::int64_t count, const tessera_part* in, const Fold& fold) {
  // Without a first operand there is no team to report an error to.
  if (count == 0) {
    return Status::error(Code::invalid_argument, "there are no operands; at least one is needed");
  }
  TESSERA_RETURN_IF_ERROR(required(in, "operands"));
  Status mine = check_given(count, max_operands, in, fold.function != nullptr);
  const bool is_list = mine.ok();
  if (is_list) {
    mine = check_fold(fold);
  }
  OperandList operands;
  TESSERA_RETURN_IF_ERROR(list_operands(
      std::span(in, is_list ? static_cast<std::size_t>(count) : 1), std::move(mine), operands));
  const auto type = static_cast<rma::ElementType>(fold.type);
  std::vector<std::byte> value(rma::size_of(type));
  std::memcpy(value.data(), fold.value, value.size());
  // Each member may have another initial value.
  const auto given = arrays::detail::CallSignature().add(fold.type).add(fold.reduction);
  TESSERA_RETURN_IF_ERROR(begin_on_chunks("reduce", operands, {}, {}, given));
  rma::Team& team = operands[0].array->team();
  TESSERA_RETURN_IF_ERROR(team.agree(for_each_chunk(operands, [&](const Chunk& chunk) {
    for_each_line(chunk, operands, [&](std::int64_t length, void** at, const auto* strides) {
      fold.function(length, at, strides, value.data(), fold.context);
    });
    return Status();
  })));
  TESSERA_RETURN_IF_ERROR(
      team.allreduce(value.data(), 1, type, static_cast<Reduction>(fold.reduction)));
  std::memcpy(fold.value, value.data(), value.size());
  return {};
}

}  // namespace

extern "C" {

int tessera_array_transform(int64_t count, const tessera_part operands[],
                            tessera_line_function function, void* context, tessera_part result) {
  return call(__func__, [&] { return transform(count, operands, function, context, result); });
}

int tessera_array_for_each(tessera_part part, tessera_element_function function, void* context) {
  return call(__func__, [&] { return for_each(part, function, context); });
}

int tessera_array_reduce(int64_t count, const tessera_part operands[], tessera_type type,
                         tessera_reduction reduction, tessera_fold_function function, void* context,
                         void* value) {
  return call(__func__, [&] {
    return reduce(count, operands, {type, reduction, function, context, value});
  });
}

int tessera_random_words(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]) {
  return call(__func__, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_numbers({counter, key, words}));
    const auto found =
        arrays::philox({counter[0], counter[1], counter[2], counter[3]}, {key[0], key[1]});
    std::copy(found.begin(), found.end(), words);
    return {};
  });
}

}  // extern "C"

}  // namespace tessera::capi
