# SPDX-License-Identifier: Apache-2.0
"""Who exchanges what with whom, and how an exchange ended."""

import dataclasses
import functools
import os

import checks
import spoiling
from peers.peer import Refused

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/Vectors/openpgp/rfc9980")
# How an exchange ends.
GOOD, CANNOT, FAILED = "ok", "cannot", "FAILED"


@dataclasses.dataclass
class Outcome:
    """One cell of the table."""

    peer: str
    profile: str
    check: str
    maker: str
    outcome: str
    said: str = ""
    reason: str = ""

    @property
    def is_expected(self):
        return self.outcome in (GOOD, CANNOT)


class Party:
    """A peer in one profile, with the keys that it makes when somebody first wants them."""

    def __init__(self, peer, profile, lender=None):
        self.peer = peer
        self.profile = profile
        # Who makes its keys, if it makes none itself.
        self.lender = lender

    def do(self, action, *arguments):
        return self.peer.do(action, self.profile, *arguments)

    @functools.cache
    def made(self, action, *arguments):
        """The result, or the refusal: a peer is asked once."""
        try:
            return self.do(action, *arguments)
        except Refused as refusal:
            return refusal

    def result(self, action, *arguments):
        made = self.made(action, *arguments)
        if isinstance(made, Refused):
            raise made
        return made

    def key(self):
        return self.borrowed_key() if self.lender else self.result("generate", self.profile)

    @functools.cache
    def borrowed_key(self):
        return self.lender.do("generate", self.profile)

    def certificate(self):
        return self.result("certificate", self.key())

    @functools.cache
    def beside(self, profile):
        """The same peer in another profile."""
        return Party(self.peer, profile)

    @functools.cache
    def with_sample(self, name):
        """The same peer with a key that others made."""
        return Sample(self.peer, self.profile, name)

    def locked_key(self):
        return self.result("generate_locked", self.profile, checks.PASSWORD)

    def locked_certificate(self):
        return self.result("certificate", self.locked_key())


class Sample(Party):
    """A peer with a key of ../Tests/Vectors."""

    def __init__(self, peer, profile, name):
        super().__init__(peer, profile)
        self.name = name

    @functools.cache
    def key(self):
        with open(os.path.join(VECTORS, f"{self.name}-sk.asc"), "rb") as file:
            return file.read()


def exchange_all(ours, peer, profile):
    """All checks between us and one peer in one profile, both ways."""
    us = Party(ours, profile)
    them = Party(peer, profile, lender=us if peer.is_given_keys(profile) else None)
    for name, check in checks.ALL + (checks.MIXED if profile in checks.MIXED_PROFILES else []):
        for maker, reader in ((us, them), (them, us)):
            yield judge(peer.name, profile, name, maker, reader, check)
    for name, spoil in spoiling.ALL:
        yield judge(peer.name, profile, name, them, us, spoil)


def spoil_own(ours, profile):
    """What we made ourselves, spoilt."""
    us = Party(ours, profile)
    for name, spoil in spoiling.ALL:
        yield judge(ours.name, profile, name, us, us, spoil)


def judge(peer, profile, name, maker, reader, check):
    """Runs one check. Things that a peer said it cannot do are not failures; anything else is."""
    outcome = Outcome(peer, profile, name, maker.peer.name, GOOD)
    try:
        outcome.said = check(maker, reader) or ""
    except Refused as refusal:
        outcome.said = f"{refusal.peer.name}: {refusal.line}" if refusal.peer else refusal.line
        reason = refusal.peer.reason(refusal.action, profile) if refusal.peer else None
        outcome.outcome = CANNOT if reason else FAILED
        outcome.reason = reason or f"in {refusal.action or name}"
    return outcome
