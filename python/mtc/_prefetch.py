"""Work in another thread, ahead of its use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def prefetched(tasks: Iterator[Callable[[], Result]], depth: int) -> Generator[Result]:
    """Yields the results of tasks, which one thread computes in order, up to ``depth`` of them ahead of their use.

    ``tasks`` itself is read in the calling thread. If the generator is closed, the thread ends after its current task.
    """
    if depth == 0:
        for task in tasks:
            yield task()
        return
    pending: deque[Future[Result]] = deque()
    executor = ThreadPoolExecutor(1, "mtc-prefetch")
    try:
        for task in tasks:
            pending.append(executor.submit(task))
            if len(pending) > depth:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
