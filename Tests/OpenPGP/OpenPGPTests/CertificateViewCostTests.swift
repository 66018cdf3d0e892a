// SPDX-License-Identifier: Apache-2.0
//
// Certificates of public servers carry thousands of other people's signatures. What they cost is counted in
// verifications, which a busy machine does not change.

import Testing

@testable import OpenPGP

struct CertificateViewCostTests {
  @Test("Ten thousand certifications by others cost no verification")
  func thirdParties() throws {
    var holder = try Keyholder.usual()
    try holder.addEncryptionSubkey()
    let plain = holder.view(on: 1).verificationCount
    let stranger = try Keyholder()
    let target = SignedTarget.userID(holder.primary.publicKey, Keyholder.userID)
    let certification = try holder.signature(
      .genericCertification, over: target, [], on: 0, by: stranger.primary)
    let others = [Signature](repeating: certification, count: 10_000)
    holder.certificate.userIDs[0].signatures = others + holder.certificate.userIDs[0].signatures
    holder.certificate.signatures = others + holder.certificate.signatures
    holder.certificate.subkeys[0].signatures = others + holder.certificate.subkeys[0].signatures
    #expect(holder.view(on: 1).verificationCount == plain)
  }

  @Test("Signatures that only claim to be the holder's cost one verification each at most")
  func claimed() throws {
    var holder = try Keyholder.usual()
    let count = 500
    let plain = holder.view(on: 1).verificationCount
    let broken = holder.certificate.userIDs[0].signatures[0].broken
    holder.certificate.userIDs[0].signatures += [Signature](repeating: broken, count: count)
    let view = holder.view(on: 1)
    #expect(view.userIDs[0].problem == nil)
    #expect((plain...plain + count).contains(view.verificationCount))
  }

  @Test("Of a hundred self-signatures, the newest alone is verified")
  func newestAlone() throws {
    var holder = try Keyholder(version: 6)
    for time in 0..<100 { try holder.addDirectKeySignature([.keyFlags(.sign)], on: time) }
    #expect(holder.view(on: 200).verificationCount == 1)
  }
}
