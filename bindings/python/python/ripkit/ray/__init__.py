"""The tools over directories of many machines, on Ray: `pip install 'ripkit[ray]'`.

    >>> from ripkit.ray import Cluster
    >>> with Cluster(["/data/repos/*"]) as files:  # doctest: +SKIP
    ...     for hit in files.search("needle", include="*.c"):
    ...         print(hit.path, hit.line, hit.text)

Each directory is a root with an actor of its own, on the node that has it. Paths begin with the name
of the root. The guide is `docs/cluster.md`.
"""

from ._cluster import Cluster, ClusterTools, Hit, Root

__all__ = ["Cluster", "ClusterTools", "Hit", "Root"]
