// SPDX-License-Identifier: Apache-2.0
//
// What a vault leaves in memory: keys and contents nowhere, once they are let go. Titles and tags are
// Swift strings and are not looked for; SQLite and GRDB see ciphertext only. OpenSSL's contexts hold key
// schedules and digests, not keys.

import Foundation
import MemorySearch
import MessageFormats
import Primitives
import Secrets
import Testing

@testable import Vaults

@Suite("What a vault leaves in memory")
struct MemoryTests {
  @Test("Vault key, message key and content are gone after use")
  func nothingLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (tests, fixture) = (MemoryTests(), try VaultFixture())
        let (content, id) = try tests.store(fixture)
        let (vaultKey, messageKey) = try tests.keys(fixture, id)
        try tests.read(fixture, id)
        _ = try fixture.vault.rotate { _ in true }
        fixture.vault.clearCache()
        for (name, needle) in [("content", content), ("vault key", vaultKey), ("message key", messageKey)] {
          try ProcessMemory.expectGone(needle, "\(name)")
        }
      }
    }
  }

  @Test("The search finds a vault key that is in use")
  func searchWorks() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (tests, fixture) = (MemoryTests(), try VaultFixture())
        let (_, id) = try tests.store(fixture)
        let (vaultKey, _) = try tests.keys(fixture, id)
        let key = try fixture.vault.keys().key(1)
        #expect(try !ProcessMemory.places(of: vaultKey).isEmpty)
        #expect(key.count == 32)
      }
    }
  }

  @inline(never)
  private func store(_ fixture: VaultFixture) throws -> (Needle, MessageID) {
    let content = SystemRandom.secretBytes(count: 48)
    let id = try fixture.vault.add(content, metadata: MessageMetadata(contentType: "text/plain"))
    return (content.withBytes { Needle($0) }, id)
  }

  @inline(never)
  private func keys(_ fixture: VaultFixture, _ id: MessageID) throws -> (Needle, Needle) {
    let vaultKey = try fixture.vault.keys().key(1)
    var hkdf = HKDF()
    let messageKey = vaultKey.withBytes { key in
      id.withBytes { hkdf.deriveKey(ikm: key, salt: $0, info: "message-encryption") }
    }
    return (vaultKey.withBytes { Needle($0) }, messageKey.withBytes { Needle($0) })
  }

  @inline(never)
  private func read(_ fixture: VaultFixture, _ id: MessageID) throws {
    #expect(try fixture.vault.withMessage(id) { $1.byteCount } == 48)
    var count = 0
    _ = try fixture.vault.forEachMessage { _, _, content in
      count += content.byteCount
      return true
    }
    #expect(count == 48)
  }
}
