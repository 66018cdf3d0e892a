// SPDX-License-Identifier: Apache-2.0
//
// Messages of the vault, one at a time and all. The contents are secrets to search for as well; titles and
// tags are not, they pass through Swift strings (SECURITY.md).

import CofferKit
import Keychains
import MessageFormats
import Primitives
import Secrets
import Vaults

extension Operation {
  static let messages = [
    Operation("add a message") { workspace in
      try workspace.withMessages { _, _ in }
    },
    Operation("show a message") { workspace in
      try workspace.withMessages { coffer, ids in
        for id in ids {
          try coffer.vault.withMessage(id) { try expect($1.byteCount >= 96, "the content is there") }
        }
      }
    },
    Operation("search messages") { workspace in
      try workspace.withMessages { coffer, ids in
        var query = SearchQuery(try SearchExpression(["heron"]))
        var found = 0
        _ = try coffer.vault.forEachMessage { _, metadata, content in
          if query.matches(metadata, content) { found += 1 }
          return true
        }
        try expect(found == ids.count, "every message holds the word")
      }
    },
    Operation("remove a message") { workspace in
      try workspace.withMessages { coffer, ids in try coffer.vault.remove(ids[0]) }
    },
    Operation("edit a message, and restore it") { workspace in
      try workspace.withMessages { coffer, ids in
        let base = try coffer.vault.withVersion(ids[0]) { version, _ in version }
        let content = workspace.bytes("edited content", count: 96)
        _ = try coffer.vault.edit(ids[0], from: base.id, to: content, metadata: base.metadata)
        try expect(try coffer.vault.restore(ids[0], number: 1).number == 3, "the third version")
      }
    },
    Operation("empty the trash") { workspace in
      try workspace.withMessages { coffer, ids in
        try coffer.vault.remove(ids[0])
        var count = 0
        _ = try coffer.vault.listTrash { _, _, _, _ in
          count += 1
          return true
        }
        try expect(count == 1, "one message")
        try coffer.vault.eraseRemoved([ids[0]])
      }
    },
    Operation("show a damaged message") { workspace in
      let passphrase = try workspace.passphrase()
      let ids = try workspace.makeMessages(passphrase)
      try workspace.damageMessages()
      try workspace.withCoffer(passphrase) { coffer in
        try expectThrow("a damaged message") { try coffer.vault.withMessage(ids[0]) { _, _ in } }
        let unreadable = try coffer.vault.forEachMessage { _, _, _ in true }
        try expect(unreadable.count == ids.count, "no message opens")
      }
    },
    Operation("stop in the middle of reading") { workspace in
      try workspace.withMessages { coffer, ids in
        try expectThrow("reading") {
          try coffer.vault.withMessage(ids[0]) { _, _ in throw Unexpected("enough") }
        }
      }
    },
    Operation("rotate the vault key") { workspace in
      try workspace.withMessages { coffer, _ in
        try expect(try coffer.vault.rotate { _ in true } != nil, "the rotation ends")
      }
    },
    Operation("interrupt a rotation, and roll back") { workspace in
      try workspace.withMessages { coffer, _ in
        try expect(try coffer.vault.rotate { _ in false } == nil, "the rotation is stopped")
        _ = try coffer.vault.resumeRotation { _ in true }
        _ = try coffer.vault.rollBack { _ in true }
      }
    },
    Operation("examine everything") { workspace in
      try workspace.withMessages { coffer, _ in
        try expect(try coffer.examine(isDeep: true).isHealthy, "all is well")
      }
    },
    Operation("encrypt and decrypt a message as values") { workspace in
      let key = SymmetricKey()
      key.withBytes { SecretReport.tell("vault key", $0) }
      var encryption = MessageEncryption()
      let message = PlaintextMessage(
        content: workspace.bytes("content", count: 96),
        metadata: MessageMetadata(contentType: MessageMetadata.binaryType))
      let sealed = try encryption.encrypt(message, timestamp: 1, key: key, keyVersion: 1)
      try expect(
        try encryption.decrypt(sealed, timestamp: 1, key: key).content.count == 96, "the content is there")
      let other = SymmetricKey()
      other.withBytes { SecretReport.tell("wrong key", $0) }
      try expectThrow("another key") { _ = try encryption.decrypt(sealed, timestamp: 1, key: other) }
    },
  ]
}

extension Workspace {
  /// Makes a coffer with a note and a long note, and lends it.
  @inline(never)
  fileprivate func withMessages(_ body: (Coffer, [MessageID]) throws -> Void) throws {
    let passphrase = try passphrase()
    let ids = try makeMessages(passphrase)
    try withCoffer(passphrase) { try body($0, ids) }
    // Once more: a rotation made keys.
    try tellKeys(SlotCredential(passphrase))
  }

  /// Makes a coffer with two notes; closes it and tells of the notes and their keys.
  @inline(never)
  func makeMessages(_ passphrase: borrowing Passphrase) throws -> [MessageID] {
    try makeCoffer(passphrase)
    var ids: [MessageID] = []
    try withCoffer(passphrase) { coffer in
      ids.append(try coffer.vault.add(note(byteCount: 96), metadata: Self.noteMetadata))
      // More than one piece of a search, and than one cell of secret memory.
      ids.append(try coffer.vault.add(note(byteCount: 200_000), metadata: Self.noteMetadata))
      try tellMessageKeys(coffer, ids)
    }
    return ids
  }

  static let noteMetadata = MessageMetadata(title: "a note", contentType: MessageMetadata.noteType)

  /// "heron ", then text of which the parent is told.
  private func note(byteCount: Int) -> SecretBytes {
    let text = text("content", byteCount: byteCount)
    return Self.joined(text, [], prefix: Array("heron ".utf8))
  }

  /// Tells of the keys that are derived for messages.
  func tellMessageKeys(_ coffer: Coffer, _ ids: [MessageID]) throws {
    let vaultKey = try coffer.keychain.requireSecret(forKey: "vault.master_key.v1")
    for id in ids {
      let salt = id.withBytes { [UInt8](copying: $0) }
      tellDerived("message key", from: vaultKey, salt: salt, "message-encryption")
    }
  }
}
