// SPDX-License-Identifier: Apache-2.0
//
// After private keys were wrapped, used, replaced and brought under another mode, and also when a use threw,
// no half of one is left in the memory of the process, nor of the owner key.

import MemorySearch
import Primitives
import Secrets
import Testing

@testable import KeyCustody

@Suite("What custody leaves in memory")
struct MemoryTests {
  private struct Given: Error {}

  /// Runs away from the stack frames that search later.
  @inline(never)
  private func use() throws -> (gone: [(String, Needle)], seenWhileAlive: Int) {
    let fixture = try CustodyFixture()
    var gone = [("owner key", fixture.owner.withBytes { Needle($0) })]
    let secret = SystemRandom.secretBytes(count: 200)
    let next = SystemRandom.secretBytes(count: 200)
    gone.append(("private key", secret.withBytes { Needle($0) }))
    gone.append(("replaced private key", next.withBytes { Needle($0) }))
    let fingerprint = CustodyFixture.fingerprint(1)
    try fixture.custody.switchMode(to: .standardWithFinger, fixture.both())
    try fixture.custody.wrap(secret, .transferableSecretKeyV4, fingerprint, fixture.both())
    let isSame = try fixture.custody.withPrivateKey(fingerprint, fixture.passcode) { found, _ in
      secret.withBytes { constantTimeEqual($0, found) }
    }
    #expect(isSame)
    #expect(throws: Given.self) {
      try fixture.custody.withPrivateKey(fingerprint, fixture.finger()) { _, _ in throw Given() }
    }
    #expect(throws: Given.self) {
      try fixture.custody.replace(fingerprint, fixture.passcode) { _ in throw Given() }
    }
    try fixture.custody.replace(fingerprint, fixture.passcode) { _ in next.duplicate() }
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    let alive = try ProcessMemory.places(of: gone[1].1).count
    try fixture.custody.delete(fingerprint)
    return (gone, alive + (secret.count == 200 && next.count == 200 ? 0 : 1))
  }

  @Test("No private key and no owner key stays, whatever was done")
  func nothingStays() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (gone, seen) = try MemoryTests().use()
        #expect(seen > 0, "the search finds what is there")
        for (name, needle) in gone { try ProcessMemory.expectGone(needle, "\(name)") }
      }
    }
  }
}
