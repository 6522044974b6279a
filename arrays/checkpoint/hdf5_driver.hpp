// SPDX-License-Identifier: BSD-3-Clause
//
// A file driver for libhdf5 that uses a FileImage as file; and wrappers of libhdf5's handles and
// errors.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "arrays/checkpoint/image.hpp"
#include "rma/base/floating_point_guard.hpp"
#include "rma/base/status.hpp"

namespace tessera::arrays::detail {

/// Owns an identifier of libhdf5, of any kind.
class Hdf5Id {
 public:
  Hdf5Id() = default;
  explicit Hdf5Id(hid_t id) noexcept : id_(id) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Id() {
    if (id_ >= 0) {
      H5Idec_ref(id_);
    }
  }
  [[nodiscard]] bool is_valid() const noexcept { return id_ >= 0; }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  [[nodiscard]] hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// In its scope, libhdf5 prints no errors in this thread, and its conversions raise no
/// floating-point traps.
class Hdf5ErrorSilencer {
 public:
  Hdf5ErrorSilencer() noexcept;
  ~Hdf5ErrorSilencer();
  Hdf5ErrorSilencer(const Hdf5ErrorSilencer&) = delete;
  Hdf5ErrorSilencer& operator=(const Hdf5ErrorSilencer&) = delete;

 private:
  rma::FloatingPointGuard guard_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// The innermost sentence of libhdf5's last error.
std::string hdf5_error_message();

/// An access list that uses `image` instead of a file, for H5Fcreate and H5Fopen. Requires: `image`
/// outlives every file that is opened with it.
Hdf5Id file_access_list(FileImage& image);

}  // namespace tessera::arrays::detail
