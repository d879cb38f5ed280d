"""Where a server listens and under which names it answers. Expectations: RFC 6454 (origins), RFC 9110 (Host)."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotate.serving.settings import Settings
from db.errors import AnnotateError

STUDY = Path("study.db")


def test_it_listens_on_this_machine_alone_unless_told() -> None:
    settings = Settings(STUDY)
    assert settings.host == "127.0.0.1"
    assert settings.hosts == {"127.0.0.1:8000", "localhost:8000", "[::1]:8000"}
    assert settings.origins == {"http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"}
    assert not settings.secure and not settings.exposed


def test_a_public_address_is_the_only_name() -> None:
    settings = Settings(STUDY, public_url="https://Coding.Example.org/").checked()
    assert settings.base == "https://Coding.Example.org"
    assert settings.hosts == {"coding.example.org"} and settings.origins == {"https://coding.example.org"}
    assert settings.secure and not settings.exposed


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://a.example:443", "https://a.example"),
        ("http://a.example:80", "http://a.example"),
        ("https://a.example:8443", "https://a.example:8443"),
        ("http://[2001:db8::1]:8000", "http://[2001:db8::1]:8000"),
    ],
)
def test_the_schemes_own_port_is_no_part_of_an_origin(url: str, origin: str) -> None:
    assert Settings(STUDY, public_url=url).checked().origin == origin


def test_tls_here_makes_https() -> None:
    settings = Settings(STUDY, host="10.0.0.5", port=443, tls_cert=Path("c"), tls_key=Path("k")).checked()
    assert settings.origin == "https://10.0.0.5" and settings.base == "https://10.0.0.5:443"
    assert settings.hosts == {"10.0.0.5"} and not settings.exposed


def test_without_tls_another_address_is_exposed() -> None:
    assert Settings(STUDY, host="10.0.0.5").exposed
    assert Settings(STUDY, public_url="http://coding.example.org").exposed
    assert not Settings(STUDY, public_url="http://localhost:9000").exposed, "the end of a tunnel"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tls_cert": Path("c")}, "--tls-key"),
        ({"host": "0.0.0.0"}, "--public-url"),
        ({"host": "::"}, "--public-url"),
        ({"public_url": "coding.example.org"}, "scheme and host"),
        ({"public_url": "ftp://coding.example.org"}, "scheme and host"),
        ({"public_url": "https://u:p@coding.example.org"}, "scheme and host"),
        ({"public_url": "https://coding.example.org/annotate"}, "scheme and host"),
        ({"public_url": "https://coding.example.org:x"}, "Port"),
        ({"public_url": "https://kodierung-für.example"}, "xn--"),
        ({"public_url": "http://a.example", "tls_cert": Path("c"), "tls_key": Path("k")}, "https://"),
        ({"proxies": frozenset({"proxy.example"})}, "IP address"),
    ],
)
def test_what_cannot_work_is_one_line(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(AnnotateError) as caught:
        Settings(STUDY, **wrong).checked()  # type: ignore[arg-type]
    assert told in str(caught.value) and "\n" not in str(caught.value)
