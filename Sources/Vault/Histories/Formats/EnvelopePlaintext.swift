// SPDX-License-Identifier: Apache-2.0
//
// The keys in an envelope as bytes (Envelope.swift says which), in locked memory.

internal import Primitives
internal import Secrets

extension EnvelopeContents {
  /// Bytes for one epoch.
  static let epochByteCount = 4 + EpochKeys.keyByteCount

  /// Bytes of so many epoch keys with everything that can come with them.
  static func byteCountLimit(epochCount: Int) -> Int {
    2 + epochCount * epochByteCount + 1 + Envelope.urlSecretByteCount + 1 + P256.scalarByteCount
      + P256.publicKeyByteCount
  }

  /// - Returns: the keys, the first epoch first and the others in rising order.
  func plaintext() -> SecretBytes {
    guard let first = epochKeys.first else { preconditionFailure("an envelope holds an epoch key") }
    let former = epochKeys.dropFirst().sorted { $0.name < $1.name }
    precondition(Set(epochKeys.map(\.name)).count == epochKeys.count, "an envelope holds each epoch once")
    var writer = SecretWriter(
      byteCount: Self.byteCountLimit(epochCount: epochKeys.count))
    var count: [UInt8] = []
    count.append(bigEndian: UInt16(epochKeys.count))
    writer.append(count)
    for keys in [first] + former {
      var number: [UInt8] = []
      number.append(bigEndian: keys.name.number)
      writer.append(number)
      writer.append(keys.key)
    }
    writer.append([urlSecret == nil ? 0 : 1])
    if let urlSecret {
      precondition(urlSecret.count == Envelope.urlSecretByteCount, "the secret of a URL has 16 bytes")
      writer.append(urlSecret)
    }
    writer.append([owner == nil ? 0 : 1])
    if let owner { writer.append(owner) }
    return writer.finish()
  }

  init(_ plaintext: borrowing SecretBytes) throws(FormatError) {
    self = try plaintext.withBytes { bytes throws(FormatError) in
      do {
        return try EnvelopeContents(bytes)
      } catch let error as FormatError {
        throw error
      } catch {
        throw .malformed
      }
    }
  }

  private init(_ bytes: RawSpan) throws {
    var cursor = ByteCursor()
    epochKeys = []
    for _ in 0..<(try cursor.readUInt16(bytes)) {
      let number = UInt32(try cursor.readUInt32(bytes))
      let key = try cursor.readSecret(bytes, count: EpochKeys.keyByteCount)
      epochKeys.append(EpochKeys(number: number, key: key))
    }
    let former = epochKeys.dropFirst()
    guard let first = epochKeys.first, !former.contains(where: { $0.name == first.name }),
      zip(former, former.dropFirst()).allSatisfy({ $0.name < $1.name })
    else { throw FormatError.malformed }
    urlSecret =
      try cursor.readFlag(bytes)
      ? try cursor.readSecret(bytes, count: Envelope.urlSecretByteCount) : nil
    owner = try cursor.readFlag(bytes) ? try cursor.readKeyPair(bytes) : nil
    guard cursor.isAtEnd(of: bytes) else { throw FormatError.malformed }
  }
}

extension SecretWriter {
  mutating func append(_ secret: SharedSecretBytes) { secret.withBytes { append($0) } }

  /// private key (32) ‖ public key (65)
  mutating func append(_ pair: KeyPair) {
    precondition(pair.privateKey.count == P256.scalarByteCount, "a private key has 32 bytes")
    precondition(FieldReader.isPublicKey(pair.publicKey), "a public key has 65 bytes")
    append(pair.privateKey)
    append(pair.publicKey)
  }
}

extension ByteCursor {
  mutating func readSecret(_ bytes: RawSpan, count: Int) throws(TruncatedField) -> SharedSecretBytes {
    let range = try readRange(bytes, count: count)
    return SharedSecretBytes(SecretBytes(copying: bytes.extracting(range)))
  }

  /// One byte, 0 or 1.
  fileprivate mutating func readFlag(_ bytes: RawSpan) throws -> Bool {
    let flag = try readByte(bytes)
    guard flag < 2 else { throw FormatError.malformed }
    return flag == 1
  }

  /// private key (32) ‖ public key (65). Whether they belong together shows when they are used.
  mutating func readKeyPair(_ bytes: RawSpan) throws -> KeyPair {
    let key = try readSecret(bytes, count: P256.scalarByteCount)
    let publicKey = try readBytes(bytes, count: P256.publicKeyByteCount)
    guard FieldReader.isPublicKey(publicKey) else { throw FormatError.malformed }
    return KeyPair(privateKey: key, publicKey: publicKey)
  }
}
