"""
Fuzz for as long as wanted: ``python tests/fuzz/run.py [--seconds 300] [target ...]``, each target in its own process.

Guided by coverage where atheris is installed, else by chance: words and pages, mutated. Prints for each target how many
inputs were tried, and ends with an error at the first that breaks a promise, after writing it to ``crash-<target>``.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PAGES = Path(__file__).parents[3] / "shared" / "corpora" / "reading" / "mozilla"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_args()
    guided = importlib.util.find_spec("atheris") is not None
    if arguments.here:
        (name,) = arguments.targets
        (_guided if guided else _by_chance)(name, arguments.seconds)
        return 0
    failed = []
    for name in arguments.targets or _names():
        command = [sys.executable, __file__, "--here", "--seconds", str(arguments.seconds), name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        count = re.search(r"number_of_executed_units: *(\d+)", done.stdout)
        how = "guided by coverage" if guided else "by chance"
        print(
            f"{name}: {int(count[1]) if count else 0:,} inputs, {how}, {'ok' if not done.returncode else 'FAILED'}",
            flush=True,
        )
        if done.returncode:
            failed.append(name)
            print(done.stdout[-4000:])
    return len(failed)


def _names() -> list[str]:
    from targets import TARGETS

    return list(TARGETS)


def _guided(name: str, seconds: float) -> None:
    import atheris

    with atheris.instrument_imports(include=["websearch_core"]):
        from targets import TARGETS

    target = TARGETS[name]
    words = Path(tempfile.mkdtemp()) / "words"  # for the one life of this process: atheris does not return
    words.write_text(
        "\n".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"' for word in dict.fromkeys(target.words)) + "\n"
    )
    options = [
        f"-max_total_time={seconds:.0f}",
        "-print_final_stats=1",
        "-max_len=2000",
        "-timeout=60",
        "-rss_limit_mb=4000",
    ]
    atheris.Setup([sys.argv[0], *options, f"-dict={words}", f"-artifact_prefix=crash-{name}-"], target.check)
    atheris.Fuzz()


def _by_chance(name: str, seconds: float) -> None:
    from targets import TARGETS

    target = TARGETS[name]
    chance = random.Random(f"{name}{seconds}")
    seeds = [page.read_bytes() for page in sorted(PAGES.rglob("*.html"))[:40]] if name == "read" else []
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        count += 1
        data = _mutated(chance, target.words, seeds)
        try:
            target.check(data)
        except Exception:
            Path(f"crash-{name}").write_bytes(data)
            print(f"number_of_executed_units: {count}")
            raise
    print(f"number_of_executed_units: {count}")


def _mutated(chance: random.Random, words: Sequence[bytes], seeds: Sequence[bytes]) -> bytes:
    if seeds and chance.random() < 0.2:
        page = chance.choice(seeds)
        begin = chance.randrange(len(page))
        data = bytearray(b"\1" + page[begin : begin + chance.randrange(1, 4000)])
    else:
        data = bytearray(b"".join(chance.choices(words, k=chance.randrange(1, 12))))
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[place:place] = chance.choice(words)
            case 1:
                data[place:place] = chance.randbytes(chance.randrange(1, 4))
            case 2:
                del data[place : place + chance.randrange(1, 8)]
            case _:
                data[place : place + 1] = bytes([chance.randrange(256)])
    return bytes(data)


if __name__ == "__main__":
    sys.exit(main())
