// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/catalog.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "arrays/checkpoint/chunk_grid.hpp"

namespace tessera::arrays::detail {
namespace {

class Packer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(const T& value) { add_bytes(&value, sizeof value); }
  void add(const std::string& text) {
    add(text.size());
    add_bytes(text.data(), text.size());
  }
  void add(const Extents& extents) {
    add(extents.ndims());
    for (const std::int64_t each : extents) {
      add(each);
    }
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(list.size());
    add_bytes(list.data(), list.size() * sizeof(T));
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void add_bytes(const void* from, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + count);
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    T value = {};
    take_bytes(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string text(number<std::size_t>(), '\0');
    take_bytes(text.data(), text.size());
    return text;
  }
  Extents extents() {
    Extents extents = Extents::filled(number<int>(), 0);
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      extents[dim] = number<std::int64_t>();
    }
    return extents;
  }
  template <class T>
  std::vector<T> list() {
    std::vector<T> list(number<std::size_t>());
    take_bytes(list.data(), list.size() * sizeof(T));
    return list;
  }

 private:
  void take_bytes(void* to, std::size_t count) {
    if (count > 0) {
      std::memcpy(to, rest_.data(), count);
    }
    rest_ = rest_.subspan(count);
  }
  std::span<const std::byte> rest_;
};

constexpr int no_element_type = -1;

void pack_attributes(Packer& packer, const StoredAttributes& attributes) {
  packer.add(attributes.size());
  for (const auto& [name, value] : attributes) {
    packer.add(name);
    packer.add(value.index());
    std::visit([&](const auto& held) { packer.add(held); }, value);
  }
}

template <class T>
T unpack_held(Unpacker& unpacker, std::type_identity<T> /*type*/) {
  return unpacker.number<T>();
}
std::string unpack_held(Unpacker& unpacker, std::type_identity<std::string> /*type*/) {
  return unpacker.text();
}
template <class T>
std::vector<T> unpack_held(Unpacker& unpacker, std::type_identity<std::vector<T>> /*type*/) {
  return unpacker.list<T>();
}

// The alternative of AttributeValue with this index.
template <std::size_t... kinds>
AttributeValue unpack_value(Unpacker& unpacker, std::size_t kind,
                            std::index_sequence<kinds...> /*all*/) {
  AttributeValue value;
  static_cast<void>(
      ((kind == kinds &&
        (value = unpack_held(
             unpacker, std::type_identity<std::variant_alternative_t<kinds, AttributeValue>>()),
         true)) ||
       ...));
  return value;
}

StoredAttributes unpack_attributes(Unpacker& unpacker) {
  StoredAttributes attributes(unpacker.number<std::size_t>());
  for (auto& [name, value] : attributes) {
    name = unpacker.text();
    const auto kind = unpacker.number<std::size_t>();
    value = unpack_value(unpacker, kind,
                         std::make_index_sequence<std::variant_size_v<AttributeValue>>());
  }
  return attributes;
}

void pack_array(Packer& packer, const StoredArray& array) {
  packer.add(array.name);
  packer.add(array.extents);
  packer.add(array.type ? static_cast<int>(*array.type) : no_element_type);
  packer.add(array.is_opaque);
  packer.add(array.is_native);
  packer.add(array.compatible_types);
  packer.add(array.encoded_type);
  packer.add(array.element_bytes);
  packer.add(array.type_text);
  packer.add(array.distribution);
  packer.add(array.distribution_numbers);
  packer.add(array.piece_elements);
  packer.add(array.checksums);
  packer.add(array.offset);
  packer.add(array.unreadable_reason);
  packer.add(array.is_foreign);
  packer.add(array.chunk);
  packer.add(array.is_extendible);
  packer.add(array.filters);
  packer.add(array.fill);
  pack_attributes(packer, array.attributes);
}

StoredArray unpack_array(Unpacker& unpacker) {
  StoredArray array;
  array.name = unpacker.text();
  array.extents = unpacker.extents();
  if (const int type = unpacker.number<int>(); type != no_element_type) {
    array.type = static_cast<rma::ElementType>(type);
  }
  array.is_opaque = unpacker.number<bool>();
  array.is_native = unpacker.number<bool>();
  array.compatible_types = unpacker.number<std::uint32_t>();
  array.encoded_type = unpacker.list<std::byte>();
  array.element_bytes = unpacker.number<std::int64_t>();
  array.type_text = unpacker.text();
  array.distribution = unpacker.text();
  array.distribution_numbers = unpacker.list<std::int64_t>();
  array.piece_elements = unpacker.number<std::int64_t>();
  array.checksums = unpacker.list<std::uint64_t>();
  array.offset = unpacker.number<std::int64_t>();
  array.unreadable_reason = unpacker.text();
  array.is_foreign = unpacker.number<bool>();
  array.chunk = unpacker.extents();
  array.is_extendible = unpacker.number<bool>();
  array.filters = unpacker.list<StoredFilter>();
  array.fill = unpacker.list<std::byte>();
  array.attributes = unpack_attributes(unpacker);
  return array;
}

}  // namespace

std::string_view without_slash(std::string_view name) noexcept {
  return name.starts_with('/') ? name.substr(1) : name;
}

const StoredArray* Catalog::find(std::string_view name) const noexcept {
  const auto at = std::find_if(arrays.begin(), arrays.end(), [&](const StoredArray& array) {
    return array.name == without_slash(name);
  });
  return at == arrays.end() ? nullptr : &*at;
}

const StoredAttributes* Catalog::attributes_of(std::string_view object) const noexcept {
  if (const StoredArray* const array = find(object)) {
    return &array->attributes;
  }
  const auto at = std::find_if(groups.begin(), groups.end(), [&](const StoredGroup& group) {
    return without_slash(group.name) == without_slash(object);
  });
  return at == groups.end() ? nullptr : &at->attributes;
}

StoredAttributes* Catalog::attributes_of(std::string_view object) noexcept {
  return const_cast<StoredAttributes*>(std::as_const(*this).attributes_of(object));
}

std::vector<std::byte> pack(const Catalog& catalog) {
  Packer packer;
  packer.add(catalog.is_ours);
  packer.add(catalog.grid);
  packer.add(catalog.not_kept);
  packer.add(catalog.arrays.size());
  for (const StoredArray& array : catalog.arrays) {
    pack_array(packer, array);
  }
  packer.add(catalog.groups.size());
  for (const StoredGroup& group : catalog.groups) {
    packer.add(group.name);
    pack_attributes(packer, group.attributes);
  }
  return packer.take();
}

Catalog unpack(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  Catalog catalog;
  catalog.is_ours = unpacker.number<bool>();
  catalog.grid = unpacker.list<double>();
  catalog.not_kept = unpacker.text();
  catalog.arrays.resize(unpacker.number<std::size_t>());
  for (StoredArray& array : catalog.arrays) {
    array = unpack_array(unpacker);
  }
  catalog.groups.resize(unpacker.number<std::size_t>());
  for (StoredGroup& group : catalog.groups) {
    group.name = unpacker.text();
    group.attributes = unpack_attributes(unpacker);
  }
  return catalog;
}

std::int64_t piece_count(const StoredArray& array) noexcept {
  if (array.is_chunked()) {
    return ChunkGrid(array.extents, array.chunk).count();
  }
  const std::int64_t elements = volume(array.extents);
  return elements == 0 || array.piece_elements == 0 ? 0 : (elements - 1) / array.piece_elements + 1;
}

}  // namespace tessera::arrays::detail
