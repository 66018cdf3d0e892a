// SPDX-License-Identifier: Apache-2.0
//
// Several writers and readers at once, each in a thread.

import Dispatch
import Remotes
import Synchronization

extension RemoteCheck {
  private static var rounds: Int { 25 }
  private static var byteCount: Int { 20_000 }

  /// Two devices put one object, and others beside it, in folders that both make.
  func severalWriters() throws {
    let differences = inThreads(2) { writer in
      for round in 0..<Self.rounds {
        let own = name("pack/d/\(round)/\(writer)")
        try remote.put(own, Self.bytes(100 + writer))
        try remote.put(name("pack/d/\(round)/both"), Self.bytes(Self.byteCount, seed: UInt8(writer)))
        try expect(own, Self.bytes(100 + writer))
      }
    }
    try expect(differences.isEmpty, "\(differences)")
    for round in 0..<Self.rounds {
      let found = try remote.get(name("pack/d/\(round)/both"))
      let isWhole = (0...1).contains { found == Self.bytes(Self.byteCount, seed: UInt8($0)) }
      try expect(isWhole, "two writers of one object made a third of it")
    }
    try expect(try list(account).count == 3 * Self.rounds, "a list after two writers has other objects")
  }

  /// While an object is written over, it is there, and whole.
  func readersWhileWriting() throws {
    let name = name("slots/read")
    let versions = (0...1).map { Self.bytes(Self.byteCount * ($0 + 1), seed: UInt8($0)) }
    try remote.put(name, versions[0])
    let differences = inThreads(2) { thread in
      for round in 0..<4 * Self.rounds {
        if thread == 0 {
          try remote.put(name, versions[round % 2])
        } else {
          let found = try remote.get(name)
          try expect(versions.contains { $0 == found }, "a reader sees \(found?.count ?? -1) bytes")
          try expect(try remote.stat(name) != nil, "an object is away while it is written over")
        }
      }
    }
    try expect(differences.isEmpty, "\(differences)")
  }

  /// Runs `body` in threads of their own, and waits for them.
  /// - Returns: what they threw, in words.
  private func inThreads(_ count: Int, _ body: @Sendable (Int) throws -> Void) -> [String] {
    let thrown = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: count) { thread in
      do { try body(thread) } catch { thrown.withLock { $0.append("\(error)") } }
    }
    return thrown.withLock { $0 }
  }
}
