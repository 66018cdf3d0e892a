// SPDX-License-Identifier: Apache-2.0
//
// Making, loading and using one key in a conversation.

#if TPM
  internal import CSystem
  internal import CTSS
  internal import Primitives
  internal import Secrets

  extension TPMContext {
    /// A new key as the chip gave it.
    struct MadeKey {
      let publicKey: [UInt8]
      let publicArea: [UInt8]
      let privateArea: [UInt8]
    }

    /// A loaded key, with the sessions that satisfy it.
    struct AuthorizedKey {
      let handle: ESYS_TR
      /// Authorizes.
      let first: ESYS_TR
      /// Encrypts parameters, if the first session cannot.
      let second: ESYS_TR
    }

    func createKey(
      under root: ESYS_TR, use: EnclaveKeyUse, requirement: AccessControl.Requirement,
      authValue: SharedSecretBytes?, verifier: [UInt8]
    ) throws(EnclaveError) -> MadeKey {
      let session = try salted(root, encryptsAnswers: true)
      let policy = try TPMPolicy.digest(requirement, verifier: verifier)
      var template = TPMTemplate.key(use, requirement, policy: policy)
      var outside = TPM2B_DATA()
      var selection = TPML_PCR_SELECTION()
      var sensitive = TPM2B_SENSITIVE_CREATE()
      defer {
        unsafe Self.erase(&sensitive)
        // The library checks the arguments before the handle, so this sends nothing.
        var nothing = TPM2B_SENSITIVE_CREATE()
        unsafe try? run {
          unsafe tss.Esys_Create(
            $0, Self.noObject, session, none, none, &nothing, &template, &outside, &selection, nil, nil, nil,
            nil, nil)
        }
      }
      if let authValue { unsafe Self.copy(authValue, to: &sensitive.sensitive.userAuth) }
      var privateArea: UnsafeMutablePointer<TPM2B_PRIVATE>?
      var publicArea: UnsafeMutablePointer<TPM2B_PUBLIC>?
      defer {
        unsafe release(privateArea)
        unsafe release(publicArea)
      }
      do {
        try unsafe run {
          unsafe tss.Esys_Create(
            $0, root, session, none, none, &sensitive, &template, &outside, &selection, &privateArea,
            &publicArea, nil, nil, nil)
        }
      } catch {
        throw Self.closed(error)
      }
      guard let privateArea = unsafe privateArea, let publicArea = unsafe publicArea else {
        throw .failed(code: 0)
      }
      return unsafe MadeKey(
        publicKey: TPMTemplate.publicKey(&publicArea.pointee),
        publicArea: try TPMTemplate.marshalled {
          unsafe tss.Tss2_MU_TPM2B_PUBLIC_Marshal(publicArea, $0, $1, $2)
        },
        privateArea: try TPMTemplate.marshalled {
          unsafe tss.Tss2_MU_TPM2B_PRIVATE_Marshal(privateArea, $0, $1, $2)
        })
    }

    /// Loads a key and satisfies its requirement.
    func load(
      _ body: TPMBody, under root: ESYS_TR, requirement: AccessControl.Requirement,
      _ authorization: KeyAuthorization, encryptsAnswers: Bool
    ) throws(EnclaveError) -> AuthorizedKey {
      let session = try salted(root, encryptsAnswers: true)
      let key = try load(body, under: root, session)
      try setAttributes(session, encryptsAnswers: encryptsAnswers)
      switch (requirement, authorization) {
      case (.none, .none): return AuthorizedKey(handle: key, first: session, second: none)
      case (.devicePasscode, .passcode(let passcode)):
        try setAuth(key, TPMBody.authValue(passcode, salt: body.salt))
        return AuthorizedKey(handle: key, first: session, second: none)
      case (.biometryAnyOrDevicePasscode, .passcode(let passcode)):
        try setAuth(key, TPMBody.authValue(passcode, salt: body.salt))
        let policy = try policy(root)
        try unsafe run { unsafe tss.Esys_PolicyAuthValue($0, policy, none, none, none) }
        try takeBranch(policy, body.verifier)
        return AuthorizedKey(handle: key, first: policy, second: session)
      case (.biometryAny, .biometry(let reader)), (.biometryAnyOrDevicePasscode, .biometry(let reader)):
        let policy = try policy(root)
        try satisfy(policy, reader, verifier: body.verifier)
        if requirement == .biometryAnyOrDevicePasscode { try takeBranch(policy, body.verifier) }
        return AuthorizedKey(handle: key, first: policy, second: session)
      default: throw .authorizationRequired
      }
    }

    /// ECDH in the chip.
    func agree(_ key: AuthorizedKey, with publicKey: [UInt8]) throws(EnclaveError) -> SecretBytes {
      var point = TPM2B_ECC_POINT()
      point.point = TPMTemplate.point(publicKey)
      var found: UnsafeMutablePointer<TPM2B_ECC_POINT>?
      defer { unsafe release(found) }
      try unsafe run {
        unsafe tss.Esys_ECDH_ZGen($0, key.handle, key.first, key.second, none, &point, &found)
      }
      guard let found = unsafe found else { throw .failed(code: 0) }
      let count = unsafe Int(found.pointee.point.x.size)
      guard (1...P256.scalarByteCount).contains(count) else { throw .failed(code: 0) }
      var secret = SecretBytes(zeroed: P256.scalarByteCount)
      secret.withMutableBytes { secret in
        unsafe withUnsafeBytes(of: &found.pointee.point.x.buffer) { buffer in
          unsafe secret.copy(
            RawSpan(_unsafeBytes: buffer).extracting(first: count), to: P256.scalarByteCount - count)
        }
      }
      return secret
    }

    /// ECDSA in the chip.
    func sign(_ key: AuthorizedKey, digest: [UInt8]) throws(EnclaveError) -> DERSignature {
      var input = TPM2B_DIGEST()
      unsafe TPMTemplate.fill(&input.buffer, &input.size, digest)
      var scheme = TPMT_SIG_SCHEME()
      scheme.scheme = COFFER_ALG_NULL
      var ticket = TPMT_TK_HASHCHECK()
      ticket.tag = COFFER_TAG_HASHCHECK
      ticket.hierarchy = COFFER_HIERARCHY_NULL
      var found: UnsafeMutablePointer<TPMT_SIGNATURE>?
      defer { unsafe release(found) }
      try unsafe run {
        unsafe tss.Esys_Sign($0, key.handle, key.first, key.second, none, &input, &scheme, &ticket, &found)
      }
      guard let found = unsafe found else { throw .failed(code: 0) }
      return unsafe DERSignature(
        r: TPMTemplate.coordinate(&found.pointee.signature.ecdsa.signatureR),
        s: TPMTemplate.coordinate(&found.pointee.signature.ecdsa.signatureS))
    }

    /// Overwrites what the library keeps of an authorization value, and unloads the key.
    ///
    /// The library keeps two copies: with the key, and after the session's own key in the record of the
    /// session that authorized. It frees both without erasing them. So the session is used once more, without
    /// effect: an event for no PCR, authorized with zeros. The chip ignores zeros at the end of an
    /// authorization value, and it does not matter that it refuses a policy session.
    func forget(_ key: AuthorizedKey) {
      let zeros = SharedSecretBytes(SecretBytes(zeroed: SHA256.byteCount))
      try? setAuth(key.handle, zeros)
      flush(key.handle)
      try? setAuth(COFFER_ESYS_NULL, zeros)
      try? setAttributes(key.first, encryptsAnswers: false)
      var event = TPM2B_EVENT()
      var digests: UnsafeMutablePointer<TPML_DIGEST_VALUES>?
      defer { unsafe release(digests) }
      unsafe try? run {
        unsafe tss.Esys_PCR_Event($0, COFFER_ESYS_NULL, key.first, none, none, &event, &digests)
      }
    }

    // MARK: Steps

    /// A handle that the library never assigns: it counts up from its first one.
    static let noObject: ESYS_TR = 0xFFFF_FF00

    /// The error when the chip rejects the authorization of the storage root key: its owner has set one.
    private static func closed(_ error: EnclaveError) -> EnclaveError {
      error == .wrongPasscode ? .ownerPassword : error
    }

    private func load(
      _ body: TPMBody, under root: ESYS_TR, _ session: ESYS_TR
    ) throws(EnclaveError) -> ESYS_TR {
      var publicArea = TPM2B_PUBLIC()
      var privateArea = TPM2B_PRIVATE()
      var offset = 0
      guard
        unsafe tss.Tss2_MU_TPM2B_PUBLIC_Unmarshal(
          body.publicArea, body.publicArea.count, &offset, &publicArea) == 0,
        offset == body.publicArea.count
      else { throw .corrupt }
      offset = 0
      guard
        unsafe tss.Tss2_MU_TPM2B_PRIVATE_Unmarshal(
          body.privateArea, body.privateArea.count, &offset, &privateArea) == 0,
        offset == body.privateArea.count
      else { throw .corrupt }
      var handle = none
      // The storage root is the one that was enrolled, so a key that it rejects is not what was stored. A
      // lack of room (TPM_RC_OBJECT_MEMORY) says nothing about the key.
      do {
        try unsafe run {
          unsafe tss.Esys_Load($0, root, session, none, none, &privateArea, &publicArea, &handle)
        }
      } catch {
        if case .failed(let code) = error, EnclaveError.blamesParameter(code) { throw .corrupt }
        throw Self.closed(error)
      }
      own(handle)
      return handle
    }

    func setAuth(_ key: ESYS_TR, _ value: consuming SecretBytes) throws(EnclaveError) {
      try setAuth(key, SharedSecretBytes(value))
    }

    func setAuth(_ key: ESYS_TR, _ value: SharedSecretBytes) throws(EnclaveError) {
      var auth = TPM2B_AUTH()
      defer { unsafe Self.erase(&auth) }
      unsafe Self.copy(value, to: &auth)
      try unsafe run { unsafe tss.Esys_TR_SetAuth($0, key, &auth) }
    }

    /// Has the verifier sign the session's nonce, and sends the signature to the chip.
    private func satisfy(
      _ policy: ESYS_TR, _ reader: any BiometryVerifier, verifier: [UInt8]
    ) throws(EnclaveError) {
      guard reader.publicKey == verifier else { throw .biometryRefused }
      var nonce: UnsafeMutablePointer<TPM2B_NONCE>?
      defer { unsafe release(nonce) }
      try unsafe run { unsafe tss.Esys_TRSess_GetNonceTPM($0, policy, &nonce) }
      guard let nonce = unsafe nonce else { throw .failed(code: 0) }
      // nonce ‖ expiration (4), none ‖ no command ‖ no reference
      var challenge = unsafe withUnsafeBytes(of: &nonce.pointee.buffer) {
        unsafe Array($0.prefix(Int(nonce.pointee.size)))
      }
      challenge.append(bigEndian: UInt32(0))
      let digest = SHA256.hash(challenge.rawSpan)
      guard let signed = DERSignature(try reader.sign(digest: digest)) else { throw .biometryRefused }
      var signature = TPMT_SIGNATURE()
      signature.sigAlg = COFFER_ALG_ECDSA
      unsafe signature.signature.ecdsa.hash = COFFER_ALG_SHA256
      unsafe signature.signature.ecdsa.signatureR = TPMTemplate.parameter(signed.r)
      unsafe signature.signature.ecdsa.signatureS = TPMTemplate.parameter(signed.s)
      let key = try loadVerifier(verifier)
      defer { flush(key) }
      var command = TPM2B_DIGEST()
      var reference = TPM2B_NONCE()
      try unsafe run {
        unsafe tss.Esys_PolicySigned(
          $0, key, policy, none, none, none, nonce, &command, &reference, 0, &signature, nil, nil)
      }
    }

    /// Tells the chip which of the policy's two branches was satisfied.
    private func takeBranch(_ policy: ESYS_TR, _ verifier: [UInt8]) throws(EnclaveError) {
      var list = TPML_DIGEST()
      let branches = try TPMPolicy.branches(verifier)
      list.count = 2
      unsafe TPMTemplate.fill(&list.digests.0.buffer, &list.digests.0.size, branches[0])
      unsafe TPMTemplate.fill(&list.digests.1.buffer, &list.digests.1.size, branches[1])
      try unsafe run { unsafe tss.Esys_PolicyOR($0, policy, none, none, none, &list) }
    }

    private func loadVerifier(_ publicKey: [UInt8]) throws(EnclaveError) -> ESYS_TR {
      var area = TPMTemplate.verifier(publicKey)
      var handle = none
      try unsafe run {
        unsafe tss.Esys_LoadExternal($0, none, none, none, nil, &area, COFFER_ESYS_NULL, &handle)
      }
      own(handle)
      return handle
    }

    // MARK: Bytes

    @unsafe
    static func copy(_ secret: SharedSecretBytes, to auth: inout TPM2B_AUTH) {
      secret.withBytes { secret in
        unsafe withUnsafeMutableBytes(of: &auth.buffer) { buffer in
          unsafe secret.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
        }
        auth.size = UInt16(secret.byteCount)
      }
    }

    @unsafe
    static func erase<T>(_ value: inout T) {
      unsafe withUnsafeMutableBytes(of: &value) { bytes in
        guard let start = bytes.baseAddress else { return }
        unsafe coffer_erase(start, bytes.count)
      }
    }
  }
#endif
