// SPDX-License-Identifier: Apache-2.0
//
// The registration of this device: a pseudonym, and a key that signs captures. `coffer init` registers it,
// `coffer forget-device` removes it. All items are of the class *after first unlock*, so that captures can be signed
// while the coffer is locked.
//
// The item with the device's state decides: it is written last and deleted first, so that a crash leaves a machine
// that is not registered rather than half a registration.

internal import Captures
public import Enclaves
internal import Foundation
internal import Glibc
public import Keychains
internal import Primitives
internal import Secrets

/// The registered device.
public struct Device: Sendable {
  /// Its pseudonym and its attestation key's name and level.
  public let state: DeviceState
  /// Where its attestation key is.
  public let enclave: EnclaveKind

  /// The item that holds the handle of the attestation key.
  static let keyTag = "rial.attestation.key"

  /// Registers this machine: a new pseudonym and a new attestation key in `enclave`.
  static func register(_ keychain: KeychainService, in enclave: any Enclave) throws -> Device {
    try forget(keychain, in: Machine(enclaves: [enclave]))
    let key = try keychain.createSecureEnclaveKey(tag: keyTag, in: enclave, use: .signing)
    let keyID = Self.keyID(key)
    let state = DeviceState(
      deviceId: UUID().uuidString.lowercased(), attestationKeyId: keyID,
      attestationLevel: key.kind.isHardware ? .secureEnclave : .unverified,
      // The tutorial's machine is not this one.
      deviceModel: key.kind == .tutorial ? "tutorial" : model(),
      // Stored in whole seconds.
      registeredAt: Date(timeIntervalSince1970: Date.now.timeIntervalSince1970.rounded(.down)))
    try keychain.saveString(state.deviceId, forKey: KeychainService.Account.deviceId)
    try keychain.saveString(keyID, forKey: KeychainService.Account.attestationKeyId)
    try keychain.saveDeviceState(state)
    return Device(state: state, enclave: key.kind)
  }

  /// The registered device; nil after it was forgotten, or when a crash kept it from being registered.
  /// - Throws: `KeychainError.invalidData` when there is a registration and its key is gone.
  static func load(_ keychain: KeychainService) throws -> Device? {
    guard let state = try keychain.loadDeviceState() else { return nil }
    guard let handle = try keychain.loadSecret(forKey: keyTag, in: .afterFirstUnlockThisDeviceOnly),
      let kind = handle.withBytes({ EnclaveKind(handle: $0) })
    else { throw KeychainError.invalidData }
    return Device(state: state, enclave: kind)
  }

  /// Removes the registration, and the key from the enclave if that answers.
  static func forget(_ keychain: KeychainService, in machine: Machine) throws {
    try keychain.delete(forKey: KeychainService.Account.deviceState)
    if let handle = try keychain.loadSecret(forKey: keyTag, in: .afterFirstUnlockThisDeviceOnly),
      let kind = handle.withBytes({ EnclaveKind(handle: $0) }), let enclave = machine.enclave(kind),
      let key = handle.withBytes({ try? enclave.loadKey($0) })
    {
      // Deleting the handle is as good as deleting the key, so an unreachable chip does not matter.
      try? enclave.deleteKey(key)
    }
    for account in [
      keyTag, KeychainService.Account.attestationKeyId, KeychainService.Account.deviceId,
    ] { try keychain.delete(forKey: account) }
  }

  /// The key's name: SHA-256 of its public key, in hexadecimal.
  static func keyID(_ key: EnclaveKey) -> String {
    Hexadecimal.text(SHA256.hash(key.publicKey.rawSpan))
  }

  /// The model of this machine as its maker names it, else its processor architecture.
  private static func model() -> String {
    if let name = try? String(contentsOfFile: "/sys/class/dmi/id/product_name", encoding: .utf8) {
      let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
      if !trimmed.isEmpty { return String(trimmed.prefix(64)) }
    }
    var system = utsname()
    unsafe uname(&system)
    return unsafe withUnsafeBytes(of: system.machine) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

/// Signs captures with the device's attestation key.
struct AttestationSigner: CaptureSigner {
  private let key: EnclaveKey
  private let enclave: any Enclave
  let keyID: String
  let level: AttestationLevel
  let deviceID: String
  var publicKey: [UInt8] { key.publicKey }

  /// - Throws: `EnclaveError.unavailable` when this program knows no enclave of that kind.
  init(_ keychain: KeychainService, machine: Machine) throws {
    guard let device = try Device.load(keychain) else { throw CofferError.deviceNotRegistered }
    guard let enclave = machine.enclave(device.enclave) else { throw EnclaveError.unavailable }
    guard let key = try keychain.loadSecureEnclaveKey(tag: Device.keyTag, in: enclave) else {
      throw KeychainError.invalidData
    }
    self.key = key
    self.enclave = enclave
    keyID = Device.keyID(key)
    level = device.state.attestationLevel
    deviceID = device.state.deviceId
  }

  func sign(digest: [UInt8]) throws -> [UInt8] {
    try enclave.signature(key, digest: digest, authorization: .none)
  }
}
