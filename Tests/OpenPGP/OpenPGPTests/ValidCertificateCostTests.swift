// SPDX-License-Identifier: Apache-2.0
//
// Certificates of public servers carry thousands of other people's signatures. What they cost is counted in
// verifications, which a busy machine does not change.

import Testing

@testable import OpenPGP

struct ValidCertificateCostTests {
  @Test("Ten thousand certifications by others cost no verification")
  func thirdParties() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey()
    let plain = holder.valid(on: 1).verificationCount
    let stranger = try KeyHolderFixture()
    let target = SignedTarget.userID(holder.primary.publicKey, KeyHolderFixture.userID)
    let certification = try holder.signature(
      .genericCertification, over: target, [], on: 0, by: stranger.primary)
    let others = [Signature](repeating: certification, count: 10_000)
    holder.certificate.userIDs[0].signatures = others + holder.certificate.userIDs[0].signatures
    holder.certificate.signatures = others + holder.certificate.signatures
    holder.certificate.subkeys[0].signatures = others + holder.certificate.subkeys[0].signatures
    #expect(holder.valid(on: 1).verificationCount == plain)
  }

  @Test("Signatures that only claim to be the holder's cost one verification each at most")
  func claimed() throws {
    var holder = try KeyHolderFixture.usual()
    let count = 500
    let plain = holder.valid(on: 1).verificationCount
    let broken = holder.certificate.userIDs[0].signatures[0].broken
    holder.certificate.userIDs[0].signatures += [Signature](repeating: broken, count: count)
    let valid = holder.valid(on: 1)
    #expect(valid.userIDs[0].problem == nil)
    #expect((plain...plain + count).contains(valid.verificationCount))
  }

  @Test("Of a hundred self-signatures, the newest alone is verified")
  func newestAlone() throws {
    var holder = try KeyHolderFixture(version: 6)
    for time in 0..<100 { try holder.addDirectKeySignature([.keyFlags(.sign)], on: time) }
    #expect(holder.valid(on: 200).verificationCount == 1)
  }
}
