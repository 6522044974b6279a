! SPDX-License-Identifier: BSD-3-Clause
!
! Tessera in an MPI program: a job over a communicator of the program, and calls of both libraries
! side by side. All processes except the last one work; a single process works alone.
!
! Run: mpirun -n 4 build/docs/examples/fortran_with_mpi
program with_mpi
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use tessera
  implicit none
  integer :: rank, ranks, workers, code
  logical :: is_worker, is_good, all_are_good

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  is_worker = rank < ranks - 1 .or. ranks == 1
  call MPI_Comm_split(MPI_COMM_WORLD, merge(0, MPI_UNDEFINED, is_worker), rank, workers, code)
  is_good = .true.
  if (is_worker) then
    call work(workers, is_good)
    call MPI_Comm_free(workers, code)
  end if
  call MPI_Allreduce(is_good, all_are_good, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, code)
  call MPI_Finalize(code)
  if (.not. all_are_good) error stop 1

contains

  !> The sum of a random array, twice: by Tessera, and by MPI from each rank's own elements.
  subroutine work(communicator, is_good)
    integer, intent(in) :: communicator
    logical, intent(out) :: is_good
    type(tessera_job) :: job
    type(tessera_array) :: a
    type(tessera_block) :: block
    real(real64), pointer :: own(:, :)
    real(real64) :: mine, by_mpi, by_tessera
    call job%start(communicator=communicator)
    call a%create(job, tessera_real64, [300, 300], name="A")
    call a%fill_random(7, 0d0, 1d0)

    call block%begin(a)
    call block%pointer(own)
    mine = sum(own)
    call block%end()
    call MPI_Allreduce(mine, by_mpi, 1, MPI_DOUBLE_PRECISION, MPI_SUM, communicator, code)

    call a%sum(by_tessera)
    if (job%rank() == 0) print "(i0, 2(a, f0.9), a)", job%size(), " workers: ", by_mpi, &
        " by MPI, ", by_tessera, " by Tessera"
    is_good = abs(by_mpi - by_tessera) < 1e-9_real64 * by_tessera
    call a%free()
    call job%stop()  ! before MPI ends
  end subroutine work

end program with_mpi
