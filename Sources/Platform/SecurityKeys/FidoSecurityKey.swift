// SPDX-License-Identifier: Apache-2.0
//
// A security key through libfido2 (CTAP 2.1): the extension hmac-secret, always with user verification. A key has
// another secret without verification, so both enrolment and use verify. There is no trial without a touch before
// the real call, because keys that always verify refuse it.

#if SecurityKeys
  internal import CFido2
  internal import Primitives
  internal import Secrets

  /// A device of libfido2. It is opened for each call.
  @safe
  public struct FidoSecurityKey: SecurityKey {
    /// The product's name in its USB descriptor.
    public let product: String
    private let open: FidoOpening
    private let wait: Duration

    /// The name that credentials are made under.
    static let relyingParty = "coffer.openpgp"
    /// For a touch, as keys have it themselves.
    private static let usualWait: Duration = .seconds(30)
    /// Bytes of a salt, and of a secret.
    private static let byteCount = 32

    /// The device at a path of the system, such as `/dev/hidraw3`.
    init(product: String, path: String) {
      unsafe self.init(product: product, wait: Self.usualWait) { device in
        unsafe coffer_fido2_open()?.pointee.fido_dev_open(device, path) ?? FIDO_ERR_INTERNAL
      }
    }

    /// A device that `open` opens, for tests.
    package init(product: String, wait: Duration, open: @escaping FidoOpening) {
      self.product = product
      self.wait = wait
      unsafe self.open = unsafe open
    }

    /// What the key tells about itself.
    public func facts() throws(SecurityKeyError) -> SecurityKeyFacts {
      try unsafe FidoDevice(open, wait: wait).facts()
    }

    /// Makes a credential (ES256, not resident, protected by verification where the key can), and compares two
    /// secrets of it.
    public func enrol(
      _ verification: SecurityKeyVerification, besides others: [SecurityKeyCredential], salt: [UInt8],
      _ attempt: SecurityKeyAttempt
    ) throws(SecurityKeyError) -> EnrolledSecurityKey {
      let device = try unsafe FidoDevice(open, wait: wait)
      if let missing = try device.facts().shortcoming { throw .unsuitable(missing) }
      let credential = try makeCredential(device, verification, others, attempt)
      let first = try secret(device, [credential], salt, verification, attempt)
      let second = try secret(device, [credential], salt, verification, attempt)
      let isSame = first.secret.withBytes { one in
        second.secret.withBytes { constantTimeEqual(one, $0) }
      }
      guard isSame else { throw .untrustworthy }
      return EnrolledSecurityKey(credential: credential, secret: first.secret)
    }

    /// One assertion with all credentials allowed; checked with the public key that was stored.
    public func secret(
      of credentials: [SecurityKeyCredential], salt: [UInt8], _ verification: SecurityKeyVerification,
      _ attempt: SecurityKeyAttempt
    ) throws(SecurityKeyError) -> SecurityKeyAnswer {
      try unsafe secret(FidoDevice(open, wait: wait), credentials, salt, verification, attempt)
    }

    // MARK: Enrolling

    private func makeCredential(
      _ device: FidoDevice, _ verification: SecurityKeyVerification, _ others: [SecurityKeyCredential],
      _ attempt: SecurityKeyAttempt
    ) throws(SecurityKeyError) -> SecurityKeyCredential {
      let fido2 = device.fido2
      guard var made = unsafe fido2.fido_cred_new() as OpaquePointer? else {
        throw .failed(code: FIDO_ERR_INTERNAL)
      }
      defer { unsafe Self.free(&made, fido2.fido_cred_free) }
      let challenge = SystemRandom.publicBytes(count: Self.byteCount)
      let user = SystemRandom.publicBytes(count: Self.byteCount)
      var extensions = FIDO_EXT_HMAC_SECRET
      let isProtected = unsafe fido2.fido_dev_supports_cred_prot(device.reference)
      if isProtected { extensions |= FIDO_EXT_CRED_PROTECT }
      try require(unsafe fido2.fido_cred_set_type(made, COSE_ES256))
      try require(unsafe fido2.fido_cred_set_clientdata_hash(made, challenge, challenge.count))
      try require(unsafe fido2.fido_cred_set_rp(made, Self.relyingParty, "Coffer"))
      try require(unsafe fido2.fido_cred_set_user(made, user, user.count, "coffer", nil, nil))
      try require(unsafe fido2.fido_cred_set_extensions(made, extensions))
      if isProtected { try require(unsafe fido2.fido_cred_set_prot(made, FIDO_CRED_PROT_UV_REQUIRED)) }
      try require(unsafe fido2.fido_cred_set_rk(made, FIDO_OPT_FALSE))
      if case .finger = verification { try require(unsafe fido2.fido_cred_set_uv(made, FIDO_OPT_TRUE)) }
      for other in others { try require(unsafe fido2.fido_cred_exclude(made, other.id, other.id.count)) }
      try unsafe verification.withCString { (pin) throws(SecurityKeyError) in
        try unsafe device.touching(attempt) { unsafe fido2.fido_dev_make_cred($0, made, pin) }
      }
      try unsafe checkAttestation(made, fido2)
      return try unsafe Self.credential(made, fido2)
    }

    /// The key's signature under its credential, and the extensions that it granted. Who made the key does not
    /// matter.
    @unsafe
    private func checkAttestation(_ made: OpaquePointer, _ fido2: coffer_fido2) throws(SecurityKeyError) {
      guard unsafe fido2.fido_cred_flags(made) & Self.verified == Self.verified else { throw .untrustworthy }
      let isCertified = unsafe fido2.fido_cred_x5c_ptr(made) != nil
      let code = unsafe isCertified ? fido2.fido_cred_verify(made) : fido2.fido_cred_verify_self(made)
      // Without an attestation the two assertions that follow are the proof.
      let format = unsafe fido2.fido_cred_fmt(made).map { unsafe String(cString: $0) }
      guard code == FIDO_OK || format == "none" else { throw .untrustworthy }
    }

    @unsafe
    private static func credential(
      _ made: OpaquePointer, _ fido2: coffer_fido2
    ) throws(SecurityKeyError) -> SecurityKeyCredential {
      let id = unsafe bytes(fido2.fido_cred_id_ptr(made), fido2.fido_cred_id_len(made))
      let point = unsafe bytes(fido2.fido_cred_pubkey_ptr(made), fido2.fido_cred_pubkey_len(made))
      let model = unsafe bytes(fido2.fido_cred_aaguid_ptr(made), fido2.fido_cred_aaguid_len(made))
      guard let credential = SecurityKeyCredential(id: id, publicKey: [4] + point, model: model),
        P256.isPublicKey(credential.publicKey)
      else { throw .untrustworthy }
      return credential
    }

    // MARK: Using

    private func secret(
      _ device: FidoDevice, _ credentials: [SecurityKeyCredential], _ salt: [UInt8],
      _ verification: SecurityKeyVerification, _ attempt: SecurityKeyAttempt
    ) throws(SecurityKeyError) -> SecurityKeyAnswer {
      precondition(salt.count == Self.byteCount, "a salt has 32 bytes")
      let fido2 = device.fido2
      guard var asked = unsafe fido2.fido_assert_new() as OpaquePointer? else {
        throw .failed(code: FIDO_ERR_INTERNAL)
      }
      // libfido2 erases the secret that it holds.
      defer { unsafe Self.free(&asked, fido2.fido_assert_free) }
      let challenge = SystemRandom.publicBytes(count: Self.byteCount)
      try require(unsafe fido2.fido_assert_set_clientdata_hash(asked, challenge, challenge.count))
      try require(unsafe fido2.fido_assert_set_rp(asked, Self.relyingParty))
      for credential in credentials {
        try require(unsafe fido2.fido_assert_allow_cred(asked, credential.id, credential.id.count))
      }
      try require(unsafe fido2.fido_assert_set_extensions(asked, FIDO_EXT_HMAC_SECRET))
      try require(unsafe fido2.fido_assert_set_hmac_salt(asked, salt, salt.count))
      if case .finger = verification { try require(unsafe fido2.fido_assert_set_uv(asked, FIDO_OPT_TRUE)) }
      try unsafe verification.withCString { (pin) throws(SecurityKeyError) in
        try unsafe device.touching(attempt) { unsafe fido2.fido_dev_get_assert($0, asked, pin) }
      }
      let credential = try unsafe answering(asked, credentials, fido2)
      try unsafe checkAssertion(asked, credential, fido2)
      return SecurityKeyAnswer(credential: credential, secret: try unsafe Self.secret(asked, fido2))
    }

    /// The credential that was used. A key may leave its id out when one alone was allowed.
    @unsafe
    private func answering(
      _ asked: OpaquePointer, _ credentials: [SecurityKeyCredential], _ fido2: coffer_fido2
    ) throws(SecurityKeyError) -> SecurityKeyCredential {
      guard unsafe fido2.fido_assert_count(asked) == 1 else { throw .untrustworthy }
      let id = unsafe Self.bytes(fido2.fido_assert_id_ptr(asked, 0), fido2.fido_assert_id_len(asked, 0))
      if id.isEmpty, credentials.count == 1 { return credentials[0] }
      guard let used = credentials.first(where: { $0.id == id }) else { throw .untrustworthy }
      return used
    }

    @unsafe
    private func checkAssertion(
      _ asked: OpaquePointer, _ credential: SecurityKeyCredential, _ fido2: coffer_fido2
    ) throws(SecurityKeyError) {
      guard var key = unsafe fido2.es256_pk_new() as OpaquePointer? else {
        throw .failed(code: FIDO_ERR_INTERNAL)
      }
      defer { unsafe Self.free(&key, fido2.es256_pk_free) }
      let point = Array(credential.publicKey.dropFirst())
      guard unsafe fido2.es256_pk_from_ptr(key, point, point.count) == FIDO_OK,
        unsafe fido2.fido_assert_verify(asked, 0, COSE_ES256, UnsafeRawPointer(key)) == FIDO_OK,
        unsafe fido2.fido_assert_flags(asked, 0) & Self.verified == Self.verified
      else { throw .untrustworthy }
    }

    /// *User present* and *user verified* (Web Authentication, section 6.1).
    private static let verified = UInt8(CTAP_AUTHDATA_USER_PRESENT | CTAP_AUTHDATA_USER_VERIFIED)

    @unsafe
    private static func secret(_ asked: OpaquePointer, _ fido2: coffer_fido2) throws(SecurityKeyError)
      -> SharedSecretBytes
    {
      guard let start = unsafe fido2.fido_assert_hmac_secret_ptr(asked, 0),
        unsafe fido2.fido_assert_hmac_secret_len(asked, 0) == byteCount
      else { throw .untrustworthy }
      return SharedSecretBytes(
        SecretBytes(copying: unsafe RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: byteCount)))
    }

    // MARK: libfido2

    private func require(_ code: Int32) throws(SecurityKeyError) {
      guard code == FIDO_OK else { throw .failed(code: code) }
    }

    @unsafe
    private static func free(
      _ object: inout OpaquePointer, _ free: (UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) {
      var former: OpaquePointer? = unsafe object
      unsafe free(&former)
    }

    @unsafe
    private static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
      guard let start = unsafe start, count > 0 else { return [] }
      return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }
  }
#endif
