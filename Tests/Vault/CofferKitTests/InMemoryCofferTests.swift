// SPDX-License-Identifier: Apache-2.0
//
// A coffer in memory: as one on a disk, and nowhere.

import Agent
import Enclaves
import Identities
import KeyCustody
import Keychains
import Secrets
import Storage
import Testing

@testable import CofferKit

@Suite("A coffer in memory")
struct InMemoryCofferTests {
  private func make() throws -> InMemoryCoffer {
    try InMemoryCoffer(
      passphrase: passphrase(), kdf: .pbkdf2(iterations: 1000),
      machine: Machine(enclaves: [TutorialEnclave()]))
  }

  @Test("It has no directory, no agent and no blobs, and its session opens it")
  func nowhere() throws {
    let memory = try make()
    let coffer = try memory.open()
    #expect(coffer.home == nil && coffer.slot == nil)
    #expect(try memory.locked().home == nil)
    #expect(AgentSession(try memory.locked()).look() == .init())
    #expect(throws: AgentError.noHome) {
      _ = try memory.locked().unlock(SlotCredential(passphrase())).beginSession(executable: "/bin/false")
    }
    #expect(throws: StorageError.notPermitted) {
      _ = try coffer.file.blobs.create(name: #require(BlobName(bytes: [UInt8](repeating: 1, count: 16))))
    }
    #expect(try coffer.file.blobs.names().isEmpty)
  }

  @Test("What one command stores, the next one finds; a wrong passphrase opens nothing")
  func lasts() throws {
    let memory = try make()
    do {
      let coffer = try memory.locked().unlock(SlotCredential(passphrase()))
      #expect(coffer.slot != nil)
      let wanted = try NewIdentity(userIDs: [UserIDText(new: "Ada <ada@example.org>")], isUniversal: true)
      _ = try coffer.generateIdentity(wanted, coffer.openIdentities(), coffer.authorization())
      coffer.close()
    }
    let coffer = try memory.open()
    let found = try coffer.identities(coffer.openIdentities()).flatMap(\.userIDs).map(\.text)
    #expect(found == ["Ada <ada@example.org>"])
    let text = Array("Wrong-horse-7-battery".utf8)
    #expect(throws: KeybagError.wrongSecret) {
      _ = try memory.locked().unlock(
        SlotCredential(Passphrase(utf8: SecretBytes(copying: text.span.bytes))))
    }
    // Another one has nothing of it.
    let other = try make().open()
    #expect(try other.identities(other.openIdentities()).isEmpty && other.id != coffer.id)
  }

  @Test("Its private parts open on no real machine, even with its own keys")
  func otherMachine() throws {
    let memory = try make()
    let owner = try memory.locked().unlock(SlotCredential(passphrase()))
    let wanted = try NewIdentity(userIDs: [UserIDText(new: "Ada <ada@example.org>")], isUniversal: true)
    let identity = try owner.generateIdentity(wanted, owner.openIdentities(), owner.authorization())
    let fingerprint = identity.certificate.fingerprint
    let count = try owner.openPrivateKeys().custody.withPrivateKey(
      fingerprint, owner.authorization()
    ) { bytes, _ in bytes.byteCount }
    #expect(count > 0)
    let real = try LockedCoffer(
      inMemory: owner.file, machine: Machine(enclaves: [SoftwareEnclave()]), clock: .system,
      session: InMemorySession(owner.keys)
    ).unlock(SlotCredential(passphrase()))
    #expect(throws: (any Error).self) {
      try real.openPrivateKeys().custody.withPrivateKey(fingerprint, real.authorization()) { _, _ in }
    }
  }

  @Test("The passcode of private keys is kept for the grace period, and dropped")
  func grace() throws {
    let memory = try make()
    let session = try memory.open()
    #expect(session.authorizationInGrace() == nil)
    let owner = try memory.locked().unlock(SlotCredential(passphrase()))
    try owner.unlockProtectedData()
    owner.beginGrace()
    #expect(session.authorizationInGrace() != nil)
    try owner.endGrace()
    #expect(session.authorizationInGrace() == nil)
  }
}
