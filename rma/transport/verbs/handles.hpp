// SPDX-License-Identifier: BSD-3-Clause
//
// Owned: a device, domain, queue or other object of the VerbsLibrary, destroyed with its owner.
// Objects that are made from another are destroyed before it: declare them after it.
//
// Threads: as a pointer.
#pragma once

#include <memory>
#include <utility>

#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::verbs {

template <class T, int (VerbsLibrary::*destroy)(T*)>
class Owned {
 public:
  Owned() noexcept = default;
  /// Owns `object`, which may be null.
  Owned(std::shared_ptr<VerbsLibrary> library, T* object) noexcept
      : library_(std::move(library)), object_(object) {}
  Owned(Owned&& other) noexcept
      : library_(std::move(other.library_)), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      library_ = std::move(other.library_);
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ~Owned() { reset(); }

  [[nodiscard]] T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

  /// Destroys the object now.
  void reset() noexcept {
    if (object_ != nullptr) {
      // Fails if something made from the object still exists, which the order of members prevents,
      // or if the device is gone; then nothing can be done.
      static_cast<void>((library_.get()->*destroy)(std::exchange(object_, nullptr)));
    }
  }

 private:
  std::shared_ptr<VerbsLibrary> library_;
  T* object_ = nullptr;
};

using OwnedContext = Owned<ibv_context, &VerbsLibrary::close_device>;
using OwnedDomain = Owned<ibv_pd, &VerbsLibrary::dealloc_pd>;
using OwnedRegion = Owned<ibv_mr, &VerbsLibrary::dereg_mr>;
using OwnedChannel = Owned<ibv_comp_channel, &VerbsLibrary::destroy_comp_channel>;
using OwnedCompletions = Owned<ibv_cq, &VerbsLibrary::destroy_cq>;
using OwnedReceiveQueue = Owned<ibv_srq, &VerbsLibrary::destroy_srq>;
using OwnedQueuePair = Owned<ibv_qp, &VerbsLibrary::destroy_qp>;

}  // namespace tessera::rma::verbs
