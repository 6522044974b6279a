! SPDX-License-Identifier: BSD-3-Clause
!
! Internal. The C and C++ functions that implement tessera_checkpoints.
module tessera_checkpoint_bindings
  use, intrinsic :: iso_c_binding
  use tessera_part_bindings, only: c_operand
  implicit none
  public

  interface
    function f_writer_create(place, job, team, path) &
        bind(c, name="tessera_f_writer_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job, team
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: code
    end function
    function f_writer_add(writer, array, name) bind(c, name="tessera_f_writer_add") result(code)
      import
      type(c_ptr), value :: writer, array
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int) :: code
    end function
    function c_writer_add_integer(writer, name, value) &
        bind(c, name="tessera_checkpoint_writer_add_integer") result(code)
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int) :: code
    end function
    function c_writer_add_real(writer, name, value) &
        bind(c, name="tessera_checkpoint_writer_add_real") result(code)
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: code
    end function
    function c_writer_add_text(writer, name, value) &
        bind(c, name="tessera_checkpoint_writer_add_text") result(code)
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: value(*)
      integer(c_int) :: code
    end function
    function c_writer_commit(writer) bind(c, name="tessera_checkpoint_writer_commit") result(code)
      import
      type(c_ptr), value :: writer
      integer(c_int) :: code
    end function
    function f_checkpoint_open(place, job, team, path) &
        bind(c, name="tessera_f_checkpoint_open") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job, team
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: code
    end function
    function f_checkpoint_read(file, name, distribution, place) &
        bind(c, name="tessera_f_checkpoint_read") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: distribution
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function f_checkpoint_read_into(file, name, array) &
        bind(c, name="tessera_f_checkpoint_read_into") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: array
      integer(c_int) :: code
    end function
    function f_checkpoint_array_info(file, name, element, ndims, extents, has_checksums) &
        bind(c, name="tessera_f_checkpoint_array_info") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: element, ndims
      integer(c_int64_t), intent(inout) :: extents(*)
      integer(c_int), intent(inout) :: has_checksums
      integer(c_int) :: code
    end function
    function c_checkpoint_verify(file, name) bind(c, name="tessera_checkpoint_verify") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function c_checkpoint_array_count(file, count) &
        bind(c, name="tessera_checkpoint_array_count") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function c_checkpoint_array_name(file, number, text, capacity, length) &
        bind(c, name="tessera_checkpoint_array_name") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int64_t), value :: number
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_checkpoint_attribute_count(file, count) &
        bind(c, name="tessera_checkpoint_attribute_count") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function c_checkpoint_attribute_name(file, number, text, capacity, length) &
        bind(c, name="tessera_checkpoint_attribute_name") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int64_t), value :: number
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function f_checkpoint_integer(file, name, largest, value) &
        bind(c, name="tessera_f_checkpoint_integer") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: largest
      integer(c_int64_t), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_checkpoint_real(file, name, value) &
        bind(c, name="tessera_checkpoint_real") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_checkpoint_text(file, name, text, capacity, length) &
        bind(c, name="tessera_checkpoint_text") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function f_checkpoint_read_part(file, name, lo, hi, to) &
        bind(c, name="tessera_f_checkpoint_read_part") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in) :: lo, hi
      type(c_operand), intent(in) :: to
      integer(c_int) :: code
    end function
    function c_checkpoint_number_of(file, object, name, element, value) &
        bind(c, name="tessera_checkpoint_number_of") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: object(*), name(*)
      integer(c_int64_t), value :: element
      type(*), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_checkpoint_truth_of(file, object, name, value) &
        bind(c, name="tessera_checkpoint_truth_of") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: object(*), name(*)
      integer(c_int), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_checkpoint_text_of(file, object, name, text, capacity, length) &
        bind(c, name="tessera_checkpoint_text_of") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: object(*), name(*)
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
  end interface

end module tessera_checkpoint_bindings
