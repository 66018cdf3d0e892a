// SPDX-License-Identifier: Apache-2.0
//
// How a security key opens the guard secret G (Specs/envelopes.md, "Guard record"): kind 2.
//
//   the stored key (SecurityKeys, StoredSecurityKey) ‖ sealed value of G (109)

internal import Primitives
internal import Secrets
internal import SecurityKeys

/// A security key, and G sealed under its secret. Labels and credentials are not secret.
struct SecurityKeyWay: Equatable, Sendable {
  private let key: StoredSecurityKey
  let sealed: [UInt8]

  /// The owner's name for the key.
  var label: String { key.label }
  /// What the key's secret belongs to; the same for all keys of a record.
  var salt: [UInt8] { key.salt }
  var credential: SecurityKeyCredential { key.credential }

  private static let sealedByteCount = GuardRecord.secretByteCount + SealedValue.overheadByteCount

  /// Seals G under a key's secret.
  /// - Throws: `CustodyError.invalidInput` for a salt that cannot be.
  init(
    _ key: GuardKey, salt: [UInt8], check: [UInt8], sealing secret: borrowing SecretBytes
  ) throws(CustodyError) {
    guard let stored = StoredSecurityKey(label: key.label, salt: salt, credential: key.credential) else {
      throw .invalidInput
    }
    self.key = stored
    let wrapping = Self.wrappingKey(key.secret, salt)
    let context = Self.context(check, stored)
    var sealer = SealedValue()
    sealed = secret.withBytes { secret in
      wrapping.withBytes { sealer.seal(secret, key: $0, context: context) }
    }
  }

  /// Opens G.
  /// - Parameter secret: the key's, 32 bytes.
  /// - Throws: `CustodyError.corrupt`.
  func open(_ secret: SharedSecretBytes, check: [UInt8]) throws(CustodyError) -> SecretBytes {
    let wrapping = Self.wrappingKey(secret, salt)
    let context = Self.context(check, key)
    var sealer = SealedValue()
    do {
      return try wrapping.withBytes { (wrapping) throws(SealedValue.Failure) in
        try sealer.open(sealed.rawSpan, key: wrapping, context: context)
      }
    } catch { throw .corrupt }
  }

  private static func wrappingKey(_ secret: SharedSecretBytes, _ salt: [UInt8]) -> SecretBytes {
    var hkdf = HKDF()
    return SecretBytes(byteCount: SymmetricKey.byteCount) { output in
      secret.withBytes { secret in
        ("coffer guard v1 fido2" as StaticString).withRawSpan {
          hkdf.derive(ikm: secret, salt: salt.rawSpan, info: $0, into: &output)
        }
      }
    }
  }

  private static func context(_ check: [UInt8], _ key: StoredSecurityKey) -> [UInt8] {
    GuardRecord.magic + [GuardRecord.version] + check + [GuardWay.securityKey.rawValue] + key.bytes
  }

  // MARK: Bytes

  var bytes: [UInt8] { key.bytes + sealed }

  /// - Throws: `CustodyError.corrupt`, `TruncatedField`.
  init(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws {
    guard let key = StoredSecurityKey(bytes, at: &cursor) else { throw CustodyError.corrupt }
    self.key = key
    sealed = try cursor.readBytes(bytes, count: Self.sealedByteCount)
  }

  /// Whether these are keys of one record: one salt, and each label and credential once.
  static func areOneGuard(_ ways: [SecurityKeyWay]) -> Bool {
    StoredSecurityKey.areOneRecord(ways.map(\.key))
  }
}
