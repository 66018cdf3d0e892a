// SPDX-License-Identifier: Apache-2.0
//
// How segments and control operations are sealed: the same content gives the same bytes, and two contents never share a
// key. The salt is a code of the content, and the key is derived from the salt. So neither a copied machine nor a repeated
// random number can use a key and a nonce twice.

internal import Primitives
internal import Secrets

/// The beginning of every sealed object: magic (8) ‖ epoch (8) ‖ salt (32).
struct ObjectHead {
  static let byteCount = 48
  static let saltByteCount = 32

  let epoch: EpochName
  let salt: [UInt8]

  /// Reads the beginning of `object`, which has a magic of eight characters, the last two of them its version.
  init(of object: [UInt8], magic: StaticString) throws(FormatError) {
    guard object.count >= Self.byteCount else { throw .malformed }
    var fields = try FieldReader(object, behind: magic.withRawSpan { [UInt8](copying: $0) })
    epoch = try fields.epochName()
    salt = try fields.bytes(Self.saltByteCount)
  }

  static func bytes(magic: StaticString, epoch: EpochName, salt: [UInt8]) -> [UInt8] {
    var bytes = magic.withRawSpan { [UInt8](copying: $0) }
    bytes.append(epoch)
    return bytes + salt
  }
}

/// Seals the content of one object.
struct DeterministicSeal {
  /// The epoch's key for this kind of object.
  let key: SharedSecretBytes
  /// The kind of object.
  let label: StaticString
  /// What the object belongs to; not in its bytes.
  let context: [UInt8]

  /// HMAC(key, content)
  func salt(of content: [UInt8]) -> [UInt8] {
    key.withBytes { HMACSHA256.code(of: content.rawSpan, key: $0) }
  }

  /// `clear` ‖ sealed content ‖ tag. `clear` holds the salt.
  func seal(_ content: [UInt8], after clear: [UInt8], salt: [UInt8]) -> [UInt8] {
    var object = clear
    object.reserveCapacity(clear.count + content.count + AES256GCM.tagByteCount)
    object += content
    object += [UInt8](repeating: 0, count: AES256GCM.tagByteCount)
    let range = clear.count..<object.count
    let aad = clear + context
    var cipher = AES256GCM()
    do {
      try objectKey(salt).withBytes { key throws(CryptoError) in
        try object.withMutableRawSpan { object throws(CryptoError) in
          try object.withRange(range) { content throws(CryptoError) in
            try cipher.sealInPlace(&content, key: key, nonce: Self.nonce.rawSpan, authenticating: aad.rawSpan)
          }
        }
      }
    } catch { preconditionFailure("an object is smaller than what the cipher can take") }
    return object
  }

  /// The content that is sealed in `object` from `offset` on. Everything before is authenticated with it.
  func open(_ object: [UInt8], from offset: Int, salt: [UInt8]) throws(FormatError) -> [UInt8] {
    let count = object.count - offset - AES256GCM.tagByteCount
    guard count > 0 else { throw .malformed }
    var content = [UInt8](repeating: 0, count: count)
    let aad = object[..<offset] + context
    var cipher = AES256GCM()
    do {
      try objectKey(salt).withBytes { key throws(CryptoError) in
        try content.withMutableRawSpan { content throws(CryptoError) in
          try cipher.open(
            object.rawSpan.extracting(droppingFirst: offset), key: key, nonce: Self.nonce.rawSpan,
            authenticating: Array(aad).rawSpan, into: &content)
        }
      }
    } catch { throw .notAuthentic }
    // Another salt would be a second form of one content.
    guard self.salt(of: content) == salt else { throw .malformed }
    return content
  }

  /// HKDF(key, salt, label ‖ context)
  private func objectKey(_ salt: [UInt8]) -> SymmetricKey {
    let info = label.withRawSpan { [UInt8](copying: $0) } + context
    var hkdf = HKDF()
    return key.withBytes { hkdf.deriveKey(ikm: $0, salt: salt.rawSpan, info: info.rawSpan) }
  }

  /// Zero: each key seals one content.
  private static let nonce = [UInt8](repeating: 0, count: AES256GCM.nonceByteCount)
}
