"""Fuzz for as long as you like: ``python tests/fuzz/run.py [--seconds 60] [target
...]``, each target in its own process.

Guided by coverage if atheris is installed, else with random mutations of words and
pages. The target ``properties`` runs all property tests of the other folders with new
examples. Prints how many inputs were tried for each target.

Inputs that fail are kept: those of a target in ``found/<target>/``, from where
`test_fuzz.py` replays them, and those of a property test as an ``@example`` above it.
"""

from __future__ import annotations
import argparse
import contextlib
import hashlib
import importlib.util
import mmap
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOUND = HERE / "found"
PAGES = ROOT.parent / "shared" / "corpora" / "reading" / "mozilla"
PROPERTIES = "properties"

_MAX_SIZE = 100_000  # bytes of an input
_TIMEOUT = 120  # seconds for an input


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    # The file in which a child process notes its input.
    parser.add_argument("--under-test", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "targets",
        nargs="*",
        help=f"{', '.join(_names())} or {PROPERTIES}; by default all of them",
    )
    arguments = parser.parse_args()
    if arguments.under_test:
        (name,) = arguments.targets
        (_fuzz_by_coverage if _is_guided() else _fuzz_by_chance)(
            name, arguments.seconds, arguments.under_test
        )
        return 0
    failed = 0
    for name in arguments.targets or [*_names(), PROPERTIES]:
        failed += not (_run_properties if name == PROPERTIES else _run_target)(
            name, arguments.seconds
        )
    return failed


def _names() -> list[str]:
    from targets import TARGETS

    return list(TARGETS)


def _is_guided() -> bool:
    return importlib.util.find_spec("atheris") is not None


def _run_target(name: str, seconds: float) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        under_test = Path(folder, "input")
        under_test.write_bytes(bytes(_MAX_SIZE))
        command = [
            sys.executable,
            __file__,
            "--seconds",
            str(seconds),
            "--under-test",
            str(under_test),
            name,
        ]
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
                timeout=seconds + _TIMEOUT,
            )
            code, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            code, output = 1, f"an input took more than {_TIMEOUT} s"
        # the process died before it could keep the input
        if code and not _is_guided() and "kept in" not in output:
            output += f"\nkept in {_keep(name, _read_input(under_test))}"
    count = re.search(r"number_of_executed_units: *(\d+)", output)
    how = "guided by coverage" if _is_guided() else "by chance"
    print(
        f"{name}: {int(count[1]) if count else 0:,} inputs, {how}, {'FAILED' if code else 'ok'}",
        flush=True,
    )
    if code:
        print(output[-4000:])
    return not code


def _fuzz_by_coverage(name: str, seconds: float, _: Path) -> None:
    import atheris

    with atheris.instrument_imports(include=["websearch_core"]):
        from targets import TARGETS

    target = TARGETS[name]
    # not removed, since atheris never returns
    words = Path(tempfile.mkdtemp()) / "words"
    words.write_text(
        "\n".join(
            '"' + "".join(f"\\x{byte:02x}" for byte in word) + '"'
            for word in dict.fromkeys(target.words)
        )
        + "\n"
    )
    (FOUND / name).mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds:.0f}",
        "-print_final_stats=1",
        "-max_len=2000",
        "-timeout=60",
        "-rss_limit_mb=4000",
        f"-artifact_prefix={FOUND / name}/",
    ]
    atheris.Setup([sys.argv[0], *options, f"-dict={words}"], target.check)
    atheris.Fuzz()


def _fuzz_by_chance(name: str, seconds: float, under_test: Path) -> None:
    from targets import TARGETS

    target = TARGETS[name]
    chance = random.Random()
    seeds = (
        [page.read_bytes() for page in sorted(PAGES.rglob("*.html"))[:40]]
        if name == "read"
        else []
    )
    end = time.monotonic() + seconds
    count = 0
    with under_test.open("r+b") as file, mmap.mmap(file.fileno(), _MAX_SIZE) as note:
        while time.monotonic() < end:
            count += 1
            data = _mutate(chance, target.words, seeds)[: _MAX_SIZE - 4]
            note[: len(data) + 4] = len(data).to_bytes(4, "big") + data
            try:
                target.check(data)
            except Exception as error:
                print(
                    f"kept in {_keep(name, _minimize(data, target.check, type(error)))}"
                )
                print(f"number_of_executed_units: {count}")
                raise
    print(f"number_of_executed_units: {count}")


def _read_input(under_test: Path) -> bytes:
    """Return the input that was being tried when the process died."""
    note = under_test.read_bytes()
    return note[4 : 4 + int.from_bytes(note[:4], "big")]


def _keep(name: str, data: bytes) -> Path:
    place = FOUND / name / hashlib.sha256(data).hexdigest()[:12]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def _minimize(
    data: bytes,
    check: Callable[[bytes], None],
    kind: type[Exception],
    seconds: float = 20,
) -> bytes:
    """Remove smaller and smaller pieces of *data* as long as it still fails in the same
    way.
    """
    end = time.monotonic() + seconds
    size = len(data) // 2
    while size and time.monotonic() < end:
        for begin in range(0, len(data), size):
            less = data[:begin] + data[begin + size :]
            try:
                with contextlib.redirect_stdout(None):
                    check(less)
            except kind:
                data = less
                break
            except Exception:  # a different failure
                continue
        else:
            size //= 2
    return data


def _mutate(
    chance: random.Random, words: Sequence[bytes], seeds: Sequence[bytes]
) -> bytes:
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


def _run_properties(name: str, seconds: float) -> bool:
    """Repeat the property tests until the time is up or one fails."""
    end = time.monotonic() + seconds
    rounds = 0
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "hypothesis",
        "--hypothesis-profile=fuzz",
    ]
    while True:
        rounds += 1
        done = subprocess.run(
            [*command, "--ignore", str(HERE)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            break
        if time.monotonic() >= end:
            print(f"{name}: {rounds} rounds with new examples, ok", flush=True)
            return True
    print(f"{name}: FAILED in round {rounds}\n{done.stdout[-12_000:]}", flush=True)
    if patch := re.search(r"git apply (\S+\.patch)", done.stdout):
        applied = subprocess.run(["git", "apply", patch[1]], cwd=ROOT, check=False)
        print(
            f"keep it: git apply {patch[1]}"
            if applied.returncode
            else "kept as @example above the test: import it"
        )
    return False


if __name__ == "__main__":
    sys.exit(main())
