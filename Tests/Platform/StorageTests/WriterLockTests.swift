// SPDX-License-Identifier: Apache-2.0
//
// The lock is on a file that somebody may take for a stale one and remove, or that goes with the coffer.

import Foundation
import TemporaryHomes
import Testing

@testable import Storage

@Suite("The writer's lock")
struct WriterLockTests {
  let home: TemporaryHome
  let first: DatabaseFile
  let second: DatabaseFile

  init() throws {
    home = try TemporaryHome()
    first = try DatabaseFile.create(home: home.path) { _ in }
    second = try DatabaseFile.open(home: home.path)
  }

  private var lock: String { home.path + "/" + DatabaseFile.lockName }

  private func add(_ part: Int64, to file: DatabaseFile) throws {
    try file.write {
      _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (?, x'00')", .integer(part))
    }
  }

  private func parts(_ file: DatabaseFile) throws -> [Int64] {
    var parts: [Int64] = []
    try file.read { transaction in
      _ = try transaction.forEachRow("SELECT part FROM vault ORDER BY part") {
        parts.append(try $0.integer(0))
        return true
      }
    }
    return parts
  }

  @Test("A writer whose lock file was removed writes no more; the next one does")
  func removed() throws {
    try add(1, to: first)
    #expect(unlink(lock) == 0)
    #expect(throws: StorageError.inUse) { try add(2, to: first) }
    #expect(throws: StorageError.inUse) { try first.claimWriting() }
    try add(3, to: second)
    #expect(throws: StorageError.inUse) { try add(4, to: first) }
    #expect(throws: StorageError.inUse) { try first.sweepBlobs(except: []) }
    #expect(try parts(second) == [1, 3])
    first.close()
    second.close()
    let third = try DatabaseFile.open(home: home.path)
    try add(5, to: third)
    #expect(try parts(third) == [1, 3, 5])
  }

  @Test(
    "A transaction in which the lock file is removed or replaced is not committed", arguments: [false, true])
  func removedMeanwhile(isReplaced: Bool) throws {
    #expect(throws: StorageError.inUse) {
      try first.write { transaction in
        try transaction.execute("INSERT INTO vault (part, sealed) VALUES (1, x'00')")
        unlink(lock)
        if isReplaced { try second.claimWriting() }
      }
    }
    #expect(try parts(first) == [])
    try add(2, to: second)
    #expect(try parts(second) == [2])
  }

  @Test("A writer that has lost the lock leaves the log to the one that has it")
  func log() throws {
    try add(1, to: first)
    #expect(unlink(lock) == 0)
    try add(2, to: second)
    #expect(throws: StorageError.inUse) { try first.truncateLog() }
    // As a crash leaves it: what was acknowledged is in the log alone.
    let copy = home.path + "-copy"
    try FileManager.default.copyItem(atPath: home.path, toPath: copy)
    #expect(try parts(DatabaseFile.open(home: copy)) == [1, 2])
  }

  @Test("Who gets the lock of a file that has gone takes the one that others look for")
  func waiting() throws {
    for _ in 0..<10 {
      let former = WriterLock(path: lock)
      first.close()
      second.close()
      try former.acquire()
      let next = WriterLock(path: lock, patienceMilliseconds: 600_000)
      let waiting = DispatchGroup()
      waiting.enter()
      Thread {
        #expect(throws: Never.self) { try next.acquire() }
        waiting.leave()
      }.start()
      // Most likely the other one is waiting by then; it gets the lock either way.
      usleep(5_000)
      former.removeFile()
      former.release()
      waiting.wait()
      try next.confirm()
      let other = WriterLock(path: lock)
      #expect(throws: StorageError.inUse) { try other.acquire() }
    }
  }

  @Test("A folder, a pipe or a link in the lock's place is refused, and nothing waits for it")
  func foreign() throws {
    first.close()
    for kind in ForeignKind.allCases {
      unlink(lock)
      rmdir(lock)
      try kind.make(at: lock)
      #expect(throws: StorageError.placeTaken(.lock)) { try add(1, to: second) }
      #expect(kind.isThere(at: lock))
    }
  }

  @Test(
    "What is written to a coffer that was replaced or removed is not acknowledged", arguments: [false, true])
  func databaseMoved(isReplaced: Bool) throws {
    first.close()
    try add(1, to: second)
    let path = home.path + "/" + DatabaseFile.name
    #expect(rename(path, path + "-old") == 0)
    if isReplaced { try FileManager.default.copyItem(atPath: path + "-old", toPath: path) }
    #expect(throws: isReplaced ? StorageError.inUse : .notFound) { try add(2, to: second) }
    #expect(throws: isReplaced ? StorageError.inUse : .notFound) { try second.truncateLog() }
    #expect(rename(path + "-old", path) == 0)
    try add(3, to: second)
    #expect(try parts(second) == [1, 3])
  }

  @Test("A writer that waited while the coffer was erased finds none")
  func erased() throws {
    try first.destroy()
    #expect(throws: StorageError.notFound) { try add(1, to: second) }
    #expect(!FileManager.default.fileExists(atPath: home.path))
  }
}
