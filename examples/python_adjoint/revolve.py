"""States of a computation from its last step to its first, with memory for a few of them: binomial checkpointing.

Griewank & Walther, ACM Trans. Math. Softw. 26 (2000) 19. With `snapshots` states in memory no schedule takes fewer steps again.
"""

from math import comb


def repetitions(steps, snapshots):
    """How often a step is taken at most."""
    times = 0
    while comb(snapshots + times, snapshots) < steps:
        times += 1
    return times


def forward_steps(steps, snapshots):
    """How many steps `backward` takes: over `steps`, the factor of recomputation."""
    times = repetitions(steps, snapshots)
    return times * steps - comb(snapshots + times, snapshots + 1)


def backward(first, advance, steps, snapshots):
    """Yields (number, state) before each step, the last step first. `first` is the state before step 0, `advance(state)` a new state
    after a step. No more than `snapshots` states are kept, `first` among them, beside the one that is yielded."""
    yield from _part(0, first, advance, steps, snapshots)


def _part(number, state, advance, steps, snapshots):
    """The same for a part of the steps, which begins at a number."""
    while steps > 1:
        times = repetitions(steps, snapshots)
        ahead = min(comb(snapshots + times - 1, snapshots), steps - comb(snapshots + times - 2, snapshots - 1))
        later = state
        for _ in range(ahead):
            later = advance(later)
        yield from _part(number + ahead, later, advance, steps - ahead, snapshots - 1)
        del later
        steps = ahead
    yield number, state
