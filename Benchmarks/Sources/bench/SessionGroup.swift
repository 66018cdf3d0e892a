// SPDX-License-Identifier: Apache-2.0
//
// The session: unlocking through a TPM in software, what asking the agent costs, and what it saves.

import Agent
import CofferKit
import Foundation
import Glibc
import SoftwareTPM

enum SessionGroup {
  private static let runs = 21

  static func run() throws {
    let chip = try SoftwareTPM()
    let place = try BenchCoffer(tcti: chip.tcti)
    defer { place.remove() }
    defer { _ = try? place.plain(["lock", "--all"]) }
    let pin = place.directory + "/pin"
    try Data("482913".utf8).write(to: URL(filePath: pin))
    try place.coffer(["slot", "add", "tpm", "--pin-file", pin])
    try sealPeersSecret(chip)
    print("load average: \(load())")

    var table = Table()
    var notes: [String] = []
    let version = Peer(name: "coffer --version") { try Command.time([BenchCoffer.binary, "--version"]) }
    let unseal = Peer(name: "tpm2_unseal") {
      try Command.time(["tpm2_unseal", "-c", handle, "-p", "482913", "-T", chip.tcti])
    }
    try unlock("unlock, agent not running", &table, &notes, [version, unseal]) {
      try place.plain(["lock", "--all"])
      return try place.plain(["unlock", "--pin-file", pin]).seconds
    }
    try unlock("unlock, agent running", &table, &notes, [version, unseal]) {
      try place.plain(["unlock", "--pin-file", pin]).seconds
    }
    let listed = try Harness.compare(
      rounds: runs, ours: { try place.plain(["message", "list"]).seconds },
      peers: [
        Peer(name: "with the passphrase") { try place.coffer(["message", "list"]).seconds }, version,
      ])
    table.add("message list, agent", listed.ours, peers: listed.peers)
    let started = try Harness.compare(
      rounds: runs, ours: version.round,
      peers: [Peer(name: "openssl version") { try Command.time(["openssl", "version"]) }])
    table.add("coffer --version", started.ours, peers: started.peers, target: .below(0.015))
    table.write()
    print(notes.joined(separator: "\n") + "\n")
    try place.plain(["unlock", "--pin-file", pin])
    try roundTrips(place)
  }

  /// Adds the command as a whole; what it takes beyond the start of a process, of the medians and of the
  /// fastest, goes to `notes`.
  private static func unlock(
    _ what: String, _ table: inout Table, _ notes: inout [String], _ peers: [Peer],
    _ ours: () throws -> Double
  ) throws {
    let result = try Harness.compare(rounds: runs, ours: ours, peers: peers)
    table.add(what, result.ours, peers: result.peers)
    let start = result.peers[0].series
    let median = Table.time(max(0, result.ours.median - start.median))
    let minimum = Table.time(max(0, result.ours.minimum - start.minimum))
    notes.append("\(what), beyond process start: median \(median), min \(minimum) (target 40 ms)")
  }

  /// Where the chip keeps what the peer unseals: a persistent handle, as the tools name it.
  private static let handle = "0x81000100"

  private static func sealPeersSecret(_ chip: SoftwareTPM) throws {
    let primary = chip.path("primary.ctx")
    let (publicPart, privatePart) = (chip.path("public"), chip.path("private"))
    let (secret, loaded) = (chip.path("secret"), chip.path("loaded.ctx"))
    try Data(repeating: 7, count: 32).write(to: URL(filePath: secret))
    try chip.run("createprimary", "-Q", "-C", "o", "-G", "ecc", "-c", primary)
    try chip.run("flushcontext", "-t")
    try chip.run(
      "create", "-Q", "-C", primary, "-i", secret, "-p", "482913", "-u", publicPart, "-r", privatePart)
    try chip.run("flushcontext", "-t")
    try chip.run("load", "-Q", "-C", primary, "-u", publicPart, "-r", privatePart, "-c", loaded)
    try chip.run("flushcontext", "-t")
    try chip.run("evictcontrol", "-Q", "-C", "o", "-c", loaded, handle)
    try chip.run("flushcontext", "-t")
  }

  // MARK: Round trips

  private static func roundTrips(_ place: BenchCoffer) throws {
    setenv("XDG_RUNTIME_DIR", place.directory, 1)
    let session = AgentSession(try LockedCoffer(home: place.home))
    let echo = try Echo()
    print("agent                | p50       | p99       | target p99 < 200 µs")
    for _ in 0..<3 {
      write(
        "connect and keys",
        try times(10_000) { guard session.keys(.all) != nil else { throw Command.CouldNotStart() } },
        limit: 2e-4)
      write("peer: a thread's echo", try times(20_000) { try echo.roundTrip() })
    }
  }

  private static func times(_ count: Int, _ body: () throws -> Void) throws -> [Double] {
    var seconds: [Double] = []
    seconds.reserveCapacity(count)
    let clock = ContinuousClock()
    for _ in 0..<count {
      let start = clock.now
      try body()
      seconds.append((clock.now - start) / .seconds(1))
    }
    return seconds.sorted()
  }

  private static func write(_ what: String, _ sorted: [Double], limit: Double? = nil) {
    let (p50, p99) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    let verdict = limit.map { p99 < $0 ? "ok" : "MISS" } ?? ""
    print("\(what) | \(Table.time(p50)) | \(Table.time(p99)) | \(verdict)")
  }

  static func load() -> String {
    (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?
      .split(separator: " ").prefix(3).joined(separator: " ") ?? "?"
  }
}

/// The least that a round trip to another thread costs: packets of the agent's sizes over a socket pair.
private final class Echo {
  private let ours: Int32

  init() throws {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &pair) == 0 else {
      throw Command.CouldNotStart()
    }
    ours = pair[0]
    let theirs = pair[1]
    Thread.detachNewThread {
      var packet = [UInt8](repeating: 0, count: 120)
      while read(theirs, &packet, 120) > 0 { Glibc.write(theirs, packet, 120) }
    }
  }

  deinit { close(ours) }

  func roundTrip() throws {
    var packet = [UInt8](repeating: 0, count: 120)
    guard Glibc.write(ours, packet, 56) == 56, read(ours, &packet, 120) == 120 else {
      throw Command.CouldNotStart()
    }
  }
}
