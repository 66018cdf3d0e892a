// SPDX-License-Identifier: Apache-2.0
//
// After a message was written, signed and read, neither its session key, nor its text, nor the private parts that
// signed and opened it are in the memory of the process.

import Correspondence
import Identities
import MemorySearch
import OpenPGP
import Primitives
import Secrets
import Testing

@Suite("What messages leave in memory")
struct LetterMemoryTests {
  private struct Found {
    var needles: [Needle]
    var seenWhileAlive: [Int]
  }

  /// Runs away from the stack frames that search later.
  @inline(never)
  private func use(isUniversal: Bool) throws -> Found {
    let fixture = try LettersFixture()
    let ada = try fixture.identity("Ada <ada@example.org>", isUniversal: isUniversal)
    let text = SharedSecretBytes(SystemRandom.secretBytes(count: 4096))
    let outgoing = try OutgoingMessage(
      to: [("me", .identity(ada))], signer: ada, own: nil, at: LettersFixture.now)
    var encryption = try outgoing.encryption(passwords: [])
    encryption.signers = [
      BorrowedKey(
        try ada.signingKey(at: outgoing.time), of: ada.certificate.fingerprint, lend: fixture.lender())
    ]
    let message = ArraySink()
    try encryption.encrypt(from: MemorySource(text), to: message)
    var needles = [
      encryption.sessionKey.bytes.withBytes { Needle($0) },
      text.withBytes { Needle($0.extracting(100..<132)) },
    ]
    let body = ada.certificate.primaryKey.body.count
    // Header, public part, protection, and in version 4 the length of the number.
    let start = 2 + body + (isUniversal ? 3 : 1)
    var seen: [Int] = []
    try fixture.lender()(ada.certificate.fingerprint) { bytes in
      let needle = Needle(bytes.extracting(start..<(start + 28)))
      seen.append(try ProcessMemory.places(of: needle).count)
      needles.append(needle)
    }
    let plan = ReadingPlan(
      try MessageRecipients(reading: MemorySource(message.bytes)), try fixture.book().identities)
    var decryption = MessageDecryption()
    decryption.keys = plan.keys(fixture.lender()).map { .init($0, certificate: $0.identity) }
    _ = try decryption.decrypt(from: MemorySource(message.bytes), to: DroppedSink())
    seen += try needles.prefix(2).map { try ProcessMemory.places(of: $0).count }
    return Found(needles: needles, seenWhileAlive: seen)
  }

  @Test("Nothing of a message or of its private parts stays, in either profile", arguments: [true, false])
  func nothingStays(isUniversal: Bool) async {
    await #expect(processExitsWith: .success) { [isUniversal] in
      recordingErrors {
        let found = try LetterMemoryTests().use(isUniversal: isUniversal)
        #expect(found.seenWhileAlive.allSatisfy { $0 > 0 }, "the search finds what is there")
        for needle in found.needles { try ProcessMemory.expectGone(needle) }
      }
    }
  }
}

private final class DroppedSink: ByteSink {
  func write(_ bytes: RawSpan) {}
}
