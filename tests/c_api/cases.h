/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cases.h: the cases of each file, by what they are about.
 */
#ifndef TESSERA_TESTS_C_API_CASES_H
#define TESSERA_TESTS_C_API_CASES_H

#include "tests/c_api/check.h"

extern const Case access_cases[];
extern const Case array_cases[];
extern const Case checkpoint_cases[];
extern const Case distribution_cases[];
extern const Case element_cases[];
extern const Case error_cases[];
extern const Case flag_cases[];
extern const Case job_cases[];
extern const Case linalg_cases[];
extern const Case lock_cases[];
extern const Case matrix_cases[];
extern const Case mirrored_cases[];
extern const Case print_cases[];
extern const Case reduction_cases[];
extern const Case scan_cases[];
extern const Case solve_cases[];
extern const Case sparse_cases[];
extern const Case team_cases[];
extern const Case transfer_cases[];
extern const Case transform_cases[];

#endif /* TESSERA_TESTS_C_API_CASES_H */
