// SPDX-License-Identifier: Apache-2.0
//
// The encryption of one message (Specs/vault.md, "Message"):
//
//   message key = HKDF-SHA256(ikm: vault key, salt: 16 bytes of the id, info: "message-encryption", L 32)
//   AAD         = {"keyVersion":N,"messageId":"UUID","timestamp":"YYYY-MM-DDTHH:MM:SSZ","version":1}
//   box         = nonce (12) ‖ AES-256-GCM(message key, nonce, AAD, frame) ‖ tag (16)
//
// Contexts and buffers are reused from message to message and erased at the end. The message key itself is erased
// after each use; its key schedule stays in the context until the next.

internal import Logging
internal import MessageFormats
public import Primitives
internal import Secrets
internal import Texts

/// Seals and opens the boxes of messages in place.
///
/// For callers that lay out frames and keep boxes themselves; ``MessageEncryption`` works with values.
public struct MessageCipher: ~Copyable {
  /// How many bytes longer a box is than its frame.
  public static let overheadByteCount = AES256GCM.nonceByteCount + AES256GCM.tagByteCount
  private static let nonceRange = 0..<AES256GCM.nonceByteCount

  private var hkdf = HKDF()
  private var cipher = AES256GCM()
  private var key = SecretBytes(zeroed: SymmetricKey.byteCount)
  private var aad = AssociatedData()
  private var lastNonce: InlineArray<12, UInt8>?

  /// Draws a nonce; tests draw others.
  var drawNonce: @Sendable () -> InlineArray<12, UInt8> = { MessageCipher.randomNonce() }

  /// A cipher without keys; each call names its own.
  public init() {}

  /// Seals the frame in `box`, and writes the nonce (12 bytes) before it and the tag (16 bytes) after it.
  ///
  /// - Parameters:
  ///   - box: 12 bytes of space ‖ frame ‖ 16 bytes of space.
  ///   - id: names the message.
  ///   - timestamp: seconds since 1970, UTC.
  ///   - keyVersion: the version of `vaultKey`.
  ///   - vaultKey: 32 bytes, of the version `keyVersion`.
  /// - Throws: `CryptoError.encryptionFailed`, also when the same nonce came twice in a row: then the random
  ///   generator is broken, and that is logged.
  public mutating func seal(
    _ box: inout MutableRawSpan, id: MessageID, timestamp: Int64, keyVersion: Int, vaultKey: RawSpan
  ) throws(CryptoError) {
    let nonce = try freshNonce()
    deriveKey(vaultKey, id)
    aad.set(id: id, timestamp: timestamp, keyVersion: keyVersion)
    let associated = aad.bytes
    box.copy(nonce.rawSpan, to: 0)
    var sealed = box._mutatingExtracting(droppingFirst: AES256GCM.nonceByteCount)
    defer { key.erase() }
    try key.withBytes { key throws(CryptoError) in
      try cipher.sealInPlace(
        &sealed, key: key, nonce: nonce.rawSpan, authenticating: associated.rawSpan)
    }
  }

  /// Opens `box` into `frame`, which is 28 bytes shorter. If authentication fails, `frame` is erased.
  /// - Throws: `CryptoError.authenticationFailed`; `CryptoError.decryptionFailed` when it is too short.
  public mutating func open(
    _ box: RawSpan, id: MessageID, timestamp: Int64, keyVersion: Int, vaultKey: RawSpan,
    into frame: inout MutableRawSpan
  ) throws(CryptoError) {
    deriveKey(vaultKey, id)
    aad.set(id: id, timestamp: timestamp, keyVersion: keyVersion)
    let associated = aad.bytes
    defer { key.erase() }
    try key.withBytes { key throws(CryptoError) in
      try cipher.open(
        box.extracting(droppingFirst: AES256GCM.nonceByteCount), key: key,
        nonce: box.extracting(Self.nonceRange), authenticating: associated.rawSpan, into: &frame)
    }
  }

  /// The associated data of a message as an array, for the value types and for tests.
  mutating func associatedData(id: MessageID, timestamp: Int64, keyVersion: Int) -> [UInt8] {
    aad.set(id: id, timestamp: timestamp, keyVersion: keyVersion)
    return aad.bytes
  }

  private mutating func freshNonce() throws(CryptoError) -> InlineArray<12, UInt8> {
    let nonce = drawNonce()
    if let lastNonce, nonce.indices.allSatisfy({ nonce[$0] == lastNonce[$0] }) {
      Vault.log.critical("the random generator gave the same nonce twice; nothing is encrypted with it")
      throw .encryptionFailed
    }
    lastNonce = nonce
    return nonce
  }

  private static func randomNonce() -> InlineArray<12, UInt8> {
    var nonce = InlineArray<12, UInt8>(repeating: 0)
    var span = nonce.mutableSpan
    var bytes = unsafe span.mutableBytes
    SystemRandom.fill(&bytes)
    return nonce
  }

  private mutating func deriveKey(_ vaultKey: RawSpan, _ id: MessageID) {
    let info: StaticString = "message-encryption"
    key.withMutableBytes { key in
      id.withBytes { id in
        info.withRawSpan { hkdf.derive(ikm: vaultKey, salt: id, info: $0, into: &key) }
      }
    }
  }
}

/// The associated data of a message: canonical JSON, keys sorted, no spaces. Built in place, because it is needed for
/// every message.
struct AssociatedData {
  private(set) var bytes: [UInt8] = []

  private var keyVersion: Int?
  private var idOffset = 0
  private var timestampOffset = 0

  /// - Parameters:
  ///   - timestamp: seconds since 1970, UTC; within the years that RFC 3339 can write.
  ///   - keyVersion: from 1.
  mutating func set(id: MessageID, timestamp: Int64, keyVersion: Int) {
    if keyVersion != self.keyVersion { layOut(keyVersion) }
    let timestampRange = timestampOffset..<timestampOffset + RFC3339.byteCount
    let idOffset = idOffset
    var span = bytes.mutableSpan
    var output = unsafe span.mutableBytes
    id.write(to: &output, at: idOffset)
    var place = output._mutatingExtracting(timestampRange)
    RFC3339.write(timestamp, into: &place)
  }

  private mutating func layOut(_ keyVersion: Int) {
    self.keyVersion = keyVersion
    bytes = Array("{\"keyVersion\":\(keyVersion),\"messageId\":\"".utf8)
    idOffset = bytes.count
    bytes += [UInt8](repeating: 0, count: 36)
    bytes += "\",\"timestamp\":\"".utf8
    timestampOffset = bytes.count
    bytes += [UInt8](repeating: 0, count: RFC3339.byteCount)
    bytes += "\",\"version\":1}".utf8
  }
}
