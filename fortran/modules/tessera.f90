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
! Types:
!
! - tessera_job, tessera_team, tessera_locks and tessera_counter: the parallel run.
! - tessera_distribution: which elements are where.
! - tessera_array: the elements. tessera_part is a box of an array, tessera_transfers are pending
!   transfers, tessera_block gives access to own elements, tessera_halo exchanges ghost cells.
! - tessera_mirrored: an array with a copy on each node.
! - tessera_sparse_builder, tessera_sparse, tessera_sparse_rows and tessera_spmv: sparse matrices.
! - tessera_checkpoint_writer, tessera_checkpoint and tessera_output: files.
!
! Operations are type-bound procedures. Linear algebra and tessera_collectives have separate
! procedures, tessera_gemm and so on. docs/fortran.md lists all of them.
!
! Indices are Fortran's: they count from 1, bounds are inclusive, and the first dimension is the
! fastest in memory. An array of shape (n, m) is an m x n array in C and C++. The binding reverses
! the dimensions, so that all languages share the same memory (c_handle, from_c_handle). Bounds,
! extents and other lists of integers may have any kind; returned sizes are int64. Ranks, members
! and nodes are default integers and count from 0, as in MPI.
!
! Buffers have any rank and the array's element type, and may be any section with positive strides.
! A section is passed without a copy. Scalars (alpha, the value of fill) may have another type or
! kind if no digit is lost: 2 and 0.5 are right for real64, 0.1 is an error; write 0.1_real64.
!
! Errors. Every procedure takes stat= and errmsg=, as Fortran's own statements do. With stat= it
! returns an error code of tessera_errors, 0 for success, and errmsg= becomes the text. Without
! stat= an error ends the program by `error stop` with that text. tessera_last_error() returns the
! text in full length.
!
! Variables. A variable frees what create, start or begin gave it when its lifetime ends (for
! example when a subroutine returns), unless free or end was called first. For arrays, locks and
! counters of teams this is collective, as their free is. A copy of a variable, also one that a
! function returns, refers to the same object and does not free it. After the object is freed, the
! copy's procedures return `closed`. Variables of the main program end with the job.
!
! Threads: any thread for transfers; one thread at a time for the collectives of a team.
module tessera
  use tessera_arrays
  use tessera_blocks
  use tessera_checkpoints
  use tessera_collectives
  use tessera_distributions
  use tessera_element_access, only: tessera_access_any, tessera_access_read_only, &
      tessera_access_accumulate_only, tessera_access_no_local, tessera_accumulate_sum, &
      tessera_accumulate_min, tessera_accumulate_max, tessera_accumulate_bit_or, &
      tessera_accumulate_bit_and, tessera_accumulate_bit_xor, tessera_atomic_add, &
      tessera_atomic_swap, tessera_atomic_compare_swap, tessera_atomic_min, tessera_atomic_max, &
      tessera_atomic_bit_or, tessera_atomic_bit_and, tessera_atomic_bit_xor
  use tessera_errors, only: tessera_last_error, tessera_last_error_rank, tessera_error_name, &
      tessera_version, tessera_ok, tessera_invalid_argument, tessera_out_of_range, &
      tessera_closed, tessera_unsupported, tessera_no_memory, tessera_limit_exceeded, &
      tessera_unreachable, tessera_peer_lost, tessera_timed_out, tessera_protocol, tessera_internal
  use tessera_jobs
  use tessera_linear_algebra
  use tessera_locks_and_counters
  use tessera_mirrored_arrays
  use tessera_outputs
  use tessera_own_rows
  use tessera_parts, only: tessera_part
  use tessera_sparse_matrices
  use tessera_sparse_products
  use tessera_pending_transfers
  implicit none
  public
  private :: memory_options, name_text, team_cell

end module tessera
