// SPDX-License-Identifier: Apache-2.0
//
// One private key, sealed to one key in an enclave (Specs/envelopes.md, "Private-key envelope"):
//
//   "COFPKEY1" ‖ payload (1) ‖ fingerprint (20 or 32) ‖ length (2) ‖ handle ‖ enclave's public key (65)
//   ‖ ephemeral public key (65) ‖ salt (32) ‖ key check (32) ‖ nonce (12) ‖ length (4) ‖ ciphertext ‖ tag (16)
//
// It contains everything that opening needs, except the enclave and the authorization.

internal import Enclaves
internal import OpenPGP
internal import Primitives
internal import Secrets

/// A private key at rest.
struct PrivateKeyEnvelope: Equatable, Sendable {
  let payload: PrivateKeyPayload
  let fingerprint: Fingerprint
  /// The enclave's key, read from its handle.
  let key: EnclaveKey
  let mode: AuthenticationMode
  let sealed: EnclaveSealed

  /// A key of RSA 4096 with a hundred subkeys has less than half of it.
  static let secretByteCountLimit = 1 << 20

  private static let magic = Array("COFPKEY1".utf8)

  // MARK: Sealing

  /// Seals a private key to `key`.
  /// - Throws: `CustodyError.invalidInput` when it is empty, too long, or the fingerprint of another version.
  static func seal(
    _ secret: RawSpan, _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint, to key: EnclaveKey
  ) throws(CustodyError) -> PrivateKeyEnvelope {
    guard (1...secretByteCountLimit).contains(secret.byteCount),
      fingerprint.bytes.count == payload.fingerprintByteCount, let mode = AuthenticationMode(key)
    else { throw .invalidInput }
    do {
      let sealed = try sealing(payload, fingerprint, key).seal(secret, to: key)
      return PrivateKeyEnvelope(
        payload: payload, fingerprint: fingerprint, key: key, mode: mode, sealed: sealed)
    } catch { throw CustodyError(error) }
  }

  /// The private key.
  /// - Throws: `CustodyError.enclave` with the enclave's refusal; `.corrupt` when the agreement succeeded,
  ///   but the ciphertext does not open.
  func open(in enclave: any Enclave, authorization: KeyAuthorization) throws(CustodyError) -> SecretBytes {
    let loaded: EnclaveKey
    // The enclave checks that the handle is its own and whole.
    do {
      loaded = try key.handle.withBytes { handle throws(EnclaveError) in try enclave.loadKey(handle) }
    } catch { throw CustodyError(error) }
    do { return try open(loaded, enclave, authorization) } catch { throw CustodyError(error) }
  }

  private func open(
    _ key: EnclaveKey, _ enclave: any Enclave, _ authorization: KeyAuthorization
  ) throws(EnclaveSealingError) -> SecretBytes {
    try Self.sealing(payload, fingerprint, key).open(sealed, key, in: enclave, authorization: authorization)
  }

  private static func sealing(
    _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint, _ key: EnclaveKey
  ) -> EnclaveSealing {
    EnclaveSealing(label: Array("CypherAir-SE-Wrap-v1:".utf8) + fingerprint.storedText.utf8) {
      (ephemeralKey, salt) in
      var head = SecretWriter(
        byteCount: headByteCount(fingerprint, key) + ephemeralKey.count + salt.count)
      append(payload, fingerprint, key, to: &head)
      head.append(ephemeralKey)
      head.append(salt)
      return head.finish()
    }
  }

  /// Appends everything up to the enclave's public key. A handle may hold a private key.
  private static func append(
    _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint, _ key: EnclaveKey,
    to head: inout SecretWriter
  ) {
    var fields = magic + [payload.rawValue] + fingerprint.bytes
    fields.append(bigEndian: UInt16(key.handle.count))
    head.append(fields)
    key.handle.withBytes { head.append($0) }
    head.append(key.publicKey)
  }

  private static func headByteCount(_ fingerprint: Fingerprint, _ key: EnclaveKey) -> Int {
    magic.count + 1 + fingerprint.bytes.count + 2 + key.handle.count + key.publicKey.count
  }

  // MARK: Bytes

  func bytes() -> SecretBytes {
    var fields = sealed.ephemeralKey + sealed.salt + sealed.keyCheck + sealed.nonce
    fields.append(bigEndian: UInt32(sealed.ciphertext.count - EnclaveSealed.tagByteCount))
    var bytes = SecretWriter(
      byteCount: Self.headByteCount(fingerprint, key) + fields.count + sealed.ciphertext.count)
    Self.append(payload, fingerprint, key, to: &bytes)
    bytes.append(fields)
    bytes.append(sealed.ciphertext)
    return bytes.finish()
  }

  /// SHA-256 of ``bytes()``.
  func digest() -> [UInt8] { bytes().withBytes { SHA256.hash($0) } }

  /// - Throws: `CustodyError.corrupt` for anything but what ``bytes()`` gives.
  init(_ bytes: RawSpan) throws(CustodyError) {
    do { try self.init(fields: bytes) } catch { throw .corrupt }
  }

  private init(fields bytes: RawSpan) throws {
    var cursor = ByteCursor()
    guard try cursor.readBytes(bytes, count: Self.magic.count) == Self.magic,
      let payload = PrivateKeyPayload(rawValue: try cursor.readByte(bytes)),
      let fingerprint = Fingerprint(bytes: try cursor.readBytes(bytes, count: payload.fingerprintByteCount))
    else { throw CustodyError.corrupt }
    self.payload = payload
    self.fingerprint = fingerprint
    let handle = try cursor.readRange(bytes, count: try cursor.readUInt16(bytes))
    let publicKey = try cursor.readBytes(bytes, count: P256.publicKeyByteCount)
    guard let key = EnclaveKey(handle: bytes.extracting(handle)), key.publicKey == publicKey,
      let mode = AuthenticationMode(key)
    else { throw CustodyError.corrupt }
    self.key = key
    self.mode = mode
    let ephemeralKey = try cursor.readBytes(bytes, count: P256.publicKeyByteCount)
    let salt = try cursor.readBytes(bytes, count: EnclaveSealed.saltByteCount)
    let keyCheck = try cursor.readBytes(bytes, count: EnclaveSealed.keyCheckByteCount)
    let nonce = try cursor.readBytes(bytes, count: EnclaveSealed.nonceByteCount)
    let byteCount = try cursor.readUInt32(bytes)
    guard (1...Self.secretByteCountLimit).contains(byteCount) else { throw CustodyError.corrupt }
    let ciphertext = try cursor.readBytes(bytes, count: byteCount + EnclaveSealed.tagByteCount)
    guard cursor.isAtEnd(of: bytes) else { throw CustodyError.corrupt }
    sealed = EnclaveSealed(
      ephemeralKey: ephemeralKey, salt: salt, keyCheck: keyCheck, nonce: nonce, ciphertext: ciphertext)
  }

  private init(
    payload: PrivateKeyPayload, fingerprint: Fingerprint, key: EnclaveKey, mode: AuthenticationMode,
    sealed: EnclaveSealed
  ) {
    self.payload = payload
    self.fingerprint = fingerprint
    self.key = key
    self.mode = mode
    self.sealed = sealed
  }
}
