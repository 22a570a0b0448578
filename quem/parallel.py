"""Parallel work in several processes or on a Dask cluster, with progress."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Takes a title and the number of steps, and returns a function of the steps done.
Progress: TypeAlias = "Callable[[str, int], Callable[[int], object]]"

T = TypeVar("T")


def silent(_: str, __: int) -> Callable[[int], object]:
    """Show no progress."""
    return lambda _: None


@dataclass(frozen=True)
class Workers:
    """The processes that do the work."""

    jobs: int = 1  # local processes; -1 for one per processor
    # Address of a Dask scheduler, such as ``tcp://host:8786``. Its workers need the same version of
    # quem.
    cluster: str | None = None

    def each(self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Run every task, and yield the results in order as they become available."""
        if self.jobs == 1 and self.cluster is None:
            yield from (work(*task) for task in tasks)
            return
        from joblib import Parallel, delayed

        with _connected(self.cluster):
            # A cluster takes as many as it has workers.
            n_jobs = None if self.cluster else self.jobs
            parallel = Parallel(n_jobs=n_jobs, return_as="generator")
            yield from parallel(delayed(work)(*task) for task in tasks)


# This process.
ALONE = Workers()


@contextmanager
def _connected(cluster: str | None) -> Iterator[None]:
    """Connect joblib to the cluster, if there is one."""
    if cluster is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise QuemError(
            Mistake("", message="a cluster needs the extra dask: pip install 'quem[dask]'")
        ) from None
    from joblib import parallel_config

    try:
        client = Client(cluster, timeout=5)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise QuemError(
            Mistake(
                cluster,
                message=f"there is no cluster ({reason}); start one with: dask scheduler",
            )
        ) from None
    with client, parallel_config(backend="dask"):
        yield
