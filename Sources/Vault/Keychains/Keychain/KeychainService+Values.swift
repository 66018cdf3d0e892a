// SPDX-License-Identifier: Apache-2.0
//
// Typed items: symmetric keys, strings, and the device's state.

internal import Foundation
public import Primitives
internal import Secrets

extension KeychainService {
  /// Fixed names: stored items are found by them.
  public enum Account {
    /// The attestation key's identifier, a string.
    public static let attestationKeyId = "rial.attestation.keyId"
    /// The device's pseudonym, a UUID string.
    public static let deviceId = "rial.device.id"
    /// ``DeviceState`` as JSON.
    public static let deviceState = "rial.device.state"
    /// The capture key.
    public static let captureKey = "rial.encryption.key"
  }

  /// Saves a 256-bit key.
  public func saveSymmetricKey(
    _ key: borrowing SymmetricKey, forKey account: String,
    accessibility: AccessibilityClass = .afterFirstUnlockThisDeviceOnly
  ) throws(KeychainError) {
    let bytes = key.withBytes { SecretBytes(copying: $0) }
    try save(bytes, forKey: account, accessibility: accessibility)
  }

  /// The key of that name, nil when there is none.
  /// - Throws: `KeychainError.invalidData` when the item is not 32 bytes long.
  public func loadSymmetricKey(forKey account: String) throws(KeychainError) -> SymmetricKey? {
    guard let bytes = try loadSecret(forKey: account) else { return nil }
    do { return try SymmetricKey(bytes) } catch { throw .invalidData }
  }

  /// Saves a string.
  public func saveString(_ text: String, forKey account: String) throws(KeychainError) {
    try save(Data(text.utf8), forKey: account)
  }

  /// The string of that name, nil when there is none.
  /// - Throws: `KeychainError.decodingFailed` when the item is not UTF-8.
  public func loadString(forKey account: String) throws(KeychainError) -> String? {
    guard let data = try load(forKey: account) else { return nil }
    guard let text = String(validating: data, as: UTF8.self) else { throw .decodingFailed }
    return text
  }

  /// Saves the device's state as JSON with ISO 8601 dates.
  public func saveDeviceState(_ state: DeviceState) throws(KeychainError) {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = .sortedKeys
    guard state.isValid, let data = try? encoder.encode(state) else { throw .encodingFailed }
    try save(data, forKey: Account.deviceState)
  }

  /// The device's state, nil when none was saved.
  /// - Throws: `KeychainError.decodingFailed` when the item is not a valid state.
  public func loadDeviceState() throws(KeychainError) -> DeviceState? {
    guard let data = try load(forKey: Account.deviceState, in: .afterFirstUnlockThisDeviceOnly) else {
      return nil
    }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    guard let state = try? decoder.decode(DeviceState.self, from: data), state.isValid else {
      throw .decodingFailed
    }
    return state
  }
}
