// SPDX-License-Identifier: Apache-2.0
//
// Two copies of a certificate become one.

import Testing

@testable import OpenPGP

struct CertificateMergingTests {
  private typealias Parts = CertificateParts

  @Test("Merging with itself changes nothing")
  func itself() {
    #expect(Parts.complete.merging(Parts.complete) == Parts.complete)
  }

  @Test("Merging twice changes nothing more, and both sides' signatures are there")
  func twice() {
    var other = Certificate(primaryKey: Parts.key(1))
    other.signatures = [Parts.signature(.directKey, 20)]
    other.userIDs = [.init(UserID("Countess"), signatures: [Parts.signature(.positiveCertification, 21)])]
    other.subkeys = [.init(Parts.key(2), signatures: [Parts.signature(.subkeyRevocation, 22)])]
    let merged = Parts.complete.merging(other)
    #expect(merged.merging(other) == merged)
    #expect(merged.merging(Parts.complete) == merged)
    #expect(merged.userIDs.map(\.packet).last == UserID("Countess"))
    #expect(merged.signatures.count == 3)
    #expect(merged.subkeys[0].signatures.map(\.type) == [.subkeyRevocation, .subkeyBinding])
  }

  @Test("Both ways of merging say the same")
  func bothWays() {
    var other = Certificate(primaryKey: Parts.key(1))
    other.userIDs = [.init(UserID("Countess")), .init(UserID("Ada at work"))]
    other.userIDs[1].opaquePackets = [OpaquePacket(.signature, body: [99])]
    let (one, two) = (Parts.complete.merging(other), other.merging(Parts.complete))
    #expect(Set(one.userIDs) == Set(two.userIDs))
    #expect(Set(one.signatures) == Set(two.signatures))
    #expect(one.subkeys == two.subkeys)
  }

  @Test("Of several certificates, copies of one become one in the place of the first")
  func list() {
    var revoked = Certificate(primaryKey: Parts.key(1))
    revoked.signatures = [Parts.signature(.keyRevocation, 30)]
    let other = Certificate(primaryKey: Parts.key(7))
    let merged = Certificate.merged([Parts.complete, other, revoked, Parts.complete])
    #expect(merged == [Parts.complete.merging(revoked), other])
    #expect(merged[0].signatures.contains(revoked.signatures[0]))
  }
}
