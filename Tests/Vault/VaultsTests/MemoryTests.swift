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

@Suite("What a vault leaves in memory", .serialized)
struct MemoryTests {
  @Test("Vault key, message key and content are gone after use")
  func nothingLeft() throws {
    let bench = try VaultBench()
    let (content, id) = try store(bench)
    let (vaultKey, messageKey) = try keys(bench, id)
    try read(bench, id)
    _ = try bench.vault.rotate { _ in true }
    bench.vault.clearCache()
    for (name, needle) in [("content", content), ("vault key", vaultKey), ("message key", messageKey)] {
      let places = try ProcessMemory.places(of: needle)
      #expect(places == [], "\(name)")
    }
  }

  @Test("The search finds a vault key that is in use")
  func searchWorks() throws {
    let bench = try VaultBench()
    let (_, id) = try store(bench)
    let (vaultKey, _) = try keys(bench, id)
    let key = try bench.vault.vaultKey(1)
    #expect(try !ProcessMemory.places(of: vaultKey).isEmpty)
    #expect(key.count == 32)
  }

  @inline(never)
  private func store(_ bench: VaultBench) throws -> (Needle, MessageID) {
    let content = SystemRandom.secretBytes(count: 48)
    let id = try bench.vault.add(content, metadata: MessageMetadata(contentType: "text/plain"))
    return (content.withBytes { Needle($0) }, id)
  }

  @inline(never)
  private func keys(_ bench: VaultBench, _ id: MessageID) throws -> (Needle, Needle) {
    let vaultKey = try bench.vault.vaultKey(1)
    var hkdf = HKDF()
    let messageKey = vaultKey.withBytes { key in
      id.withBytes { hkdf.deriveKey(ikm: key, salt: $0, info: "message-encryption") }
    }
    return (vaultKey.withBytes { Needle($0) }, messageKey.withBytes { Needle($0) })
  }

  @inline(never)
  private func read(_ bench: VaultBench, _ id: MessageID) throws {
    #expect(try bench.vault.withMessage(id) { $1.byteCount } == 48)
    var count = 0
    _ = try bench.vault.forEachMessage { _, _, content in
      count += content.byteCount
      return true
    }
    #expect(count == 48)
  }
}
