! SPDX-License-Identifier: BSD-3-Clause
!
! Files that are missing or damaged; round trips are in linalg_cases.
module checkpoint_cases
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_int, c_int64_t, &
      c_null_char, c_ptr
  use checks
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_checkpoint_cases

  real(real64), parameter :: mark = 1234.56789_real64

  interface
    function c_type_name(file, name, text, capacity, length) &
        bind(c, name="tessera_checkpoint_type_name") result(code)
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function c_type_name
    function c_add_real(writer, name, value) &
        bind(c, name="tessera_checkpoint_writer_add_real") result(code)
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: code
    end function c_add_real
  end interface

contains

  subroutine run_checkpoint_cases()
    call run_case("checkpoint.handles", handles, .true.)
    call run_case("checkpoint.files", files, .true.)
    call run_case("checkpoint.outputs", outputs, .true.)
    call run_case("checkpoint.one_member", one_member, .true.)
    call run_case("checkpoint.empty_variables", empty_variables, .true.)
  end subroutine run_checkpoint_cases

  !> Collective on the team. A name that no other run has.
  function new_path() result(path)
    character(:), allocatable :: path
    character(60) :: text
    integer(int64) :: now
    call system_clock(now)
    call team%broadcast(now, 0)
    write (text, "(a, i0, a, i0, a)") "fortran-files.", now, ".", team%world_rank(0), ".h5"
    path = trim(text)
  end function new_path

  !> Collective on the team. Whether this build could write the file, which has 9 x 7 marks.
  function is_written(path) result(is_so)
    character(*), intent(in) :: path
    logical :: is_so
    type(tessera_checkpoint_writer) :: writer
    type(tessera_array) :: a
    call writer%create(job, path, team, stat=code, errmsg=message)
    is_so = code == tessera_ok
    if (.not. is_so) call check_error(tessera_unsupported, "this library was built without HDF5")
    if (.not. is_so) return
    call make_matrix(a, 9, 7, "A")
    call a%fill(mark)
    call writer%add(a)
    call writer%commit()
  end function is_written

  function bytes_of(path) result(bytes)
    character(*), intent(in) :: path
    character(:), allocatable :: bytes
    integer :: unit, length
    open (newunit=unit, file=path, access="stream", status="old", action="read")
    inquire (unit, size=length)
    allocate (character(length) :: bytes)
    read (unit) bytes
    close (unit)
  end function bytes_of

  subroutine write_bytes(path, bytes)
    character(*), intent(in) :: path, bytes
    integer :: unit
    open (newunit=unit, file=path, access="stream", status="replace", action="write")
    write (unit) bytes
    close (unit)
  end subroutine write_bytes

  subroutine remove(path)
    character(*), intent(in) :: path
    integer :: unit
    open (newunit=unit, file=path, status="old")
    close (unit, status="delete")
  end subroutine remove

  !> Steps, parts, groups, attributes and the grid of an output.
  subroutine outputs()
    type(tessera_output) :: output
    type(tessera_checkpoint) :: file
    type(tessera_array) :: a, step, coarse
    character(:), allocatable :: path, text
    integer(int64), allocatable :: extents(:)
    integer(int64) :: element
    integer :: i, j, small
    logical :: truth
    real(real64) :: value
    real(real64) :: values(9, 7)
    path = new_path()
    call output%open(job, path, team=team, stat=code, errmsg=message)
    if (code == tessera_unsupported) return
    call check(code == tessera_ok, "opened")
    call make_matrix(a, 9, 7, "A")
    if (member == 0) then
      do j = 1, 7
        do i = 1, 9
          values(i, j) = 9 * (j - 1) + i
        end do
      end do
      call a%put([1, 1], [9, 7], values)
    end if
    call a%sync()
    call output%set_grid([1.5_real64, 0._real64], [0.5_real64, 1._real64], points=[9, 7])
    call output%write(a%part([2, 1], [9, 7]), "parts/coarse", steps=[3, 2], chunk=[2, 3], compression=5)
    do i = 1, 3
      call output%append(a, "fields/A", compression=1, shuffle=.false., time=0.5_real64 * i)
    end do
    call check(output%steps("fields/A") == 3, "three steps")
    call check(output%steps("none") == 0, "no such data set")
    call output%create_group("empty")
    call output%set_attribute("fields/A", "unit", "K")
    call output%set_attribute("fields/A", "n", 12)
    call output%set_attribute("fields", "half", 0.5_real32)
    call output%set_attribute("/", "yes", .true.)
    call output%set_attribute("/", "list", [1._real64, 2._real64])
    call output%set_attribute("/", "z", (1._real64, 2._real64))
    call output%flush()
    call output%write(a%part([1, 1], [10, 7]), "x", stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "part of array 'A'")
    call output%write(a, "parts/coarse", stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the name 'parts/coarse' is already in use")
    call output%write(a, "x", chunk=[1], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "chunk")
    call output%close()
    call output%free()
    call output%open(job, path, team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "already exists")

    call file%open(job, path, team)
    call file%info("fields/A", element, extents)
    call check(all(extents == [9, 7, 3]) .and. element == tessera_real64, "steps come last")
    call make_matrix(step, 9, 7, "step")
    call file%read_part("fields/A", [1, 1, 2], [9, 7, 2], step)
    call step%get([4, 5], [4, 5], value)
    call check(value == 40, "an element of a step")
    call make_matrix(coarse, 3, 4, "coarse")
    call file%read_into("parts/coarse", coarse)
    call coarse%get([2, 3], [2, 3], value)
    call check(value == 41, "element (5, 5) of the array")
    call file%get_attribute_of("fields/A", "unit", text)
    call check(text == "K", "a text")
    call file%get_attribute_of("/fields/A", "n", small)
    call check(small == 12, "an integer")
    call file%get_attribute_of("fields", "half", value)
    call check(value == 0.5_real64, "a real as a longer one")
    call file%get_attribute_of("/", "yes", truth)
    call check(truth, "a logical")
    call file%get_attribute_of("fields/A", "half", value, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "there is no attribute 'half' in 'fields/A'")
    call file%read_part("fields/A", [1, 1, 4], [9, 7, 4], step, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "the box in the file")
    call file%free()
    call team%barrier()
    if (member == 0) call remove(path)
    if (member == 0) call remove(path(:len(path) - 3) // ".xdmf")
  end subroutine outputs

  !> What C gets by the handles of files.
  subroutine handles()
    type(tessera_checkpoint_writer) :: writer
    type(tessera_checkpoint) :: file
    type(tessera_array) :: a, other
    type(c_ptr) :: handle
    character(:), allocatable :: path
    character(kind=c_char) :: text(20)
    integer(c_int64_t) :: length
    integer(c_int) :: status
    real(real64) :: value
    handle = file%c_handle(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the checkpoint in this call has not been created")
    call check(.not. c_associated(handle), "no handle")
    handle = writer%c_handle(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the writer of a checkpoint in this call has not been created")
    path = new_path()
    call writer%create(job, path, team, stat=code)
    if (code == tessera_unsupported) return
    call a%create(job, tessera_real32, [9, 7], name="A", team=team)
    call writer%add(a)
    status = c_add_real(writer%c_handle(), "half" // c_null_char, 0.5_real64)
    call check(status == 0, "written by C")
    call writer%commit()
    call file%open(job, path, team)
    call file%get_attribute("half", value)
    call check(value == 0.5_real64, "what C has written")
    status = c_type_name(file%c_handle(), "A" // c_null_char, text, 20_c_int64_t, length)
    call check(status == 0 .and. length == 7, "the type's name in the file")
    call check(all(text(1:7) == ["f", "l", "o", "a", "t", "3", "2"]), "it is float32")
    call other%create(job, tessera_real32, [9, 6], name="other", team=team)
    call file%read_into("A", other, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "tessera_checkpoint_read_into")
    call check_has(message, "note: in this message dimensions are in C's order")
    call file%read_into("missing", other, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "there is no array 'missing'")
    call check(index(message, "note:") == 0, "a text without dimensions")
    call file%free()
    call team%barrier()
    if (member == 0) call remove(path)
  end subroutine handles

  !> A missing file, one with a changed byte among its elements, and a truncated one.
  subroutine files()
    type(tessera_checkpoint) :: file
    type(tessera_array) :: a
    character(:), allocatable :: path, bytes
    integer :: place
    bytes = ""
    path = new_path()
    if (.not. is_written(path)) return
    call file%open(job, "missing-" // path, team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "missing-" // path // ": No such file or directory")
    call check(index(message, "note:") == 0, "nothing of dimensions")
    if (member == 0) then
      bytes = bytes_of(path)
      place = index(bytes, transfer(mark, repeat(" ", 8)))
      call check(place > 0, "the file has the elements")
      call write_bytes(path, bytes(:place - 1) // "?" // bytes(place + 1:))
    end if
    call team%barrier()
    call file%open(job, path, team)
    call file%read("A", a, stat=code, errmsg=message)
    call check_error(tessera_protocol, "array 'A' of checkpoint '" // path // "'")
    call check_has(message, "is damaged: its checksum differs")
    call check_has(message, "hint: use an older checkpoint")
    call file%verify("A", stat=code, errmsg=message)
    call check_error(tessera_protocol, "is damaged: its checksum differs")
    call file%free()
    call team%barrier()
    if (member == 0) call write_bytes(path, bytes(:len(bytes) / 2))
    call team%barrier()
    call file%open(job, path, team, stat=code, errmsg=message)
    call check_error(tessera_protocol, path // " can't be read as HDF5")
    call check_has(message, "hint: it is damaged, truncated, or not an HDF5 file")
    call team%barrier()
    if (member == 0) call remove(path)
  end subroutine files

  !> Errors of one member.
  subroutine one_member()
    type(tessera_checkpoint) :: file
    type(tessera_array) :: a
    character(:), allocatable :: path
    path = new_path()
    if (.not. is_written(path)) return
    call file%open(job, path, team)
    call file%read(merge("B", "A", member == members - 1), a, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "an error of one member is reported to all")
    call check_has(message, "tessera_checkpoint_read")
    call file%read("A", a)
    call team%barrier()
    if (member == 0) call remove(path)
  end subroutine one_member

  !> An optional argument that is present, but was not created, is not absent.
  subroutine empty_variables()
    type(tessera_checkpoint_writer) :: writer
    type(tessera_checkpoint) :: file
    type(tessera_team) :: no_team
    type(tessera_distribution) :: no_distribution
    type(tessera_array) :: a
    character(:), allocatable :: path
    path = new_path()
    call writer%create(job, path, no_team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_checkpoint_writer%create: the team in this call has not been created")
    call file%open(job, path, no_team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_checkpoint%open: the team in this call has not been created")
    if (.not. is_written(path)) return
    call file%open(job, path, team)
    call file%read("A", a, no_distribution, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_checkpoint%read: the distribution in this call has not been created")
    call file%read("A", a)
    call file%free()
    call team%barrier()
    if (member == 0) call remove(path)
  end subroutine empty_variables

end module checkpoint_cases
