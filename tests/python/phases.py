#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Phases of a job, and what its profile says about them.

    tessera-run -n 2 tests/python/phases.py

A job has one profile, at its end, so this is a program and not one of the cases.
"""
import json
import os
import sys
import threading

PROFILE = f"python_phases_{os.getppid()}.json"
os.environ["TESSERA_PROFILE"] = "json"
os.environ["TESSERA_PROFILE_FILE"] = PROFILE

try:
    import numpy as np
except ImportError:
    print("SKIPPED: this Python has no NumPy")
    sys.exit(77)

import tessera


def refused(kind, text, use):
    try:
        use()
    except kind as error:
        assert text in str(error) and isinstance(error, tessera.Error), error
    else:
        raise AssertionError(f"not refused: {text}")


def run(job):
    rho = job.zeros((8, 8), name="rho")
    for _ in range(3):
        with job.phase("step") as step:
            assert step.name == "step" and repr(step) == "<tessera.Phase 'step'>"
            with job.phase("deposit"):
                rho.acc(..., np.ones((8, 8)))
                rho.sync()
    try:
        with job.phase("failing"):
            raise ZeroDivisionError("on purpose")
    except ZeroDivisionError:
        pass
    with job.phase("afterwards"):
        pass
    job.begin_phase("cells")
    refused(tessera.InvalidArgument, "the innermost phase of this thread is 'cells'", lambda: job.end_phase("others"))
    job.end_phase("cells")
    refused(tessera.InvalidArgument, "this thread is in no phase", job.end_phase)

    def in_thread():
        with job.phase("thread"):
            rho[0, 0] = 1.0

    threads = [threading.Thread(target=in_thread) for _ in range(2)]
    with job.phase("with threads"):
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    again = job.phase("again")
    for _ in range(2):
        with again:
            refused(tessera.InvalidArgument, "'again' has begun already", again.__enter__)
    refused(tessera.WrongType, "3 is not the name of a phase", lambda: job.phase(3))
    refused(tessera.InvalidArgument, "a phase needs a name", lambda: job.phase(""))
    refused(tessera.InvalidArgument, "a phase needs a name", lambda: job.begin_phase(""))
    rho.sync()
    with job.phase("open at the stop"):
        job.stop()
    refused(tessera.Closed, "the job was stopped", lambda: job.phase("late"))
    refused(tessera.Closed, "the job was stopped", again.__enter__)


def check_profile(ranks):
    with open(PROFILE, encoding="utf-8") as file:
        phases = {each["phase"]: each for each in json.load(file)["phases"]}
    os.remove(PROFILE)
    counts = {name: (each["count"], each["left_open"]) for name, each in phases.items()}
    expected = {"step": 3, "step/deposit": 3, "failing": 1, "afterwards": 1, "cells": 1, "thread": 2,
                "with threads": 1, "again": 2}
    for name, count in expected.items():
        assert counts.pop(name) == (count * ranks, 0), (name, phases[name])
    assert counts.pop("open at the stop") == (ranks, ranks)
    assert not counts, counts
    deposit = phases["step/deposit"]
    assert deposit["moved_bytes"] == 3 * ranks * 8 * 8 * 8, deposit
    assert [each["name"] for each in deposit["regions"]] == ["rho"], deposit
    assert "sync rho" in [each["call"] for each in deposit["calls"]], deposit


started = tessera.Job()
size, rank = started.size, started.rank
run(started)
if rank == 0:
    check_profile(size)
