"""Read a list of URLs with `iter_read`, or in other ways of ours: one row of JSON for
each page, as `peers` does.

python -m benchmarks.bulk.ours NAME LIST OUTPUT
"""

from __future__ import annotations
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.bulk.peers import begin, extract_in_two
from training.corpus import CONTENT_TYPE
from websearch_core import Page, WebSearch
from websearch_core.reading import read_bytes

_INTERNAL = ["127.0.0.0/8"]


def start_readers(count: int = 2) -> None:
    """Start the processes that parse, which other lists here have ready, too, before
    the time begins.
    """
    with ThreadPoolExecutor(count) as pool:
        parse = partial(
            read_bytes,
            b"<p>Kelp</p>",
            "https://sea.example/",
            CONTENT_TYPE,
            isolate=True,
            processes=count,
        )
        for reading in [pool.submit(parse) for _ in range(count)]:
            reading.result()


def write_row(file: Any, url: str, answer: object) -> None:
    """Write a row."""
    row = (
        {"text": answer.content}
        if isinstance(answer, Page)
        else {"text": "", "error": str(answer)}
    )
    file.write(json.dumps({"url": url, **row}, ensure_ascii=False) + "\n")


def read_list(
    urls: list[str], output: Path, concurrency: int = 32, timeout: float | None = None
) -> None:
    """Read a list."""
    options: Any = {"timeout": timeout} if timeout else {}
    with (
        output.open("w", encoding="utf-8") as file,
        WebSearch(internal=_INTERNAL, **options) as web,
    ):
        start_readers()
        begin()
        for url, page in web.iter_read(
            urls, concurrency=concurrency, max_length=sys.maxsize
        ):
            write_row(file, url, page)


def parse_alone(urls: list[str], output: Path) -> None:
    """Read files, without a network."""
    pages = [(url, Path(url).read_bytes()) for url in urls]
    read_bytes(b"<p>Kelp</p>", "https://sea.example/", CONTENT_TYPE)  # imports the rest
    begin()
    extract_in_two(
        pages,
        lambda data: read_bytes(data, "https://sea.example/", CONTENT_TYPE).content,
        output,
    )


def read_with_ray(urls: list[str], output: Path) -> None:
    """Read the list with two actors of Ray on this machine, which has them ready before
    the time begins.
    """
    ray, data = import_module("ray"), import_module("ray.data")
    from websearch_core.ray import ReadPages, partition_by_host

    ray.init(
        num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False
    )
    data.DataContext.get_current().enable_progress_bars = False

    def read(rows: list[dict[str, str]]) -> list[dict[str, Any]]:
        pages = partition_by_host(data.from_items(rows), 16).map_batches(
            ReadPages,
            fn_constructor_kwargs={"internal": _INTERNAL, "concurrency": 16},
            compute=data.ActorPoolStrategy(min_size=2, max_size=2),
            num_cpus=0.5,
            batch_size=256,
        )
        return pages.take_all()  # type: ignore[no-any-return]

    begin()
    with output.open("w", encoding="utf-8") as file:
        for row in read([{"url": url} for url in urls]):
            write_row(
                file,
                row["url"],
                Page(url=row["url"], content=row["content"])
                if row["content"]
                else row["code"],
            )
    ray.shutdown()


OURS: dict[str, Callable[[list[str], Path], None]] = {
    "iter_read": read_list,
    "iter_read, 200 at a time": partial(read_list, concurrency=200),
    "iter_read, 5 s": partial(read_list, timeout=5),
    "iter_read, 64 at a time, 5 s": partial(read_list, concurrency=64, timeout=5),
    "parsing alone": parse_alone,
    "ReadPages": read_with_ray,
}

if __name__ == "__main__":
    OURS[sys.argv[1]](
        Path(sys.argv[2]).read_text("utf-8").splitlines(), Path(sys.argv[3])
    )
    sys.stdout.flush()
    os._exit(0) if sys.argv[1] == "ReadPages" else None
