// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.3.11 to 5.2.3.36: the bodies of the known subpackets. A known type with a body that
// is not as described makes the signature malformed; an unknown type is kept.

internal import Primitives
internal import Secrets

extension Subpacket {
  /// A subpacket of this content, to be written.
  public init(_ content: Content, isCritical: Bool = false) {
    self.content = content
    self.isCritical = isCritical
    (type, body) = content.encoded
  }

  init(typeOctet: UInt8, body: [UInt8], isEmbedded: Bool) throws(OpenPGPError) {
    type = SubpacketType(rawValue: typeOctet & 0x7F)
    isCritical = typeOctet & 0x80 != 0
    self.body = body
    if type == .embeddedSignature {
      // A signature in an embedded signature stays unread, so that no input decides how deep this goes.
      content = isEmbedded ? nil : .embeddedSignature(try Self.embeddedSignature(body.rawSpan))
    } else {
      content = try Content(type: type, body: body.rawSpan)
    }
  }

  /// Section 5.2.3.34: the whole body of a signature packet as section 5.2 has it, so that another version is
  /// malformed here, just like octets that are not a signature.
  private static func embeddedSignature(_ body: RawSpan) throws(OpenPGPError) -> Signature {
    do {
      return try Signature(body: body, isEmbedded: true)
    } catch {
      throw .malformed(.subpacket)
    }
  }
}

extension Subpacket.Content {
  init?(type: SubpacketType, body: RawSpan) throws(OpenPGPError) {
    var cursor = PacketCursor()
    switch type {
    case .signatureCreationTime: self = .signatureCreationTime(try cursor.readTime(body))
    case .signatureExpirationTime: self = .signatureExpirationTime(seconds: try cursor.readUInt32(body))
    case .exportableCertification: self = .exportableCertification(try Self.readFlag(&cursor, body))
    case .trustSignature:
      let level = try cursor.readByte(body)
      self = .trustSignature(level: level, amount: try cursor.readByte(body))
    case .regularExpression:
      _ = cursor.readRest(body)
      self = .regularExpression
    case .revocable: self = .revocable(try Self.readFlag(&cursor, body))
    case .keyExpirationTime: self = .keyExpirationTime(seconds: try cursor.readUInt32(body))
    case .preferredSymmetricAlgorithms:
      self = .preferredSymmetricAlgorithms(cursor.readRest(body).map { SymmetricAlgorithm(rawValue: $0) })
    case .revocationKey: self = .revocationKey(try Self.readRevocationKey(&cursor, body))
    case .issuerKeyID: self = .issuerKeyID(KeyID(bytes: try cursor.readBytes(body, count: KeyID.byteCount)))
    case .notation: self = .notation(try Self.readNotation(&cursor, body))
    case .preferredHashAlgorithms:
      self = .preferredHashAlgorithms(cursor.readRest(body).map { HashAlgorithm(rawValue: $0) })
    case .preferredCompressionAlgorithms:
      self = .preferredCompressionAlgorithms(
        cursor.readRest(body).map { CompressionAlgorithm(rawValue: $0) })
    case .keyServerPreferences: self = .keyServerPreferences(cursor.readRest(body))
    case .preferredKeyServer: self = .preferredKeyServer(cursor.readRest(body))
    case .primaryUserID: self = .primaryUserID(try Self.readFlag(&cursor, body))
    case .policyURI: self = .policyURI(cursor.readRest(body))
    case .keyFlags: self = .keyFlags(KeyFlags(bytes: cursor.readRest(body)))
    case .signersUserID: self = .signersUserID(cursor.readRest(body))
    case .reasonForRevocation:
      let code = RevocationReason.Code(rawValue: try cursor.readByte(body))
      self = .reasonForRevocation(RevocationReason(code, text: cursor.readRest(body)))
    case .features: self = .features(Features(rawValue: cursor.readRest(body).first ?? 0))
    case .signatureTarget:
      try Self.readSignatureTarget(&cursor, body)
      self = .signatureTarget
    case .issuerFingerprint: self = .issuerFingerprint(try Self.readFingerprint(&cursor, body))
    case .intendedRecipientFingerprint:
      self = .intendedRecipientFingerprint(try Self.readFingerprint(&cursor, body))
    case .preferredAEADCiphersuites:
      let octets = cursor.readRest(body)
      guard octets.count.isMultiple(of: 2) else { throw .malformed(.subpacket) }
      self = .preferredAEADCiphersuites(
        stride(from: 0, to: octets.count, by: 2).map {
          AEADCiphersuite(SymmetricAlgorithm(rawValue: octets[$0]), AEADAlgorithm(rawValue: octets[$0 + 1]))
        })
    case .keyReplacement:
      guard let replacement = KeyReplacement(cursor.readRest(body)) else { return nil }
      self = .keyReplacement(replacement)
    default: return nil
    }
    guard cursor.isAtEnd(body) else { throw .malformed(.subpacket) }
  }

  var encoded: (SubpacketType, [UInt8]) {
    switch self {
    case .signatureCreationTime(let time): (.signatureCreationTime, Self.bytes(time.secondsSince1970))
    case .signatureExpirationTime(let seconds): (.signatureExpirationTime, Self.bytes(seconds))
    case .exportableCertification(let flag): (.exportableCertification, [flag ? 1 : 0])
    case .trustSignature(let level, let amount): (.trustSignature, [level, amount])
    case .revocable(let flag): (.revocable, [flag ? 1 : 0])
    case .keyExpirationTime(let seconds): (.keyExpirationTime, Self.bytes(seconds))
    case .preferredSymmetricAlgorithms(let list): (.preferredSymmetricAlgorithms, list.map(\.rawValue))
    case .issuerKeyID(let id): (.issuerKeyID, id.bytes)
    case .notation(let notation): (.notation, Self.bytes(notation))
    case .preferredHashAlgorithms(let list): (.preferredHashAlgorithms, list.map(\.rawValue))
    case .preferredCompressionAlgorithms(let list): (.preferredCompressionAlgorithms, list.map(\.rawValue))
    case .keyServerPreferences(let octets): (.keyServerPreferences, octets)
    case .preferredKeyServer(let text): (.preferredKeyServer, text)
    case .primaryUserID(let flag): (.primaryUserID, [flag ? 1 : 0])
    case .policyURI(let text): (.policyURI, text)
    case .keyFlags(let flags): (.keyFlags, flags.bytes)
    case .signersUserID(let text): (.signersUserID, text)
    case .reasonForRevocation(let reason): (.reasonForRevocation, [reason.code.rawValue] + reason.text)
    case .features(let features): (.features, [features.rawValue])
    case .embeddedSignature(let signature): (.embeddedSignature, signature.body)
    case .issuerFingerprint(let fingerprint): (.issuerFingerprint, [fingerprint.version] + fingerprint.bytes)
    case .intendedRecipientFingerprint(let fingerprint):
      (.intendedRecipientFingerprint, [fingerprint.version] + fingerprint.bytes)
    case .preferredAEADCiphersuites(let list):
      (.preferredAEADCiphersuites, list.flatMap { [$0.cipher.rawValue, $0.aead.rawValue] })
    case .keyReplacement(let replacement): (.keyReplacement, replacement.bytes)
    case .revocationKey, .regularExpression, .signatureTarget:
      preconditionFailure("read only")
    }
  }

  private static func readFlag(_ cursor: inout PacketCursor, _ body: RawSpan) throws(OpenPGPError) -> Bool {
    try cursor.readByte(body) != 0
  }

  /// Section 5.2.3.33: an algorithm, a hash algorithm and a digest, which has the length of the algorithm. An
  /// unknown algorithm may have any.
  private static func readSignatureTarget(_ cursor: inout PacketCursor, _ body: RawSpan) throws(OpenPGPError)
  {
    _ = try cursor.readByte(body)
    let hash = HashAlgorithm(rawValue: try cursor.readByte(body))
    let digest = cursor.readRest(body)
    if let count = hash.digestByteCount, digest.count != count { throw .malformed(.subpacket) }
  }

  private static func readFingerprint(
    _ cursor: inout PacketCursor, _ body: RawSpan
  ) throws(OpenPGPError) -> Fingerprint {
    let version = try cursor.readByte(body)
    // A fingerprint of a version that is not known is kept, and fits no key.
    guard version == 4 || version == 6 else {
      return Fingerprint(version: version, bytes: cursor.readRest(body))
    }
    return try cursor.readFingerprint(body, version: version)
  }

  private static func readRevocationKey(
    _ cursor: inout PacketCursor, _ body: RawSpan
  ) throws(OpenPGPError) -> RevocationKey {
    let octet = try cursor.readByte(body)
    guard octet & 0x80 != 0 else { throw .malformed(.subpacket) }
    let algorithm = PublicKeyAlgorithm(rawValue: try cursor.readByte(body))
    return RevocationKey(
      isSensitive: octet & 0x40 != 0, algorithm: algorithm,
      fingerprint: try cursor.readFingerprint(body, version: 4))
  }

  private static func readNotation(
    _ cursor: inout PacketCursor, _ body: RawSpan
  ) throws(OpenPGPError) -> Notation {
    let flags = try cursor.readBytes(body, count: 4)
    let nameCount = try cursor.readUInt16(body)
    let valueCount = try cursor.readUInt16(body)
    let name = try cursor.readBytes(body, count: nameCount)
    let value = try cursor.readBytes(body, count: valueCount)
    return Notation(isHumanReadable: flags[0] & 0x80 != 0, name: name, value: value)
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    var output: [UInt8] = []
    output.append(bigEndian: value)
    return output
  }

  private static func bytes(_ notation: Notation) -> [UInt8] {
    var output: [UInt8] = [notation.isHumanReadable ? 0x80 : 0, 0, 0, 0]
    output.append(bigEndian: UInt16(notation.name.count))
    output.append(bigEndian: UInt16(notation.value.count))
    return output + notation.name + notation.value
  }
}

/// The value of one case; nil for every other.
extension Subpacket.Content {
  var asSignatureCreationTime: Timestamp? {
    if case .signatureCreationTime(let value) = self { value } else { nil }
  }
  var asSignatureExpirationTime: UInt32? {
    if case .signatureExpirationTime(let value) = self { value } else { nil }
  }
  var asKeyExpirationTime: UInt32? { if case .keyExpirationTime(let value) = self { value } else { nil } }
  var asPreferredSymmetricAlgorithms: [SymmetricAlgorithm]? {
    if case .preferredSymmetricAlgorithms(let value) = self { value } else { nil }
  }
  var asRevocationKey: RevocationKey? { if case .revocationKey(let value) = self { value } else { nil } }
  var asIssuerKeyID: KeyID? { if case .issuerKeyID(let value) = self { value } else { nil } }
  var asNotation: Notation? { if case .notation(let value) = self { value } else { nil } }
  var asPreferredHashAlgorithms: [HashAlgorithm]? {
    if case .preferredHashAlgorithms(let value) = self { value } else { nil }
  }
  var asPrimaryUserID: Bool? { if case .primaryUserID(let value) = self { value } else { nil } }
  var asKeyFlags: KeyFlags? { if case .keyFlags(let value) = self { value } else { nil } }
  var asReasonForRevocation: RevocationReason? {
    if case .reasonForRevocation(let value) = self { value } else { nil }
  }
  var asFeatures: Features? { if case .features(let value) = self { value } else { nil } }
  var asEmbeddedSignature: Signature? { if case .embeddedSignature(let value) = self { value } else { nil } }
  var asIssuerFingerprint: Fingerprint? {
    if case .issuerFingerprint(let value) = self { value } else { nil }
  }
  var asIntendedRecipientFingerprint: Fingerprint? {
    if case .intendedRecipientFingerprint(let value) = self { value } else { nil }
  }
  var asPreferredAEADCiphersuites: [AEADCiphersuite]? {
    if case .preferredAEADCiphersuites(let value) = self { value } else { nil }
  }
}
