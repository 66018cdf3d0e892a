// SPDX-License-Identifier: Apache-2.0
//
// P-256 keys in a TPM 2.0. The private part of a key leaves the chip only inside the handle, sealed under the
// storage root key. Every operation has a conversation of its own.

#if TPM
  internal import CTSS
  internal import Primitives
  public import Secrets
  internal import Synchronization

  /// The TPM that a TCTI names.
  public final class TPMEnclave: Enclave {
    /// Always ``EnclaveKind/tpm``.
    public let kind = EnclaveKind.tpm

    private let tcti: String
    /// One conversation at a time: the chip has room for three objects.
    private let turn = Mutex(())

    /// - Parameter tcti: the TCTI loader's name of the chip, such as `device:/dev/tpmrm0`. Nothing is opened
    ///   yet.
    public init(tcti: String) { self.tcti = tcti }

    // MARK: State

    /// Whether the chip answers.
    /// - Throws: `EnclaveError.unavailable`, `.notAnswering`.
    public func checkAvailability() throws(EnclaveError) { _ = try lockoutStatus() }

    /// Whether the chip takes a try of a passcode now (TPM 2.0 Library, Part 1, "Dictionary Attack
    /// Protection").
    /// - Throws: `EnclaveError.unavailable`, `.notAnswering`, `.lockedOut`.
    public func checkReadiness() throws(EnclaveError) {
      let status = try lockoutStatus()
      if status.isLocked { throw .lockedOut(secondsLeft: status.secondsLeft) }
    }

    /// As ``checkReadiness()``, and whether the key belongs to this chip; see ``Enclave``.
    public func checkReadiness(of key: EnclaveKey) throws(EnclaveError) {
      let handle = try key.handle.withBytes { handle throws(EnclaveError) in try EnclaveHandle(handle) }
      guard handle.kind == kind else { throw .wrongKind }
      let parts = try TPMBody(handle)
      try converse { context throws(EnclaveError) in
        let status = try context.lockout()
        if status.isLocked { throw .lockedOut(secondsLeft: status.secondsLeft) }
        // The storage root key identifies the chip.
        _ = try context.storageRoot(named: parts.rootName, at: parts.root)
      }
    }

    /// The Name of the storage root key; see ``Enclave``.
    public func origin(of key: EnclaveKey) throws(EnclaveError) -> [UInt8] {
      let handle = try key.handle.withBytes { handle throws(EnclaveError) in try EnclaveHandle(handle) }
      guard handle.kind == kind else { throw .wrongKind }
      return try TPMBody(handle).rootName
    }

    /// How many wrong tries the chip has seen; it needs no authorization.
    /// - Throws: `EnclaveError.unavailable`, `.notAnswering`.
    public func lockoutStatus() throws(EnclaveError) -> TPMLockoutStatus {
      try converse { context throws(EnclaveError) in try context.lockout() }
    }

    // MARK: Keys

    /// Makes a key in the chip; see ``Enclave``.
    public func createKey(
      use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
    ) throws(EnclaveError) -> EnclaveKey {
      try access.requirement.check(enrolment)
      let salt = SystemRandom.publicBytes(count: TPMBody.saltByteCount)
      let verifier = enrolment.biometryVerifier ?? []
      return try converse { context throws(EnclaveError) in
        let root = try context.storageRootForNewKeys()
        let made = try context.createKey(
          under: root.handle, use: use, requirement: access.requirement,
          authValue: enrolment.passcode.map { SharedSecretBytes(TPMBody.authValue($0.secret, salt: salt)) },
          verifier: verifier)
        let body = TPMBody(
          root: root.place, rootName: root.name, salt: salt, verifier: verifier, publicArea: made.publicArea,
          privateArea: made.privateArea)
        return EnclaveHandle(
          kind: .tpm, use: use, access: access, publicKey: made.publicKey,
          body: SharedSecretBytes(SecretBytes(copying: body.bytes.rawSpan))
        ).key
      }
    }

    /// Reads a handle; see ``Enclave``. The chip is not asked.
    public func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey {
      let handle = try EnclaveHandle(handle)
      guard handle.kind == kind else { throw .wrongKind }
      _ = try TPMBody(handle)
      return handle.key
    }

    /// Does nothing: the chip keeps nothing of a key, which is gone with its handle.
    public func deleteKey(_ key: EnclaveKey) throws(EnclaveError) {}

    /// ECDH in the chip; see ``Enclave``.
    public func sharedSecret(
      _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> SecretBytes {
      guard P256.isPublicKey(publicKey) else { throw .invalidInput }
      return try use(key, for: .agreement, authorization) { context, key throws(EnclaveError) in
        defer { context.overwriteLastAnswer(key.handle) }
        return try context.agree(key, with: publicKey)
      }
    }

    /// ECDSA in the chip; see ``Enclave``.
    public func signature(
      _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> [UInt8] {
      guard digest.count == SHA256.byteCount else { throw .invalidInput }
      return try use(key, for: .signing, authorization) { context, key throws(EnclaveError) in
        try context.sign(key, digest: digest).bytes
      }
    }

    /// Loads the key, satisfies its requirement, and hands it to `body`.
    private func use<R: ~Copyable>(
      _ key: EnclaveKey, for use: EnclaveKeyUse, _ authorization: KeyAuthorization,
      _ body: (TPMContext, TPMContext.AuthorizedKey) throws(EnclaveError) -> R
    ) throws(EnclaveError) -> R {
      let handle = try key.handle.withBytes { handle throws(EnclaveError) in try EnclaveHandle(handle) }
      guard handle.kind == kind else { throw .wrongKind }
      guard handle.use == use else { throw .invalidInput }
      let parts = try TPMBody(handle)
      return try converse { context throws(EnclaveError) in
        // Before a session is salted with it: a salt is for the chip that was enrolled, and no other.
        let root = try context.storageRoot(named: parts.rootName, at: parts.root)
        let loaded = try context.load(
          parts, under: root, requirement: handle.access.requirement, authorization,
          encryptsAnswers: use == .agreement)
        defer { context.forget(loaded) }
        return try body(context, loaded)
      }
    }

    /// One conversation. If the chip is locked out, asks it for the remaining time.
    func converse<R: ~Copyable>(
      _ body: (TPMContext) throws(EnclaveError) -> R
    ) throws(EnclaveError) -> R {
      try turn.withLock { _ throws(EnclaveError) in
        let context = try TPMContext(tcti: tcti)
        do throws(EnclaveError) {
          return try body(context)
        } catch {
          guard case .lockedOut(nil) = error else { throw error }
          throw .lockedOut(secondsLeft: try? context.lockout().secondsLeft)
        }
      }
    }
  }

  /// A chip's state of wrong tries. Anybody may ask; the tries are those of the whole machine.
  public struct TPMLockoutStatus: Equatable, Sendable {
    /// Whether the chip refuses all keys that ask for a passcode.
    public let isLocked: Bool
    /// Seconds after which the chip forgives one try, at most.
    public let secondsLeft: Int
    /// Wrong tries that are left before it locks.
    public let triesLeft: Int
  }
#endif
