// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::linalg::detail {

using arrays::Extents;
using arrays::MemoryOrder;
using arrays::Strides;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

Status invalid(std::string what) {
  return Status::error(Code::invalid_argument, std::move(what));
}

bool has(const LetteredArray& of, char letter) {
  return of.letters.find(letter) != std::string_view::npos;
}

int dim_of(const LetteredArray& of, char letter) {
  return static_cast<int>(of.letters.find(letter));
}

Status check_letters(const LetteredArray& of) {
  if (std::ssize(of.letters) != of.array->ndims()) {
    return invalid(fmt::format("{} has {} letter{} '{}' for the {} dimension{} of {}", of.name,
                               of.letters.size(), of.letters.size() == 1 ? "" : "s", of.letters,
                               of.array->ndims(), of.array->ndims() == 1 ? "" : "s",
                               of.array->describe()))
        .hint("give one letter for each dimension");
  }
  for (std::size_t i = 0; i < of.letters.size(); ++i) {
    if (of.letters.find(of.letters[i], i + 1) != std::string_view::npos) {
      return invalid(
                 fmt::format("letter '{}' is twice in {}[{}]", of.letters[i], of.name, of.letters))
          .hint(
              "diagonals are not supported; use different letters for the dimensions of an array");
    }
  }
  return {};
}

// Each letter must be in exactly two of the three arrays.
Status check_partners(const LetteredArray& of, const LetteredArray& other,
                      const LetteredArray& third) {
  for (const char letter : of.letters) {
    const int count = 1 + (has(other, letter) ? 1 : 0) + (has(third, letter) ? 1 : 0);
    const std::string all = fmt::format("{}[{}], {}[{}], {}[{}]", of.name, of.letters, other.name,
                                        other.letters, third.name, third.letters);
    if (count == 1) {
      return invalid(fmt::format("letter '{}' is in {} only ({})", letter, of.name, all))
          .hint("a letter of C must be in A or in B; a letter that is summed over must be in both");
    }
    if (count == 3) {
      return invalid(fmt::format("letter '{}' is in all three ({})", letter, all))
          .hint("contract one index of it at a time, on boxes");
    }
  }
  return {};
}

Status check_extents(const LetteredArray& x, const LetteredArray& y) {
  for (const char letter : x.letters) {
    if (!has(y, letter)) {
      continue;
    }
    const std::int64_t here = x.array->extents()[dim_of(x, letter)];
    const std::int64_t there = y.array->extents()[dim_of(y, letter)];
    if (here != there) {
      return invalid(fmt::format("letter '{}' has extent {} in {}, but {} in {}", letter, here,
                                 x.array->describe(), there, y.array->describe()));
    }
  }
  return {};
}

// The letters that both arrays have, in the order of x's memory.
DimPairs pair_dims(const LetteredArray& x, const LetteredArray& y) {
  std::string letters(x.letters);
  if (x.array->distribution().order() == MemoryOrder::column_major) {
    std::reverse(letters.begin(), letters.end());
  }
  DimPairs pairs;
  for (const char letter : letters) {
    if (has(y, letter)) {
      pairs.left.push_back(dim_of(x, letter));
      pairs.right.push_back(dim_of(y, letter));
    }
  }
  return pairs;
}

}  // namespace

Result<Contraction> analyse(const LetteredArray& c, const LetteredArray& a,
                            const LetteredArray& b) {
  for (const LetteredArray* of : {&c, &a, &b}) {
    TESSERA_RETURN_IF_ERROR(check_letters(*of));
  }
  TESSERA_RETURN_IF_ERROR(check_partners(c, a, b));
  TESSERA_RETURN_IF_ERROR(check_partners(a, b, c));
  TESSERA_RETURN_IF_ERROR(check_partners(b, a, c));
  TESSERA_RETURN_IF_ERROR(check_extents(c, a));
  TESSERA_RETURN_IF_ERROR(check_extents(c, b));
  TESSERA_RETURN_IF_ERROR(check_extents(a, b));
  return Contraction{.rows = pair_dims(c, a), .columns = pair_dims(c, b), .inner = pair_dims(a, b)};
}

std::int64_t extent_of(const Extents& extents, const std::vector<int>& dims) {
  std::int64_t product = 1;
  for (const int dim : dims) {
    product *= extents[dim];
  }
  return product;
}

std::optional<std::int64_t> common_stride(const Extents& extents, const Strides& strides,
                                          const std::vector<int>& dims) {
  std::optional<std::int64_t> common;
  std::int64_t expected = 0;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (extents[*dim] == 1) {
      continue;
    }
    if (!common) {
      common = strides[*dim];
    } else if (strides[*dim] != expected) {
      return std::nullopt;
    }
    expected = strides[*dim] * extents[*dim];
  }
  return common.value_or(1);
}

Strides matrix_strides(const Extents& extents, const std::vector<int>& row_dims,
                       const std::vector<int>& column_dims) {
  Strides strides = Strides::zeros(extents.ndims());
  std::int64_t stride = 1;
  for (const auto* dims : {&column_dims, &row_dims}) {
    for (auto dim = dims->rbegin(); dim != dims->rend(); ++dim) {
      strides[*dim] = stride;
      stride *= extents[*dim];
    }
  }
  return strides;
}

}  // namespace tessera::linalg::detail
