"""Ask services what their cassettes say, and compare what they answer.

Each call is made once, for real, with the key from the environment. Its answer is
compared with the cassette field by field, and takes its place if the service's terms
allow that, if it is what the cassette is about, and if it replays. A cassette is
replaced whole or not at all, and none contains a key.
"""

from __future__ import annotations
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import yaml

from tests.cassettes import live, shape
from tests.cassettes import tape as tapes
from tests.cassettes.allowance import Allowance
from tests.cassettes.exchange import Exchanges, Text, move, replay, send
from tests.cassettes.keys import Keys
from websearch_core import SearchResponse, WebSearchError
from websearch_core._cli.outputs import replacing
from websearch_core._runtime.clock import now
from websearch_core.errors import ConfigurationError, MissingKey, ServiceError
from websearch_core.providers import known

Verdict = Literal["as documented", "differs", "refused", "not seen", "not asked"]
MAX_SIZE = 40_000  # bytes: a cassette is reviewed
CHECKED = "checked.json"
_REFUSALS = {
    "authentication_failed": "wrong key",
    "blocked": "it takes us for a bot",
    "budget_exceeded": "the limit",
    "missing_key": "no key",
    "quota_exhausted": "quota",
    "rate_limited": "too fast",
    "timed_out": "slow",
    "unavailable": "unreachable",
}


class CannotWrite(Exception):
    """A file could not be written; what was there is still there."""


NONE = shape.Differences([], [], [])


class Answer(NamedTuple):
    """What a service answered to the call of a cassette."""

    call: tapes.Tape  # as it was made, with the invented key of the cassette
    outcome: tapes.Outcome
    exchanges: Exchanges

    @property
    def error(self) -> WebSearchError | None:
        """What the call ended with."""
        if isinstance(self.outcome, WebSearchError):
            return self.outcome
        return None


@dataclass(frozen=True)
class Observation:
    """What came of the call of a cassette.

    Args:
        cassette: Its name: ``tavily/search``.
        verdict: What it means for the cassette.
        reason: Why it was refused, or what is odd.
        differences: The fields that are not as on the cassette.
        result: What became of the cassette: ``recorded``, or why not.
        error: What the call ended with.
    """

    cassette: str
    verdict: Verdict
    reason: str = ""
    differences: shape.Differences = NONE
    result: str = ""
    error: WebSearchError | None = None


class Recorder:
    """Asks services, within an allowance.

    Args:
        allowance: What may be spent.
        keys: What may not be written.
        writes: Whether to replace cassettes.
        source: A name for the service, where its host name is not enough.
    """

    def __init__(
        self, allowance: Allowance, keys: Keys, *, writes: bool, source: str = ""
    ) -> None:
        self._allowance = allowance
        self._keys = keys
        self._writes = writes
        self._source = source

    def meet(self, paths: Sequence[Path]) -> Iterator[Observation]:
        """Make the calls of the cassettes of one service, until it refuses one.

        Raises:
            CannotWrite: A cassette could not be written.
        """
        is_refused = False
        names: set[str] = set()
        for path in paths:
            name = tapes.name_of(path)
            if is_refused:
                if name not in names:  # a refusal may be what it is about
                    yield Observation(name, "not asked")
                continue
            for observation in self.observe(path):
                is_refused = is_refused or observation.verdict == "refused"
                names.add(observation.cassette)
                yield observation

    def observe(self, path: Path) -> Iterator[Observation]:
        """Make the call of the cassette at *path*, and compare the answer with it, and
        with the cassette of the error that it may be.
        """
        tape = tapes.load(path)
        name = tapes.name_of(path)
        answer = self._ask(name, tape, path.stem)
        reason = find_refusal(answer.outcome, tape["expect"].get("error"))
        if not reason:
            yield self._compare(path, tape, answer)
            return
        yield Observation(name, "refused", reason, error=answer.error)
        scenario = live.BY_ERROR.get(str(find_code(answer.outcome)))
        if scenario is None:
            return
        other = path.with_name(f"{scenario}.yaml")
        if other != path and other.exists():
            yield self._compare(other, tapes.load(other), answer)

    def note(self, name: str) -> str:
        """Note that a service was checked today, or return why not.

        Raises:
            CannotWrite: The file could not be written.
        """
        dates = {**read_dates(), name: f"{now():%Y-%m-%d}"}
        for service in dates.keys() - set(known()):  # those that are gone
            del dates[service]
        text = json.dumps(dates, indent=2, sort_keys=True)
        if self._keys.are_in(text):
            return f"{name}: its day is not noted: the file would contain a key"
        write(tapes.FOLDER / CHECKED, f"{text}\n".encode())
        return ""

    def _ask(self, name: str, tape: tapes.Tape, scenario: str) -> Answer:
        call = live.prepare(tape, scenario)
        limits = self._allowance.arguments(is_free=scenario == "wrong_key")
        with self._allowance.charge():
            outcome, exchanges = send(call, self._keys, **limits)
        places = live.find_places(name.partition("/")[0], tape)
        return Answer({**call, "web": tape["web"]}, outcome, move(exchanges, places))

    def _compare(self, path: Path, tape: tapes.Tape, answer: Answer) -> Observation:
        oddity = find_oddity(path.stem, tape["expect"], answer.outcome)
        differences = shape.compare(
            shape.shape_of_exchanges(tape["interactions"]),
            shape.shape_of_exchanges(answer.exchanges),
        )
        observation = Observation(
            tapes.name_of(path), "differs", oddity, differences, error=answer.error
        )
        if not answer.exchanges:
            return replace(observation, verdict="not seen", reason="nothing was sent")
        if path.stem == "nothing" and oddity:
            return replace(observation, verdict="not seen", differences=NONE)
        if oddity:
            result = "not recorded: it is not what the cassette is about"
            return replace(observation, result=result)
        if not any(differences):
            return replace(observation, verdict="as documented")
        return replace(observation, result=self._keep(path, answer))

    def _keep(self, path: Path, answer: Answer) -> str:
        """Replace the cassette at *path*, or return why not."""
        if not self._writes:
            return "only compared"
        name = tapes.name_of(path)
        forbidden = tapes.why_not_recorded(name)
        if forbidden:
            return f"not recorded: {forbidden}"
        tape: tapes.Tape = self._keys.remove(
            {**answer.call, "version": 1, "interactions": answer.exchanges}
        )
        try:
            with live.without_places(name.partition("/")[0]):
                outcome = replay(tape)
        except Exception as error:  # such as those of vcrpy
            return f"not recorded: it does not replay: {type(error).__name__}"
        if _summarize(outcome) != _summarize(answer.outcome):
            return "not recorded: it replays as something else"
        tape["expect"] = self._keys.remove(_facts(outcome))
        data = self._dump(tape)
        if self._keys.are_in(data.decode()):
            return "not recorded: the exchange contains a key"
        if len(data) >= MAX_SIZE:
            return f"not recorded: {len(data):,} bytes are too many to review"
        write(path, data)
        return "recorded"

    def _dump(self, tape: tapes.Tape) -> bytes:
        host = urlsplit(tape["interactions"][0]["request"]["uri"]).netloc
        head = f"# recorded {now():%Y-%m-%d} from {self._source or host}\n"
        verb = tapes.role(tape)
        names = ("web", verb, "expect", "version", "interactions")
        ordered = {name: tape[name] for name in names}
        text = yaml.safe_dump(ordered, allow_unicode=True, sort_keys=False, width=110)
        return f"{head}{text}".encode()


def find_code(outcome: tapes.Outcome) -> str | None:
    """Return the code of the error that *outcome* is, if it is one."""
    return getattr(outcome, "code", None)


def find_refusal(outcome: tapes.Outcome, expected: str | None) -> str:
    """Return why nothing is known of a service after a call; empty if something is."""
    if not isinstance(outcome, WebSearchError):
        return ""
    if isinstance(outcome, ConfigurationError) and not isinstance(outcome, MissingKey):
        return f"settings: {outcome}"
    concerns_page = isinstance(outcome, ServiceError) and outcome.concerns_page
    if concerns_page or outcome.code not in _REFUSALS:
        return ""
    status = getattr(outcome, "status", None)
    if outcome.code == "unavailable":
        if status is None:
            return _REFUSALS["unavailable"]
        return "" if expected == outcome.code else f"down ({status})"
    if outcome.code == expected:
        return ""
    return _REFUSALS[outcome.code]


def find_oddity(scenario: str, expected: Any, outcome: tapes.Outcome) -> str:
    """Return how a call ended otherwise than its cassette expects; empty if not."""
    code = find_code(outcome)
    error = expected.get("error")
    if code is not None and code != error:
        return f"the call fails: {outcome}"
    if code != error:
        return f"it succeeds, and {error} was expected"
    if not isinstance(outcome, SearchResponse):
        return ""
    if scenario == "nothing" and outcome.results:
        return "it finds something even for words that no page has"
    wants_results = scenario != "nothing" and expected.get("results") != []
    if wants_results and not outcome.results:
        return "nothing is found"
    return ""


def write(path: Path, data: bytes) -> None:
    """Replace the file at *path*, whole or not at all.

    Raises:
        CannotWrite: It could not be written.
    """
    try:
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CannotWrite(f"{path.name}: {reason}") from error


def read_dates() -> dict[str, str]:
    """Return on which day each service was last checked."""
    path = tapes.FOLDER / CHECKED
    if not path.exists():
        return {}
    dates: dict[str, str] = json.loads(path.read_text("utf-8"))
    return dates


def _facts(outcome: tapes.Outcome) -> dict[str, Any]:
    data = tapes.facts(outcome)
    if isinstance(outcome, WebSearchError):
        return data
    if "results" not in data:
        names = "provider final_url title language media_type content_length truncated"
        facts = {name: data[name] for name in names.split()}
        return {**facts, "content": Text(data["content"])}
    results = [_result_facts(result) for result in data["results"]]
    return {
        "provider": data["provider"],
        "results": results,
        "answer": data["answer"],
        "notes": list(data["notes"]),
    }


def _result_facts(result: dict[str, Any]) -> dict[str, Any]:
    # the day that ``2 hours ago`` means differs with each replay
    date = "published_text" if result["published_text"] else "published"
    names = ("title", "url", "snippet", date)
    return {name: result[name] for name in names}


def _summarize(outcome: tapes.Outcome) -> tuple[str | None, list[str]]:
    """Return what has to be the same when a call is replayed."""
    if isinstance(outcome, SearchResponse):
        return None, [result.url for result in outcome.results]
    return find_code(outcome), []
