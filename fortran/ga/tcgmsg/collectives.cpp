// SPDX-License-Identifier: BSD-3-Clause
//
// The part of Messages in which all processes take part, and the shared counter.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fortran/ga/tcgmsg/messages.hpp"
#include "rma/element.hpp"
#include "rma/team.hpp"

namespace tessera::ga::tcgmsg {

using rma::Code;
using rma::Reduction;
using rma::Result;
using rma::Status;
using rma::TeamRank;

namespace {

struct Operator {
  std::string_view name;
  Reduction reduction;
  bool takes_absolute = false;
  bool is_for_integers = false;
};

constexpr std::array operations{
    Operator{"+", Reduction::sum},
    Operator{"*", Reduction::product},
    Operator{"max", Reduction::max},
    Operator{"min", Reduction::min},
    Operator{"absmax", Reduction::max, true},
    Operator{"absmin", Reduction::min, true},
    Operator{"or", Reduction::bit_or, false, true},
    Operator{"&&", Reduction::logical_and, false, true},
    Operator{"land", Reduction::logical_and, false, true},
    Operator{"||", Reduction::logical_or, false, true},
    Operator{"lor", Reduction::logical_or, false, true},
    Operator{"&", Reduction::bit_and, false, true},
    Operator{"band", Reduction::bit_and, false, true},
    Operator{"|", Reduction::bit_or, false, true},
    Operator{"bor", Reduction::bit_or, false, true},
};

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Status file_error(const char* what, const char* name) {
  return wrong(fmt::format("can't {} file '{}': {}", what, name, std::strerror(errno)));
}

}  // namespace

Status Messages::broadcast(std::span<std::byte> bytes, std::int64_t root) {
  TESSERA_RETURN_IF_ERROR(check_node(root));
  if (static_cast<std::int64_t>(bytes.size()) < 0) {
    return wrong(fmt::format("a buffer of {} bytes", static_cast<std::int64_t>(bytes.size())));
  }
  return session_.job.world().broadcast(bytes, TeamRank{static_cast<std::int32_t>(root)});
}

template <class T>
Status Messages::combine_all(T* numbers, std::int64_t count, std::string_view operation) {
  // As in TCGMSG, more may follow the operator's name: programs pass the address of one character.
  const auto* const found =
      std::find_if(operations.begin(), operations.end(),
                   [&](const Operator& each) { return operation.starts_with(each.name); });
  if (found == operations.end() || (found->is_for_integers && !std::is_integral_v<T>)) {
    return wrong(fmt::format("'{}' is not an operator for these numbers", operation))
        .hint("use + * max min absmax absmin, and for integers or && || & |");
  }
  if (count < 0) {
    return wrong(fmt::format("{} numbers", count));
  }
  if (found->takes_absolute) {
    std::transform(numbers, numbers + count, numbers, [](T each) { return std::abs(each); });
  }
  return session_.job.world().allreduce(numbers, count, rma::element_type<T>(), found->reduction);
}

Status Messages::combine(double* numbers, std::int64_t count, std::string_view operation) {
  return combine_all(numbers, count, operation);
}
Status Messages::combine(long* numbers, std::int64_t count, std::string_view operation) {
  return combine_all(reinterpret_cast<std::int64_t*>(numbers), count, operation);
}
Status Messages::combine(int* numbers, std::int64_t count, std::string_view operation) {
  return combine_all(reinterpret_cast<std::int32_t*>(numbers), count, operation);
}

Status Messages::synchronize() {
  return session_.job.barrier();
}

Status Messages::make_counter() {
  if (!counter_) {
    rma::Team world = session_.job.world();
    const TeamRank owner{static_cast<std::int32_t>(size() - 1)};
    TESSERA_ASSIGN_OR_RETURN(counter_, arrays::Counter::create(session_.job, world, owner));
  }
  return {};
}

// If TCGMSG was not started, the first call is collective.
Result<std::int64_t> Messages::next(std::int64_t processes) {
  TESSERA_RETURN_IF_ERROR(make_counter());
  if (processes < 0) {
    TESSERA_RETURN_IF_ERROR(counter_->reset(0));
    return 0;
  }
  return processes == 0 ? Result<std::int64_t>(0) : counter_->next();
}

// Each part is announced by its length; 0 is the end of the file, and -1 an error.
Status Messages::copy_file(std::int64_t root, const char* name) {
  TESSERA_RETURN_IF_ERROR(check_node(root));
  const bool is_reader = root == rank();
  const File file(std::fopen(name, is_reader ? "rb" : "wb"));
  Status failed = file == nullptr ? file_error("open", name) : Status();
  std::vector<std::byte> part(1 << 18);
  while (true) {
    std::int64_t length = -1;
    if (is_reader && file != nullptr) {
      length = static_cast<std::int64_t>(std::fread(part.data(), 1, part.size(), file.get()));
      if (std::ferror(file.get()) != 0) {
        failed = file_error("read", name);
        length = -1;
      }
    }
    TESSERA_RETURN_IF_ERROR(broadcast(std::as_writable_bytes(std::span(&length, 1)), root));
    if (length <= 0) {
      break;
    }
    const std::span<std::byte> bytes(part.data(), static_cast<std::size_t>(length));
    TESSERA_RETURN_IF_ERROR(broadcast(bytes, root));
    if (!is_reader && failed.ok() &&
        std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
      failed = file_error("write", name);
    }
  }
  if (!is_reader && failed.ok() && std::fflush(file.get()) != 0) {
    failed = file_error("write", name);
  }
  return session_.job.world().agree(std::move(failed));
}

}  // namespace tessera::ga::tcgmsg
