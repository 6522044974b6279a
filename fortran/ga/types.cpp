// SPDX-License-Identifier: BSD-3-Clause
//
// Element types: GA's codes, and types of the program's own with their fields.
#include "fortran/ga/types.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fortran/ga/nonblocking.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

using rma::ElementType;

struct Known {
  std::size_t bytes;
  std::string_view name;
  std::optional<ElementType> type;
};

// By code, from 1000; Fortran's codes are converted before they get here.
constexpr std::array<Known, 17> known{{
    {1, "char", ElementType::i8},
    {sizeof(int), "int", ElementType::i32},
    {sizeof(long), "long", ElementType::i64},
    {sizeof(float), "float", ElementType::f32},
    {sizeof(double), "double", ElementType::f64},
    {sizeof(long double), "long double", {}},
    {2 * sizeof(float), "single complex", ElementType::c64},
    {2 * sizeof(double), "double complex", ElementType::c128},
    {2 * sizeof(long double), "long double complex", {}},
    {1, "byte", ElementType::i8},
    {sizeof(F), "integer", {}},
    {sizeof(F), "logical", {}},
    {sizeof(float), "real", ElementType::f32},
    {sizeof(double), "double precision", ElementType::f64},
    {2 * sizeof(float), "single complex", ElementType::c64},
    {2 * sizeof(double), "double complex", ElementType::c128},
    {sizeof(long long), "long long", ElementType::i64},
}};

constexpr std::int64_t code_of(Type type) {
  return static_cast<std::int64_t>(type);
}
constexpr std::int64_t first_code = code_of(Type::c_char);
constexpr std::int64_t first_own = code_of(Type::first_own);
constexpr std::int64_t last_own = code_of(Type::last_own);

// The bytes of an element of each registered type; 0: free. One thread at a time writes.
std::array<std::size_t, last_own - first_own + 1> own_type_bytes{};

const Known* find_known(Type type) noexcept {
  const std::int64_t code = code_of(type);
  return code >= first_code && code <= code_of(Type::c_longlong)
             ? &known[static_cast<std::size_t>(code - first_code)]
             : nullptr;
}

std::size_t* find_own(std::int64_t code) noexcept {
  return code >= first_own && code <= last_own
             ? &own_type_bytes[static_cast<std::size_t>(code - first_own)]
             : nullptr;
}

Status no_such_type(Type type) {
  return Status::error(Code::invalid_argument,
                       fmt::format("there is no element type {}", code_of(type)))
      .hint("use a code of macdecls.h or mafdecls.fh, or one that NGA_Register_type gave");
}

Result<arrays::FieldBox> field_box(const Record& record, const Box& box, const Field& field) {
  const auto bytes = static_cast<std::int64_t>(record.array().element_bytes());
  if (field.offset < 0 || field.length < 1 || field.offset > bytes - field.length) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("a field of {} bytes at byte {} is not inside an element of {} bytes of {}",
                    field.length, field.offset, bytes, record.describe()));
  }
  return arrays::FieldBox{
      box, {static_cast<std::size_t>(field.offset), static_cast<std::size_t>(field.length)}};
}

Status move_field(const Record& record, const Box& box, const Field& field, const Memory& memory,
                  const arrays::Transfer& transfer) {
  TESSERA_ASSIGN_OR_RETURN(const auto where, field_box(record, box, field));
  return record.array().transfer(where, memory, transfer);
}

}  // namespace

Type from_fortran(std::int64_t code) noexcept {
  switch (static_cast<Type>(code)) {
    case Type::f_byte:
      return Type::c_char;
    case Type::f_int:
    case Type::f_log:
      return Type::fortran_integer;
    case Type::f_real:
      return Type::c_float;
    case Type::f_double:
      return Type::c_double;
    case Type::f_scpl:
      return Type::c_scpl;
    case Type::f_dcpl:
      return Type::c_dcpl;
    default:
      return static_cast<Type>(static_cast<std::int32_t>(code));
  }
}

std::int64_t to_fortran(Type type) noexcept {
  if (type == Type::fortran_integer) {
    return code_of(Type::f_int);
  }
  switch (type) {
    case Type::c_char:
      return code_of(Type::f_byte);
    case Type::c_float:
      return code_of(Type::f_real);
    case Type::c_double:
      return code_of(Type::f_double);
    case Type::c_scpl:
      return code_of(Type::f_scpl);
    case Type::c_dcpl:
      return code_of(Type::f_dcpl);
    default:
      return code_of(type);
  }
}

std::size_t size_of(Type type) noexcept {
  if (const Known* const found = find_known(type)) {
    return found->bytes;
  }
  const std::size_t* const own = find_own(code_of(type));
  return own == nullptr ? 0 : *own;
}

std::string_view to_string(Type type) noexcept {
  const Known* const found = find_known(type);
  return found == nullptr ? "own type" : found->name;
}

Result<arrays::ElementKind> element_kind(Type type) {
  type = from_fortran(code_of(type));
  const Known* const found = find_known(type);
  if (found != nullptr && found->type) {
    return arrays::ElementKind::of(*found->type);
  }
  const std::size_t bytes = size_of(type);
  if (bytes == 0) {
    return no_such_type(type);
  }
  return arrays::ElementKind::opaque(bytes);
}

Result<rma::ElementType> element_type(Type type) {
  TESSERA_ASSIGN_OR_RETURN(const auto kind, element_kind(type));
  if (!kind.type) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("elements of type {} ({}) are only moved", code_of(type), to_string(type)));
  }
  return *kind.type;
}

std::int64_t OwnTypes::add(std::int64_t bytes) noexcept {
  for (std::int64_t code = first_own; bytes > 0 && code <= last_own; ++code) {
    if (std::size_t* const slot = find_own(code); *slot == 0) {
      *slot = static_cast<std::size_t>(bytes);
      return code;
    }
  }
  return -1;
}

std::int64_t OwnTypes::remove(std::int64_t code) noexcept {
  std::size_t* const slot = find_own(code);
  if (slot == nullptr) {
    return -1;
  }
  return std::exchange(*slot, 0) == 0 ? -2 : 0;
}

Result<std::int64_t> register_type(std::int64_t bytes) {
  return OwnTypes::add(bytes);
}
Result<std::int64_t> deregister_type(std::int64_t code) {
  return OwnTypes::remove(code);
}

Result<std::int64_t> type_c2f(std::int64_t code) {
  return to_fortran(static_cast<Type>(code));
}
Result<std::int64_t> type_f2c(std::int64_t code) {
  return code_of(from_fortran(code));
}

Status put_field(Record& record, const Box& box, const Field& field, const Memory& memory) {
  return move_field(record, box, field, memory, arrays::Transfer::put());
}
Status get_field(Record& record, const Box& box, const Field& field, const Memory& memory) {
  return move_field(record, box, field, memory, arrays::Transfer::get());
}
Status nbput_field(Record& record, const Box& box, const Field& field, const Memory& memory,
                   const IntOut& request) {
  TESSERA_ASSIGN_OR_RETURN(const auto where, field_box(record, box, field));
  return Requests::begin(request,
                         record.array().transfer_async(where, memory, arrays::Transfer::put()));
}
Status nbget_field(Record& record, const Box& box, const Field& field, const Memory& memory,
                   const IntOut& request) {
  TESSERA_ASSIGN_OR_RETURN(const auto where, field_box(record, box, field));
  return Requests::begin(request,
                         record.array().transfer_async(where, memory, arrays::Transfer::get()));
}

}  // namespace tessera::ga
