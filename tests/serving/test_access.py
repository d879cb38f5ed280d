"""Links and sign-ins: what lets whom in, what is stored, what a new start knows."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from annotate.serving.access import Access, Person, as_lead
from db.errors import AnnotateError

ADA, BEN, LEAD = Person("k1", "Ada", "coder"), Person("k2", "Ben", "coder"), as_lead("Lea")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def made(folder: Path, clock: Clock | None = None, people: tuple[Person, ...] = (ADA, BEN, LEAD)) -> Access:
    return Access(folder / "serve.json", "study-1", people, idle=60, clock=clock or Clock())


def test_a_link_is_its_own_coders_alone(tmp_path: Path) -> None:
    access = made(tmp_path)
    link = access.new_link(ADA)
    assert access.holder(link) == ADA
    assert access.holder(access.new_link(BEN)) == BEN
    for guess in ("", link[:-1], link + "x", link.swapcase(), "k1", "\ud800", "lead"):
        assert access.holder(guess) is None


def test_a_link_has_at_least_128_random_bits(tmp_path: Path) -> None:
    access = made(tmp_path)
    links = {access.new_link(ADA) for _ in range(200)}
    assert len(links) == 200
    assert all(len(link) >= 22 for link in links)  # 22 characters of base64 are 132 bits
    assert len({link[:6] for link in links}) == 200  # 36 bits: 200 draws meet with a chance of 3e-7


def test_only_hashes_are_stored_and_only_the_owner_reads_them(tmp_path: Path) -> None:
    access = made(tmp_path)
    secrets = [access.new_link(ADA), access.new_link(LEAD), access.sign_in(ADA)]
    stored = (tmp_path / "serve.json").read_text()
    assert not any(secret in stored or "Ada" in stored for secret in secrets)
    assert stat.S_IMODE((tmp_path / "serve.json").stat().st_mode) == 0o600


def test_a_server_started_again_knows_links_and_cookies(tmp_path: Path) -> None:
    access = made(tmp_path)
    link, cookie = access.new_link(ADA), access.sign_in(BEN)
    again = made(tmp_path)
    assert again.holder(link) == ADA
    signed = again.signed_in(cookie)
    assert signed is not None and signed.person == BEN


def test_a_link_can_be_used_again_until_it_is_withdrawn(tmp_path: Path) -> None:
    access = made(tmp_path)
    first, second, bens = access.new_link(ADA), access.new_link(ADA), access.new_link(BEN)
    cookie = access.sign_in(ADA)
    assert access.holder(first) == access.holder(second) == ADA and access.links_of(ADA) == 2
    access.withdraw([ADA])
    assert access.holder(first) is access.holder(second) is None
    assert access.signed_in(cookie) is None
    assert access.holder(bens) == BEN
    assert made(tmp_path).holder(first) is None


def test_a_person_has_one_cookie_at_a_time(tmp_path: Path) -> None:
    access = made(tmp_path)
    first, second = access.sign_in(ADA), access.sign_in(ADA)
    assert access.signed_in(first) is None and access.signed_in(second) is not None


def test_a_cookie_ends_with_the_sign_out_and_with_idleness(tmp_path: Path) -> None:
    clock = Clock()
    access = made(tmp_path, clock)
    ada, ben = access.sign_in(ADA), access.sign_in(BEN)
    access.sign_out(ADA)
    assert access.signed_in(ada) is None
    clock.now += 59
    access.touch(BEN)
    clock.now += 59
    assert access.signed_in(ben) is not None and access.idle() == []
    clock.now += 2
    assert access.signed_in(ben) is None and access.idle() == [BEN]
    assert access.idle() == []


def test_who_is_not_served_is_not_let_in(tmp_path: Path) -> None:
    access = made(tmp_path)
    link, cookie = access.new_link(BEN), access.sign_in(BEN)
    only_ada = made(tmp_path, people=(ADA,))
    assert only_ada.holder(link) is None and only_ada.signed_in(cookie) is None


def test_a_file_of_another_study_lets_nobody_in(tmp_path: Path) -> None:
    link = made(tmp_path).new_link(ADA)
    other = Access(tmp_path / "serve.json", "study-2", [ADA], idle=60)
    assert other.holder(link) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format":1,"study":"study-1","links":[1]}'])
def test_a_broken_file_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "serve.json").write_text(text)
    with pytest.raises(AnnotateError, match="cannot be read"):
        made(tmp_path)


def test_a_full_disk_stops_no_sign_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = made(tmp_path)
    cookie = access.sign_in(ADA)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("annotate.serving.access.os.open", full)
        access.sign_out(ADA)
        assert access.signed_in(cookie) is None
        assert made(tmp_path).signed_in(cookie) is not None, "a server started now would still know it"
    access.idle()
    assert made(tmp_path).signed_in(cookie) is None


def test_the_stored_digest_is_sha256(tmp_path: Path) -> None:
    """Against hashlib directly, over the characters of the link."""
    import hashlib

    link = made(tmp_path).new_link(ADA)
    stored = json.loads((tmp_path / "serve.json").read_text())["links"]
    assert stored[0][0] == hashlib.sha256(link.encode()).hexdigest()
