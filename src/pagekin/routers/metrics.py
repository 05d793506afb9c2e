"""Counts and times of a router's services, in the text format of Prometheus."""

import os
from bisect import bisect_left
from collections import Counter, defaultdict

from pagekin.collection import Health

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts of a router's services and pages in this process; if several processes share an address, each names itself."""

    def __init__(self, one_of_several: bool = False) -> None:
        self._process = f',process="{os.getpid()}"' if one_of_several else ""
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Note an answer."""
        self._requests[operation, status] += 1
        self._seconds[operation] += seconds
        self._buckets[operation][bisect_left(_BOUNDS, seconds)] += 1

    def text(self, health: Health) -> str:
        """Return all metrics as text, with the health of the router."""
        router = _quote(health.name) + self._process
        lines = ["# TYPE pagekin_requests_total counter"]
        for (operation, status), count in sorted(self._requests.items()):
            lines.append(f'pagekin_requests_total{{router={router},operation="{operation}",status="{status}"}} {count}')
        lines.append("# TYPE pagekin_request_seconds histogram")
        for operation, buckets in sorted(self._buckets.items()):
            labels = f'router={router},operation="{operation}"'
            total = 0
            for bound, count in zip((*_BOUNDS, "+Inf"), buckets, strict=True):
                total += count
                lines.append(f'pagekin_request_seconds_bucket{{{labels},le="{bound}"}} {total}')
            lines.append(f"pagekin_request_seconds_sum{{{labels}}} {self._seconds[operation]:.6f}")
            lines.append(f"pagekin_request_seconds_count{{{labels}}} {total}")
        for name, value in (
            ("pagekin_ready", int(health.ready)), ("pagekin_error", int(bool(health.error))),
            ("pagekin_documents", health.documents), ("pagekin_label_bytes", health.label_bytes),
            ("pagekin_uptime_seconds", round(health.uptime, 3)),
        ):  # fmt: skip
            lines += [f"# TYPE {name} gauge", f"{name}{{router={router}}} {value}"]
        for name, field in (("pagekin_child_up", "up"), ("pagekin_child_failures_total", "failures")):
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# TYPE {name} {kind}"] if health.children else []
            for child in health.children:
                lines.append(f"{name}{{router={router},child={_quote(child.name)}}} {int(getattr(child, field))}")
        return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
