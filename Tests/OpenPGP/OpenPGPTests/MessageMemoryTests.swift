// SPDX-License-Identifier: Apache-2.0
//
// After a message has been encrypted or decrypted, memory holds neither its data nor its key.

import MemorySearch
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("What messages leave in memory")
struct MessageMemoryTests {
  /// Compares what comes with what should, and keeps nothing.
  private final class ComparingSink: ByteSink {
    private let expected: SharedSecretBytes
    private(set) var count = 0
    private(set) var isSame = true

    init(_ expected: SharedSecretBytes) { self.expected = expected }

    func write(_ bytes: RawSpan) throws(OpenPGPError) {
      let start = count
      isSame =
        isSame
        && expected.withBytes {
          constantTimeEqual($0.extracting(start..<start + bytes.byteCount), bytes)
        }
      count += bytes.byteCount
    }
  }

  /// Sends secret data through a message, away from the stack frames that search later.
  @inline(never)
  private func pass(_ count: Int, _ format: EncryptionFormat) throws -> [Needle] {
    let data = SharedSecretBytes(SystemRandom.secretBytes(count: count))
    let message = TestMessage(format)
    let ciphertext = ArraySink()
    try message.encryption.encrypt(from: MemorySource(data), to: ciphertext)
    var decryption = MessageDecryption()
    decryption.sessionKeys = [message.sessionKey]
    let sink = ComparingSink(data)
    _ = try decryption.decrypt(from: MemorySource(ciphertext.bytes), to: sink)
    #expect(sink.isSame && sink.count == count)
    let places = [0, count / 2, count - 40]
    return places.map { place in data.withBytes { Needle($0.extracting(place..<place + 32)) } }
      + [message.sessionKey.bytes.withBytes { Needle($0) }]
  }

  @Test("Nothing of the data and of the session key", arguments: [1_000, 3_000_000])
  func nothingIsLeft(_ count: Int) async {
    await #expect(processExitsWith: .success) { [count] in
      recordingErrors {
        for format in [EncryptionFormat.version1(.aes256), .version2(AEADCiphersuite(.aes256, .ocb))] {
          for needle in try MessageMemoryTests().pass(count, format) {
            try ProcessMemory.expectGone(needle, "\(format)")
          }
        }
      }
    }
  }
}
