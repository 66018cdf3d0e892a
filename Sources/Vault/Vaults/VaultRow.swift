// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table `vault`: what a vault keeps about itself, one sealed value a row, under the
// state key.

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage

enum VaultRow: Int64 {
  case state = 1
  case failures = 2

  /// Binds a value to its row.
  private var context: [UInt8] {
    switch self {
    case .state: Array("coffer vault state v1".utf8)
    case .failures: Array("coffer vault failures v1".utf8)
    }
  }

  /// Opens the row and reads its value.
  /// - Throws: `VaultError.corrupt` when the row is gone, not what was sealed, or `read` gives nil: every
  ///   vault has every row.
  func load<Value>(
    _ transaction: borrowing Transaction, key: SharedSecretBytes, _ read: (RawSpan) -> Value?
  ) throws -> Value {
    let value = try transaction.firstRow("SELECT sealed FROM vault WHERE part = ?", .integer(rawValue)) {
      row in
      try row.withBytes(0) { SealedValue.read($0, key: key, context: context, read) }
    }
    guard let value = value ?? nil else { throw VaultError.corrupt }
    return value
  }

  /// Seals `bytes` into the row.
  func save(_ bytes: [UInt8], _ transaction: borrowing Transaction, key: SharedSecretBytes) throws {
    var sealer = SealedValue()
    let sealed = key.withBytes { unsafe sealer.seal(bytes.span.bytes, key: $0, context: context) }
    try transaction.execute(
      "INSERT INTO vault (part, sealed) VALUES (?, ?) ON CONFLICT DO UPDATE SET sealed = excluded.sealed",
      .integer(rawValue), .bytes(Data(sealed)))
  }
}
