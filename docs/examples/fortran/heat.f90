! SPDX-License-Identifier: BSD-3-Clause
!
! The heat equation with ghost cells: the interior is computed while they are exchanged. Writes a
! picture. The exact result is known: a product of sines keeps its shape and shrinks.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_heat
program heat
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  integer, parameter :: n = 200, steps = 100
  real(real64), parameter :: k = 0.2_real64, h = acos(-1.0_real64) / (n + 1)  ! in time, in space
  type(tessera_job) :: job
  type(tessera_array) :: u(0:1), start  ! two that alternate, and the start
  type(tessera_halo) :: halo(0:1)
  real(real64) :: values(n, n), decay, error
  integer :: i, j, picture

  call job%start()
  do i = 0, 1
    call u(i)%create(job, tessera_real64, [n, n], name="u", ghosts=[1, 1])
    call halo(i)%create(u(i))
  end do
  ! sin(3 pi x) sin(2 pi y): zero at the walls, which are the ghost cells around the whole array.
  values = reshape([((sin(3 * h * i) * sin(2 * h * j), i = 1, n), j = 1, n)], [n, n])
  if (job%rank() == 0) call u(0)%put([1, 1], [n, n], values)
  call u(0)%sync()
  call start%duplicate(u(0), name="start")
  call start%copy(u(0))
  do i = 0, steps - 1
    call advance(u(mod(i, 2)), halo(mod(i, 2)), u(mod(i + 1, 2)))
  end do
  call u(0)%sync()
  if (job%rank() == 0) then
    call u(0)%get([1, 1], [n, n], values)
    open (newunit=picture, file="heat.pgm", access="stream", status="replace")
    write (picture) "P5 200 200 255" // new_line("a"), char(nint(127.5_real64 * (1 + values)))
    close (picture)
  end if
  decay = (1 + 2 * k * (cos(3 * h) + cos(2 * h) - 2))**steps
  call start%add(1.0_real64, u(0), -decay, start)  ! the difference is the error
  error = start%norm_max()
  if (job%rank() == 0) print "(i0, a, f8.6, a, es7.1)", steps, " steps, waves of ", decay, &
      " of their height, error ", error
  if (error > 1e-12_real64) error stop 1
  call job%stop()

contains
  !> One time step. The interior needs no ghost cells.
  subroutine advance(from, exchange, to)
    type(tessera_array), intent(in) :: from, to
    type(tessera_halo), intent(inout) :: exchange
    type(tessera_block) :: old, new
    real(real64), pointer :: now(:, :), next(:, :)
    call old%begin(from)
    call new%begin(to)
    call old%pointer(now, ghosts=.true.)
    call new%pointer(next, ghosts=.true.)
    associate (lo => old%lower(), hi => old%upper())
      call exchange%start()
      call relax(now, next, lo + 1, hi - 1)
      call exchange%finish()
      call relax(now, next, lo, [lo(1), hi(2)])  ! the edges
      call relax(now, next, [hi(1), lo(2)], hi)
      call relax(now, next, lo, [hi(1), lo(2)])
      call relax(now, next, [lo(1), hi(2)], hi)
    end associate
  end subroutine advance
  subroutine relax(now, next, lo, hi)
    real(real64), pointer, intent(in) :: now(:, :), next(:, :)
    integer(int64), intent(in) :: lo(2), hi(2)
    integer(int64) :: i, j
    do j = lo(2), hi(2)
      do i = lo(1), hi(1)
        next(i, j) = now(i, j) + k * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) &
            + now(i, j + 1) - 4 * now(i, j))
      end do
    end do
  end subroutine relax
end program heat
