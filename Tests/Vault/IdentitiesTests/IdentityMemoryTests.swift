// SPDX-License-Identifier: Apache-2.0
//
// After an identity was made, listed, shown, given out, backed up, changed, taken from its backup and deleted, its private part is not in the memory of the
// process.

import Extents
import Foundation
import Identities
import MemorySearch
import Secrets
import Testing

@Suite("What identities leave in memory")
struct IdentityMemoryTests {
  /// Runs away from the stack frames that search later.
  @inline(never)
  private func use(isUniversal: Bool) throws -> (needle: Needle, seenWhileAlive: Int) {
    let fixture = try IdentityFixture()
    let identity = try fixture.generate("Ada <ada@example.org>", isUniversal: isUniversal)
    let body = identity.certificate.primaryKey.body.count
    // Header, public part, protection, and in version 4 the length of the number.
    let start = 2 + body + (isUniversal ? 3 : 1)
    let fingerprint = identity.certificate.fingerprint
    let (needle, seen) = try fixture.custody.withPrivateKey(fingerprint, fixture.passcode) { bytes, _ in
      let needle = Needle(bytes.extracting(start..<(start + 28)))
      return (needle, try ProcessMemory.places(of: needle).count)
    }
    try fixture.records.changeIdentities { $0 = [] }
    #expect(try fixture.store.listUnlisted(fixture.passcode, at: IdentityFixture.now) == 1)
    _ = try fixture.all()[0].publicPart()
    // A backup, another end, and the backup taken in again.
    let passphrase = BackupTests.secret("a passphrase of the backup")
    let path = fixture.home.path + "/backup"
    try fixture.store.backUp(
      identity, to: BackupTarget(path: path), under: passphrase, fixture.passcode, at: IdentityFixture.now)
    _ = try fixture.store.make(.end(nil), of: identity, fixture.passcode, at: IdentityFixture.now)
    try fixture.store.delete(identity, acknowledgesMissingBackup: true)
    let bytes = Array(try Data(contentsOf: URL(filePath: path)))
    let file = try KeyFile(SharedSecretBytes(SecretBytes(copying: bytes.span.bytes)), at: IdentityFixture.now)
    // The second time it is beside the one that is here.
    for _ in 1...2 {
      try fixture.store.importKeys(
        [file.keys[0].opened([passphrase])], fixture.passcode, at: IdentityFixture.now)
    }
    try fixture.store.delete(identity, acknowledgesMissingBackup: true)
    return (needle, seen)
  }

  @Test(
    "Nothing of a private part stays, in either profile",
    arguments: Shares("memory of identities", count: 2).of([true, false]))
  func nothingStays(isUniversal: Bool) async {
    await #expect(processExitsWith: .success) { [isUniversal] in
      recordingErrors {
        let (needle, seen) = try IdentityMemoryTests().use(isUniversal: isUniversal)
        #expect(seen > 0, "the search finds what is there")
        try ProcessMemory.expectGone(needle)
      }
    }
  }
}
