// SPDX-License-Identifier: Apache-2.0
//
// Detects rows that were put back to an earlier state: every change of the registry and of a domain has a
// number, and a ledger in the keychain holds the last numbers (Specs/protected-data.md, "Generations"):
//
//   revision (8) ‖ count (1) ‖ count × (domain (1) ‖ generation (8))
//
// The file is always written before the ledger, so it may be one ahead, never behind.

internal import Primitives
internal import Secrets

/// Compares a number in the file with the ledger's.
enum GenerationVerdict: Equatable {
  case current
  /// A process ended between writing file and ledger. The ledger is updated once the row has been
  /// authenticated.
  case ahead
  case rolledBack
  /// More than one ahead, which no interrupted write can cause.
  case unaccounted

  init(found: UInt64, ledger: UInt64) {
    self =
      found == ledger
      ? .current : found < ledger ? .rolledBack : found - ledger == 1 ? .ahead : .unaccounted
  }
}

/// The last numbers of the registry and of every domain.
struct GenerationLedger: Equatable {
  static let account = "com.cypherair.v1.protected-data.generations"

  var revision: UInt64
  /// Also of domains that were removed, so that no number is used twice.
  var generations: [ProtectedDomain: UInt64]

  init(revision: UInt64, generations: [ProtectedDomain: UInt64]) {
    self.revision = revision
    self.generations = generations
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: revision)
    bytes.append(UInt8(generations.count))
    for domain in ProtectedDomain.allCases {
      guard let generation = generations[domain] else { continue }
      bytes.append(domain.rawValue)
      bytes.append(bigEndian: generation)
    }
    return bytes
  }

  /// Nil for anything but the bytes of a ledger.
  init?(_ bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      revision = UInt64(bitPattern: try cursor.readInt64(bytes))
      generations = [:]
      var last: UInt8 = 0
      for _ in 0..<(try cursor.readByte(bytes)) {
        guard let domain = ProtectedDomain(rawValue: try cursor.readByte(bytes)), domain.rawValue > last
        else { return nil }
        generations[domain] = UInt64(bitPattern: try cursor.readInt64(bytes))
        last = domain.rawValue
      }
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch { return nil }
  }
}
