# SPDX-License-Identifier: Apache-2.0
"""Made-up mails whose words are as unevenly frequent as those of people: Zipf and Mandelbrot, exponent 1.07."""

import bisect
import itertools
import os
import random

FORMS = 600_000
SYLLABLES = [c + v + e for e in ("", "n", "r", "s") for c in "bdfgklmnprstvz" for v in "aeiou"]


def form(rank):
    """The word at a place of the order of frequency; frequent ones are short."""
    number, word = rank, ""
    while True:
        word += SYLLABLES[number % len(SYLLABLES)]
        number = number // len(SYLLABLES) - 1
        if number < 0:
            return word


class Words:
    """Draws words."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.forms = [form(rank) for rank in range(FORMS)]
        self.sums = list(itertools.accumulate(1 / (rank + 2.7) ** 1.07 for rank in range(FORMS)))

    def draw(self, count):
        """A list of words; one in fifty is a number."""
        last, number = self.sums[-1], self.random.random
        forms, sums, find = self.forms, self.sums, bisect.bisect_left
        return [
            str(int(number() * 100_000)) if index % 50 == 7 else forms[find(sums, number() * last)]
            for index in range(count)
        ]


def texts(count, seed=1):
    """Mails of about 1 KiB, from 2010 on, one every ten minutes, as bytes with their headers."""
    words = Words(seed)
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    for number in range(count):
        minutes = number * 10
        day, minute = divmod(minutes, 1440)
        year, of_year = divmod(day, 336)
        month, of_month = divmod(of_year, 28)
        drawn = words.draw(148)
        lines = [" ".join(drawn[place : place + 12]) for place in range(6, 148, 12)]
        person = number % 997
        yield (
            f"From: Person {person} <p{person}@host{person % 57}.example>\n"
            f"To: me@example.org\n"
            f"Subject: {' '.join(drawn[:6])}\n"
            f"Date: {of_month + 1} {months[month]} {2010 + year} {minute // 60:02}:{minute % 60:02}:00 +0000\n"
            f"Message-ID: <{number}@host{person % 57}.example>\n"
            "Content-Type: text/plain; charset=utf-8\n\n" + "\n".join(lines) + "\n"
        ).encode()


def write_mbox(path, count, device=None):
    """Writes a mailbox, and gives the bytes of the mails. Those of a device, a number, nobody else has."""
    total = 0
    with open(path, "wb") as mbox:
        for mail in texts(count, seed=1 if device is None else device + 2):
            if device is not None:
                mail = mail.replace(b"ID: <", b"ID: <%d." % device)
            mbox.write(b"From a@example.org Sat Mar 14 07:00:01 2026\n" + mail + b"\n")
            total += len(mail)
    return total


def write_maildir(path, count):
    """Writes the same mails one by one, for notmuch."""
    for number, mail in enumerate(texts(count)):
        if number % 10_000 == 0:
            sub = os.path.join(path, f"part{number // 10_000}")
            for name in ("cur", "new", "tmp"):
                os.makedirs(os.path.join(sub, name), exist_ok=True)
        with open(os.path.join(sub, "cur", f"{number}.host:2,S"), "wb") as file:
            file.write(mail)
