// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// Calls `body(pointer, count, stride)` for each run of this rank's own elements along the fastest
// dimension, block by block.
template <class T, class Body>
void for_each_own_run(const Distribution& distribution, rma::TeamRank rank, T* slice, Body&& body) {
  for (const Patch& block : distribution.blocks(rank)) {
    if (block.box.is_empty()) {
      continue;
    }
    const int ndims = block.box.ndims();
    const int fast = block.order == MemoryOrder::row_major ? ndims - 1 : 0;
    Index at = block.box.lo();
    while (true) {
      body(slice + block.offset + distance(block.box.lo(), at, block.strides),
           block.box.extent(fast), block.strides[fast]);
      int dim = 0;
      for (; dim < ndims; ++dim) {
        if (dim == fast) {
          continue;
        }
        if (++at[dim] < block.box.hi(dim)) {
          break;
        }
        at[dim] = block.box.lo(dim);
      }
      if (dim == ndims) {
        break;
      }
    }
  }
}

// Local. Access to own elements, and the work.
template <class T, class Work>
Status work_on_own(Array<T>& array, Work&& work) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(array.region()));
  for_each_own_run(array.distribution(), array.team().rank(), reinterpret_cast<T*>(access.data()),
                   work);
  return access.end();
}

// A collective that works on own elements only: synchronise, access, work, synchronise. Nothing
// returns in between: an error of this rank's own is agreed upon at the end.
template <class T, class Work>
Status on_own_elements(Array<T>& array, Work&& work) {
  TESSERA_RETURN_IF_ERROR(array.sync());
  return array.sync(work_on_own(array, work));
}

// Signed overflow would be undefined; integer arrays wrap.
template <class T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

// As all members find it, so that none is left waiting: the answer is the same on all of them.
template <class T>
Status check_same_shape(const Array<T>& a, const Array<T>& b) {
  TESSERA_RETURN_IF_ERROR(a.check_open());
  TESSERA_RETURN_IF_ERROR(b.check_open());
  if (a.extents() != b.extents()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("array '{}' is {} and array '{}' is {}", a.name(),
                                     to_string(a.extents()), b.name(), to_string(b.extents())));
  }
  return {};
}

// Elements at the same place of two slices belong together.
template <class T>
Status check_same_places(const Array<T>& a, const Array<T>& b) {
  TESSERA_RETURN_IF_ERROR(check_same_shape(a, b));
  const auto members_a = a.team().members();
  const auto members_b = b.team().members();
  if (!std::equal(members_a.begin(), members_a.end(), members_b.begin(), members_b.end())) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("arrays '{}' and '{}' are on different teams", a.name(), b.name()))
        .hint("copy one into an array on the other's team");
  }
  if (!(a.distribution() == b.distribution())) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("arrays '{}' and '{}' are distributed differently", a.name(), b.name()))
        .hint("copy one of them into an array that is distributed like the other");
  }
  return {};
}

// Local. This rank's part of dot().
template <class T>
Status add_own_products(Array<T>& a, Array<T>& b, T& sum) {
  TESSERA_ASSIGN_OR_RETURN(auto access_b, rma::LocalAccess::begin(b.region()));
  TESSERA_ASSIGN_OR_RETURN(auto access_a, rma::LocalAccess::begin(a.region()));
  const auto* const slice_b = reinterpret_cast<const T*>(access_b.data());
  auto* const slice_a = reinterpret_cast<T*>(access_a.data());
  for_each_own_run(a.distribution(), a.team().rank(), slice_a,
                   [&](const T* run, std::int64_t count, std::int64_t stride) {
                     const T* other = slice_b + (run - slice_a);
                     for (std::int64_t i = 0; i < count; ++i) {
                       sum = add(sum, multiply(run[i * stride], other[i * stride]));
                     }
                   });
  Status ended = access_a.end();
  Status other_ended = access_b.end();
  return ended.ok() ? std::move(other_ended) : std::move(ended);
}

// Local. Fetches what this rank owns of `to` from `from`, straight into place.
template <class T>
Status fetch_own(const Array<T>& from, Array<T>& to) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(to.region()));
  auto* const slice = reinterpret_cast<T*>(access.data());
  for (const Patch& block : to.distribution().blocks(to.team().rank())) {
    const LocalView<T> view(slice + block.offset, block.box.extents(), block.strides);
    if (!block.box.is_empty()) {
      TESSERA_RETURN_IF_ERROR(from.get(block.box, view));
    }
  }
  return access.end();
}

}  // namespace

template <rma::Element T>
Status detail::Elementwise<T>::fill(Array<T>& array, T value) {
  return on_own_elements(array, [=](T* run, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i) {
      run[i * stride] = value;
    }
  });
}

template <rma::Element T>
Status detail::Elementwise<T>::scale(Array<T>& array, T alpha) {
  return on_own_elements(array, [=](T* run, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i) {
      run[i * stride] = multiply(alpha, run[i * stride]);
    }
  });
}

template <rma::Element T>
Status detail::Elementwise<T>::copy(const Array<T>& from, Array<T>& to) {
  TESSERA_RETURN_IF_ERROR(check_same_shape(from, to));
  TESSERA_RETURN_IF_ERROR(to.sync());
  return to.sync(fetch_own(from, to));
}

template <rma::Element T>
Result<T> detail::Elementwise<T>::dot(Array<T>& a, Array<T>& b) {
  TESSERA_RETURN_IF_ERROR(check_same_places(a, b));
  TESSERA_RETURN_IF_ERROR(a.sync());
  T sum{};
  TESSERA_RETURN_IF_ERROR(a.team().agree(add_own_products(a, b, sum)));
  return a.team().allreduce(sum, rma::Reduction::sum);
}

template <rma::Element T>
Result<double> detail::Elementwise<T>::norm2(Array<T>& array) {
  double sum = 0;
  TESSERA_RETURN_IF_ERROR(
      on_own_elements(array, [&](const T* run, std::int64_t count, std::int64_t stride) {
        for (std::int64_t i = 0; i < count; ++i) {
          if constexpr (std::is_arithmetic_v<T>) {
            const auto value = static_cast<double>(run[i * stride]);
            sum += value * value;
          } else {
            sum += static_cast<double>(std::norm(run[i * stride]));
          }
        }
      }));
  TESSERA_ASSIGN_OR_RETURN(const double total, array.team().allreduce(sum, rma::Reduction::sum));
  return std::sqrt(total);
}

template struct detail::Elementwise<std::int32_t>;
template struct detail::Elementwise<std::int64_t>;
template struct detail::Elementwise<float>;
template struct detail::Elementwise<double>;
template struct detail::Elementwise<std::complex<float>>;
template struct detail::Elementwise<std::complex<double>>;

}  // namespace tessera::arrays
