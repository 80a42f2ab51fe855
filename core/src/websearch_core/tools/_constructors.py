"""What the constructors of tools, retrievers and loaders have in common."""

from __future__ import annotations
import inspect
from collections.abc import Callable, Collection
from functools import wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from .._registry import is_known
from ..client import WebSearch
from ..errors import ConfigurationError
from ._fixed import split_arguments

if TYPE_CHECKING:
    from ..client._signature import WebArguments
    from ..layers import RateLimiter

_F = TypeVar("_F", bound=Callable[..., Any])


def show_arguments(
    source: Callable[..., Any], *, without: Collection[str] = ()
) -> Callable[[_F], _F]:
    """Show the keyword arguments that a function passes on, one by one.

    ::

        @show_arguments(make_web)
        def __init__(self, web=None, **arguments: Unpack[CommonArguments]): ...

    `help`, notebooks and `inspect.signature` then list what *source* takes, with types
    and defaults, instead of ``**arguments``. An argument without a name, where all need
    one, is answered with the line to write.

    Args:
        source: The function or class that gets the arguments.
        without: The names of those that the function does not take.
    """

    def show(function: _F) -> _F:
        signature = inspect.signature(function)
        parameters = signature.parameters.values()
        own = [p for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
        hidden = {*without, *signature.parameters}
        others = []
        for parameter in inspect.signature(source).parameters.values():
            if parameter.kind is Parameter.VAR_KEYWORD:
                others.append(parameter)
            elif parameter.kind is Parameter.POSITIONAL_ONLY:
                continue
            elif parameter.name not in hidden:
                others.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
        positions = sum(p.kind is not Parameter.KEYWORD_ONLY for p in own)

        @wraps(function)
        def call(*values: Any, **options: Any) -> Any:
            if len(values) > positions:
                raise _make_position_error(values[0], values[positions])
            return function(*values, **options)

        target: Any = call
        target.__signature__ = signature.replace(parameters=[*own, *others])
        return cast("_F", call)

    return show


def _make_position_error(instance: object, value: object) -> ConfigurationError:
    """Say how to give *value* to the constructor of *instance*; the text is shown only
    if it is the name of a provider: it may be a key.
    """
    kind = type(instance).__name__
    line = "provider=..."
    if isinstance(value, WebSearch):
        line = "web=..."
    elif isinstance(value, str) and is_known(value):
        line = f'provider="{value}"'
    return ConfigurationError(f"{kind}: its arguments need names: write {kind}({line})")


@show_arguments(WebSearch, without=("search_options", "read_options"))
def make_web(
    web: WebSearch | None,
    own: Collection[str],
    /,
    *,
    rate_limiter: RateLimiter | None = None,
    **arguments: Unpack[WebArguments],
) -> WebSearch:
    """Return *web*, or a `WebSearch` made from its arguments, for a class that takes
    either.

    Args:
        web: The `WebSearch` that the class was given.
        own: The names of the other arguments of the class, for `split_arguments`.
        rate_limiter: The same as ``throttle``, under the name that the models of the
            frameworks have for it.
        arguments: The arguments of `WebSearch`.

    Raises:
        ConfigurationError: Both are given, or an argument is unknown or wrong.
    """
    split_arguments(arguments, own)  # which raises for one that is unknown
    if rate_limiter is not None:
        throttle = arguments.setdefault("throttle", rate_limiter)
        if throttle != rate_limiter:
            raise ConfigurationError(
                "give rate_limiter or throttle, which are the same, not both"
            )
    if web is None:
        return WebSearch(**arguments)  # pyright: ignore[reportArgumentType] - for it, a TypedDict may have more keys
    if not isinstance(web, WebSearch):
        raise ConfigurationError(f"web: must be a WebSearch, not {type(web).__name__}")
    if arguments:
        raise ConfigurationError(
            f"give web=WebSearch(...) or its arguments, not both: "
            f"{', '.join(arguments)}"
        )
    return web
