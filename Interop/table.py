# SPDX-License-Identifier: Apache-2.0
"""The outcomes as Markdown, as JSON, and in a few words."""

import collections
import json

from exchange import CANNOT, GOOD


def markdown(outcomes, versions):
    """One table a profile; below it what each peer said that cannot."""
    lines = ["# Who accepts what", ""]
    lines += [f"- {name}: {version}" for name, version in versions.items()]
    for profile in unique(outcome.profile for outcome in outcomes):
        part = [outcome for outcome in outcomes if outcome.profile == profile]
        lines += ["", f"## Profile {profile}", ""] + profile_table(part, True) + profile_table(part, False)
        lines += remarks(part)
    return "\n".join(lines) + "\n"


def profile_table(part, is_made_by_us):
    """Checks down, peers across."""
    part = [outcome for outcome in part if (outcome.maker == "ours") == is_made_by_us]
    peers = unique(outcome.peer for outcome in part)
    cells = {(outcome.check, outcome.peer): outcome for outcome in part}
    title = "we make, they take" if is_made_by_us else "they make, we take"
    lines = [f"| {title} | " + " | ".join(peers) + " |", "|---" * (len(peers) + 1) + "|"]
    for check in unique(outcome.check for outcome in part):
        lines.append(f"| {check} | " + " | ".join(cell(cells.get((check, peer))) for peer in peers) + " |")
    return lines + [""]


def cell(outcome):
    if outcome is None:
        return ""
    return outcome.said if outcome.outcome == GOOD and outcome.said else outcome.outcome


def remarks(part):
    """What was said, and by whom, once each."""
    said = collections.OrderedDict()
    for outcome in part:
        if outcome.outcome != GOOD:
            said.setdefault((outcome.outcome, outcome.said, outcome.reason), []).append(outcome.check)
    return [f"- {outcome}: {words} ({reason}): {', '.join(unique(names))}"
            for (outcome, words, reason), names in said.items()]


def as_json(outcomes, versions):
    return json.dumps(
        {"versions": versions, "outcomes": [vars(outcome) for outcome in outcomes]}, indent=1,
        ensure_ascii=False) + "\n"


def summary(outcomes, absent):
    counts = collections.Counter(outcome.outcome for outcome in outcomes)
    lines = []
    for outcome in outcomes:
        if not outcome.is_expected:
            lines.append(f"{outcome.outcome}  {outcome.profile}, {outcome.check}, made by {outcome.maker}, with "
                         f"{outcome.peer}: {outcome.said} ({outcome.reason})")
    unexpected = len(lines)
    lines.append(f"interop: {counts[GOOD]} as they should be, {counts[CANNOT]} that a peer cannot, "
                 f"{unexpected} unexpected; {len(absent)} peers were not there")
    return "\n".join(lines)


def unique(values):
    return list(dict.fromkeys(values))
