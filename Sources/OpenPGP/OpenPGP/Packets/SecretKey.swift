// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.5.3: secret keys of versions 4 and 6. The material stays in memory for secrets from the
// source to the cipher, protected or not.

public import Secrets

internal import Primitives

/// A secret key or subkey as its packet holds it.
///
/// [RFC 9580, section 5.5.3](https://www.rfc-editor.org/rfc/rfc9580#section-5.5.3)
public struct SecretKey: Sendable {
  /// The public half.
  public let publicKey: PublicKey
  /// How the secret part is protected.
  public let protection: SecretKeyProtection
  /// The octets after the parameters of the protection: encrypted, or in the clear with the checksum.
  public let protectedMaterial: SharedSecretBytes

  /// A packet to be written.
  /// - Parameter protectedMaterial: the secret fields as `protection` says.
  public init(publicKey: PublicKey, protection: SecretKeyProtection, protectedMaterial: SharedSecretBytes) {
    self.publicKey = publicKey
    self.protection = protection
    self.protectedMaterial = protectedMaterial
  }

  /// Whether a password is needed.
  public var isLocked: Bool { protection != .none }

  init(body: RawSpan) throws(OpenPGPError) {
    var cursor = PacketCursor()
    publicKey = try PublicKey(&cursor, body, endsWithBody: false)
    let usage = try cursor.readByte(body)
    protection = try Self.readProtection(&cursor, body, usage: usage, version: publicKey.version)
    let rest = body.extracting(cursor.offset..<body.byteCount)
    protectedMaterial = SharedSecretBytes(SecretBytes(copying: rest))
  }

  /// Body of the packet, in memory for secrets.
  public func body() -> SecretBytes {
    var head = publicKey.body
    let (usage, parameters) = protectionBytes
    head.append(usage)
    if publicKey.version == 6 && usage != 0 { head.append(UInt8(parameters.count)) }
    head += parameters
    var writer = SecretWriter(byteCount: head.count + protectedMaterial.count)
    writer.append(head)
    protectedMaterial.withBytes { writer.append($0) }
    return writer.finish()
  }

  private static func readProtection(
    _ cursor: inout PacketCursor, _ body: RawSpan, usage: UInt8, version: UInt8
  ) throws(OpenPGPError) -> SecretKeyProtection {
    guard usage != 0 else { return .none }
    // Version 6 says how long the parameters are, so unknown ones can be kept.
    var end: Int?
    if version == 6 {
      // Checksums of two octets are not for version 6 (section 5.5.3).
      guard usage == 253 || usage == 254 else { throw .malformed(.secretKey) }
      end = Int(try cursor.readByte(body)) + cursor.offset
    }
    var known = cursor
    if let protection = try readKnownProtection(&known, body, usage: usage, version: version) {
      if let end, known.offset != end { throw .malformed(.secretKey) }
      cursor = known
      return protection
    }
    // Where the parameters end is known in version 6 only; else they are all that is left.
    return .unknown(usage: usage, try cursor.readBytes(body, count: (end ?? body.byteCount) - cursor.offset))
  }

  /// Nil for a specifier or an algorithm that this engine does not have.
  private static func readKnownProtection(
    _ cursor: inout PacketCursor, _ body: RawSpan, usage: UInt8, version: UInt8
  ) throws(OpenPGPError) -> SecretKeyProtection? {
    guard usage >= 253 else {
      let cipher = SymmetricAlgorithm(rawValue: usage)
      guard let count = cipher.blockByteCount else { return nil }
      return .cfbChecksum(cipher, nil, iv: try cursor.readBytes(body, count: count))
    }
    let cipher = SymmetricAlgorithm(rawValue: try cursor.readByte(body))
    let aead = usage == 253 ? AEADAlgorithm(rawValue: try cursor.readByte(body)) : nil
    let s2k = try readStringToKey(&cursor, body, version: version)
    if case .unknown = s2k { return nil }
    guard let count = aead.map(\.nonceByteCount) ?? cipher.blockByteCount else { return nil }
    let iv = try cursor.readBytes(body, count: count)
    if let aead { return .aead(cipher, aead, s2k, nonce: iv) }
    return usage == 254 ? .cfb(cipher, s2k, iv: iv) : .cfbChecksum(cipher, s2k, iv: iv)
  }

  /// Version 6 puts the length of the specifier before it.
  private static func readStringToKey(
    _ cursor: inout PacketCursor, _ body: RawSpan, version: UInt8
  ) throws(OpenPGPError) -> StringToKey {
    var count: Int?
    if version == 6 { count = Int(try cursor.readByte(body)) }
    return try StringToKey(&cursor, body, count: count)
  }

  private var protectionBytes: (usage: UInt8, parameters: [UInt8]) {
    func specifier(_ s2k: StringToKey) -> [UInt8] {
      publicKey.version == 6 ? [UInt8(s2k.bytes.count)] + s2k.bytes : s2k.bytes
    }
    switch protection {
    case .none: return (0, [])
    case .cfb(let cipher, let s2k, let iv): return (254, [cipher.rawValue] + specifier(s2k) + iv)
    case .cfbChecksum(let cipher, let s2k?, let iv): return (255, [cipher.rawValue] + specifier(s2k) + iv)
    case .cfbChecksum(let cipher, nil, let iv): return (cipher.rawValue, iv)
    case .aead(let cipher, let aead, let s2k, let nonce):
      return (253, [cipher.rawValue, aead.rawValue] + specifier(s2k) + nonce)
    case .unknown(let usage, let parameters): return (usage, parameters)
    }
  }
}
