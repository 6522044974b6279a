! SPDX-License-Identifier: BSD-3-Clause
!
! tessera: arrays spread over many processes, reached by global indices.
!
!     use, intrinsic :: iso_fortran_env, only: real64
!     use tessera
!     type(tessera_job) :: job
!     type(tessera_array) :: a
!     real(real64) :: block(10, 10), total
!
!     call job%start()
!     call a%create(job, tessera_real64, [1000, 1000], name="A")
!     call a%fill(1.0_real64)
!     call a%get([11, 11], [20, 20], block)
!     call a%sum(total)
!     call job%stop()
!
!     gfortran program.f90 $(pkg-config --cflags --libs tessera_fortran)
!
! Types. tessera_job, tessera_team, tessera_locks and tessera_counter are the parallel run;
! tessera_distribution tells where elements lie; tessera_array has them, tessera_part is a box of
! one, tessera_transfers are under way, tessera_block is what lies here, and tessera_halo exchanges
! ghost cells; tessera_mirrored has a copy on each node; tessera_sparse_builder, tessera_sparse,
! tessera_sparse_rows and tessera_spmv are sparse matrices; tessera_checkpoint_writer and tessera_checkpoint are files. What
! they do is in their type-bound procedures; linear algebra is in procedures of its own,
! tessera_gemm and so on.
! docs/fortran.md lists them all.
!
! Indices are Fortran's: they count from 1, bounds are inclusive, and the first one is the fastest
! in memory. An array of shape (n, m) is, for C and C++, one of m x n: the dimensions are turned
! around here and nowhere else, so that the same memory serves all languages (c_handle,
! from_c_handle). Bounds, extents and other lists of integers are of any kind; sizes that come back
! are int64. Ranks, members and nodes are default integers and count from 0, as MPI's do.
!
! Buffers are of any rank and of the array's element type, and may be any section that runs
! upwards; it is passed on as it is, without a copy. Single numbers (alpha, the value of fill) may be
! of another type or kind if no digit is lost: 2 and 0.5 are right for real64, 0.1 is an error; write
! 0.1_real64.
!
! Errors. Every procedure takes stat= and errmsg=, as Fortran's own statements do: with stat= it
! returns one of the codes below, 0 where all is well, and errmsg= becomes the text; without stat=
! an error ends the program by `error stop` with that text. tessera_last_error() has it at full
! length.
!
! Variables. What a variable was given by create, start or begin is freed by the end of that
! variable (where a subroutine returns, for example), unless free or end came first: for arrays,
! teams' locks and counters this is collective, as their free is. A copy of a variable, also one
! that a function returns, refers to the same thing, doesn't free it, and is told `closed` after its
! end. Variables of the main program end with the job.
!
! Threads: transfers by any thread; collectives by one at a time of a team.
module tessera
  use tessera_arrays
  use tessera_blocks
  use tessera_checkpoints
  use tessera_distributions
  use tessera_element_access, only: tessera_access_any, tessera_access_read_only, &
      tessera_access_accumulate_only, tessera_access_no_local
  use tessera_errors, only: tessera_last_error, tessera_last_error_rank, tessera_error_name, &
      tessera_version, tessera_ok, tessera_invalid_argument, tessera_out_of_range, &
      tessera_closed, tessera_unsupported, tessera_no_memory, tessera_limit_exceeded, &
      tessera_unreachable, tessera_peer_lost, tessera_timed_out, tessera_protocol, tessera_internal
  use tessera_jobs
  use tessera_linear_algebra
  use tessera_locks_and_counters
  use tessera_mirrored_arrays
  use tessera_own_rows
  use tessera_parts, only: tessera_part
  use tessera_sparse_matrices
  use tessera_sparse_products
  use tessera_transfers_under_way
  implicit none
  public
  private :: memory_options, name_text, team_cell

end module tessera
