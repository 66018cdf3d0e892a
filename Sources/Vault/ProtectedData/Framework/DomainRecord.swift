// SPDX-License-Identifier: Apache-2.0
//
// The payload of a domain as it is stored (Specs/protected-data.md, "Payload"):
//
//   "COFPDDM1" ‖ domain (1) ‖ schema version (2) ‖ generation (8) ‖ sealed value

internal import Primitives
internal import Secrets

/// The head before the sealed value, which authenticates it.
struct DomainRecord: Equatable {
  let domain: ProtectedDomain
  let schemaVersion: UInt16
  let generation: UInt64

  private static let magic = Array("COFPDDM1".utf8)
  private static let headByteCount = magic.count + 11

  init(domain: ProtectedDomain, schemaVersion: UInt16, generation: UInt64) {
    self.domain = domain
    self.schemaVersion = schemaVersion
    self.generation = generation
  }

  private var head: [UInt8] {
    var head = Self.magic + [domain.rawValue]
    head.append(bigEndian: schemaVersion)
    head.append(bigEndian: generation)
    return head
  }

  func seal(_ payload: borrowing SecretBytes, under key: SharedSecretBytes) -> [UInt8] {
    var sealer = SealedValue()
    let sealed = payload.withBytes { payload in
      key.withBytes { sealer.seal(payload, key: $0, context: head) }
    }
    return head + sealed
  }

  /// Reads the head; nil when these are not the bytes of a payload of this domain.
  init?(_ bytes: [UInt8], of domain: ProtectedDomain) {
    let longest = Self.headByteCount + PayloadWriter.byteCountLimit + SealedValue.overheadByteCount
    guard bytes.count >= Self.headByteCount + SealedValue.overheadByteCount, bytes.count <= longest else {
      return nil
    }
    let span = bytes.rawSpan
    var cursor = ByteCursor()
    do {
      guard try cursor.readBytes(span, count: Self.magic.count) == Self.magic,
        try cursor.readByte(span) == domain.rawValue
      else { return nil }
      self.domain = domain
      schemaVersion = UInt16(try cursor.readUInt16(span))
      generation = UInt64(bitPattern: try cursor.readInt64(span))
    } catch { return nil }
  }

  /// Opens the record that this head was read from; nil when it is not what was sealed.
  func open(_ bytes: [UInt8], under key: SharedSecretBytes) -> SharedSecretBytes? {
    SealedValue.read(
      bytes.rawSpan.extracting(droppingFirst: Self.headByteCount), key: key, context: head
    ) { SharedSecretBytes(SecretBytes(copying: $0)) }
  }
}

// A domain's own random key, stored only wrapped (PD-19; Specs/protected-data.md, "Domain key"):
//
//   "COFPDDK1" ‖ domain (1) ‖ sealed value

enum DomainKey {
  private static let magic = Array("COFPDDK1".utf8)
  private static let purpose = Array("coffer protected data v1 domain key".utf8)
  private static let byteCount = magic.count + 1 + SealedValue.overheadByteCount + SymmetricKey.byteCount

  static func make() -> SharedSecretBytes {
    SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount))
  }

  static func wrap(_ key: SharedSecretBytes, for domain: ProtectedDomain, _ keys: RootKeys) -> [UInt8] {
    var sealer = SealedValue()
    let sealed = key.withBytes { key in
      keys.wrapping.withBytes { sealer.seal(key, key: $0, context: purpose + [domain.rawValue]) }
    }
    return magic + [domain.rawValue] + sealed
  }

  /// Nil when these are not the bytes that were written for this domain under these keys.
  static func unwrap(_ bytes: [UInt8], for domain: ProtectedDomain, _ keys: RootKeys) -> SharedSecretBytes? {
    let head = magic + [domain.rawValue]
    guard bytes.count == byteCount, bytes.starts(with: head) else { return nil }
    return SealedValue.read(
      bytes.rawSpan.extracting(droppingFirst: head.count), key: keys.wrapping,
      context: purpose + [domain.rawValue]
    ) { SharedSecretBytes(SecretBytes(copying: $0)) }
  }
}
