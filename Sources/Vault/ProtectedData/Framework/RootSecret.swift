// SPDX-License-Identifier: Apache-2.0
//
// Fetching the root secret, and which of its two formats is accepted (PD-06, PD-07).

internal import Enclaves
internal import Keychains
internal import Primitives
internal import Secrets

enum RootSecret {
  static let account = "com.cypherair.v1.protected-data.root-secret"
  /// Marks on this device that the second format is in use: one byte, 2.
  static let floorAccount = "com.cypherair.v1.protected-data.format-floor"
  static let floor: UInt8 = 2
  static let byteCount = RootSecretEnvelope.rootSecretByteCount

  /// The result of fetching the root secret.
  struct Fetched {
    let keys: RootKeys
    /// The root secret itself, if it has to be converted to the second format.
    let first: SharedSecretBytes?
  }

  /// Fetches the root secret once, derives the keys, and erases it.
  ///
  /// - Parameter registryFloor: the registry's value; it is not authenticated yet, so it can only forbid.
  static func fetch(
    _ keychain: KeychainService, registryFloor: UInt8, _ enclaves: (EnclaveKind) -> (any Enclave)?
  ) throws(ProtectedDataError) -> Fetched {
    let marker = try keychain.protectedItem(floorAccount, damaged: .formatFloorInconsistent)
    guard let stored = try keychain.protectedItem(account, damaged: .rootSecretCorrupt) else {
      throw .frameworkRecovery(.rootSecretMissing)
    }
    if stored.count == byteCount {
      guard marker == nil, registryFloor == 1 else { throw .frameworkRecovery(.rootSecretDowngraded) }
      return Fetched(keys: stored.withBytes { RootKeys($0) }, first: stored)
    }
    guard let envelope = RootSecretEnvelope(stored.withBytes { [UInt8](copying: $0) }) else {
      throw .frameworkRecovery(.rootSecretCorrupt)
    }
    guard marker?.withBytes({ [UInt8](copying: $0) }) == [floor] else {
      throw .frameworkRecovery(.formatFloorInconsistent)
    }
    let binding = try binding(keychain, enclaves)
    guard binding.key.publicKey == envelope.bindingPublicKey else {
      throw .frameworkRecovery(.bindingKeyUnusable)
    }
    let root = try open(envelope, binding)
    return Fetched(keys: root.withBytes { RootKeys($0) }, first: nil)
  }

  /// The present binding key.
  static func binding(
    _ keychain: KeychainService, _ enclaves: (EnclaveKind) -> (any Enclave)?
  ) throws(ProtectedDataError) -> BindingKey.Found {
    let handle = try keychain.protectedItem(BindingKey.account, damaged: .bindingKeyUnusable)
    guard let handle else { throw .frameworkRecovery(.bindingKeyMissing) }
    return try BindingKey.load(handle, enclaves)
  }

  private static func open(
    _ envelope: RootSecretEnvelope, _ binding: BindingKey.Found
  ) throws(ProtectedDataError) -> SecretBytes {
    do { return try envelope.open(binding.key, in: binding.enclave) } catch {
      switch error {
      case .enclave(let error): throw BindingKey.sorted(error)
      case .wrongKey, .tampered: throw .frameworkRecovery(.rootSecretCorrupt)
      }
    }
  }

  /// Seals the root secret to a binding key, and opens it again as a check.
  static func seal(
    _ root: RawSpan, to binding: BindingKey.Found
  ) throws(ProtectedDataError) -> RootSecretEnvelope {
    let envelope: RootSecretEnvelope
    do { envelope = try RootSecretEnvelope.seal(root, to: binding.key) } catch {
      throw .frameworkRecovery(.bindingKeyUnusable)
    }
    guard let stored = RootSecretEnvelope(envelope.bytes) else {
      throw .frameworkRecovery(.bindingKeyUnusable)
    }
    let opened = try open(stored, binding)
    guard opened.withBytes({ constantTimeEqual($0, root) }) else {
      throw .frameworkRecovery(.bindingKeyUnusable)
    }
    return envelope
  }

  /// The items of the second format, to be stored in one batch.
  static func items(_ envelope: RootSecretEnvelope, _ binding: BindingKey.Found) -> [SecretChange] {
    [
      item(binding.key.handle, BindingKey.account), item(envelope.bytes, account),
      item([floor], floorAccount),
    ]
  }

  static func item(_ bytes: [UInt8], _ account: String) -> SecretChange {
    item(SharedSecretBytes(SecretBytes(copying: bytes.rawSpan)), account)
  }

  private static func item(_ secret: SharedSecretBytes, _ account: String) -> SecretChange {
    .save(secret, account: account, accessibility: .whenUnlockedThisDeviceOnly)
  }
}

// The only keys that the root secret gives (PD-18): the wrapping root key, and derived from it the registry's
// key.

struct RootKeys: Sendable {
  /// Wraps domain keys.
  let wrapping: SharedSecretBytes
  /// Authenticates the registry.
  let registry: SharedSecretBytes

  /// The caller erases the root secret right after.
  init(_ root: RawSpan) {
    let wrapping = Self.derive(root, "coffer protected data v1 wrapping root")
    self.wrapping = wrapping
    registry = wrapping.withBytes { Self.derive($0, "coffer protected data v1 registry") }
  }

  private static func derive(_ key: RawSpan, _ info: StaticString) -> SharedSecretBytes {
    SharedSecretBytes(HKDF.secret(from: key, info: info))
  }
}
