// SPDX-License-Identifier: Apache-2.0
//
// Files and pipes of a test.

import Glibc
import Primitives

@testable import OpenPGP

/// An open file of a test, which is gone with it.
final class TestFile {
  let path: String
  let descriptor: Int32

  init(_ contents: [UInt8]) {
    path = "/tmp/coffer-openpgp-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
    precondition(descriptor >= 0, "no file for a test")
    overwrite(contents, at: 0)
    lseek(descriptor, 0, SEEK_SET)
  }

  deinit {
    close(descriptor)
    unlink(path)
  }

  func overwrite(_ bytes: [UInt8], at place: Int) {
    let written = pwrite(descriptor, bytes, bytes.count, place)
    precondition(written == bytes.count, "a test cannot write its file")
  }

  func truncate(to count: Int) { precondition(ftruncate(descriptor, count) == 0, "a test cannot truncate") }
}

/// A pipe that a thread writes to, a few octets at a time.
final class TestPipe {
  let reading: Int32
  private let writer: WorkerThread?

  init(_ contents: [UInt8], pieceByteCount: Int = 10_000) {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0, "no pipe for a test")
    reading = ends[0]
    let writing = ends[1]
    writer = WorkerThread {
      var done = 0
      while done < contents.count {
        let count = min(pieceByteCount, contents.count - done)
        let written = contents.withUnsafeBytes { write(writing, $0.baseAddress! + done, count) }
        if written <= 0 { break }
        done += written
      }
      close(writing)
    }
  }

  deinit {
    close(reading)
    writer?.join()
  }
}

/// Changes the file under a source when all of it has been read once.
final class ChangingSource: RewindableSource {
  private let source: SpooledSource
  private let change: () -> Void
  private var hasBeenReadToEnd = false

  init(_ source: SpooledSource, beforeSecondReading change: @escaping () -> Void) {
    self.source = source
    self.change = change
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try source.withNext { (next) throws(OpenPGPError) -> R in
      if next.isEmpty { hasBeenReadToEnd = true }
      return try body(next)
    }
  }

  func consume(_ count: Int) { source.consume(count) }

  func rewind(recognising: Bool) throws(OpenPGPError) {
    if hasBeenReadToEnd { change() }
    try source.rewind(recognising: recognising)
  }
}
