// SPDX-License-Identifier: Apache-2.0
//
// The payload of a domain as it is stored (Specs/protected-data.md, "Payload"):
//
//   "COFPDDM1" ‖ domain (1) ‖ schema version (2) ‖ generation (8) ‖ sealed value

internal import Primitives
internal import Secrets

/// What stands before the sealed value; it is authenticated with it.
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
    let span = unsafe bytes.span.bytes
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

  /// Opens the bytes that this head was read from; nil when they are not those that were sealed.
  func open(_ bytes: [UInt8], under key: SharedSecretBytes) -> SharedSecretBytes? {
    SealedValue.read(
      unsafe bytes.span.bytes.extracting(droppingFirst: Self.headByteCount), key: key, context: head
    ) { SharedSecretBytes(SecretBytes(copying: $0)) }
  }
}
