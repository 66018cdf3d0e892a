// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How far a device can prove what it is.
public enum AttestationLevel: String, Codable, Sendable {
  /// Its attestation key lives in a chip.
  case secureEnclave = "secure_enclave"
  case unverified
}

/// What is known of this device; what registration has not filled yet is nil.
public struct DeviceState: Codable, Equatable, Sendable {
  /// A pseudonym: a UUID made on the device.
  public var deviceId: String
  public var attestationKeyId: String?
  public var attestationLevel: AttestationLevel
  public var hasLidar: Bool
  public var deviceModel: String
  public var registeredAt: Date?

  public init(
    deviceId: String, attestationKeyId: String? = nil, attestationLevel: AttestationLevel = .unverified,
    hasLidar: Bool = false, deviceModel: String, registeredAt: Date? = nil
  ) {
    self.deviceId = deviceId
    self.attestationKeyId = attestationKeyId
    self.attestationLevel = attestationLevel
    self.hasLidar = hasLidar
    self.deviceModel = deviceModel
    self.registeredAt = registeredAt
  }

  /// A device has a pseudonym and a model, and a chip-backed level names its key.
  public var isValid: Bool {
    UUID(uuidString: deviceId) != nil && !deviceModel.isEmpty
      && (attestationLevel == .unverified || attestationKeyId?.isEmpty == false)
  }
}
