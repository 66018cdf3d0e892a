# SPDX-License-Identifier: Apache-2.0
"""One adapter a peer."""

from peers.gpg import GnuPG
from peers.pgpy import PGPy
from peers.pysequoia import PySequoia
from peers.rnp import RNP
from peers.sq import Sequoia
from peers.stateless import GopenPGP, Gosop, Ours, PGPainless, Sqop

ALL = [GnuPG, PySequoia, Sqop, Sequoia, Gosop, GopenPGP, RNP, PGPainless, PGPy]
# Those of every run of the tests: the judges of both profiles, and one that speaks our command line.
SHORT = [GnuPG, PySequoia, Sqop]
