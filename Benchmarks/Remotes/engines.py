# SPDX-License-Identifier: Apache-2.0
"""What the tables of bench share: commands that must succeed, the engines that there are, and requests that are counted."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import time

PASSPHRASE = "four plain words and 17 more\n"
ENGINES = pathlib.Path(os.environ.get("COFFER_ENGINES", f"{os.environ.get('TMPDIR', '/tmp')}/coffer-engines.{os.getuid()}"))
REQUEST = re.compile(r'"(GET|PUT|HEAD|DELETE|POST) /')


def run(command, env):
    """Seconds of a command that must succeed."""
    began = time.perf_counter()
    said(command, env)
    return time.perf_counter() - began


def said(command, env):
    """What a command that must succeed prints."""
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed with {done.returncode}: {' '.join(command)}\n{done.stderr.decode()}")
    return done.stdout.decode()


class Requests:
    """Counts requests in the log of Ceph's gateway, where there is one."""

    def __init__(self, engine):
        self.log = ENGINES / engine / "log" / "client.rgw.a.log"
        self.offset = 0
        self.take()

    def take(self):
        """What came since the last call, such as "4 PUT, 2 HEAD"."""
        if not self.log.exists():
            return ""
        # The gateway writes its log a little later than its answers.
        counts, quiet = collections.Counter(), 0
        while quiet < 2:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                file.seek(self.offset)
                found = REQUEST.findall(file.read())
                self.offset = file.tell()
            counts.update(found)
            quiet = 0 if found else quiet + 1
            time.sleep(0.1)
        return ", ".join(f"{counts[name]} {name}" for name in sorted(counts))

    def of(self, action):
        """The seconds of an action, and its requests."""
        self.take()
        seconds = action()
        return seconds, self.take()


class Place:
    """A place on an engine, as each of the programs names it."""

    def __init__(self, engine, coffer, restic, rclone, env):
        self.engine = engine
        self.coffer = coffer
        self.restic = restic
        self.rclone = rclone
        self.env = env


def places(folder, what):
    """A place for what is measured on each engine."""
    remote = os.path.join(folder, "remote")
    os.makedirs(f"{remote}/coffer")
    yield Place("folder", f"folder://{remote}/coffer", f"{remote}/restic", f"{remote}/rclone", {})
    for file in sorted(ENGINES.glob("*/url")):
        url = file.read_text(encoding="utf-8").strip()
        match = re.fullmatch(r"s3://([^:]+):([^@]+)@([^/]+)/([^?]+)\?tls=off", url)
        if not match:
            continue
        key, secret, host, bucket = match.groups()
        prefix = f"bench-{os.getpid()}-{what}"
        name = key.replace("%3A", ":")
        yield Place(
            file.parent.name,
            f"s3://{key}:{secret}@{host}/{bucket}/{prefix}?tls=off",
            f"s3:http://{host}/{bucket}/restic-{prefix}",
            f"bench:{bucket}/rclone-{prefix}",
            {
                "AWS_ACCESS_KEY_ID": name,
                "AWS_SECRET_ACCESS_KEY": secret,
                "RCLONE_CONFIG_BENCH_TYPE": "s3",
                "RCLONE_CONFIG_BENCH_PROVIDER": "Ceph" if file.parent.name == "ceph" else "Other",
                "RCLONE_CONFIG_BENCH_ENDPOINT": f"http://{host}",
                "RCLONE_CONFIG_BENCH_ACCESS_KEY_ID": name,
                "RCLONE_CONFIG_BENCH_SECRET_ACCESS_KEY": secret,
            },
        )


class Coffer:
    """A coffer with an account at a place, in a session."""

    def __init__(self, command, folder, place):
        self.command, self.folder = command, folder
        self.env = dict(os.environ, COFFER_HOME=os.path.join(folder, "home"), XDG_RUNTIME_DIR=folder, HOME=folder)
        passphrase, words = self.write("passphrase", PASSPHRASE), os.path.join(folder, "words")
        self.opening = ["--passphrase-file", passphrase]
        self.run("init", *self.opening, "--recovery-phrase-out", words)
        self.run("remote", "add", "--url-file", self.write("url", place.coffer), "--phrase-file", words, *self.opening)
        self.run("unlock", *self.opening)

    def write(self, name, text):
        """Writes a file for the commands."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, *arguments):
        """Seconds of a command."""
        return run([self.command, *arguments], self.env)

    def said(self, *arguments):
        """What a command prints."""
        return said([self.command, *arguments], self.env)

    def measured(self, *arguments):
        """Seconds of a command, and the most memory that it had, in bytes."""
        began = time.perf_counter()
        nothing = subprocess.DEVNULL
        child = subprocess.Popen([self.command, *arguments], env=self.env, stdin=nothing, stdout=nothing, stderr=nothing)
        _, status, usage = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit(f"failed with {os.waitstatus_to_exitcode(status)}: {' '.join(arguments)}")
        return time.perf_counter() - began, usage.ru_maxrss << 10

    @property
    def second(self):
        """The home of a second device."""
        return os.path.join(self.folder, "second")

    def restoring(self, home, *options):
        """The arguments of a restore into a home."""
        card = os.path.join(self.folder, "card")
        if not os.path.exists(card):
            self.run("remote", "card", "--out", card)
        name = os.path.basename(home)
        return ["--home", home, "remote", "restore", "--card-file", card, "--name", name, "--recovery-phrase-out",
                os.path.join(self.folder, f"words-{name}"), *options, *self.opening]

    def restore(self, *options, home=None):
        """Seconds that a second device takes to get all."""
        return self.run(*self.restoring(home or self.second, *options))

    def lock(self):
        """Ends the session."""
        subprocess.run([self.command, "lock"], env=self.env, check=False, capture_output=True)


class Restic:
    """restic with a repository of its own at the same place."""

    def __init__(self, folder, place, env):
        self.folder = folder
        password = os.path.join(folder, "restic-password")
        with open(password, "w", encoding="utf-8") as file:
            file.write(PASSPHRASE)
        self.env = dict(env, RESTIC_REPOSITORY=place.restic, RESTIC_PASSWORD_FILE=password, **place.env)
        run(["restic", "init"], self.env)

    def back_up(self, files):
        return run(["restic", "backup", "--quiet", files], self.env)

    def check(self):
        return run(["restic", "check"], self.env)

    def restore(self, target):
        return run(["restic", "restore", "latest", "--target", target], self.env)
