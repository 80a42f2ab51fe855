"""Names that a package imports when they are used."""

from __future__ import annotations
import subprocess
import sys

import pytest

from websearch_core import events, layers, providers, reading

PACKAGES = [events, layers, providers, reading]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_is_imported_once_and_then_stands_in_its_package(package):
    for name in package.__all__:
        value = getattr(package, name)
        assert vars(package)[name] is value


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_a_package_does_not_have_is_an_error(package):
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no"):
        _ = package.kelp


def test_only_the_home_of_a_name_is_imported():
    program = (
        "import sys; from websearch_core import providers; providers.Tavily; "
        "print(*(name for name in sys.modules if name.startswith("
        "'websearch_core.providers.') and '._' not in name))"
    )
    output = subprocess.check_output([sys.executable, "-c", program], text=True)

    assert output.split() == ["websearch_core.providers.tavily"]
