// SPDX-License-Identifier: Apache-2.0
//
// The only list of the domains that exist (PD-20; Specs/protected-data.md, "Registry"):
//
//   "COFPDRG1" ‖ revision (8) ‖ format floor (1) ‖ count (1) ‖ count × (domain (1) ‖ state (1))
//   ‖ HMAC-SHA256 (32) ‖ SHA-256 (32)
//
// The digest shows accidental damage before unlocking, when there is no key; the code shows any change after
// it.

internal import Keychains
internal import Primitives
internal import Secrets

struct Registry: Equatable {
  enum EntryState: UInt8 {
    case ready = 1
    case pendingCreate = 2
    case pendingDelete = 3
  }

  var revision: UInt64
  /// The lowest format of the root secret that is accepted: 1 or 2 (PD-07).
  var formatFloor: UInt8
  var entries: [ProtectedDomain: EntryState]

  private static let magic = Array("COFPDRG1".utf8)
  private static let tailByteCount = HMACSHA256.byteCount + SHA256.byteCount

  init(revision: UInt64, formatFloor: UInt8, entries: [ProtectedDomain: EntryState]) {
    self.revision = revision
    self.formatFloor = formatFloor
    self.entries = entries
  }

  /// The domains in a state, in the order of their numbers.
  func domains(_ state: EntryState) -> [ProtectedDomain] {
    ProtectedDomain.allCases.filter { entries[$0] == state }
  }

  /// The record, authenticated under the registry's key.
  func record(_ keys: RootKeys) -> [UInt8] {
    var bytes = Self.magic
    bytes.append(bigEndian: revision)
    bytes += [formatFloor, UInt8(entries.count)]
    for domain in ProtectedDomain.allCases {
      if let state = entries[domain] { bytes += [domain.rawValue, state.rawValue] }
    }
    bytes += Self.code(bytes, keys)
    return bytes + SHA256.hash(bytes.rawSpan)
  }

  /// Reads a record without any key; nil for anything but the bytes of one.
  init?(record: [UInt8]) {
    let contentCount = record.count - Self.tailByteCount
    let digestOffset = record.count - SHA256.byteCount
    guard contentCount > 0 else { return nil }
    let span = record.rawSpan
    guard SHA256.hash(span.extracting(first: digestOffset)) == Array(record[digestOffset...]) else {
      return nil
    }
    let content = span.extracting(first: contentCount)
    var cursor = ByteCursor()
    do {
      guard try cursor.readBytes(content, count: 8) == Self.magic else { return nil }
      revision = UInt64(bitPattern: try cursor.readInt64(content))
      formatFloor = try cursor.readByte(content)
      entries = [:]
      var last: UInt8 = 0
      for _ in 0..<(try cursor.readByte(content)) {
        guard let domain = ProtectedDomain(rawValue: try cursor.readByte(content)), domain.rawValue > last,
          let state = EntryState(rawValue: try cursor.readByte(content))
        else { return nil }
        entries[domain] = state
        last = domain.rawValue
      }
      guard cursor.isAtEnd(of: content), (1...2).contains(formatFloor), revision > 0 else { return nil }
    } catch { return nil }
  }

  /// Whether a well-formed record was written under the registry's key.
  static func isAuthentic(_ record: [UInt8], _ keys: RootKeys) -> Bool {
    let content = Array(record.dropLast(tailByteCount))
    let code = Array(record.dropLast(SHA256.byteCount).suffix(HMACSHA256.byteCount))
    let expected = Self.code(content, keys)
    return constantTimeEqual(code.rawSpan, expected.rawSpan)
  }

  private static func code(_ content: [UInt8], _ keys: RootKeys) -> [UInt8] {
    keys.registry.withBytes { HMACSHA256.code(of: content.rawSpan, key: $0) }
  }
}

// Tells an interrupted reset from tampering. Both leave a registry that the root secret does not
// authenticate. The mark, which is stored together with the new root secret, names the registry that the
// reset was about to replace.

enum ResetMark {
  static let account = "com.cypherair.v1.protected-data.reset"

  /// The item that says that `record` will be replaced.
  static func item(replacing record: [UInt8]) -> SecretChange { RootSecret.item(digest(record), account) }

  /// Whether a reset has begun that replaces `record`.
  /// - Throws: `.keychainLocked`, `.keychainUnavailable`. A damaged mark counts as missing.
  static func names(_ record: [UInt8], _ keychain: KeychainService) throws(ProtectedDataError) -> Bool {
    let mark: SharedSecretBytes?
    do throws(ProtectedDataError) {
      mark = try keychain.protectedItem(account, damaged: .registryTampered)
    } catch {
      guard case .frameworkRecovery = error else { throw error }
      return false
    }
    return mark?.withBytes { [UInt8](copying: $0) } == digest(record)
  }

  private static func digest(_ record: [UInt8]) -> [UInt8] { SHA256.hash(record.rawSpan) }
}
