// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/arguments.hpp"

#include <fmt/format.h>

#include <complex>
#include <cstring>
#include <utility>

namespace tessera::rma::armci {
namespace {

Status invalid(std::string problem) {
  return Status::error(Code::invalid_argument, std::move(problem));
}

template <Element T>
Scale scale_from(const void* factor) {
  T value;
  std::memcpy(&value, factor, sizeof value);
  return Scale::of(value);
}

Status check_set(const armci_giov_t& set, int number) {
  if (set.bytes < 0 || set.ptr_array_len < 0) {
    return invalid(fmt::format("set {} has {} segments of {} bytes", number, set.ptr_array_len,
                               set.bytes))
        .hint(
            "neither number may be negative; assign the members of armci_giov_t by name, because "
            "their order differs between ARMCI libraries");
  }
  if (set.ptr_array_len > 0 && (set.src_ptr_array == nullptr || set.dst_ptr_array == nullptr)) {
    return invalid(fmt::format("set {} of {} segments has a null array of {} pointers", number,
                               set.ptr_array_len,
                               set.src_ptr_array == nullptr ? "source" : "destination"))
        .hint("both arrays need a pointer for each segment");
  }
  return {};
}

}  // namespace

Status check_process(const Job& job, int proc) {
  return proc >= 0 && proc < job.size()
             ? Status()
             : Status::error(
                   Code::invalid_argument,
                   fmt::format("there is no process {}: the job has 0 to {}", proc, job.size() - 1))
                   .hint("processes are numbered over the whole job, not in a group");
}

Status negative_bytes(int bytes) {
  return invalid(fmt::format("a transfer of {} bytes", bytes))
      .hint("a transfer has 0 to 2147483647 bytes");
}

Result<Scale> scale_of(int optype, const void* factor) {
  if (factor == nullptr) {
    return invalid("the pointer to the scale factor is null")
        .hint("give the address of one element of the accumulated type, such as 1");
  }
  switch (optype) {
    case ARMCI_ACC_INT:
      return scale_from<std::int32_t>(factor);
    case ARMCI_ACC_LNG:
      return scale_from<std::int64_t>(factor);
    case ARMCI_ACC_FLT:
      return scale_from<float>(factor);
    case ARMCI_ACC_DBL:
      return scale_from<double>(factor);
    case ARMCI_ACC_CPL:
      return scale_from<std::complex<float>>(factor);
    case ARMCI_ACC_DCP:
      return scale_from<std::complex<double>>(factor);
    default:
      return invalid(fmt::format("{} is not an accumulate operation", optype))
          .hint("use ARMCI_ACC_INT, _LNG, _FLT, _DBL, _CPL or _DCP, from this armci.h");
  }
}

Result<CopyShape> shape_of(TransferDirection direction, const int source_strides[],
                           const int target_strides[], const int count[], int levels) {
  if (levels < 0 || levels > max_stride_levels) {
    return invalid(fmt::format("{} stride levels are not possible", levels))
        .hint(fmt::format("give 0 to ARMCI_MAX_STRIDE_LEVEL, {}", max_stride_levels));
  }
  if (count == nullptr) {
    return invalid("the array of counts is null")
        .hint("it needs one more count than there are stride levels");
  }
  if (levels > 0 && (source_strides == nullptr || target_strides == nullptr)) {
    return invalid(fmt::format("the array of {} strides is null, but there are {} stride levels",
                               source_strides == nullptr ? "source" : "destination", levels))
        .hint("give an array with a stride for each level");
  }
  TESSERA_RETURN_IF_ERROR(check_bytes(count[0]));
  const int* const local_strides =
      direction == TransferDirection::to_remote ? source_strides : target_strides;
  const int* const remote_strides =
      direction == TransferDirection::to_remote ? target_strides : source_strides;
  CopyShape shape = CopyShape::contiguous(as_size(count[0]));
  for (int level = 0; level < levels; ++level) {
    shape.repeat(count[level + 1], local_strides[level], remote_strides[level]);
  }
  return shape;
}

Result<CopyShape> packed_shape_of(const int strides[], const int count[], int levels) {
  TESSERA_ASSIGN_OR_RETURN(CopyShape shape,
                           shape_of(TransferDirection::to_remote, strides, strides, count, levels));
  auto packed = static_cast<std::int64_t>(shape.run_bytes);
  for (int number = 0; number < levels; ++number) {
    CopyShape::Level& level = shape.level[static_cast<std::size_t>(number)];
    level.local_stride = packed;
    if (level.count < 0 || __builtin_mul_overflow(packed, level.count, &packed)) {
      return invalid(fmt::format("stride level {} has a count of {}", number + 1, level.count))
          .hint("a count is 0 or more, and all bytes together fit into 63 bits");
    }
  }
  return shape;
}

Result<std::vector<RunList>> lists_of(TransferDirection direction, const armci_giov_t sets[],
                                      int count) {
  if (count < 0) {
    return invalid(fmt::format("{} sets of segments are not possible", count))
        .hint("give 0 or more");
  }
  if (sets == nullptr && count > 0) {
    return invalid(fmt::format("the array of {} sets is null", count))
        .hint("give an armci_giov_t for each set");
  }
  std::vector<RunList> lists;
  lists.reserve(static_cast<std::size_t>(count));
  for (int number = 0; number < count; ++number) {
    const armci_giov_t& set = sets[number];
    TESSERA_RETURN_IF_ERROR(check_set(set, number));
    const auto segments = static_cast<std::size_t>(set.ptr_array_len);
    const std::span<void* const> sources(set.src_ptr_array, segments);
    const std::span<void* const> targets(set.dst_ptr_array, segments);
    const auto bytes = static_cast<std::size_t>(set.bytes);
    lists.push_back(direction == TransferDirection::to_remote ? RunList{targets, sources, bytes}
                                                              : RunList{sources, targets, bytes});
  }
  return lists;
}

}  // namespace tessera::rma::armci
