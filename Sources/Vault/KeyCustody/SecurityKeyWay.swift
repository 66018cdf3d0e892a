// SPDX-License-Identifier: Apache-2.0
//
// How a security key opens the guard secret G (Specs/envelopes.md, "Guard record"): kind 2.
//
//   length (1) ‖ label ‖ salt (32) ‖ model (16) ‖ public key (65) ‖ length (2) ‖ credential id ‖ sealed value of G (109)

internal import Primitives
internal import Secrets
internal import SecurityKeys

/// A security key, and G sealed under its secret. Labels and credentials are not secret.
struct SecurityKeyWay: Equatable, Sendable {
  /// The owner's name for the key.
  let label: String
  /// What the key's secret belongs to; the same for all keys of a record.
  let salt: [UInt8]
  let credential: SecurityKeyCredential
  let sealed: [UInt8]

  static let saltByteCount = 32
  private static let sealedByteCount = GuardRecord.secretByteCount + SealedValue.overheadByteCount

  /// Seals G under a key's secret.
  init(_ key: GuardKey, salt: [UInt8], check: [UInt8], sealing secret: borrowing SecretBytes) {
    label = key.label
    self.salt = salt
    credential = key.credential
    let wrapping = Self.wrappingKey(key.secret, salt)
    let context = Self.context(check, label, salt, key.credential)
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
    let context = Self.context(check, label, salt, credential)
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

  private static func context(
    _ check: [UInt8], _ label: String, _ salt: [UInt8], _ credential: SecurityKeyCredential
  ) -> [UInt8] {
    GuardRecord.magic + [GuardRecord.version] + check + [GuardWay.securityKey.rawValue]
      + head(label, salt, credential)
  }

  // MARK: Bytes

  var bytes: [UInt8] { Self.head(label, salt, credential) + sealed }

  private static func head(_ label: String, _ salt: [UInt8], _ credential: SecurityKeyCredential) -> [UInt8] {
    var bytes = [UInt8(label.utf8.count)] + Array(label.utf8) + salt + credential.model
    bytes += credential.publicKey
    bytes.append(bigEndian: UInt16(credential.id.count))
    return bytes + credential.id
  }

  /// - Throws: `CustodyError.corrupt`, `TruncatedField`.
  init(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws {
    let name = try cursor.readBytes(bytes, count: Int(try cursor.readByte(bytes)))
    guard let label = String(validating: name, as: UTF8.self), GuardKey.isLabel(label) else {
      throw CustodyError.corrupt
    }
    self.label = label
    salt = try cursor.readBytes(bytes, count: Self.saltByteCount)
    let model = try cursor.readBytes(bytes, count: SecurityKeyCredential.modelByteCount)
    let publicKey = try cursor.readBytes(bytes, count: P256.publicKeyByteCount)
    let id = try cursor.readBytes(bytes, count: try cursor.readUInt16(bytes))
    guard P256.isPublicKey(publicKey),
      let credential = SecurityKeyCredential(id: id, publicKey: publicKey, model: model)
    else { throw CustodyError.corrupt }
    self.credential = credential
    sealed = try cursor.readBytes(bytes, count: Self.sealedByteCount)
  }

  /// Whether these are keys of one record: one salt, and each label and credential once.
  static func areOneGuard(_ ways: [SecurityKeyWay]) -> Bool {
    Set(ways.map(\.salt)).count <= 1 && Set(ways.map(\.label)).count == ways.count
      && Set(ways.map(\.credential.id)).count == ways.count
  }
}
