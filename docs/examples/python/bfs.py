# SPDX-License-Identifier: BSD-3-Clause
"""Breadth-first search: ranks claim vertices by compare_and_swap.

The graph needs no memory: a formula gives the neighbours.

    build/bin/tessera-run -n 4 python3 docs/examples/python/bfs.py
"""
import tessera

vertices = 5000


def neighbours(vertex):
    return (vertex * 7 + 1) % vertices, (vertex * 13 + 5) % vertices, (vertex * vertex + 3) % vertices


def main():
    job = tessera.Job()
    level = job.zeros(vertices, dtype="i8", name="level").fill(-1)
    frontier = [0] if job.rank == 0 else []
    if job.rank == 0:
        level[0] = 0
    level.sync()
    depth, reached, found = 0, 1, 1
    while found > 0:
        if job.rank == 0:
            print(f"level {depth}: {found}")
        depth += 1
        # compare_and_swap returns -1 to the first rank only.
        frontier = [each for vertex in frontier for each in neighbours(vertex)
                    if level.compare_and_swap(each, -1, depth) == -1]
        level.sync()
        found = job.world.sum(len(frontier))
        reached += found
    seen = (level >= 0).sum()
    if job.rank == 0:
        print(f"reached: {reached} of {vertices}")
    assert seen == reached


main()
