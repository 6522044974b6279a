! SPDX-License-Identifier: BSD-3-Clause
! The code of docs/guide/12-fortran.md.
program snippets
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a

  call job%start()
  call a%create(job, tessera_real64, [1000, 1000], name="A")
  call transfers_under_way()
  call a%sync()  ! all have read before it changes
  call own_elements()
  call ghost_cells()
  call tell_the_neighbour()
  call errors()
  call job%stop()

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) error stop "not as the guide says: " // what
  end subroutine expect

  subroutine transfers_under_way()
    ! [async]
    real(real64), asynchronous :: left(1000, 5), right(1000, 5)
    type(tessera_transfers) :: both

    call a%get_async([1, 1], [1000, 5], left, both)
    call a%get_async([1, 996], [1000, 1000], right, both)
    ! … compute what needs neither …
    call both%wait()
    ! [/async]
    call expect(nint(sum(left) + sum(right)) == 0, "zeros at both ends")
  end subroutine transfers_under_way

  subroutine own_elements()
    integer :: i, j
    real(real64) :: corner
    ! [own]
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)

    call block%begin(a)
    call block%pointer(x)  ! bounds are the indices of the array
    do j = lbound(x, 2), ubound(x, 2)
      do i = lbound(x, 1), ubound(x, 1)
        x(i, j) = i + 1000 * j
      end do
    end do
    call block%end()
    call a%sync()
    ! [/own]
    call a%get_element([1000, 2], corner)
    call expect(nint(corner) == 3000, "what its owner stored")
  end subroutine own_elements

  subroutine ghost_cells()
    type(tessera_array) :: u
    integer :: lo(2), hi(2)
    ! [ghosts]
    type(tessera_block) :: block
    real(real64), pointer, contiguous :: wide(:, :)
    real(real64), pointer :: x(:, :)  ! not contiguous

    call u%create(job, tessera_real64, [1000, 1000], ghosts=[1, 1], name="u")
    call u%own_box(lo, hi)
    call block%begin(u)
    call block%pointer(wide, ghosts=.true.)  ! wide(lo(1)-1:hi(1)+1, lo(2)-1:hi(2)+1)
    call block%pointer(x, strided=.true.)    ! x(lo(1):hi(1), lo(2):hi(2))
    ! [/ghosts]
    wide = 0
    call relax(wide, hi(1) - lo(1) + 1, hi(2) - lo(2) + 1)
    call expect(all(lbound(x) == lo) .and. all(ubound(x) == hi), "what this rank owns")
    call expect(all(lbound(wide) == lo - 1) .and. all(ubound(wide) == hi + 1), "and around it")
    call block%end()
  end subroutine ghost_cells

  ! [explicit]
  subroutine relax(x, n, m)
    integer, intent(in) :: n, m
    real(real64), intent(inout) :: x(0:n + 1, 0:m + 1)  ! this rank's part and its ghost cells
    integer :: i, j
    do j = 1, m
      do i = 1, n
        x(i, j) = (x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1)) / 4
      end do
    end do
  end subroutine relax
  ! [/explicit]

  subroutine tell_the_neighbour()
    ! [flags]
    type(tessera_array) :: edges, flags
    real(real64) :: edge(100)
    integer :: me, next, before

    call edges%create(job, tessera_real64, [100, job%size()], name="edges", &
        process_grid=[1, job%size()])  ! a column for each rank
    call flags%create(job, tessera_int32, job%size(), name="flags")
    me = job%rank()
    next = mod(me + 1, job%size())
    before = mod(me + job%size() - 1, job%size())
    edge = me
    call edges%put_with_flag([1, next + 1], [100, next + 1], edge, flags, next + 1, 1)
    call flags%wait_for_flag(me + 1, 1, writer=before)
    call edges%get([1, me + 1], [100, me + 1], edge)  ! what the previous rank has put
    ! [/flags]
    call expect(all(nint(edge) == before), "the data are there")
  end subroutine tell_the_neighbour

  subroutine errors()
    real(real64) :: column(1000)
    ! [stat]
    integer :: code
    character(400) :: message

    call a%get([1, 1], [1001, 1], column, stat=code, errmsg=message)
    if (code == tessera_out_of_range) print *, trim(message)
    ! [/stat]
    call expect(code == tessera_out_of_range, "there are 1000 rows")
    call expect(index(message, "array 'A'") > 0, "the message names the array")
    code = 0
    call agree_on_input(code, message)
    call expect(code == tessera_unreachable, "what one rank found")
  end subroutine errors

  subroutine agree_on_input(code, message)
    integer, intent(inout) :: code
    character(*), intent(inout) :: message
    ! [agree]
    if (job%rank() == 0) then
      code = tessera_unreachable
      message = "no input file"
    end if
    call job%agree(code, message)  ! now all ranks have the code and text of rank 0
    ! [/agree]
  end subroutine agree_on_input

end program snippets
