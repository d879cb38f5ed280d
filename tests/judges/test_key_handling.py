"""The key is taken out of whatever an endpoint sends back, however it is written there."""

import base64
import json
import pickle
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.judges.hosts import target
from annotate.judges.keys import Redactor, Secret, key_from_environment
from db.errors import AnnotateError

KEY = "sk-test-5f0c/A+b=17-quite+secret"


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        f"Bearer {KEY}",
        quote(KEY, safe=""),
        quote_plus(KEY),
        quote(KEY),
        json.dumps(KEY),
        KEY.replace("/", "\\/"),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.urlsafe_b64encode(f"Bearer {KEY}".encode()).decode(),
    ],
)
def test_every_form_of_the_key_is_removed(form):
    cleaned = Redactor(Secret(KEY)).clean(f"before {form} after")
    assert "[key removed]" in cleaned and cleaned.startswith("before ") and cleaned.endswith(" after")
    assert KEY not in cleaned and "quite" not in cleaned


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_base64_at_any_offset_leaves_at_most_its_edges(before, after):
    """Twelve characters of Base64 hold nine bytes of the key: fewer than that at each edge may stay."""
    encoded = base64.b64encode(before + KEY.encode() + after).decode()
    cleaned = Redactor(Secret(KEY)).clean(encoded)
    assert "[key removed]" in cleaned
    assert len(cleaned) - len("[key removed]") < len(encoded) - 28


def test_nested_values_are_cleaned_with_their_keys():
    cleaned = Redactor(Secret(KEY)).clean_all({KEY: [f"x{KEY}", 3, None]})
    assert KEY not in json.dumps(cleaned) and cleaned == {"[key removed]": ["x[key removed]", 3, None]}


def test_a_placeholder_for_a_local_server_is_no_secret():
    assert Redactor(Secret("none")).clean("none of these") == "none of these"


def test_a_secret_does_not_show_itself():
    secret = Secret(KEY)
    assert KEY not in f"{secret!r} {secret} {[secret]}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_the_key_comes_from_the_environment_or_not_at_all(monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(AnnotateError, match="SOME_KEY is not set"):
        key_from_environment("SOME_KEY", local=False)
    assert key_from_environment("SOME_KEY", local=True).reveal() == "none"
    monkeypatch.setenv("SOME_KEY", "two words")
    with pytest.raises(AnnotateError) as error:
        key_from_environment("SOME_KEY", local=False)
    assert "two words" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        (None, "api.openai.com"),
        ("https://llm.example.org/v1/", "llm.example.org"),
        ("https://llm.example.org:8443/v1", "llm.example.org:8443"),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("http://[::1]:8000/v1", "[::1]:8000"),
    ],
)
def test_the_receiving_host_has_one_name(monkeypatch, url, host):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert target(url).host == host


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "llm.example.org", "https://", "https://u:p@x.org/v1", "https://x.org/v1?key=1", "https://x.org:port/"],
)
def test_an_address_that_holds_more_than_an_address_is_refused(url):
    with pytest.raises(AnnotateError) as error:
        target(url)
    assert "u:p" not in str(error.value)


def test_unencrypted_is_said_unless_it_stays_here():
    assert not target("http://10.0.0.5:8000/v1").encrypted
    assert target("http://localhost:8000/v1").encrypted and target("https://x.org").encrypted
