! SPDX-License-Identifier: BSD-3-Clause
!
! All cases of the Fortran module, on all ranks of the job. With the argument `mpi` it begins with a
! communicator and settings of the program's.
program main
  use, intrinsic :: iso_c_binding, only: c_int
  use access_cases, only: run_access_cases
  use array_cases, only: run_array_cases
  use checkpoint_cases, only: run_checkpoint_cases
  use checks, only: failures_of_all, job
  use flag_cases, only: run_flag_cases
  use job_cases, only: run_job_cases
  use kind_cases, only: run_kind_cases
  use language_cases, only: run_language_cases
  use linalg_cases, only: run_linalg_cases
  use mirrored_cases, only: run_mirrored_cases
  use operation_cases, only: run_operation_cases
  use sparse_cases, only: run_sparse_cases
  use transfer_cases, only: run_transfer_cases
  use vector_cases, only: run_vector_cases
  implicit none
  interface
    function test_communicator() bind(c) result(communicator)
      import
      integer(c_int) :: communicator
    end function test_communicator
    subroutine test_finalize() bind(c)
    end subroutine test_finalize
  end interface
  character(10) :: how
  call get_command_argument(1, how)
  if (how == "mpi") then
    call job%start(communicator=int(test_communicator()), settings=["TESSERA_TUNE=max_outstanding=99"])
    if (job%setting("max_outstanding") /= "99") error stop "its settings don't count"
  else
    call job%start()
  end if
  call run_job_cases()
  call run_kind_cases()
  call run_array_cases()
  call run_transfer_cases()
  call run_flag_cases()
  call run_access_cases()
  call run_mirrored_cases()
  call run_operation_cases()
  call run_vector_cases()
  call run_linalg_cases()
  call run_sparse_cases()
  call run_checkpoint_cases()
  call run_language_cases()
  if (failures_of_all() > 0) error stop "checks have failed"
  call job%stop()
  if (how == "mpi") call test_finalize()
end program main
