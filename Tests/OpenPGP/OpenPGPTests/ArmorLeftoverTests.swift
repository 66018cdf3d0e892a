// SPDX-License-Identifier: Apache-2.0
//
// Secret keys pass through armor: neither they nor their text may stay behind.

import MemorySearch
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite
struct ArmorLeftoverTests {
  @Test("Neither a secret that went through armor, nor its text, remains in memory")
  func nothingRemains() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (secret, text) = try ArmorLeftoverTests().passThroughArmor()
        try ProcessMemory.expectGone(secret)
        try ProcessMemory.expectGone(text)
      }
    }
  }

  /// Writes and reads a secret of one line.
  @inline(never)
  private func passThroughArmor() throws -> (secret: Needle, text: Needle) {
    let secret = SystemRandom.secretBytes(count: 48)
    let sink = SecretSink()
    let writer = try ArmorWriter(sink, kind: .privateKey)
    try secret.withBytes { (bytes) throws(OpenPGPError) in
      // In two pieces, so that the first waits for the second.
      try writer.write(bytes.extracting(0..<20))
      try writer.write(bytes.extracting(20..<48))
    }
    try writer.finish()
    let reader = try ArmorReader(MemorySource(SharedSecretBytes(sink.text())))
    let isSame = try reader.withNext { (read) throws(OpenPGPError) in
      secret.withBytes { constantTimeEqual($0, read) }
    }
    #expect(isSame)
    let line = sink.text()
    let start = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n".utf8.count
    return (secret.withBytes { Needle($0) }, line.withBytes { Needle($0.extracting(start..<start + 64)) })
  }
}

/// Collects text in memory for secrets.
private final class SecretSink: ByteSink {
  private var bytes = SecretBytes(zeroed: 1024)
  private var count = 0

  func write(_ piece: RawSpan) throws(OpenPGPError) {
    let start = count
    bytes.withMutableBytes { $0.copy(piece, to: start) }
    count += piece.byteCount
  }

  func text() -> SecretBytes {
    var copy = bytes.duplicate()
    copy.shorten(to: count)
    return copy
  }
}
