// SPDX-License-Identifier: Apache-2.0
//
// P-256 keys in Apple's Secure Enclave, through CryptoKit. Passcode and fingers are those of the device: nothing
// is enrolled or offered here, the system asks for them when a key is used.
//
// Not run on Linux: `scripts/check-apple` compiles it there against declarations of the few calls that it
// makes (Tests/Support/AppleDeclarations). Primitives is not imported, since names of it are CryptoKit's too.

#if canImport(CryptoKit) && canImport(Security)
  internal import CryptoKit
  internal import Foundation
  public import Secrets
  internal import Security

  /// The Secure Enclave of this device.
  public struct SecureEnclaveEnclave: Enclave {
    /// Always ``EnclaveKind/secureEnclave``.
    public let kind = EnclaveKind.secureEnclave

    /// Lengths that are accepted; CryptoKit's data representations have some 300 bytes.
    private static let bodyByteCounts = 1...2048

    /// Opens nothing; each call asks the system.
    public init() {}

    /// Whether this device has a Secure Enclave.
    /// - Throws: `EnclaveError.unavailable`.
    public func checkAvailability() throws(EnclaveError) {
      guard SecureEnclave.isAvailable else { throw .unavailable }
    }

    /// As ``checkAvailability()``: the system counts wrong passcodes by itself.
    public func checkReadiness() throws(EnclaveError) { try checkAvailability() }

    /// Makes a key, as ``Enclave`` says; `enrolment` must be empty whatever `access` asks for.
    public func createKey(
      use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
    ) throws(EnclaveError) -> EnclaveKey {
      guard enrolment.passcode == nil, enrolment.biometryVerifier == nil else { throw .invalidInput }
      try checkAvailability()
      let control = try access.control()
      let (publicKey, body): (Data, Data)
      do {
        switch use {
        case .agreement:
          let key = try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: control)
          (publicKey, body) = (key.publicKey.x963Representation, key.dataRepresentation)
        case .signing:
          let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control)
          (publicKey, body) = (key.publicKey.x963Representation, key.dataRepresentation)
        }
      } catch {
        throw Self.sorted(error)
      }
      // The Secure Enclave has encrypted it.
      let bytes = Array(body)
      return EnclaveHandle(
        kind: kind, use: use, access: access, publicKey: Array(publicKey),
        body: SharedSecretBytes(SecretBytes(copying: bytes.rawSpan))
      ).key
    }

    /// Reads a handle; see ``Enclave``. The Secure Enclave is not asked.
    public func loadKey(_ bytes: RawSpan) throws(EnclaveError) -> EnclaveKey { try handle(bytes).key }

    /// Nothing is kept beside the handle.
    public func deleteKey(_ key: EnclaveKey) throws(EnclaveError) {}

    /// ECDH; see ``Enclave``. The system asks for the passcode or finger itself.
    public func sharedSecret(
      _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> SecretBytes {
      let handle = try handle(key, for: .agreement, authorization)
      guard let peer = try? P256.KeyAgreement.PublicKey(x963Representation: Data(publicKey)) else {
        throw .invalidInput
      }
      guard
        let own = try? SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: Self.data(handle.body))
      else { throw .otherChip }
      guard Array(own.publicKey.x963Representation) == handle.publicKey else { throw .corrupt }
      do {
        let agreed = try own.sharedSecretFromKeyAgreement(with: peer)
        var secret = unsafe SecretBytes(zeroed: agreed.withUnsafeBytes { $0.count })
        secret.withMutableBytes { secret in
          unsafe secret.withUnsafeMutableBytes { secret in
            unsafe agreed.withUnsafeBytes { unsafe secret.copyMemory(from: $0) }
          }
        }
        return secret
      } catch {
        throw Self.sorted(error)
      }
    }

    /// ECDSA; see ``Enclave``. The system asks for the passcode or finger itself.
    public func signature(
      _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> [UInt8] {
      let handle = try handle(key, for: .signing, authorization)
      guard let digest = GivenDigest(digest) else { throw .invalidInput }
      guard let own = try? SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: Self.data(handle.body))
      else { throw .otherChip }
      guard Array(own.publicKey.x963Representation) == handle.publicKey else { throw .corrupt }
      do { return Array(try own.signature(for: digest).derRepresentation) } catch {
        throw Self.sorted(error)
      }
    }

    private static func data(_ body: SharedSecretBytes) -> Data {
      body.withBytes { body in unsafe body.withUnsafeBytes { unsafe Data($0) } }
    }

    private func handle(_ bytes: RawSpan) throws(EnclaveError) -> EnclaveHandle {
      let handle = try EnclaveHandle(bytes)
      guard handle.kind == kind else { throw .wrongKind }
      guard Self.bodyByteCounts.contains(handle.body.count) else { throw .corrupt }
      return handle
    }

    private func handle(
      _ key: EnclaveKey, for use: EnclaveKeyUse, _ authorization: KeyAuthorization
    ) throws(EnclaveError) -> EnclaveHandle {
      let handle = try key.handle.withBytes { bytes throws(EnclaveError) in try self.handle(bytes) }
      guard handle.use == use, case .none = authorization else { throw .invalidInput }
      try checkAvailability()
      return handle
    }

    /// LAError's codes and the Security framework's, which do not overlap.
    private static func sorted(_ error: any Error) -> EnclaveError {
      let code = (error as NSError).code
      switch code {
      case -8: return .lockedOut(secondsLeft: nil)  // biometryLockout
      case -1, -2, -4, -6, -7: return .biometryRefused  // failed, cancelled twice, no reader, no finger
      case -25_293, -128: return .biometryRefused  // errSecAuthFailed, errSecUserCanceled
      case -5: return .authorizationRequired  // passcodeNotSet
      case -25_308: return .unavailable  // errSecInteractionNotAllowed: the device is locked
      default: return .failed(code: UInt32(truncatingIfNeeded: code))
      }
    }
  }

  extension AccessControl {
    /// As the Security framework has it (AM-01 to AM-03).
    fileprivate func control() throws(EnclaveError) -> SecAccessControl {
      let protection =
        switch protection {
        case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
        }
      let flags: SecAccessControlCreateFlags =
        switch requirement {
        case .none: [.privateKeyUsage]
        case .devicePasscode: [.privateKeyUsage, .devicePasscode]
        case .biometryAnyOrDevicePasscode: [.privateKeyUsage, .biometryAny, .or, .devicePasscode]
        case .biometryAny: [.privateKeyUsage, .biometryAny]
        }
      guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil) else {
        throw .unavailable
      }
      return control
    }
  }

  /// A SHA-256 digest that was computed elsewhere.
  private struct GivenDigest: Digest {
    static let byteCount = 32
    private let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
      guard bytes.count == Self.byteCount else { return nil }
      self.bytes = bytes
    }

    var description: String { "SHA-256 digest" }

    func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
      unsafe try bytes.withUnsafeBytes(body)
    }
  }
#endif
