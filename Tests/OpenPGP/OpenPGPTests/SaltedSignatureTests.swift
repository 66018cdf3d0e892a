// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 13.2: salts. No two signatures of version 6 share a hash, so that anybody who writes enough of
// them makes others hash all the data as often.

import Testing

@testable import OpenPGP

@Suite("Many salts")
struct SaltedSignatureTests {
  typealias Holder = SigningFixture

  private let limit = Limits.saltedHashCount

  /// Good signatures of version 6 over the document, each with a salt of its own.
  private func signatures(_ count: Int, by key: UnlockedKey) throws -> [Signature] {
    try (0..<count).map { number in
      var recipe = SignatureFixture(key)
      recipe.salt[0] = UInt8(number & 255)
      recipe.salt[1] = UInt8(number >> 8)
      return try recipe.made()
    }
  }

  private func expected(_ count: Int, of all: Int) -> [SignatureVerification.Result] {
    [SignatureVerification.Result](repeating: .good, count: count)
      + [SignatureVerification.Result](repeating: .refused(.tooManySalts), count: all - count)
  }

  @Test("Of more salts than the limit the first count, and signatures without a salt are always looked at")
  func detached() throws {
    let (old, new) = (try SignatureVerifierTests.holder(4), try Holder(version: 6))
    let salted = try signatures(limit + 3, by: new.primary)
    let plain = try SignatureFixture(old.primary).made()
    let verifier = SignatureVerifierTests.verifier(old.certificate, new.certificate)
    let verifications = try DetachedVerification(verifier).verify(
      salted + [plain], over: MemorySource(SignedDocument.bytes))
    #expect(verifications.map(\.result) == expected(limit, of: limit + 3) + [.good])
  }

  /// What signatures before the document are worth.
  private func results(_ signatures: [Signature], _ verifier: SignatureVerifier) throws
    -> [SignatureVerification.Result]
  {
    let message = ArraySink()
    for signature in signatures { try Packet.signature(signature).write(to: message) }
    let body = [0x62, 0, 0, 0, 0, 0] + SignedDocument.bytes
    try message.write(PacketHeader(type: .literalData, byteCount: body.count).bytes + body)
    return try InlineMessageReader(verifier: verifier)
      .read(from: MemorySource(message.bytes), to: ArraySink()) { _ in true }.verifications.map(\.result)
  }

  @Test("The same in a message")
  func inline() throws {
    let new = try Holder(version: 6)
    let salted = try signatures(limit + 1, by: new.primary)
    let verifier = SignatureVerifierTests.verifier(new.certificate)
    #expect(try results(salted, verifier) == expected(limit, of: limit + 1))
  }

  @Test("Signatures in a message by keys that nobody has are not hashed for, and take no place")
  func strangers() throws {
    let (stranger, new) = (try Holder(version: 6), try Holder(version: 6))
    let salted = try signatures(limit + 1, by: stranger.primary)
    let own = try SignatureFixture(new.primary).made()
    let found = try results(salted + [own], SignatureVerifierTests.verifier(new.certificate))
    #expect(found.dropLast().allSatisfy { $0 == .unknownKey })
    #expect(found.last == .good)
  }

  @Test("As many as sign at once can sign: the limit is for those who verify")
  func signing() throws {
    let new = try Holder(version: 6)
    var signing = DetachedSigning(
      [any Signer](repeating: new.primary, count: limit + 1), time: Holder.signingTime)
    signing.hash = .sha512
    #expect(try signing.sign(MemorySource(SignedDocument.bytes)).count == limit + 1)
  }
}
