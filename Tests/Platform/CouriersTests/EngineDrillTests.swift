// SPDX-License-Identifier: Apache-2.0
//
// Services that lose a disk, a process or everything while devices write. Each drill starts a service of its
// own, of the kinds that run: `scripts/engines start postgresql`, then `scripts/test --engines`.

import Dispatch
import Extents
import Foundation
import PostgreSQLServer
import Remotes
import Synchronization
import Testing

@testable import Couriers

/// A service that `scripts/engines` has started for one test.
final class OwnEngine: Sendable {
  private let name: String
  private let folder: String

  init(_ name: String) throws {
    self.name = name
    folder =
      FileManager.default.temporaryDirectory.appending(path: "drill-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try run("start")
  }

  deinit {
    // Threads of tests block SIGTERM, and so does what they start.
    try? run("kill")
    try? run("stop")
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// `scripts/engines COMMAND NAME [PART]`.
  func run(_ command: String, _ part: String...) throws {
    let process = Process()
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../scripts/engines")
    process.executableURL = URL(filePath: PostgreSQLServer.apart[0])
    process.arguments =
      PostgreSQLServer.apart.dropFirst() + [script.standardizedFileURL.path, command, name] + part
    process.environment = ProcessInfo.processInfo.environment.merging(["COFFER_ENGINES": folder]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "scripts/engines \(command) \(name) \(part)")
  }

  /// By the URL of this moment.
  func remote() throws -> CourierRemote {
    let url = try Data(contentsOf: URL(filePath: "\(folder)/\(name)/url")).filter { $0 != 0x0A }
    return try Engine(testDescription: name, url: Array(url)).remote()
  }
}

/// Devices that write, each a thread with a courier of its own, until they are told to end.
private final class Writers: Sendable {
  /// What was acknowledged.
  private let acknowledged = Mutex<[String: [UInt8]]>([:])
  private let isEnding = Atomic<Bool>(false)
  private let group = DispatchGroup()

  init(_ count: Int, _ remote: @escaping @Sendable () throws -> CourierRemote) {
    for writer in 0..<count {
      DispatchQueue(label: "writer \(writer)").async(group: group) { [self] in
        var kept: CourierRemote?
        var number = 0
        while !isEnding.load(ordering: .relaxed) {
          let (name, bytes) = (
            "drill/\(writer)/\(number)", [UInt8](repeating: UInt8(number & 255), count: 3_000)
          )
          do {
            let courier = try kept ?? remote()
            kept = courier
            try courier.put(name, bytes)
            acknowledged.withLock { $0[name] = bytes }
            number += 1
          } catch {
            // The next one is for where the service is by then.
            kept = nil
            usleep(50_000)
          }
        }
      }
    }
  }

  var count: Int { acknowledged.withLock { $0.count } }

  /// Waits until so many more objects were acknowledged.
  func wait(for more: Int) throws {
    let target = count + more
    let end = ContinuousClock.now + Patience.duration
    while count < target {
      try #require(ContinuousClock.now < end, "nothing was written for ten minutes")
      usleep(10_000)
    }
  }

  func end() -> [String: [UInt8]] {
    isEnding.store(true, ordering: .relaxed)
    group.wait()
    return acknowledged.withLock { $0 }
  }
}

@Suite(
  "Real services that lose something", .serialized,
  .enabled(if: !Engine.running.isEmpty, "only with scripts/test --engines"))
struct EngineDrillTests {
  @Test(
    "The primary is killed and its standby promoted while devices write: no acknowledged object is lost",
    .enabled(if: Engine.running.contains { $0.testDescription == "postgresql" }, "it does not run"),
    .timeLimit(.minutes(60)))
  func failover() throws {
    let engine = try OwnEngine("postgresql")
    let writers = Writers(4) { try engine.remote() }
    defer { _ = writers.end() }
    try writers.wait(for: 200)
    try engine.run("kill", "a")
    try engine.run("promote")
    try writers.wait(for: 200)
    try check(writers.end(), engine)
  }

  @Test(
    "Everything is killed and started again while devices write: no acknowledged object is lost",
    .enabled(
      if: Engine.running.contains { $0.testDescription != "swift" }, "neither Ceph nor PostgreSQL runs"),
    .timeLimit(.minutes(60)),
    arguments: Engine.running.map(\.testDescription).filter { $0 != "swift" })
  func everything(name: String) throws {
    let engine = try OwnEngine(name)
    let writers = Writers(2) { try engine.remote() }
    defer { _ = writers.end() }
    try writers.wait(for: 60)
    try engine.run("kill")
    try engine.run("again")
    try writers.wait(for: 60)
    try check(writers.end(), engine)
  }

  @Test(
    "One of three disks is killed while devices write: it goes on, and no acknowledged object is lost",
    .enabled(if: Engine.running.contains { $0.testDescription == "ceph" }, "it does not run"),
    .timeLimit(.minutes(60)))
  func disk() throws {
    let engine = try OwnEngine("ceph")
    let writers = Writers(2) { try engine.remote() }
    defer { _ = writers.end() }
    try writers.wait(for: 60)
    try engine.run("kill", "osd.1")
    try writers.wait(for: 120)
    try check(writers.end(), engine)
  }

  @Test(
    "A full disk is said, what was acknowledged is there, and it goes on when there is room again",
    .enabled(
      if: SmallTablespace.isPossible && Engine.running.contains { $0.testDescription == "postgresql" },
      "it does not run, or this user cannot mount a disk"),
    .timeLimit(.minutes(60)))
  func full() throws {
    let disk = try SmallTablespace()
    let remote = try courierRemote(disk.server.place())
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    var count = 0
    #expect(throws: RemoteError.full) {
      while count < 64 {
        try remote.put("full/\(count)", bytes)
        count += 1
      }
    }
    #expect((2..<64).contains(count))
    #expect(throws: RemoteError.full) { try remote.put("full/again", bytes) }
    for index in 0..<count { #expect(try remote.get("full/\(index)") == bytes) }
    #expect(try remote.list("full").objects.count == count)
    try disk.grow()
    try remote.put("full/again", bytes)
    #expect(try remote.get("full/again") == bytes)
  }

  private func check(_ acknowledged: [String: [UInt8]], _ engine: OwnEngine) throws {
    let remote = try engine.remote()
    for (name, bytes) in acknowledged { #expect(try remote.get(name) == bytes, "\(name)") }
    let names = Set(try remote.list("drill").objects.map(\.name))
    #expect(acknowledged.keys.allSatisfy { names.contains($0) })
  }
}
