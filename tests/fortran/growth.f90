! SPDX-License-Identifier: BSD-3-Clause
!
! Usage: test_fortran_growth [COUNT]
!
! Makes and frees COUNT objects of each kind, and checks that this takes no memory: less than a byte
! for each, and 16 KiB. Copies of variables that were freed long ago still return the error
! `closed`.
program growth
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use tessera
  implicit none
  integer, parameter :: copies = 50

  abstract interface
    subroutine once(number)
      integer, intent(in) :: number
    end subroutine once
  end interface
  interface
    function heap_bytes() bind(c, name="test_heap_bytes") result(bytes)
      use, intrinsic :: iso_c_binding, only: c_int64_t
      integer(c_int64_t) :: bytes
    end function heap_bytes
  end interface

  type(tessera_job), save :: job
  type(tessera_team), save :: world
  type(tessera_array), save :: field, x, y
  type(tessera_sparse), save :: kept
  type(tessera_array), save :: old(copies)  ! copies of what was freed
  integer, save :: count, failures = 0
  character(100) :: argument

  count = 300
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) count
  end if
  call job%start()
  call make_operands()
  call run("team", make_team)
  call run("team, by the end of a variable", end_team)
  call run("distribution", make_distribution)
  call run("array", make_array)
  call run("array, by a function", take_array)
  call run("array, by a copy", free_copy)
  call run("block", access_array)
  call run("halo", make_halo)
  call run("locks", make_locks)
  call run("counter", make_counter)
  call run("mirrored", make_mirrored)
  call run("sparse", make_sparse)
  call run("rows", access_rows)
  call run("spmv", make_spmv)
  call run("transfers", start_transfer)
  call run("job", start_job, 10)
  call check_old()
  call job%stop()
  if (failures > 0) error stop "memory grew, or a copy was not recognised"

contains

  subroutine make_operands()
    type(tessera_sparse_builder) :: builder
    integer :: i
    call world%create(job)
    call field%create(job, tessera_real64, [6, 8], name="field", ghosts=[1, 1])
    call x%create(job, tessera_real64, 8)
    call y%create(job, tessera_real64, 8)
    call builder%create(job, tessera_real64, 8, 8)
    do i = 1, 8
      call builder%add(i, i, 1.0_real64)
    end do
    call builder%assemble(kept)
    call builder%free()
  end subroutine make_operands

  subroutine run(name, act, share)
    character(*), intent(in) :: name
    procedure(once) :: act
    integer, intent(in), optional :: share
    integer(int64) :: before, grown
    integer :: i, uses
    uses = count
    if (present(share)) uses = count / share
    do i = 1, uses / 10 + copies
      call act(i)
    end do
    before = heap_bytes()
    do i = 1, uses
      call act(i)
    end do
    grown = heap_bytes() - before
    print "(a, t32, i0, a, i0, a)", name, uses, " times: ", grown, " bytes"
    if (grown < uses + 16384) return
    failures = failures + 1
    write (error_unit, "(2a)") "test_fortran_growth: memory grows: ", name
  end subroutine run

  !> Of the first arrays that make_array freed; their cells have had many other uses since.
  subroutine check_old()
    character(200) :: message
    integer :: i, code
    do i = 1, copies
      call old(i)%sync(stat=code, errmsg=message)
      if (code == tessera_closed .and. index(message, "was freed") > 0) cycle
      failures = failures + 1
      write (error_unit, "(a, i0, 2a)") "test_fortran_growth: copy ", i, ": ", trim(message)
    end do
  end subroutine check_old

  subroutine make_team(number)
    integer, intent(in) :: number
    type(tessera_team) :: part
    call world%split(0, mod(number, 2), part)
    call part%free()
    call part%free()
  end subroutine make_team

  subroutine end_team(number)
    integer, intent(in) :: number
    type(tessera_team) :: part
    call world%split(0, mod(number, 2), part)
  end subroutine end_team

  subroutine make_distribution(number)
    integer, intent(in) :: number
    type(tessera_distribution) :: parts
    call parts%create_regular(job, 3, [mod(number, 100) + 1, 7])
    call parts%free()
  end subroutine make_distribution

  subroutine make_array(number)
    integer, intent(in) :: number
    type(tessera_array) :: array
    call array%create(job, tessera_real64, [mod(number, 10) + 1, 7])
    if (number <= copies) old(number) = array
    call array%free()
  end subroutine make_array

  function new_array() result(array)
    type(tessera_array) :: array
    call array%create(job, tessera_real64, [5, 7])
  end function new_array

  !> The variable has a copy of the function's contents; compilers differ in what they finalise.
  subroutine take_array(number)
    integer, intent(in) :: number
    type(tessera_array) :: array
    integer :: code
    array = new_array()
    call array%free(stat=code)
    if (number < 0) error stop
  end subroutine take_array

  !> Freed by a copy, and so for the variable as well.
  subroutine free_copy(number)
    integer, intent(in) :: number
    type(tessera_array) :: array, copy
    call array%create(job, tessera_real64, [mod(number, 10) + 1, 7])
    copy = array
    call copy%free()
  end subroutine free_copy

  subroutine access_array(number)
    integer, intent(in) :: number
    type(tessera_block) :: block
    real(real64), pointer :: p(:, :)
    call block%begin(field)
    call block%pointer(p, ghosts=.true.)
    if (mod(number, 2) == 0) call block%end()
  end subroutine access_array

  subroutine make_halo(number)
    integer, intent(in) :: number
    type(tessera_halo) :: halo
    call halo%create(field)
    if (mod(number, 10) == 0) call halo%update()
    call halo%free()
  end subroutine make_halo

  subroutine make_locks(number)
    integer, intent(in) :: number
    type(tessera_locks) :: locks
    call locks%create(world, 1 + mod(number, 3))
    call locks%free()
  end subroutine make_locks

  subroutine make_counter(number)
    integer, intent(in) :: number
    type(tessera_counter) :: counter
    integer :: task
    call counter%create(world, 0)
    call counter%next(task)
    call counter%free()
    if (task < number - huge(task)) error stop
  end subroutine make_counter

  subroutine make_mirrored(number)
    integer, intent(in) :: number
    type(tessera_mirrored) :: mirrored
    type(tessera_array) :: here
    call mirrored%create(job, tessera_real64, [mod(number, 10) + 1, 7])
    call mirrored%here(here)
    call mirrored%free()
  end subroutine make_mirrored

  subroutine make_sparse(number)
    integer, intent(in) :: number
    type(tessera_sparse_builder) :: builder
    type(tessera_sparse) :: matrix
    call builder%create(job, tessera_real64, 8, 8)
    call builder%add(mod(number, 8) + 1, mod(number, 7) + 1, 1.0_real64)
    call builder%assemble(matrix)
    call builder%free()
    call matrix%free()
  end subroutine make_sparse

  subroutine access_rows(number)
    integer, intent(in) :: number
    type(tessera_sparse_rows) :: rows
    call rows%begin(kept)
    if (mod(number, 2) == 0) call rows%end()
  end subroutine access_rows

  subroutine make_spmv(number)
    integer, intent(in) :: number
    type(tessera_spmv) :: plan
    call plan%create(kept, x, y)
    if (mod(number, 10) == 0) call plan%multiply(kept, x, y)
    call plan%free()
  end subroutine make_spmv

  subroutine start_transfer(number)
    integer, intent(in) :: number
    type(tessera_transfers) :: transfers
    real(real64), asynchronous :: values(6, 8)
    call field%get_async([1, 1], [6, 8], values, transfers)
    call transfers%wait()
    if (number < 0) error stop
  end subroutine start_transfer

  !> A job within the job, on the same variable each time.
  subroutine start_job(number)
    integer, intent(in) :: number
    type(tessera_job), save :: other
    type(tessera_team) :: team
    call other%start_alone()
    call team%create(other)
    call other%stop()
    if (number < 0) error stop
  end subroutine start_job

end program growth
