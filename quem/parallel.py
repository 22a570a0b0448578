"""Work in several processes, or on a Dask cluster."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["in_parallel"]

T = TypeVar("T")


def in_parallel(
    work: Callable[..., T],
    tasks: Iterable[tuple[Any, ...]],
    *,
    jobs: int = 1,
    cluster: str | None = None,
) -> Iterator[T]:
    """Do every task, and give the results as they come, in any order.

    Parameters
    ----------
    work : callable
        Of a module that all workers can import.
    tasks : iterable of tuple
        The arguments of each call.
    jobs : int, default 1
        Processes on this machine; -1 for as many as it has processors.
    cluster : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``, whose workers do the work.

    Raises
    ------
    QuemError
        There is no such cluster, or the extra ``dask`` is not installed.
    """
    if jobs == 1 and cluster is None:
        yield from (work(*task) for task in tasks)
        return
    from joblib import Parallel, delayed

    with _workers(cluster):
        # A cluster takes as many as it has workers.
        n_jobs = None if cluster else jobs
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        yield from parallel(delayed(work)(*task) for task in tasks)


@contextmanager
def _workers(cluster: str | None) -> Iterator[None]:
    """Let joblib use the cluster, if there is to be one."""
    if cluster is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        message = "a cluster needs the extra dask: pip install 'quem[dask]'"
        raise QuemError([Mistake("", message=message)]) from None
    from joblib import parallel_config

    try:
        client = Client(cluster, timeout=5)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"there is no cluster ({reason}); start one with: dask scheduler"
        raise QuemError([Mistake(cluster, message=message)]) from None
    with client, parallel_config(backend="dask"):
        yield
