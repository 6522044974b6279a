! SPDX-License-Identifier: BSD-3-Clause
!
! Internal. The C and C++ functions that implement tessera_arrays, and the structure shared with
! them.
module tessera_array_bindings
  use, intrinsic :: iso_c_binding
  use tessera_distribution_bindings, only: tessera_patch
  implicit none
  public

  !> Options of an array's memory.
  type, bind(c) :: c_memory_options
    integer(c_int) :: order = 0
    integer(c_int) :: sparse = 0
    integer(c_int) :: huge_pages = 0
    integer(c_int) :: access_mode = 0
    integer(c_int) :: atomics = 0
  end type c_memory_options

  !> Kinds of transfers, with the numbers of C++.
  integer(c_int), parameter :: put = 0, get = 1, accumulate = 2

  interface
    function f_element_of(mold) bind(c, name="tessera_f_element_of") result(value)
      import
      type(*), dimension(..), intent(in) :: mold
      integer(c_int64_t) :: value
    end function
    function f_array_create(place, job, element, extents, name, team, min_block, process_grid, &
        ghosts, holders, memory) bind(c, name="tessera_f_array_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      integer(c_int64_t), value :: element
      type(*), dimension(..), intent(in) :: extents
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: team
      type(*), dimension(..), intent(in), optional :: min_block, process_grid, ghosts, holders
      type(c_memory_options), intent(in) :: memory
      integer(c_int) :: code
    end function
    function f_array_create_distributed(place, job, element, distribution, name, team, own, &
        memory) &
        bind(c, name="tessera_f_array_create_distributed") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      integer(c_int64_t), value :: element
      type(c_ptr), value :: distribution
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: team
      type(*), dimension(..), intent(inout), optional :: own
      type(c_memory_options), intent(in) :: memory
      integer(c_int) :: code
    end function
    function f_array_overlay(place, base, element, distribution, name) &
        bind(c, name="tessera_f_array_overlay") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: base
      integer(c_int64_t), value :: element
      type(c_ptr), value :: distribution
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function f_array_duplicate(place, of, name) &
        bind(c, name="tessera_f_array_duplicate") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: of
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function f_array_from_handle(place, job, handle) &
        bind(c, name="tessera_f_array_from_handle") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job, handle
      integer(c_int) :: code
    end function
    function f_array_shape(called, array, ndims, extents, element) &
        bind(c, name="tessera_f_array_shape") result(code)
      import
      character(kind=c_char), intent(in) :: called(*)
      type(c_ptr), value :: array
      integer(c_int64_t), intent(inout) :: ndims
      integer(c_int64_t), intent(inout) :: extents(*)
      integer(c_int64_t), intent(inout) :: element
      integer(c_int) :: code
    end function
    function f_array_describe(array, text, capacity, length) &
        bind(c, name="tessera_f_array_describe") result(code)
      import
      type(c_ptr), value :: array
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_array_name(array, text, capacity, length) &
        bind(c, name="tessera_array_name") result(code)
      import
      type(c_ptr), value :: array
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function f_array_distribution(array, place) &
        bind(c, name="tessera_f_array_distribution") result(code)
      import
      type(c_ptr), value :: array
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function f_array_team(array, place) bind(c, name="tessera_f_array_team") result(code)
      import
      type(c_ptr), value :: array
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function f_array_own_box(array, member, lo, hi) &
        bind(c, name="tessera_f_array_own_box") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int64_t), intent(in), optional :: member
      type(*), dimension(..), intent(inout) :: lo, hi
      integer(c_int) :: code
    end function
    function f_array_owner(array, index, owner) bind(c, name="tessera_f_array_owner") result(code)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: index
      integer(c_int64_t), intent(inout) :: owner
      integer(c_int) :: code
    end function
    function f_array_patches(array, lo, hi, capacity, patches, count) &
        bind(c, name="tessera_f_array_patches") result(code)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: lo, hi
      integer(c_int64_t), value :: capacity
      type(tessera_patch), intent(inout) :: patches(*)
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function f_transfer(array, kind, lo, hi, buffer, alpha, transfers) &
        bind(c, name="tessera_f_transfer") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: kind
      type(*), dimension(..), intent(in) :: lo, hi
      type(*), dimension(..), asynchronous :: buffer
      type(*), dimension(..), intent(in), optional :: alpha
      type(c_ptr), intent(inout), optional :: transfers
      integer(c_int) :: code
    end function
    function f_transfer_section(array, kind, lo, hi, steps, buffer, alpha, transfers) &
        bind(c, name="tessera_f_transfer_section") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: kind
      type(*), dimension(..), intent(in) :: lo, hi, steps
      type(*), dimension(..), asynchronous :: buffer
      type(*), dimension(..), intent(in), optional :: alpha
      type(c_ptr), intent(inout), optional :: transfers
      integer(c_int) :: code
    end function
    function f_transfer_periodic(array, kind, lo, hi, periodic, count, buffer, alpha, transfers) &
        bind(c, name="tessera_f_transfer_periodic") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: kind
      type(*), dimension(..), intent(in) :: lo, hi
      integer(c_int64_t), value :: periodic
      integer(c_int), value :: count
      type(*), dimension(..), asynchronous :: buffer
      type(*), dimension(..), intent(in), optional :: alpha
      type(c_ptr), intent(inout), optional :: transfers
      integer(c_int) :: code
    end function
    function f_transfer_field(array, kind, lo, hi, offset, buffer, alpha, transfers) &
        bind(c, name="tessera_f_transfer_field") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: kind
      type(*), dimension(..), intent(in) :: lo, hi
      type(*), dimension(..), intent(in) :: offset
      type(*), dimension(..), asynchronous :: buffer
      type(*), dimension(..), intent(in), optional :: alpha
      type(c_ptr), intent(inout), optional :: transfers
      integer(c_int) :: code
    end function
    function f_transfer_element(array, kind, index, value) &
        bind(c, name="tessera_f_transfer_element") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: kind
      type(*), dimension(..), intent(in) :: index
      type(*), dimension(..) :: value
      integer(c_int) :: code
    end function
    function f_change_element(array, index, increment, expected, desired, before) &
        bind(c, name="tessera_f_change_element") result(code)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: index
      type(*), dimension(..), intent(in), optional :: increment, expected, desired
      type(*), dimension(..), intent(inout), optional :: before
      integer(c_int) :: code
    end function
    function f_change_elements(array, op, places, operands, expected, before, transfers) &
        bind(c, name="tessera_f_change_elements") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: op
      type(*), dimension(..), intent(in) :: places, operands
      type(*), dimension(..), intent(in), optional :: expected
      type(*), dimension(..), intent(inout), asynchronous :: before
      type(c_ptr), intent(inout), optional :: transfers
      integer(c_int) :: code
    end function
    function f_raise_flag(array, index, value) bind(c, name="tessera_f_raise_flag") result(code)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: index, value
      integer(c_int) :: code
    end function
    function f_put_with_flag(array, lo, hi, buffer, flags, index, value) &
        bind(c, name="tessera_f_put_with_flag") result(code)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: lo, hi, buffer
      type(c_ptr), value :: flags
      type(*), dimension(..), intent(in) :: index, value
      integer(c_int) :: code
    end function
    function f_wait_for_flag(array, index, value, writer) &
        bind(c, name="tessera_f_wait_for_flag") result(code)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: index, value
      integer(c_int64_t), value :: writer
      integer(c_int) :: code
    end function
    function f_wait_for_flag_change(array, index, value, writer, now) &
        bind(c, name="tessera_f_wait_for_flag_change") result(code)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: index, value
      integer(c_int64_t), value :: writer
      type(*), dimension(..), intent(inout) :: now
      integer(c_int) :: code
    end function
    function f_transfer_list(array, kind, places, values, alpha) &
        bind(c, name="tessera_f_transfer_list") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: kind
      type(*), dimension(..), intent(in) :: places
      type(*), dimension(..) :: values
      type(*), dimension(..), intent(in), optional :: alpha
      integer(c_int) :: code
    end function
    function c_array_fence(array) bind(c, name="tessera_array_fence") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int) :: code
    end function
    function c_array_sync(array) bind(c, name="tessera_array_sync") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int) :: code
    end function
    function f_array_grow(array, extent) bind(c, name="tessera_f_array_grow") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int64_t), value :: extent
      integer(c_int) :: code
    end function
    function f_array_set_access_mode(array, mode, copy_on_each_node, cache_bytes) &
        bind(c, name="tessera_f_array_set_access_mode") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: mode, copy_on_each_node
      type(*), dimension(..), intent(in), optional :: cache_bytes
      integer(c_int) :: code
    end function
    function c_array_access_mode(array, mode) bind(c, name="tessera_array_access_mode") result(code)
      import
      type(c_ptr), value :: array
      integer(c_int), intent(inout) :: mode
      integer(c_int) :: code
    end function
    function f_count_bins(counts, bins) bind(c, name="tessera_f_count_bins") result(code)
      import
      type(c_ptr), value :: counts
      type(*), dimension(..), intent(in) :: bins
      integer(c_int) :: code
    end function
    function f_bin_offsets(counts, offsets) bind(c, name="tessera_f_bin_offsets") result(code)
      import
      type(c_ptr), value :: counts, offsets
      integer(c_int) :: code
    end function
    function f_add_to_bins(contents, offsets, filled, bins, values) &
        bind(c, name="tessera_f_add_to_bins") result(code)
      import
      type(c_ptr), value :: contents, offsets, filled
      type(*), dimension(..), intent(in) :: bins, values
      integer(c_int) :: code
    end function
    function f_sort_bins(contents, offsets, counts) bind(c, name="tessera_f_sort_bins") result(code)
      import
      type(c_ptr), value :: contents, offsets, counts
      integer(c_int) :: code
    end function
    function c_handle_wait(handle) bind(c, name="tessera_handle_wait") result(code)
      import
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: code
    end function
    function c_handle_test(handle, done) bind(c, name="tessera_handle_test") result(code)
      import
      type(c_ptr), value :: handle
      integer(c_int), intent(inout) :: done
      integer(c_int) :: code
    end function
    function c_handle_detach(handle) bind(c, name="tessera_handle_detach") result(code)
      import
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: code
    end function
    subroutine f_transfers_end(handle) bind(c, name="tessera_f_transfers_end")
      import
      type(c_ptr), intent(inout) :: handle
    end subroutine
  end interface

end module tessera_array_bindings
