// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "arrays/call_signature.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Status;

namespace {

constexpr int max_digits = 17;  // decimal digits of a double

std::string number(double value, int digits) {
  return fmt::format("{:.{}g}", value, digits);
}

template <class T>
std::string text_of(const std::byte* at, int digits) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (rma::ComplexElement<T>) {
    return fmt::format("({},{})", number(static_cast<double>(value.real()), digits),
                       number(static_cast<double>(value.imag()), digits));
  } else if constexpr (rma::IntegerElement<T>) {
    return fmt::format("{}", std::int64_t{0} + value);
  } else {
    return number(static_cast<double>(value), digits);
  }
}

std::string text_of(const ElementKind& kind, const std::byte* at, int digits) {
  if (kind.type == rma::ElementType::u64) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return fmt::format("{}", value);
  }
  if (kind.type) {
    return rma::dispatch(*kind.type, [&]<class T>(rma::Tag<T>) { return text_of<T>(at, digits); });
  }
  std::string text;
  for (std::size_t i = 0; i < kind.bytes; ++i) {
    text += fmt::format("{:02x}", static_cast<unsigned>(at[i]));
  }
  return text;
}

// Wide enough for most elements of the type; longer ones shift their row.
int width_of(const ElementKind& kind, int digits) {
  if (!kind.type) {
    return static_cast<int>(2 * kind.bytes);
  }
  const int real = digits + 6;  // a sign, a point and an exponent
  return rma::is_complex(*kind.type) ? 2 * real + 3 : rma::is_integer(*kind.type) ? 6 : real;
}

// Prints one array, line by line.
class Printer {
 public:
  Printer(const ArrayBase& array, const Box& box, std::ostream& out, const PrintOptions& options)
      : array_(array), box_(box), out_(out), options_(options) {}

  Status run() {
    out_ << array_.describe();
    if (box_ != array_.box()) {
      out_ << ", the elements " << to_string(box_);
    }
    out_ << '\n';
    if (box_.is_empty()) {
      return {};
    }
    // All dimensions except the last two; a vector is a matrix of one row.
    const int outer = std::max(box_.ndims() - 2, 0);
    Extents counts = box_.extents();
    for (int dim = outer; dim < counts.ndims(); ++dim) {
      counts[dim] = 1;
    }
    Index at = Index::zeros(counts.ndims());
    do {
      if (outer > 0) {
        print_title(at, outer);
      }
      TESSERA_RETURN_IF_ERROR(print_matrix(at, outer));
    } while (!is_full_ && advance(at, counts, MemoryOrder::row_major));
    if (is_full_) {
      out_ << "... (" << lines_ << " of " << total_lines() << " lines)\n";
    }
    return {};
  }

 private:
  void print_title(const Index& at, int outer) {
    std::string title;
    for (int dim = 0; dim < outer; ++dim) {
      title += fmt::format("{}, ", box_.lo(dim) + at[dim]);
    }
    out_ << "(" << title << "*, *)\n";
  }

  Status print_matrix(const Index& at, int outer) {
    Box row = box_;
    for (int dim = 0; dim < outer; ++dim) {
      row.set(dim, box_.lo(dim) + at[dim], box_.lo(dim) + at[dim] + 1);
    }
    const int rows = box_.ndims() - 2;
    const std::int64_t count = rows < 0 ? 1 : box_.extent(rows);
    for (std::int64_t i = 0; i < count; ++i) {
      if (lines_ == options_.most_lines) {
        is_full_ = true;
        return {};
      }
      if (rows >= 0) {
        row.set(rows, box_.lo(rows) + i, box_.lo(rows) + i + 1);
      }
      TESSERA_RETURN_IF_ERROR(print_row(row));
    }
    return {};
  }

  Status print_row(const Box& row) {
    const ElementKind& kind = array_.element();
    buffer_.resize(static_cast<std::size_t>(row.volume()) * kind.bytes);
    TESSERA_RETURN_IF_ERROR(array_.get_box(row, {buffer_.data(), dense_strides(row.extents())}));
    const int width = width_of(kind, options_.digits);
    std::string line;
    for (std::size_t i = 0; i < buffer_.size(); i += kind.bytes) {
      line += fmt::format(" {:>{}}", text_of(kind, buffer_.data() + i, options_.digits), width);
    }
    out_ << line << '\n';
    ++lines_;
    return {};
  }

  [[nodiscard]] std::int64_t total_lines() const {
    return box_.volume() / box_.extent(box_.ndims() - 1);
  }

  const ArrayBase& array_;
  const Box& box_;
  std::ostream& out_;
  const PrintOptions& options_;
  std::vector<std::byte> buffer_;
  std::int64_t lines_ = 0;
  bool is_full_ = false;
};

Status check(const ArrayBase& array, const Box& box, const PrintOptions& options) {
  TESSERA_RETURN_IF_ERROR(array.check_open());
  TESSERA_RETURN_IF_ERROR(check_inside(box, array.extents()).context(array.describe()));
  if (options.root.value < 0 || options.root.value >= array.team().size()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the root is member {}, but the team of {} has {} members",
                                     options.root.value, array.describe(), array.team().size()));
  }
  if (options.digits < 1 || options.digits > max_digits || options.most_lines < 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} digits and at most {} lines were requested",
                                     options.digits, options.most_lines))
        .hint("1 to 17 digits, and most_lines of at least 0, are possible");
  }
  return {};
}

// Collective. Makes all writes visible, and checks that all members give the same arguments.
Status begin(const ArrayBase& array, const Box& box, const PrintOptions& options) {
  TESSERA_RETURN_IF_ERROR(array.check_open());
  Status own_status = check(array, box, options);
  own_status = own_status.ok() ? array.fence() : std::move(own_status);
  const detail::CallSignature signature =
      detail::CallSignature("print", array).add(array, box).add(options.root);
  return array.team().agree(own_status, signature.asked());
}

}  // namespace

Status print(const ArrayBase& array, const Box& box, std::ostream& out,
             const PrintOptions& options) {
  const detail::CallScope scope("print", array);
  TESSERA_RETURN_IF_ERROR(begin(array, box, options).context("print"));
  const bool is_root = array.team().rank() == options.root;
  return array.sync(is_root ? Printer(array, box, out, options).run() : Status()).context("print");
}

void print_distribution(const Distribution& distribution, std::ostream& out,
                        std::int64_t most_lines) {
  out << to_string(distribution) << '\n';
  std::int64_t lines = 0;
  for (std::int32_t rank = 0; rank < distribution.nranks(); ++rank) {
    const std::int64_t count = distribution.block_count(rma::TeamRank{rank});
    if (lines >= most_lines) {
      out << "... (ranks " << rank << " to " << distribution.nranks() - 1 << ")\n";
      return;
    }
    if (count == 0) {
      out << "rank " << rank << ": nothing\n";
      ++lines;
    }
    for (std::int64_t number = 0; number < count && lines < most_lines; ++number, ++lines) {
      out << "rank " << rank << ": "
          << to_string(distribution.block(rma::TeamRank{rank}, number).box) << '\n';
    }
  }
}

}  // namespace tessera::arrays
