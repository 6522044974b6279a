// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/hdf5_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/hdf5_types.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Status;

// The same as H5T_VARIABLE, which is written with a C cast.
constexpr std::size_t any_length = std::numeric_limits<std::size_t>::max();
// No list or text that Tessera writes is longer; in other programs' files the size could be
// anything.
constexpr std::int64_t max_list_bytes = std::int64_t{1} << 30U;

// An attribute that was opened.
struct OpenAttribute {
  OpenAttribute(hid_t object, const char* name) {
    if (H5Aexists(object, name) > 0) {
      id = Hdf5Id(H5Aopen(object, name, H5P_DEFAULT));
      type = Hdf5Id(H5Aget_type(id.get()));
      space = Hdf5Id(H5Aget_space(id.get()));
      count = H5Sget_simple_extent_npoints(space.get());
      is_scalar = H5Sget_simple_extent_type(space.get()) == H5S_SCALAR;
    }
  }
  Hdf5Id id;
  Hdf5Id type;
  Hdf5Id space;
  hssize_t count = 0;
  bool is_scalar = false;
};

template <class T>
std::vector<T> read_numbers(const OpenAttribute& attribute, const Hdf5Id& memory_type) {
  const bool is_list =
      attribute.count > 0 && attribute.count <= max_list_bytes / std::int64_t{sizeof(T)};
  std::vector<T> list(is_list ? static_cast<std::size_t>(attribute.count) : 0);
  const bool is_read = is_list && H5Aread(attribute.id.get(), memory_type.get(), list.data()) >= 0;
  return is_read ? list : std::vector<T>();
}

template <class T>
std::optional<AttributeValue> read_scalar(const OpenAttribute& attribute) {
  const auto list = read_numbers<T>(attribute, type_of_element(rma::element_type<T>()));
  return list.empty() ? std::nullopt : std::optional<AttributeValue>(list[0]);
}

std::optional<AttributeValue> read_integer(const OpenAttribute& attribute) {
  const bool has_sign = H5Tget_sign(attribute.type.get()) != H5T_SGN_NONE;
  switch (H5Tget_size(attribute.type.get())) {
    case 1:
      return has_sign ? read_scalar<std::int8_t>(attribute) : read_scalar<std::uint8_t>(attribute);
    case 2:
      return has_sign ? read_scalar<std::int16_t>(attribute)
                      : read_scalar<std::uint16_t>(attribute);
    case 3:
    case 4:
      return has_sign ? read_scalar<std::int32_t>(attribute)
                      : read_scalar<std::uint32_t>(attribute);
    default:
      return has_sign ? read_scalar<std::int64_t>(attribute)
                      : read_scalar<std::uint64_t>(attribute);
  }
}

std::optional<AttributeValue> read_text(const OpenAttribute& attribute) {
  if (H5Tis_variable_str(attribute.type.get()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.id.get(), attribute.type.get(), &text) < 0 || text == nullptr) {
      return std::nullopt;
    }
    std::string copy(text);
    H5free_memory(text);
    return copy;
  }
  const std::size_t bytes = H5Tget_size(attribute.type.get());
  if (bytes > static_cast<std::size_t>(max_list_bytes)) {
    return std::nullopt;
  }
  std::string text(bytes, '\0');
  if (H5Aread(attribute.id.get(), attribute.type.get(), text.data()) < 0) {
    return std::nullopt;
  }
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

// What h5py stores for a bool: an enumeration of int8 with the names FALSE and TRUE.
Hdf5Id bool_type() {
  Hdf5Id type(H5Tenum_create(H5T_NATIVE_INT8));
  const std::int8_t values[] = {0, 1};
  const bool is_made = type.is_valid() && H5Tenum_insert(type.get(), "FALSE", &values[0]) >= 0 &&
                       H5Tenum_insert(type.get(), "TRUE", &values[1]) >= 0;
  return is_made ? std::move(type) : Hdf5Id();
}

Hdf5Id text_type() {
  Hdf5Id type(H5Tcopy(H5T_C_S1));
  const bool is_made =
      H5Tset_size(type.get(), any_length) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0;
  return is_made ? std::move(type) : Hdf5Id();
}

std::optional<AttributeValue> read_complex(const OpenAttribute& attribute) {
  StoredArray described;
  recognise(attribute.type.get(), described);
  const bool is_complex =
      described.type == rma::ElementType::c64 || described.type == rma::ElementType::c128;
  if (!is_complex) {
    return std::nullopt;
  }
  return described.type == rma::ElementType::c64 ? read_scalar<std::complex<float>>(attribute)
                                                 : read_scalar<std::complex<double>>(attribute);
}

std::optional<AttributeValue> read_one(const OpenAttribute& attribute) {
  switch (H5Tget_class(attribute.type.get())) {
    case H5T_INTEGER:
      return read_integer(attribute);
    case H5T_FLOAT:
      return H5Tget_size(attribute.type.get()) <= sizeof(float) ? read_scalar<float>(attribute)
                                                                : read_scalar<double>(attribute);
    case H5T_STRING:
      return read_text(attribute);
    case H5T_COMPOUND:
      return read_complex(attribute);
    case H5T_ENUM: {
      std::int8_t value = 0;
      const Hdf5Id type = bool_type();
      return H5Tequal(attribute.type.get(), type.get()) > 0 &&
                     H5Aread(attribute.id.get(), type.get(), &value) >= 0
                 ? std::optional<AttributeValue>(value != 0)
                 : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<AttributeValue> read_several(const OpenAttribute& attribute) {
  switch (H5Tget_class(attribute.type.get())) {
    case H5T_INTEGER:
      return read_numbers<std::int64_t>(attribute, type_of_element(rma::ElementType::i64));
    case H5T_FLOAT:
      return read_numbers<double>(attribute, type_of_element(rma::ElementType::f64));
    default:
      return std::nullopt;
  }
}

Status write_new(hid_t object, const std::string& name, const Hdf5Id& type, const Hdf5Id& space,
                 const void* value) {
  if (H5Aexists(object, name.c_str()) > 0 && H5Adelete(object, name.c_str()) < 0) {
    return hdf5_failure(fmt::format("replace attribute '{}'", name));
  }
  const Hdf5Id attribute(
      H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.is_valid() || H5Awrite(attribute.get(), type.get(), value) < 0) {
    return hdf5_failure(fmt::format("write attribute '{}'", name));
  }
  return {};
}

Hdf5Id scalar_space() {
  return Hdf5Id(H5Screate(H5S_SCALAR));
}

template <class T>
Status write_held(hid_t object, const std::string& name, const T& value) {
  return write_new(object, name, type_of_element(rma::element_type<T>()), scalar_space(), &value);
}
Status write_held(hid_t object, const std::string& name, bool value) {
  const std::int8_t number = value ? 1 : 0;
  return write_new(object, name, bool_type(), scalar_space(), &number);
}
Status write_held(hid_t object, const std::string& name, const std::string& value) {
  const char* const text = value.c_str();
  return write_new(object, name, text_type(), scalar_space(), &text);
}
template <class T>
Status write_held(hid_t object, const std::string& name, const std::vector<T>& list) {
  return write_new(object, name, type_of_element(rma::element_type<T>()),
                   space_of({std::ssize(list)}), list.data());
}

Status copy_attribute(hid_t from, hid_t to, const std::string& name) {
  const OpenAttribute attribute(from, name.c_str());
  const std::size_t bytes = H5Tget_size(attribute.type.get());
  // With text or lists of any length, memory has pointers, which are freed below.
  std::vector<std::byte> value(bytes *
                               static_cast<std::size_t>(std::max<hssize_t>(attribute.count, 0)));
  if (!value.empty() && H5Aread(attribute.id.get(), attribute.type.get(), value.data()) < 0) {
    return hdf5_failure(fmt::format("read attribute '{}'", name));
  }
  const Hdf5Id copy(H5Acreate2(to, name.c_str(), attribute.type.get(), attribute.space.get(),
                               H5P_DEFAULT, H5P_DEFAULT));
  const bool is_copied =
      copy.is_valid() &&
      (value.empty() || H5Awrite(copy.get(), attribute.type.get(), value.data()) >= 0);
  if (!value.empty()) {
    H5Dvlen_reclaim(attribute.type.get(), attribute.space.get(), H5P_DEFAULT, value.data());
  }
  return is_copied ? Status() : hdf5_failure(fmt::format("copy attribute '{}'", name));
}

}  // namespace

Status hdf5_failure(const std::string& action) {
  return Status::error(Code::internal,
                       fmt::format("libhdf5 can't {}: {}", action, hdf5_error_message()));
}

Hdf5Id space_of(const Extents& extents, bool is_extendible) {
  std::array<hsize_t, max_dims> dims = {};
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    dims[static_cast<std::size_t>(dim)] = static_cast<hsize_t>(extents[dim]);
  }
  std::array<hsize_t, max_dims> most = dims;
  most[0] = is_extendible ? unlimited : most[0];
  return Hdf5Id(H5Screate_simple(extents.ndims(), dims.data(), most.data()));
}

std::optional<AttributeValue> read_attribute(hid_t object, const char* name) {
  const OpenAttribute attribute(object, name);
  if (attribute.count < 1) {
    return std::nullopt;
  }
  return attribute.is_scalar || attribute.count == 1 ? read_one(attribute)
                                                     : read_several(attribute);
}

template <class T>
std::vector<T> read_list(hid_t object, const char* name) {
  const OpenAttribute attribute(object, name);
  const H5T_class_t kind = attribute.count > 0 ? H5Tget_class(attribute.type.get()) : H5T_NO_CLASS;
  return kind == H5T_INTEGER || kind == H5T_FLOAT
             ? read_numbers<T>(attribute, type_of_element(rma::element_type<T>()))
             : std::vector<T>();
}
template std::vector<double> read_list(hid_t object, const char* name);
template std::vector<std::int64_t> read_list(hid_t object, const char* name);
template std::vector<std::uint64_t> read_list(hid_t object, const char* name);

Status write_attribute(hid_t object, const std::string& name, const AttributeValue& value) {
  return std::visit([&](const auto& held) { return write_held(object, name, held); }, value);
}

Status write_attribute(hid_t object, const std::string& name,
                       const std::vector<std::uint64_t>& list) {
  return write_held(object, name, list);
}

std::vector<std::string> attribute_names(hid_t object) {
  std::vector<std::string> names;
  for (hsize_t i = 0;; ++i) {
    const ssize_t length =
        H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (length < 0) {
      return names;
    }
    std::string name(static_cast<std::size_t>(length), '\0');
    H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size() + 1,
                       H5P_DEFAULT);
    names.push_back(std::move(name));
  }
}

StoredAttributes read_attributes(hid_t object) {
  StoredAttributes attributes;
  for (std::string& name : attribute_names(object)) {
    if (name.starts_with(reserved_prefix)) {
      continue;
    }
    if (auto value = read_attribute(object, name.c_str())) {
      attributes.emplace_back(std::move(name), *std::move(value));
    }
  }
  return attributes;
}

Status copy_attributes(hid_t from, hid_t to) {
  for (const std::string& name : attribute_names(from)) {
    if (H5Aexists(to, name.c_str()) <= 0) {
      TESSERA_RETURN_IF_ERROR(copy_attribute(from, to, name));
    }
  }
  return {};
}

std::string attribute_not_copied(hid_t object) {
  for (std::string& name : attribute_names(object)) {
    const OpenAttribute attribute(object, name.c_str());
    const hid_t type = attribute.type.get();
    if (H5Tdetect_class(type, H5T_REFERENCE) > 0 || H5Tcommitted(type) > 0) {
      return std::move(name);
    }
  }
  return {};
}

}  // namespace tessera::arrays::detail
