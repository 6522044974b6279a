// SPDX-License-Identifier: BSD-3-Clause
//
// ArrayBase's access modes: the operations that an array allows, and the copies on nodes that a
// mode makes possible.
#include <fmt/format.h>

#include <utility>

#include "arrays/array_base.hpp"
#include "arrays/call_signature.hpp"
#include "arrays/detail/node_copy.hpp"
#include "arrays/detail/own_blocks.hpp"
#include "arrays/detail/tile_cache.hpp"

namespace tessera::arrays {

using rma::AccessMode;
using rma::Code;
using rma::Status;

namespace {

std::string_view name_of(AccessMode mode) {
  switch (mode) {
    case AccessMode::read_only:
      return "read_only";
    case AccessMode::accumulate_only:
      return "accumulate_only";
    case AccessMode::no_local_access:
      return "no_local_access";
    case AccessMode::any:
      break;
  }
  return "any";
}

// Whether a mode supports the options.
Status check_options(AccessMode mode, const ModeOptions& options, const ElementKind& element) {
  const bool adds = mode == AccessMode::accumulate_only;
  const bool reads = mode == AccessMode::read_only;
  if (options.cache_bytes > 0 && !reads) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("a read cache was requested for access mode {}", name_of(mode)))
        .hint("copies can serve reads only while no rank writes: use read_only");
  }
  if (options.copy_on_each_node && !reads && !adds) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("a copy on each node was requested for access mode {}", name_of(mode)))
        .hint("use read_only to read from copies, accumulate_only to add to them");
  }
  if (options.copy_on_each_node && adds && !element.type) {
    return Status::error(Code::invalid_argument,
                         fmt::format("copies of {} cannot be added up", element.name));
  }
  return {};
}

}  // namespace

std::uint8_t ArrayBase::uses_of(AccessMode mode) const noexcept {
  const bool is_logged = state_->races != nullptr;
  const std::uint8_t puts = is_logged ? Use::put : Use::put | Use::direct_put;
  const std::uint8_t reads = is_logged ? Use::get : Use::get | Use::direct_get;
  const std::uint8_t adds = is_logged ? Use::accumulate : Use::accumulate | Use::direct_accumulate;
  switch (mode) {
    case AccessMode::read_only:
      return reads | Use::local_access;
    case AccessMode::accumulate_only:
      return adds;
    case AccessMode::no_local_access:
      return puts | reads | adds;
    case AccessMode::any:
      break;
  }
  return puts | reads | adds | Use::local_access;
}

std::string_view ArrayBase::to_string(Use use) noexcept {
  switch (use) {
    case Use::put:
    case Use::direct_put:
      return "put";
    case Use::get:
    case Use::direct_get:
      return "get";
    case Use::accumulate:
    case Use::direct_accumulate:
      return "accumulate";
    case Use::local_access:
      break;
  }
  return "local access";
}

// Why `uses_` doesn't include the use.
Status ArrayBase::explain_use(Use use) const {
  if (!is_open()) {
    return name_rank(closed("the array"));
  }
  return name_rank(
      Status::error(Code::invalid_argument, fmt::format("the array is {} now, which forbids a {}",
                                                        name_of(access_mode_), to_string(use)))
          .hint("end this mode first, with set_access_mode(AccessMode::any)"));
}

Status ArrayBase::check_operation(const Transfer& transfer) const {
  if (!node_copy_ || transfer.kind != Transfer::Kind::accumulate || transfer.scale->is_sum()) {
    return {};
  }
  return Status::error(Code::unsupported,
                       fmt::format("accumulate by {} while each node keeps an array of sums",
                                   rma::to_string(transfer.scale->op())))
      .hint("set the access mode without copy_on_each_node");
}

Status ArrayBase::check_readable() const {
  TESSERA_RETURN_IF_ERROR(check_transfer(Transfer::get()));
  return check_local_access();
}

Status ArrayBase::check_writable() const {
  TESSERA_RETURN_IF_ERROR(check_transfer(Transfer::put()));
  return check_local_access();
}

Status ArrayBase::set_access_mode(AccessMode mode, const ModeOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_open());
  const rma::LabelScope scope(team(), label("set_access_mode"));
  const std::string doing = "setting the access mode of " + describe();
  Status own_status = check_options(mode, options, element_);
  const AccessMode lasting = region_.options().access_mode;
  if (lasting != AccessMode::any && mode != lasting) {
    own_status =
        Status::error(Code::invalid_argument,
                      fmt::format("its memory was allocated with access mode {}", name_of(lasting)))
            .hint("don't set RegionOptions::access_mode for arrays whose access mode changes");
  }
  TESSERA_RETURN_IF_ERROR(sync(own_status).context(doing));
  struct Choice {
    AccessMode mode;
    bool copy;
    bool operator==(const Choice&) const = default;
  };
  TESSERA_RETURN_IF_ERROR(detail::check_same_on_all(team(), Choice{mode, options.copy_on_each_node},
                                                    "access mode", "all members must give the same")
                              .context(doing));
  TESSERA_RETURN_IF_ERROR(end_mode().context(doing));
  use_as(mode);
  Status begun = begin_mode(options);
  if (!begun.ok()) {
    use_as(lasting);
  }
  return std::move(begun).context(doing);
}

void ArrayBase::use_as(AccessMode mode) noexcept {
  access_mode_ = mode;
  uses_ = uses_of(mode);
}

// Collective. Adds the nodes' copies to the array, if they are sums.
Status ArrayBase::end_mode() {
  tiles_.reset();
  const std::unique_ptr<ArrayBase> copy = std::move(node_copy_);
  if (!copy || access_mode_ != AccessMode::accumulate_only) {
    return {};
  }
  uses_ = uses_of(access_mode_);
  TESSERA_RETURN_IF_ERROR(team().agree(copy->sync()));
  TESSERA_RETURN_IF_ERROR(
      detail::sum_copies(team(), *copy, box(), *this, box(), detail::ExistingElements::is_added));
  return copy->free();
}

// Collective.
Status ArrayBase::begin_mode(const ModeOptions& options) {
  const bool is_read = access_mode_ == AccessMode::read_only;
  if (options.copy_on_each_node && !detail::is_on_one_node(*this)) {
    TESSERA_ASSIGN_OR_RETURN(ArrayBase copy, detail::create_node_copy(*this));
    if (is_read) {
      TESSERA_RETURN_IF_ERROR(team().agree(detail::get_own(copy, box(), *this, box())));
      TESSERA_RETURN_IF_ERROR(team().agree(copy.sync()));
    }
    node_copy_ = std::make_unique<ArrayBase>(std::move(copy));
  } else if (options.cache_bytes > 0) {
    tiles_ = std::make_unique<detail::TileCache>(*job_, region_, distribution_, element_.bytes,
                                                 options.cache_bytes);
  } else {
    return {};
  }
  uses_ &= static_cast<std::uint8_t>(~(is_read ? Use::direct_get : Use::direct_accumulate));
  return {};
}

}  // namespace tessera::arrays
