// SPDX-License-Identifier: Apache-2.0
//
// An encryption that fails, which only a broken random generator can bring about: it is tried once more after a
// second, and then nothing is stored.

import MessageFormats
import Primitives
import Secrets
import Synchronization
import Testing

@testable import Vaults

@Suite("Encryption that fails")
struct EncryptionFailureTests {
  private let fixture: VaultFixture
  private let metadata = MessageMetadata(title: "title", contentType: "text/plain")

  init() throws { fixture = try VaultFixture() }

  /// A cipher whose nonces all begin with the next of these bytes, and then differ.
  private func cipher(_ bytes: [UInt8]) -> MessageCipher {
    let draws = Atomic(0)
    var cipher = MessageCipher()
    cipher.drawNonce = {
      let draw = draws.add(1, ordering: .relaxed).oldValue
      return InlineArray(repeating: draw < bytes.count ? bytes[draw] : UInt8(truncatingIfNeeded: 128 + draw))
    }
    return cipher
  }

  private func store(_ texts: [String], _ cipher: consuming MessageCipher) throws -> [MessageID] {
    var sealer = MessageSealer(pause: fixture.time.clock.pause, cipher: cipher)
    return try fixture.vault.write { transaction, state, keys in
      var hash = keys.rowHash()
      return try texts.map { text in
        let id = try bytes(of: text).withBytes { content in
          try sealer.insert(
            state.nextNumber(), metadata, content, timestamp: TestClock.start, keyVersion: 1,
            key: keys.key(1), transaction)
        }
        hash.add(id, nil, to: &state.rows)
        hash.addShown(id, to: &state.shown)
        return id
      }
    }
  }

  private var pauses: [Int] { fixture.time.pauses.withLock { $0 } }

  @Test("The same nonce twice in a row is refused; a second later another one is drawn")
  func again() throws {
    let ids = try store(["one", "other"], cipher([7, 7, 8]))
    #expect(pauses == [1])
    #expect(try ids.map { try fixture.vault.text($0) } == ["one", "other"])
  }

  @Test("A generator that repeats itself ends the work, and nothing is stored")
  func broken() throws {
    #expect {
      _ = try store(["one", "other"], cipher([7, 7, 7]))
    } throws: { error in
      (error as? VaultError)?.code == "ENCRYPTION_FAILED"
    }
    #expect(pauses == [1])
    #expect(try fixture.vault.texts() == [])
    try fixture.vault.checkRows()
  }

  @Test("An earlier nonce may come back, since every message has a key of its own")
  func earlier() throws {
    #expect(try store(["one", "other", "third"], cipher([7, 8, 7])).count == 3)
    #expect(pauses == [])
  }
}
