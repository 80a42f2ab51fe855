"""Let a browser trust more certificates.

Chromium has no flag for it. On Linux it trusts those in the database of its user, which
is in the folder of the profile and which the program ``certutil`` of Mozilla's NSS
writes. Elsewhere it trusts what the system does.

The flag ``--ignore-certificate-errors-spki-list`` cannot do this: a site that
merely shows the certificate, without being signed by it, would be trusted.
"""

from __future__ import annotations
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ..errors import ConfigurationError

_ONE = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
_SECONDS = 20.0  # for each call of the program


def trust(certificates: Path, home: Path) -> None:
    """Write the certificates of a PEM file where a browser with this *home* trusts
    them. Raise `ConfigurationError` where that cannot be done.
    """
    if sys.platform != "linux":
        raise ConfigurationError(
            "http.certificates: on this system the browser trusts what the system "
            "does: add them there, and read these pages with a WebSearch without "
            "http.certificates"
        )
    program = shutil.which("certutil")
    if program is None:
        raise ConfigurationError(
            "http.certificates: the browser needs the program certutil to trust them: "
            "apt-get install libnss3-tools"
        )
    database = home / ".pki" / "nssdb"
    database.mkdir(parents=True, mode=0o700)
    where = ["-d", f"sql:{database}"]
    _run([program, "-N", *where, "--empty-password"])
    text = certificates.read_text("utf-8", "replace")
    for number, certificate in enumerate(_ONE.findall(text)):
        name = f"websearch-{number}"
        _run([program, "-A", *where, "-a", "-t", "C,,", "-n", name], certificate)


def _run(command: list[str], text: str = "") -> None:
    try:
        subprocess.run(  # noqa: S603 - the system's own program
            command,
            input=text.encode(),
            check=True,
            capture_output=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigurationError(
            "http.certificates: certutil could not write them for the browser"
        ) from error
