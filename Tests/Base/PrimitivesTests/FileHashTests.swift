// SPDX-License-Identifier: Apache-2.0
//
// The hash of a file: the same as in memory at every edge of the window, and never of half a file.

import Extents
import Foundation
import Glibc
import Synchronization
import Testing

@testable import Primitives

@Suite("Hash of a file")
struct FileHashTests {
  /// A folder of its own, gone afterwards.
  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "coffer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  private static let half = 512 << 10
  private static let piece = FileDigest.pieceByteCount

  @Test(
    "A file has the hash that its bytes have in memory",
    arguments: [
      0, 1, half - 1, half, half + 1, 2 * half - 1, 2 * half, 2 * half + 1, 3 * half, 7 * half,
      piece - 1, piece, piece + 1,
    ])
  func equalToMemory(_ count: Int) throws {
    try withFolder { folder in
      let data = CryptoService.randomData(count: count)
      let file = folder.appending(path: "a file with spaces, ümlauts")
      try data.write(to: file)
      #expect(try CryptoService.sha256Stream(url: file) == CryptoService.sha256(data))
      let link = folder.appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      #expect(try CryptoService.sha256Stream(url: link) == CryptoService.sha256(data))
    }
  }

  @Test("A pipe, which gives less at a time than was asked for, is read to its end")
  func shortReads() throws {
    try withFolder { folder in
      let path = folder.appending(path: "pipe").path
      try #require(mkfifo(path, 0o600) == 0)
      let data = CryptoService.randomData(count: 3 * Self.half + 17)
      let writer = Thread {
        try? FileHandle(forWritingTo: URL(filePath: path)).write(contentsOf: data)
      }
      writer.start()
      #expect(
        try CryptoService.sha256Stream(url: URL(filePath: path)) == CryptoService.sha256(data))
    }
  }

  @Test("Several files are hashed at once without waiting for each other for ever")
  func concurrent() async throws {
    let data = CryptoService.randomData(count: 5 * Self.half + 3)
    let file = FileManager.default.temporaryDirectory.appending(path: "coffer-\(UUID().uuidString)")
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let expected = CryptoService.sha256(data)
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<32 { group.addTask { try CryptoService.sha256Stream(url: file) } }
      for try await digest in group { #expect(digest == expected) }
    }
  }

  @Test("More hashes at once than the queue has threads all come to their end")
  func moreThanThreads() throws {
    try withFolder { folder in
      let data = CryptoService.randomData(count: 1_000_000)
      let file = folder.appending(path: "file")
      try data.write(to: file)
      let expected = CryptoService.sha256(data)
      let finished = DispatchGroup()
      let wrong = Mutex(0)
      for _ in 0..<600 {
        DispatchQueue.global().async(group: finished) {
          if (try? CryptoService.sha256Stream(url: file)) != expected { wrong.withLock { $0 += 1 } }
        }
      }
      #expect(finished.wait(timeout: .now() + Patience.seconds) == .success)
      #expect(wrong.withLock { $0 } == 0)
    }
  }

  @Test("A missing file, also one below a file, is fileNotFound")
  func missing() throws {
    try withFolder { folder in
      let file = folder.appending(path: "file")
      try Data([1]).write(to: file)
      for missing in [folder.appending(path: "none"), file.appending(path: "below")] {
        #expect(throws: CryptoError.fileNotFound) { try CryptoService.sha256Stream(url: missing) }
      }
    }
  }

  @Test("A directory is fileReadError")
  func directory() throws {
    try withFolder { folder in
      #expect(throws: CryptoError.fileReadError) { try CryptoService.sha256Stream(url: folder) }
    }
  }

  @Test(
    "A file whose reading fails is fileReadError",
    arguments: [
      // Address 0 of the process's memory is mapped nowhere.
      "/proc/self/mem"
    ])
  func readError(_ path: String) {
    #expect(throws: CryptoError.fileReadError) {
      try CryptoService.sha256Stream(url: URL(filePath: path))
    }
  }

  @Test(
    "A file that may not be read is fileReadError",
    .enabled(if: geteuid() != 0, "root may read every file"))
  func forbidden() throws {
    try withFolder { folder in
      let file = folder.appending(path: "forbidden")
      try Data([1]).write(to: file)
      try #require(chmod(file.path, 0) == 0)
      #expect(throws: CryptoError.fileReadError) { try CryptoService.sha256Stream(url: file) }
    }
  }

  @Test("No descriptor stays open after a hash or an error")
  func descriptors() throws {
    try withFolder { folder in
      let file = folder.appending(path: "watched")
      try CryptoService.randomData(count: 3 * Self.half).write(to: file)
      _ = try CryptoService.sha256Stream(url: file)
      _ = try? CryptoService.sha256Stream(url: folder)
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        .compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
      #expect(!open.contains { $0.hasPrefix(folder.path) })
    }
  }
}
