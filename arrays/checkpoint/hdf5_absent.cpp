// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/element_converter.hpp"
#include "arrays/checkpoint/file_changes.hpp"
#include "arrays/checkpoint/hdf5.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Result;
using rma::Status;

struct Hdf5Writer::State {};

Status check_hdf5() {
  return Status::error(Code::unsupported, "this library was built without HDF5")
      .hint("install libhdf5-dev, or HDF5 1.10 or later, and configure again");
}

Hdf5Writer::Hdf5Writer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Hdf5Writer::Hdf5Writer(Hdf5Writer&&) noexcept = default;
Hdf5Writer& Hdf5Writer::operator=(Hdf5Writer&&) noexcept = default;
Hdf5Writer::~Hdf5Writer() = default;

Result<Hdf5Writer> Hdf5Writer::create() {
  return check_hdf5();
}
Result<std::int64_t> Hdf5Writer::add_array(const StoredArray&) {
  return check_hdf5();
}
Status Hdf5Writer::set_checksums(const std::string&, const std::vector<std::uint64_t>&) {
  return check_hdf5();
}
Status Hdf5Writer::add_attribute(const std::string&, const AttributeValue&) {
  return check_hdf5();
}
Result<FileImage> Hdf5Writer::finish() {
  return check_hdf5();
}

Result<Catalog> read_catalog(FileImage&, const std::string&) {
  return check_hdf5();
}

Result<std::vector<ChunkPlace>> find_chunks(FileImage&, const StoredArray&, const ChunkRange&,
                                            std::int64_t, std::int64_t) {
  return check_hdf5();
}

Result<FileImage> describe_again(FileImage*, const FileChanges&, std::uint64_t) {
  return check_hdf5();
}

Result<std::uint32_t> apply_filters(std::span<const StoredFilter>, ChunkBuffer&, ChunkBuffer&) {
  return check_hdf5();
}
Status undo_filters(std::span<const StoredFilter>, std::uint32_t, std::size_t, ChunkBuffer&,
                    ChunkBuffer&) {
  return check_hdf5();
}

struct ElementConverter::State {};
ElementConverter::ElementConverter() noexcept = default;
ElementConverter::ElementConverter(ElementConverter&&) noexcept = default;
ElementConverter& ElementConverter::operator=(ElementConverter&&) noexcept = default;
ElementConverter::~ElementConverter() = default;
Result<ElementConverter> ElementConverter::create(const StoredArray&,
                                                  std::optional<rma::ElementType>) {
  return check_hdf5();
}
std::int64_t ElementConverter::max_bytes(const StoredArray& stored) const noexcept {
  return stored.element_bytes;
}
Status ElementConverter::convert(std::byte*, std::int64_t) const {
  return check_hdf5();
}

}  // namespace tessera::arrays::detail
