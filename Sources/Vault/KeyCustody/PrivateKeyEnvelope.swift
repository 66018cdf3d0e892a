// SPDX-License-Identifier: Apache-2.0
//
// One private key, sealed to one key in an enclave (Specs/envelopes.md, "Private-key envelope"):
//
//   "COFPKEY1" ‖ payload (1) ‖ fingerprint (20 or 32) ‖ length (2) ‖ handle ‖ enclave's public key (65)
//   ‖ ephemeral public key (65) ‖ salt (32) ‖ key check (32) ‖ nonce (12) ‖ length (4) ‖ ciphertext ‖ tag (16)
//
// Version 2, "COFPKEY2", has the digest of the guard record (32) after the fingerprint. An envelope contains
// everything that opening needs, except the enclave, the authorization and the guard.

internal import Enclaves
internal import OpenPGP
internal import Primitives
internal import Secrets

/// A private key at rest.
struct PrivateKeyEnvelope: Equatable, Sendable {
  let payload: PrivateKeyPayload
  let fingerprint: Fingerprint
  /// SHA-256 of the guard record that is needed too; nil in version 1.
  let guardDigest: [UInt8]?
  /// The enclave's key, read from its handle.
  let key: EnclaveKey
  let mode: AuthenticationMode
  let sealed: EnclaveSealed

  /// A key of RSA 4096 with a hundred subkeys has less than half of it.
  static let secretByteCountLimit = 1 << 20

  private static let magic = Array("COFPKEY1".utf8)
  private static let guardedMagic = Array("COFPKEY2".utf8)

  // MARK: Sealing

  /// Seals a private key to `key`, and to `openGuard` if there is one.
  /// - Throws: `CustodyError.invalidInput` when it is empty, too long, or the fingerprint of another version.
  static func seal(
    _ secret: RawSpan, _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint, to key: EnclaveKey,
    guard openGuard: OpenGuard? = nil
  ) throws(CustodyError) -> PrivateKeyEnvelope {
    guard (1...secretByteCountLimit).contains(secret.byteCount),
      fingerprint.bytes.count == payload.fingerprintByteCount,
      let mode = AuthenticationMode(key, isGuarded: openGuard != nil)
    else { throw .invalidInput }
    do {
      let sealed = try sealing(payload, fingerprint, openGuard?.digest, key)
        .seal(secret, to: key, mixing: openGuard?.key)
      return PrivateKeyEnvelope(
        payload: payload, fingerprint: fingerprint, guardDigest: openGuard?.digest, key: key, mode: mode,
        sealed: sealed)
    } catch { throw CustodyError(error) }
  }

  /// The private key.
  /// - Throws: `CustodyError.enclave` with the enclave's refusal; `.guardRequired` without its guard; `.corrupt`
  ///   when the agreement succeeded, but the ciphertext does not open.
  func open(
    in enclave: any Enclave, authorization: KeyAuthorization, guard openGuard: OpenGuard? = nil
  ) throws(CustodyError) -> SecretBytes {
    var guardKey: SharedSecretBytes?
    if let guardDigest {
      guard let openGuard, openGuard.digest == guardDigest else { throw .guardRequired }
      guardKey = openGuard.key
    }
    let loaded: EnclaveKey
    // The enclave checks that the handle is its own and whole.
    do {
      loaded = try key.handle.withBytes { handle throws(EnclaveError) in try enclave.loadKey(handle) }
    } catch { throw CustodyError(error) }
    do {
      return try Self.sealing(payload, fingerprint, guardDigest, loaded)
        .open(sealed, loaded, in: enclave, authorization: authorization, mixing: guardKey)
    } catch { throw CustodyError(error) }
  }

  private static func sealing(
    _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint, _ guardDigest: [UInt8]?, _ key: EnclaveKey
  ) -> EnclaveSealing {
    let label = Array("CypherAir-SE-Wrap-v1:".utf8) + fingerprint.storedText.utf8
    return EnclaveSealing(label: guardDigest == nil ? label : label + [0] + "guard".utf8) {
      (ephemeralKey, salt) in
      var head = SecretWriter(
        byteCount: headByteCount(fingerprint, guardDigest, key) + ephemeralKey.count + salt.count)
      append(payload, fingerprint, guardDigest, key, to: &head)
      head.append(ephemeralKey)
      head.append(salt)
      return head.finish()
    }
  }

  /// Appends everything up to the enclave's public key. A handle may hold a private key.
  private static func append(
    _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint, _ guardDigest: [UInt8]?, _ key: EnclaveKey,
    to head: inout SecretWriter
  ) {
    var fields = guardDigest == nil ? magic : guardedMagic
    fields += [payload.rawValue] + fingerprint.bytes + (guardDigest ?? [])
    fields.append(bigEndian: UInt16(key.handle.count))
    head.append(fields)
    key.handle.withBytes { head.append($0) }
    head.append(key.publicKey)
  }

  private static func headByteCount(
    _ fingerprint: Fingerprint, _ guardDigest: [UInt8]?, _ key: EnclaveKey
  ) -> Int {
    let guardByteCount = guardDigest?.count ?? 0
    return magic.count + 1 + fingerprint.bytes.count + guardByteCount + 2 + key.handle.count
      + key.publicKey.count
  }

  // MARK: Bytes

  func bytes() -> SecretBytes {
    var fields = sealed.ephemeralKey + sealed.salt + sealed.keyCheck + sealed.nonce
    fields.append(bigEndian: UInt32(sealed.ciphertext.count - EnclaveSealed.tagByteCount))
    var bytes = SecretWriter(
      byteCount: Self.headByteCount(fingerprint, guardDigest, key) + fields.count + sealed.ciphertext.count)
    Self.append(payload, fingerprint, guardDigest, key, to: &bytes)
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
    let magic = try cursor.readBytes(bytes, count: Self.magic.count)
    guard magic == Self.magic || magic == Self.guardedMagic,
      let payload = PrivateKeyPayload(rawValue: try cursor.readByte(bytes)),
      let fingerprint = Fingerprint(bytes: try cursor.readBytes(bytes, count: payload.fingerprintByteCount))
    else { throw CustodyError.corrupt }
    self.payload = payload
    self.fingerprint = fingerprint
    guardDigest =
      magic == Self.guardedMagic ? try cursor.readBytes(bytes, count: SHA256.byteCount) : nil
    let handle = try cursor.readRange(bytes, count: try cursor.readUInt16(bytes))
    let publicKey = try cursor.readBytes(bytes, count: P256.publicKeyByteCount)
    guard let key = EnclaveKey(handle: bytes.extracting(handle)), key.publicKey == publicKey,
      let mode = AuthenticationMode(key, isGuarded: guardDigest != nil)
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
    payload: PrivateKeyPayload, fingerprint: Fingerprint, guardDigest: [UInt8]?, key: EnclaveKey,
    mode: AuthenticationMode, sealed: EnclaveSealed
  ) {
    self.payload = payload
    self.fingerprint = fingerprint
    self.guardDigest = guardDigest
    self.key = key
    self.mode = mode
    self.sealed = sealed
  }
}
