// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/catalog.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tessera::arrays::detail {
namespace {

class Packer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void add(T value) { add_bytes(&value, sizeof value); }
  void add(const std::string& text) {
    add(text.size());
    add_bytes(text.data(), text.size());
  }
  void add(const Extents& extents) {
    add(std::vector<std::int64_t>(extents.begin(), extents.end()));
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
  template <class T>
  std::vector<T> list() {
    std::vector<T> list(number<std::size_t>());
    take_bytes(list.data(), list.size() * sizeof(T));
    return list;
  }
  Extents extents() { return Extents(list<std::int64_t>()); }

 private:
  void take_bytes(void* to, std::size_t count) {
    if (count > 0) {
      std::memcpy(to, rest_.data(), count);
    }
    rest_ = rest_.subspan(count);
  }
  std::span<const std::byte> rest_;
};

constexpr int no_type = -1;

void pack_array(Packer& packer, const StoredArray& array) {
  packer.add(array.name);
  packer.add(array.extents);
  packer.add(array.type ? static_cast<int>(*array.type) : no_type);
  packer.add(array.is_opaque);
  packer.add(array.element_bytes);
  packer.add(array.type_text);
  packer.add(array.distribution);
  packer.add(array.distribution_numbers);
  packer.add(array.piece_elements);
  packer.add(array.checksums);
  packer.add(array.offset);
  packer.add(array.unreadable_reason);
}

StoredArray unpack_array(Unpacker& unpacker) {
  StoredArray array;
  array.name = unpacker.text();
  array.extents = unpacker.extents();
  const int type = unpacker.number<int>();
  if (type != no_type) {
    array.type = static_cast<rma::ElementType>(type);
  }
  array.is_opaque = unpacker.number<bool>();
  array.element_bytes = unpacker.number<std::int64_t>();
  array.type_text = unpacker.text();
  array.distribution = unpacker.text();
  array.distribution_numbers = unpacker.list<std::int64_t>();
  array.piece_elements = unpacker.number<std::int64_t>();
  array.checksums = unpacker.list<std::uint64_t>();
  array.offset = unpacker.number<std::int64_t>();
  array.unreadable_reason = unpacker.text();
  return array;
}

StoredValue unpack_value(Unpacker& unpacker, std::size_t kind) {
  switch (kind) {
    case 0:
      return unpacker.number<std::int64_t>();
    case 1:
      return unpacker.number<double>();
    default:
      return unpacker.text();
  }
}

}  // namespace

const StoredArray* Catalog::find(std::string_view name) const noexcept {
  const auto at = std::find_if(arrays.begin(), arrays.end(),
                               [&](const StoredArray& array) { return array.name == name; });
  return at == arrays.end() ? nullptr : &*at;
}

std::vector<std::byte> pack(const Catalog& catalog) {
  Packer packer;
  packer.add(catalog.is_ours);
  packer.add(catalog.arrays.size());
  for (const StoredArray& array : catalog.arrays) {
    pack_array(packer, array);
  }
  packer.add(catalog.attributes.size());
  for (const auto& [name, value] : catalog.attributes) {
    packer.add(name);
    packer.add(value.index());
    std::visit([&](const auto& held) { packer.add(held); }, value);
  }
  return packer.take();
}

Catalog unpack(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  Catalog catalog;
  catalog.is_ours = unpacker.number<bool>();
  catalog.arrays.resize(unpacker.number<std::size_t>());
  for (StoredArray& array : catalog.arrays) {
    array = unpack_array(unpacker);
  }
  catalog.attributes.resize(unpacker.number<std::size_t>());
  for (auto& [name, value] : catalog.attributes) {
    name = unpacker.text();
    value = unpack_value(unpacker, unpacker.number<std::size_t>());
  }
  return catalog;
}

std::int64_t piece_count(const StoredArray& array) noexcept {
  const std::int64_t elements = volume(array.extents);
  return elements == 0 || array.piece_elements == 0 ? 0 : (elements - 1) / array.piece_elements + 1;
}

}  // namespace tessera::arrays::detail
