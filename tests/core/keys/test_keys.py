"""Keys: their sources, and that no repr, message or pickle contains them."""

from __future__ import annotations
import asyncio
import copy
import functools
import importlib.machinery
import json
import pickle
import sys
import threading
import traceback
import types
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import SecretStr, TypeAdapter

from websearch_core import SearchQuery, WebSearch
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import AuthenticationError, ConfigurationError, MissingKey
from websearch_core.keys import ApiKey, _keys, pickle_keys
from websearch_core.keys._keys import keyrings
from websearch_core.layers import leaves
from websearch_core.provider._declare import provider
from websearch_core.providers.brave import Brave
from websearch_core.providers.tavily import Tavily
from websearch_core.settings import Settings
from websearch_core.settings._sources import user_file
from websearch_core.testing import play, reply

KEY = "SECRET-of-a-test"


def sent(provider):
    """Return the key that a request made now would carry."""
    return next(provider.search(SearchQuery.of("kelp"))).headers["X-Subscription-Token"]


def leaf(web):
    return leaves(web.provider)[0]


def key_of_a_module():
    return KEY


async def no_key():
    return KEY


def secretly_async():
    return no_key()


@pytest.fixture
def keyring(monkeypatch):
    """A keyring of the system with one key."""

    class KeyringError(Exception):
        pass

    module, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    kept = {("websearch", "brave"): KEY}
    module.get_password = lambda service, name: kept.get((service, name))
    module.__spec__ = importlib.machinery.ModuleSpec("keyring", None)
    module.kept, errors.KeyringError = kept, KeyringError
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    module.errors = errors
    keyrings.start_over()
    yield module
    keyrings.start_over()


# Where they come from


def test_a_function_gives_the_key_at_the_time_of_each_request():
    keys = iter(["first", "second", SecretStr("third")])
    web = WebSearch("brave", api_key=lambda: next(keys))

    assert [sent(leaf(web)) for _ in range(3)] == ["first", "second", "third"]


def test_a_function_may_stand_in_the_options_of_a_provider():
    web = WebSearch(
        "brave",
        settings=Settings.load(providers={"brave": {"api_key": key_of_a_module}}),
    )
    assert sent(leaf(web)) == KEY


class AsyncCallable:
    async def __call__(self):
        return KEY


@pytest.mark.parametrize("function", [no_key, AsyncCallable()])
def test_an_async_function_is_refused_at_once(function):
    with pytest.raises(ConfigurationError, match="must not be async"):
        WebSearch("brave", api_key=function)


def broken():
    raise LookupError(KEY)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (secretly_async, "must not be async"),
        (lambda: 3, "a key is text, not int"),
        (lambda: None, "a key is text, not NoneType"),
        (lambda: " ", "the key is empty"),
        (lambda: f"{KEY} {KEY}", "printable ASCII without spaces"),
        (broken, "the function that returns the key failed: LookupError"),
    ],
)
def test_a_function_that_gives_no_key_is_a_wrong_configuration(function, says):
    web = WebSearch("brave", api_key=function)

    with pytest.raises(ConfigurationError, match=f"brave: api_key: .*{says}") as caught:
        web.search("kelp")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("value", [3, b"key", ["key"]])
def test_an_invalid_key_is_refused(value):
    with pytest.raises(ConfigurationError, match="a key is text, or a function"):
        Brave(api_key=value)


def test_a_key_may_be_in_the_keyring_of_the_system(keyring, monkeypatch):
    place = "keyring:websearch/brave"
    assert sent(Brave(api_key=place)) == KEY
    write_own = user_file()
    write_own.parent.mkdir(parents=True, exist_ok=True)
    write_own.write_text(f'[providers.brave]\napi_key = "{place}"\n')
    assert sent(leaf(WebSearch("brave"))) == KEY
    write_own.unlink()
    monkeypatch.setenv("BRAVE_API_KEY", place)
    web = WebSearch()
    assert sent(leaf(web)) == KEY
    assert sent(leaf(pickle.loads(pickle.dumps(web)))) == KEY
    assert KEY.encode() not in pickle.dumps(web)


def test_a_keyring_without_the_key_says_how_to_put_it_there(keyring):
    with pytest.raises(MissingKey, match="keyring set websearch tavily"):
        WebSearch("brave", api_key="keyring:websearch/tavily").search("kelp")


def test_a_keyring_that_is_locked_says_so(keyring):
    def locked(*_):
        raise keyring.errors.KeyringError(KEY)

    keyring.get_password = locked
    with pytest.raises(
        ConfigurationError, match="the keyring cannot be read: KeyringError"
    ) as caught:
        WebSearch("brave", api_key="keyring:websearch/brave").search("kelp")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("error", [RuntimeError, ValueError, OSError, TimeoutError])
def test_a_keyring_that_breaks_is_a_wrong_configuration_and_its_words_are_not_repeated(
    keyring, error
):
    def broken(*_):
        raise error(KEY)

    keyring.get_password = broken
    with pytest.raises(
        ConfigurationError, match=f"the keyring cannot be read: {error.__name__}"
    ) as caught:
        WebSearch("brave", api_key="keyring:websearch/brave").search("kelp")
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_key_in_a_keyring_is_read_once_a_minute_and_a_missing_one_each_time(
    keyring, monkeypatch
):
    read = []
    keyring.get_password = lambda *place: read.append(place) or keyring.kept.get(place)
    brave, other = (
        Brave(api_key="keyring:websearch/brave"),
        Brave(api_key="keyring:websearch/other"),
    )
    assert [sent(brave), sent(brave)] == [KEY, KEY]
    for _ in range(2):
        with pytest.raises(MissingKey):
            sent(other)
    assert read == [("websearch", "brave"), *[("websearch", "other")] * 2]

    keyring.kept["websearch", "brave"] = "a new key"[2:].replace(" ", "-")
    monkeypatch.setattr(_keys, "_FRESH", 0.0)
    assert sent(brave) == "new-key"


def test_a_keyring_that_waits_for_its_user_stops_no_event_loop_and_asks_once(
    keyring, monkeypatch
):
    unlocked, asked = threading.Event(), []

    def ask(*_):
        asked.append(1)
        assert unlocked.wait(60)
        return KEY

    async def search():
        return sent(brave)

    keyring.get_password = ask
    monkeypatch.setattr(_keys, "_PATIENCE", 0.01)
    brave = Brave(api_key="keyring:websearch/brave")
    for _ in range(3):
        with pytest.raises(
            ConfigurationError, match="has not answered: it may be locked"
        ):
            asyncio.run(search())
    with (
        time_limit(0.01),
        pytest.raises(ConfigurationError, match="has not answered: it may be locked"),
    ):
        sent(brave)
    unlocked.set()
    assert sent(brave) == KEY
    assert asyncio.run(search()) == KEY
    assert len(asked) == 1


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "a\x1b[31m", "\u202ea"])
def test_a_place_in_a_keyring_is_printable(keyring, name, monkeypatch):
    with pytest.raises(ConfigurationError, match="are printable") as caught:
        Brave(api_key=f"keyring:websearch/{name}")
    assert name not in str(caught.value)


def test_what_to_type_for_a_missing_key_is_quoted(keyring):
    with pytest.raises(MissingKey, match="keyring set 'a b' '; rm -rf ~/x'"):
        sent(Brave(api_key="keyring:a b/; rm -rf ~/x"))


def test_a_wrong_place_that_comes_after_unpickling_is_a_wrong_configuration(
    keyring, monkeypatch
):
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    web = pickle.loads(pickle.dumps(WebSearch("brave")))
    monkeypatch.setenv("BRAVE_API_KEY", "keyring:brave")
    with pytest.raises(
        ConfigurationError, match="BRAVE_API_KEY: a key in a keyring is written"
    ):
        web.search("kelp")


@pytest.mark.parametrize(
    "place",
    ["keyring:", "keyring:brave", "keyring:/brave", "keyring:brave/", "keyring: / "],
)
def test_a_place_in_a_keyring_has_a_service_and_a_name(keyring, place):
    with pytest.raises(ConfigurationError, match="keyring:service/name"):
        Brave(api_key=place)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"websearch-core\[keyring\]"):
        WebSearch("brave", api_key="keyring:websearch/brave")


# Where they do not show


def test_a_key_of_a_file_is_in_no_dump_of_the_settings():
    Path("websearch.toml").write_text(f'[providers.brave]\napi_key = "{KEY}"\n')
    settings = Settings.load()

    shown = [
        settings.model_dump(),
        settings.model_dump_json(),
        settings.providers,
        settings,
        settings.options("brave"),
    ]
    assert KEY not in "".join(map(repr, shown))
    assert settings.model_dump(mode="json")["providers"] == {
        "brave": {"api_key": "**********"}
    }


def test_nor_is_a_key_in_the_wrong_place(monkeypatch):
    monkeypatch.setenv(
        "WEB_SEARCH_PROVIDERS", json.dumps({"brave": {"apikey": KEY, "more": [KEY]}})
    )

    for use in (Settings.load, WebSearch):
        with pytest.raises(ConfigurationError, match="apikey") as caught:
            use()
        assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_key_shows_in_no_repr():
    for key in (KEY, lambda: KEY, key_of_a_module):
        brave = Brave(api_key=key)
        sent(brave)
        assert (
            KEY
            not in repr(brave)
            + str(brave.api_key)
            + repr(vars(brave.api_key))
            + f"{brave.api_key}"
        )


def test_a_service_that_echoes_the_key_of_a_function_is_not_repeated():
    keys = iter(["key-of-today", "key-of-tomorrow"])
    brave = Brave(api_key=lambda: next(keys))
    answer = reply(
        {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "no key-of-today"}},
        422,
    )

    with pytest.raises(AuthenticationError) as caught:
        play(brave.search(SearchQuery.of("kelp")), answer)
    assert "[key]" in str(caught.value.detail)
    assert next(keys) == "key-of-tomorrow", "the function is called for requests alone"


def test_keys_that_are_the_same_are_equal():
    assert Brave(api_key=KEY) == Brave(api_key=SecretStr(KEY))
    assert hash(Brave(api_key=KEY)) == hash(Brave(api_key=ApiKey.of(KEY)))
    assert Brave(api_key=KEY) != Brave(api_key="other")
    assert Brave(api_key=key_of_a_module) == Brave(api_key=key_of_a_module)
    assert Brave(api_key=key_of_a_module) != Brave(api_key=lambda: KEY)
    assert len(Brave(api_key=KEY).api_key) == len(KEY)


def test_nothing_that_a_key_inherits_from_pydantic_knows_its_text():
    inherited = {
        name
        for base in SecretStr.__mro__
        if base.__module__.startswith("pydantic")
        for name, part in vars(base).items()
        if callable(part) and name not in vars(ApiKey)
    }
    # They have been read: none shows a key. If pydantic adds another, read that, and
    # override it in `ApiKey` if it shows the text.
    assert inherited <= {"_display"}
    key = ApiKey.of(KEY)
    assert KEY not in f"{super(ApiKey, key).__str__()} {super(ApiKey, key).__repr__()}"
    assert super(ApiKey, key).get_secret_value() == ""


@dataclass
class Part:
    key: SecretStr


def test_pydantic_takes_a_key_for_a_secret_and_never_shows_it():
    for source in (KEY, key_of_a_module):
        key = ApiKey.of(source)
        adapter = TypeAdapter(Part)
        part = adapter.validate_python({"key": key})
        shown = [f"{part.key}", str(key), repr(part), adapter.dump_json(part).decode()]
        anything = TypeAdapter(Any).dump_json({"key": key}).decode()

        assert part.key is key
        assert KEY not in "".join([*shown, anything])
        assert json.loads(anything) == {"key": "**********"}


def test_a_copy_of_a_plug_in_keeps_its_key():
    mine = replace(Mine(token=SecretStr("any text")), size=2)

    assert mine.size == 2
    assert mine.token.get_secret_value() == "any text"
    assert (
        replace(mine, token=ApiKey.of(key_of_a_module)).token.get_secret_value() == KEY
    )


# Pickles


def test_a_copy_in_this_process_keeps_the_key():
    web = WebSearch("brave", api_key=KEY)
    for twin in (copy.copy(web), copy.deepcopy(web)):
        assert sent(leaf(twin)) == KEY


def test_a_pickle_holds_no_key_and_says_so_when_it_is_used():
    data = pickle.dumps(
        WebSearch(
            "brave",
            api_key=KEY,
            settings=Settings.load(providers={"tavily": {"api_key": KEY}}),
        )
    )
    assert KEY.encode() not in data
    twin = pickle.loads(data)

    with pytest.raises(
        MissingKey,
        match="brave has no api_key: a pickle does not hold keys. Set BRAVE_API_KEY",
    ) as caught:
        twin.search("kelp")
    assert caught.value.variables == ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    assert pickle.dumps(pickle.loads(pickle.dumps(twin))), "again and again"


def test_a_key_that_was_passed_is_not_replaced_by_another_of_the_environment(
    monkeypatch,
):
    twin = pickle.loads(pickle.dumps(WebSearch("brave", api_key=KEY)))
    monkeypatch.setenv("BRAVE_API_KEY", "somebody-elses")

    with pytest.raises(MissingKey):
        twin.search("kelp")


def test_a_key_of_the_environment_is_read_there_again(monkeypatch):
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", KEY)
    data = pickle.dumps(WebSearch("brave"))
    assert KEY.encode() not in data
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", "another")
    twin = pickle.loads(data)
    assert sent(leaf(twin)) == "another"

    monkeypatch.delenv("BRAVE_SEARCH_API_KEY")
    with pytest.raises(MissingKey, match="set BRAVE_API_KEY or BRAVE_SEARCH_API_KEY"):
        twin.search("kelp")
    monkeypatch.setenv("BRAVE_API_KEY", "two words")
    with pytest.raises(
        ConfigurationError, match="BRAVE_API_KEY: a key is printable ASCII"
    ):
        twin.search("kelp")


def test_a_key_of_a_file_is_in_no_pickle():
    Path("websearch.toml").write_text(
        f'[providers.brave]\napi_key = "{KEY}"\n[providers.tavily]\napi_key = "{KEY}"\n'
    )
    web = WebSearch("brave")

    assert sent(leaf(web)) == KEY
    assert KEY.encode() not in pickle.dumps(web) + pickle.dumps(web.settings)
    assert pickle.loads(pickle.dumps(web.settings)).timeout.read == 30


def test_the_other_options_of_a_provider_are_in_a_pickle_of_the_settings():
    table = {
        "brave": {"api_key": KEY},
        "searxng": {"base_url": "https://s.example"},
    }
    settings = Settings(providers=table)
    twin = pickle.loads(pickle.dumps(settings))

    assert KEY.encode() not in pickle.dumps(settings)
    assert "api_key" not in twin.options("brave")
    assert twin.options("searxng")["base_url"].value == "https://s.example"


def test_a_function_of_a_module_is_pickled_by_name_and_any_other_is_left_out():
    twin = pickle.loads(pickle.dumps(WebSearch("brave", api_key=key_of_a_module)))
    assert sent(leaf(twin)) == KEY

    for function in (
        lambda: KEY,
        functools.partial(str, KEY),
        SecretStr(KEY).get_secret_value,
    ):
        data = pickle.dumps(WebSearch("brave", api_key=function))
        assert KEY.encode() not in data
        with pytest.raises(MissingKey):
            pickle.loads(data).search("kelp")


def test_a_pickle_holds_the_key_if_it_is_asked_to():
    web = WebSearch("brave", api_key=KEY)
    with pickle_keys():
        data = pickle.dumps(web)
    assert sent(leaf(pickle.loads(data))) == KEY
    assert KEY.encode() not in pickle.dumps(web), "only inside the block"


def test_the_key_of_a_plug_in_is_left_out_too():
    twin = pickle.loads(pickle.dumps(Mine(token=SecretStr("any text"))))

    with pytest.raises(MissingKey, match="mine has no token"):
        twin.token.get_secret_value()


@provider
class Mine:
    name: ClassVar[str] = "mine"
    token: SecretStr
    size: int = 1


def test_a_key_that_is_not_needed_may_be_missing():
    twin = pickle.loads(
        pickle.dumps(
            WebSearch(
                "tavily",
                api_key=KEY,
                settings=Settings.load(providers={"tavily": {"keyless": True}}),
            )
        )
    )

    assert isinstance(leaf(twin), Tavily)
    assert (
        "Authorization" not in next(leaf(twin).search(SearchQuery.of("kelp"))).headers
    )


def test_a_provider_object_reads_its_key_from_the_variable_unless_it_is_given(
    monkeypatch,
):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)

    assert Tavily(search_depth="advanced").api_key.get_secret_value() == KEY
    assert Tavily(api_key="other").api_key.get_secret_value() == "other"
    assert KEY not in repr(Tavily())
