"""docs/providers.md, and the names of providers in the pages of both wrappers: from the
providers themselves.
"""

from __future__ import annotations
import inspect
import json
import re
import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from websearch_core.errors import MissingKey
from websearch_core.models import _ALWAYS_SUPPORTED, SearchQuery
from websearch_core.provider import Limits, Service
from websearch_core.provider._declare import (
    Destination,
    ProjectFile,
    construct,
    environment,
    field_notes,
    is_secret,
)
from websearch_core.provider._ports import Role, can
from websearch_core.providers import known, provider_class

from .docstrings import read_args, read_defaults
from .markdown import as_markdown, make_table

_SECTIONS = """\
## The services one by one

What is special about each, and its own options: with a default, with the variables that set it, and with what it does.
Besides those named, `NAME_BASE_URL` sets the `base_url` of the provider called name. [Reading](reading.md) says how `direct`
reads, [A browser](browser.md) how to get one.

Of a settings file that was merely [found](settings.md#which-files-are-read), only this counts: a key as text, an address
(https or on this machine, and where the service has a key, only together with it), and what is marked †; a number up to its
default, if it has one."""
_OPTIONS = (
    "✓ is a parameter of the service. *Emulated* options have none: domains are "
    "`site:` in the query, and results "
    "outside them are left out; a later page takes the requests for the earlier ones. "
    "What has no mark is refused. `max_snippet_chars` works with all of them. If a "
    "service takes either allowed or blocked domains, and a query has both, the "
    "blocked ones are left out here."
)
_PLACES = """\
## The three places of an option

**A field of the query**, in words that all services share: the columns above. It belongs to a call, or to every search.

```python
from websearch_core import WebSearch

web = WebSearch("tavily", search_options={"country": "DE"})
web.search("tide tables", after="2026-01-01")
```

**An option of one provider**, in the words of its service, in Python or under `[providers.tavily]` in a settings file.

```python
from websearch_core import WebSearch
from websearch_core.providers import Tavily

web = WebSearch(Tavily(search_depth="advanced"))
```

**A parameter of the service that has no word here** goes into `extra`, as the service's API spells it, in a call or in
`search_options`; some are listed below. What it sets in an object, or adds to a list, leaves the rest as it is, so a
filter of the query stays; any other value replaces ours, and `None` changes nothing. With several providers, it says which
parameters are whose. Reading a page has no `extra`.

```python
from websearch_core import WebSearch

web = WebSearch(["tavily", "exa"])
web.search(
    "tide tables",
    extra={"tavily": {"max_age_hours": 24}, "exa": {"objective": "plan a trip"}},
)
```"""
# Options that share a column: nearly every service has both or none.
_PAIRS: list[tuple[str, ...]] = [
    ("allowed_domains", "blocked_domains"),
    ("after", "before"),
]
# Some parameters of services have no word here. These change what a search returns.
_IN_EXTRA = {
    "brave": "spellcheck result_filter ui_lang units",
    "exa": "objective systemPrompt outputSchema additionalQueries includeText "
    "excludeText contents.subpages",
    "firecrawl": "highlights scrapeOptions timeout enterprise",
    "kagi": "lens_id",
    "linkup": "outputType structuredOutputSchema includeSources includeInlineCitations",
    "parallel": "search_queries session_id advanced_settings.excerpt_settings "
    "advanced_settings.fetch_policy",
    "perplexity": "search_context_size search_type last_updated_after_filter "
    "last_updated_before_filter",
    "searxng": "categories",
    "serpapi": "device",
    "serper": "location autocorrect",
    "tavily": "include_domains_mode max_age_hours fetch_timeout cache_fallback",
    "you": "crawl_timeout extraction",
}
# On which day our adapter last had an answer of the service itself: written by
# `make first-contact`.
_CHECKED = Path(__file__).resolve().parents[2] / "cassettes" / "checked.json"
_ADDRESS = "Where the API is."  # said once, above all
_SIGNUP = re.compile(r"^From https?://\S+\.(?: |$)")
# key of the limits: unit
_LENGTHS = {"query_length": "characters", "query_words": "words"}


def write_page() -> str:
    """Return what docs/providers.md should say."""
    classes = {name: provider_class(name) for name in known()}
    head = [
        "# Providers",
        "Written by `make docs` from the providers themselves.",
        _write_overview(),
        _write_dates(),
        _query_options(classes),
        _OPTIONS,
    ]
    head += [_PLACES, _SECTIONS]
    return (
        "\n\n".join(head + [_section(name, cls) for name, cls in classes.items()])
        + "\n"
    )


def _write_overview() -> str:
    """Return a table: what each provider does, what it is, what it needs, and what it
    costs.
    """
    rows = []
    for name in known():
        cls = provider_class(name)
        roles: tuple[Role, ...] = ("search", "read")
        does = ", ".join(role for role in roles if can(cls, role))
        about: Service = getattr(cls, "about", Service())
        needs = _needs(name, cls)
        needs = f"[{needs}]({about.signup_url})" if about.signup_url else needs
        rows.append(
            [
                f"[`{name}`](#{name})",
                does,
                _summary(cls),
                needs,
                about.free_allowance or "",
                _price(about),
            ]
        )
    return make_table(["", "does", "", "key", "free", "price (both as of)"], rows)


def _price(about: Service) -> str:
    as_of = f"({about.as_of})" if about.as_of else ""
    return " ".join(filter(None, [about.price, as_of]))


def _write_dates() -> str:
    """Say which services have answered us themselves, and when they last did."""
    dates = json.loads(_CHECKED.read_text("utf-8"))
    checked = [f"`{name}` on {dates[name]}" for name in sorted(dates)]
    return (
        f"Checked against the service itself: {', '.join(checked)}. The adapters of the "
        "other services are written from their documentation and SDKs."
    )


def write_names() -> str:
    """Return the names of all services, for the pages of the packages that wrap
    them.
    """
    roles: dict[str, Role] = {"Searches with": "search", "Reads pages with": "read"}
    able = {
        verb: [f"`{name}`" for name in known() if can(provider_class(name), role)]
        for verb, role in roles.items()
    }
    return "\n\n".join(
        f"**{verb}** {', '.join(names)}." for verb, names in able.items()
    )


def label(name: str) -> str:
    """Return how a service is called in texts."""
    return str(getattr(provider_class(name), "label", name))


def _summary(cls: type[Any]) -> str:
    """Return the first paragraph of the provider's file, without the name at its
    beginning.
    """
    about = as_markdown(_about(cls).partition("\n\n")[0]).removesuffix(".")
    return about.partition(": ")[2] or about


def _needs(name: str, cls: type[Any]) -> str:
    """Return the variable that a provider cannot do without, or that it has a use
    for.
    """
    try:
        construct(cls, name, {})
    except MissingKey as error:
        return f"`{error.variables[0]}`"
    keys = environment(cls).get("api_key")
    return f"no key; `{keys[0]}` for more" if keys else "no key"


def _query_options(classes: dict[str, type[Any]]) -> str:
    """Which provider supports which field of a query, and how."""
    searching: dict[str, Any] = {
        name: cls for name, cls in classes.items() if can(cls, "search")
    }
    options = [
        option for option in SearchQuery.model_fields if option not in _ALWAYS_SUPPORTED
    ]
    columns = [pair for pair in _PAIRS if set(pair) <= set(options)]
    paired = {option for pair in columns for option in pair}
    columns += [(option,) for option in options if option not in paired]
    rows = [
        [
            f"[`{name}`](#{name})",
            _results(cls),
            *(_support_all(cls, column) for column in columns),
        ]
        for name, cls in searching.items()
    ]
    heads = [", ".join(f"`{option}`" for option in column) for column in columns]
    return make_table(["", "`limit`", *heads], rows, "ll" + "c" * len(columns))


def _support_all(cls: type[Any], options: tuple[str, ...]) -> str:
    """Say how a provider supports options that share a column."""
    support = {option: _support(cls, option) for option in options}
    if len(set(support.values())) == 1:
        return support[options[0]]
    return ", ".join(f"{mark} `{option}`" for option, mark in support.items() if mark)


def _results(cls: type[Any]) -> str:
    """How many results there are: of one request, and of one query."""
    limits: Limits = getattr(cls, "limits", Limits())
    one, most = limits.get("results_per_request"), limits.get("results")
    if most is not None and one is not None and one < most:
        return f"{most:,}, {one} a request"
    if most is not None:
        return f"{most:,}"
    return (
        f"any, {one} a request"
        if one is not None
        else "any" + ", by more requests" * _is_emulated(cls, "limit")
    )


def _support(cls: type[Any], option: str) -> str:
    if option not in _names(cls, "options"):
        return ""
    if option == "topic":
        return ", ".join(sorted(_names(cls, "topics") or {"news"}))
    return "emulated" if _is_emulated(cls, option) else "✓"


def _is_emulated(cls: type[Any], option: str) -> bool:
    return option in _names(cls, "emulated")


def _names(cls: type[Any], attribute: str) -> AbstractSet[str]:
    """The names in an attribute; another author's class may have a property, which only
    instances know.
    """
    names: Any = getattr(cls, attribute, frozenset())
    return names if isinstance(names, AbstractSet) else frozenset()


def _section(name: str, cls: type[Any]) -> str:
    facts = _facts(name, cls)
    parts = [f"## {name}", _peculiarities(cls), facts, _options(name, cls)]
    return "\n\n".join(filter(None, parts))


def _peculiarities(cls: type[Any]) -> str:
    """Return the page of a provider without its first paragraph, which is in the
    overview, but with its name.
    """
    first, _, rest = _about(cls).partition("\n\n")
    called = first.partition(": ")[0]
    if called == first:
        return rest
    return f"**{called}.** {rest}".rstrip()


def _facts(name: str, cls: type[Any]) -> str:
    """What the service says about itself, besides what is in the overview."""
    about: Service = getattr(cls, "about", Service())
    limits: Mapping[str, int] = getattr(cls, "limits", {})
    longest = [
        f"{limits[key]} {unit}" for key, unit in _LENGTHS.items() if key in limits
    ]
    facts = {
        "API": ", ".join(f"<{url}>" for url in about.api_urls),
        "Terms": about.terms,
        "Longest query": " and ".join(longest),
        "In `extra`": ", ".join(f"`{one}`" for one in _IN_EXTRA.get(name, "").split()),
    }
    return "\n".join(
        f"{label}: {fact}  " for label, fact in facts.items() if fact
    ).rstrip()


def _about(cls: type[Any]) -> str:
    return inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "").replace(
        "``", "`"
    )


def _options(provider: str, cls: type[Any]) -> str:
    meanings, variables, notes = read_args(cls), environment(cls), field_notes(cls)
    lines = []
    for name, default in read_defaults(cls).items():
        value = f" = {default}" if default and default != "required" else ""
        facts = [default] if default == "required" else []
        facts += [
            f"`{variable}`"
            for variable in variables.get(name, ())
            if variable != f"{provider.upper()}_BASE_URL"
        ]
        named = f" ({', '.join(facts)})" if facts else ""
        meaning = _meaning(name, meanings.get(name, ""))
        mark = _mark_project_file(name, default, notes.get(name, ()))
        text = " ".join(filter(None, [meaning, mark]))
        lines.append(f"- `{name}`{value}{named}: {text}".removesuffix(": "))
    return "\n".join(lines)


def _meaning(name: str, meaning: str) -> str:
    """Return what an option does, if the page does not say it above for all."""
    if meaning == _ADDRESS:
        return ""
    if name == "api_key":
        return _SIGNUP.sub("", meaning)  # the overview links to that place
    return meaning


def _mark_project_file(name: str, default: str, notes: tuple[Any, ...]) -> str:
    """Return what a settings file that was merely found may set, if the page does not
    say it for all keys and addresses.
    """
    note = next((note for note in notes if isinstance(note, ProjectFile)), None)
    is_key = name == "api_key" and is_secret(notes)
    is_address = any(isinstance(note, Destination) for note in notes)
    if is_key or is_address:
        return "" if note else "*Not in a project file.*"
    if note is None:
        return ""
    if note.at_most is None or f"`{note.at_most}`" == default:
        return "†"
    return f"† up to {note.at_most:,}"
