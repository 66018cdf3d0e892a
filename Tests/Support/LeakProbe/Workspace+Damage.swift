// SPDX-License-Identifier: Apache-2.0
//
// Changes to a closed coffer's file, so that an operation on it throws half-way: after the key that opens was
// derived, or after everything was decrypted.

import Foundation
import Keychains
import Primitives
import Storage

extension Workspace {
  /// Changes the last byte of the wrapped class keys in the first slot, and makes the digest fit: the
  /// passphrase is right, and the seal is not.
  func damageFirstSlot() throws {
    try change { transaction in
      var record = try Keybag.load(transaction).record()
      // COFBAG01, coffer, keychain, generation, count; then a slot up to its wrapped keys (Specs/keybag.md).
      record[30 + 118 + 79] ^= 1
      let body = Array(record.dropLast(SHA256.byteCount))
      let digest = SHA256.hash(body.span.bytes)
      try Keybag(record: (body + digest).span.bytes).save(transaction)
    }
  }

  /// Changes the last byte, of the tag, of every message.
  func damageMessages() throws {
    try change { transaction in
      var rows: [(number: Int64, sealed: Data)] = []
      try transaction.forEachRow("SELECT number, sealed FROM messages") { row in
        rows.append((try row.integer(0), try row.bytes(1)))
        return true
      }
      for row in rows {
        try transaction.execute(
          "UPDATE messages SET sealed = ? WHERE number = ?", .bytes(row.sealed.withLastByteChanged),
          .integer(row.number))
      }
    }
  }

  /// Changes the last byte, of the tag, of a keychain item.
  func damageItem(_ account: String) throws {
    try change { transaction in
      let sealed = try transaction.firstRow(
        "SELECT sealed FROM keychain WHERE account = ?", .text(account)
      ) { try $0.bytes(0) }
      guard let sealed else { throw Unexpected("no item of that name") }
      try transaction.execute(
        "UPDATE keychain SET sealed = ? WHERE account = ?", .bytes(sealed.withLastByteChanged),
        .text(account))
    }
  }

  /// Changes the last byte, of the tag of the last chunk, of every blob.
  func damageBlobs() throws {
    let folder = URL(filePath: home + "/blobs")
    let blobs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    if blobs.isEmpty { throw Unexpected("there are no blobs") }
    for blob in blobs { try Data(contentsOf: blob).withLastByteChanged.write(to: blob) }
  }

  private func change(_ body: (borrowing Transaction) throws -> Void) throws {
    let file = try DatabaseFile.open(home: home)
    defer { file.close() }
    try file.write(body)
  }
}

extension Data {
  fileprivate var withLastByteChanged: Data { dropLast() + [self[endIndex - 1] ^ 1] }
}
