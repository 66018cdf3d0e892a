// SPDX-License-Identifier: Apache-2.0
//
// How a coffer comes to be where others try the same, where something is there already, and where it fails.

import Extents
import Foundation
import Synchronization
import TemporaryHomes
import Testing

@testable import Storage

@Suite("Making a coffer")
struct CreationTests {
  let home: TemporaryHome

  init() throws { home = try TemporaryHome() }

  private var path: String { home.path + "/" + DatabaseFile.name }
  private var lock: String { home.path + "/" + DatabaseFile.lockName }

  /// Fills a coffer with something to tell it by.
  private func fill(_ file: DatabaseFile, _ mark: UInt8) throws {
    try file.write {
      _ = try $0.execute("INSERT INTO keybag (only, record) VALUES (1, ?)", .bytes(Data([mark])))
    }
  }

  private func mark(_ place: String) throws -> UInt8? {
    let file = try DatabaseFile.open(home: place)
    defer { file.close() }
    return try file.read { try $0.firstRow("SELECT record FROM keybag") { try $0.bytes(0).first } ?? nil }
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  // MARK: Others at the same time

  @Test(
    "Of several that make a coffer at once one succeeds, and its coffer is the one that stays",
    arguments: [2, 4])
  func atOnce(count: Int) throws {
    for round in 0..<Shares("coffers made at once", count: 4).rounds(of: 200) {
      let place = "\(home.path)/data/\(round)"
      let ends = Mutex<[StorageError?]>(Array(repeating: nil, count: count))
      inThreads(count) { number in
        do {
          try DatabaseFile.create(home: place) { try fill($0, UInt8(number)) }.close()
        } catch {
          let told = error as? StorageError ?? .inputOutput(code: 0)
          ends.withLock { $0[number] = told }
        }
      }
      let winners = ends.withLock { ends in ends.indices.filter { ends[$0] == nil } }
      try #require(winners.count == 1, "round \(round): \(winners) made the coffer")
      let others = ends.withLock { $0.compactMap(\.self) }
      #expect(others.allSatisfy { $0 == .alreadyExists || $0 == .inUse }, "round \(round): \(others)")
      #expect(try mark(place).map(Int.init) == winners[0])
      #expect(try names(place) == [DatabaseFile.name, DatabaseFile.lockName])
      try FileManager.default.removeItem(atPath: place)
    }
  }

  /// Runs `body` in so many threads at once, and waits for all.
  private func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread {
        body(number)
        group.leave()
      }.start()
    }
    group.wait()
  }

  @Test("Until a complete coffer has its name nobody else can make one")
  func lockedToTheEnd() throws {
    let file = try DatabaseFile.create(home: home.path) {
      try fill($0, 1)
    } beforeNaming: {
      #expect(!DatabaseFile.exists(home: home.path))
      #expect(throws: StorageError.inUse) { try DatabaseFile.create(home: home.path) { try fill($0, 2) } }
    }
    file.close()
    #expect(try mark(home.path) == 1)
    #expect(try names(home.path) == [DatabaseFile.name, DatabaseFile.lockName])
  }

  @Test("Who has lost the lock gives way to the coffer that was made meanwhile")
  func lockRemoved() throws {
    #expect(throws: StorageError.inUse) {
      try DatabaseFile.create(home: home.path) {
        try fill($0, 1)
      } beforeNaming: {
        unlink(lock)
        try DatabaseFile.create(home: home.path) { try fill($0, 2) }.close()
      }
    }
    #expect(try mark(home.path) == 2)
    #expect(try names(home.path) == [DatabaseFile.name, DatabaseFile.lockName])
  }

  @Test("Who has lost the lock names no coffer, and the next one is made as if nothing had been")
  func lockReplaced() throws {
    #expect(throws: StorageError.inUse) {
      try DatabaseFile.create(home: home.path) {
        try fill($0, 1)
      } beforeNaming: {
        unlink(lock)
      }
    }
    #expect(!DatabaseFile.exists(home: home.path))
    try DatabaseFile.create(home: home.path) { try fill($0, 2) }.close()
    #expect(try mark(home.path) == 2)
  }

  @Test(
    "What has got the name meanwhile is never replaced, be it a file, a link or a folder", arguments: 0..<3)
  func nameTaken(kind: Int) throws {
    let other = Data("somebody's".utf8)
    #expect(throws: StorageError.alreadyExists) {
      try DatabaseFile.create(home: home.path) {
        try fill($0, 1)
      } beforeNaming: {
        switch kind {
        case 0: try other.write(to: URL(filePath: path))
        case 1: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
      }
    }
    switch kind {
    case 0: #expect(try Data(contentsOf: URL(filePath: path)) == other)
    case 1: #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "nowhere")
    default: #expect(try names(path) == [])
    }
    #expect(try names(home.path) == [DatabaseFile.name, DatabaseFile.lockName])
  }

  // MARK: What fails

  struct Refusal: Error {}

  @Test("A creation that fails leaves no file and no folder behind, and what was there before")
  func failed() throws {
    let outer = home.path
    let place = outer + "/a/b/coffer"
    #expect(throws: Refusal.self) { try DatabaseFile.create(home: place) { _ in throw Refusal() } }
    #expect(!FileManager.default.fileExists(atPath: outer))
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    #expect(throws: Refusal.self) { try DatabaseFile.create(home: place) { _ in throw Refusal() } }
    #expect(try names(place) == [])
    try DatabaseFile.create(home: place) { try fill($0, 1) }.close()
    #expect(try mark(place) == 1)
  }

  @Test("What was done elsewhere is taken back once, under the lock, when no coffer comes of it")
  func undone() throws {
    let undone = Mutex(0)
    let undo = { @Sendable (file: DatabaseFile) in
      #expect(throws: Never.self) { try file.claimWriting() }
      undone.withLock { $0 += 1 }
    }
    #expect(throws: Refusal.self) {
      try DatabaseFile.create(home: home.path, populate: { try fill($0, 1) }, undo: undo) { throw Refusal() }
    }
    #expect(throws: Refusal.self) {
      try DatabaseFile.create(home: home.path, populate: { _ in throw Refusal() }, undo: undo)
    }
    #expect(undone.withLock { $0 } == 2)
    try DatabaseFile.create(home: home.path, populate: { try fill($0, 1) }, undo: undo).close()
    #expect(throws: StorageError.alreadyExists) {
      try DatabaseFile.create(home: home.path, populate: { try fill($0, 2) }, undo: undo)
    }
    #expect(undone.withLock { $0 } == 2)
  }

  @Test("Who waits for one that fails makes the coffer, though folder and lock were taken away")
  func afterFailure() throws {
    for round in 0..<20 {
      let place = "\(home.path)/\(round)"
      let waiting = DispatchGroup()
      waiting.enter()
      let other = Thread {
        #expect(throws: Never.self) {
          try DatabaseFile.create(
            home: place, populate: { try fill($0, 2) }, lockPatienceMilliseconds: 600_000, beforeNaming: {}
          ).close()
        }
        waiting.leave()
      }
      #expect(throws: Refusal.self) {
        try DatabaseFile.create(home: place) { _ in
          other.start()
          // On the even rounds the other one is most likely waiting by then, on the odd ones not.
          if round.isMultiple(of: 2) { usleep(30_000) }
          throw Refusal()
        }
      }
      waiting.wait()
      #expect(try mark(place) == 2)
    }
  }

  // MARK: What is there

  @Test(
    "A folder that holds anything else is refused, and stays as it is",
    arguments: ["letter", "coffer.db-wal", "coffer.db-shm", "blobs", ".hidden"])
  func notEmpty(name: String) throws {
    try FileManager.default.createDirectory(
      atPath: home.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    try Data([1]).write(to: URL(filePath: home.path + "/" + name))
    #expect(throws: StorageError.notEmpty) { try DatabaseFile.checkPlace(home: home.path) }
    #expect(throws: StorageError.notEmpty) { try DatabaseFile.create(home: home.path) { try fill($0, 1) } }
    #expect(try names(home.path) == [name])
    #expect(try FileManager.default.attributesOfItem(atPath: home.path)[.posixPermissions] as? Int == 0o755)
  }

  @Test("A file where the folder should be is refused, and stays as it is")
  func noFolder() throws {
    try Data([1]).write(to: URL(filePath: home.path))
    for place in [home.path, home.path + "/coffer"] {
      #expect(throws: StorageError.notPermitted) { try DatabaseFile.create(home: place) { try fill($0, 1) } }
    }
    #expect(try Data(contentsOf: URL(filePath: home.path)) == Data([1]))
    #expect(throws: StorageError.notPermitted) { try DatabaseFile.create(home: "/proc/coffer") { _ in } }
  }
}
