"""Long work: in several processes, or on a Dask cluster, and how far it is."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Takes what is done and its number of steps, and gives what is called with the steps done.
Progress: TypeAlias = "Callable[[str, int], Callable[[int], object]]"

T = TypeVar("T")


def silent(_: str, __: int) -> Callable[[int], object]:
    """Show no progress."""
    return lambda _: None


@dataclass(frozen=True)
class Workers:
    """Who does the work."""

    jobs: int = 1  # processes on this machine; -1 for as many as it has processors
    # Address of a Dask scheduler, such as ``tcp://host:8786``, whose workers do the work. They need
    # the same version of quem.
    cluster: str | None = None

    def each(self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Do every task, and give the results in the order of the tasks, each when it is there."""
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
    """Let joblib use the cluster, if there is to be one."""
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
