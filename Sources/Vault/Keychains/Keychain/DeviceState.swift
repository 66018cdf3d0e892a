// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How far a device can prove what it is.
public enum AttestationLevel: String, Codable, Sendable {
  /// Its attestation key lives in a chip.
  case secureEnclave = "secure_enclave"
  /// The device proves nothing.
  case unverified
}

/// The state of this device; fields that registration has not set yet are nil.
public struct DeviceState: Codable, Equatable, Sendable {
  /// A pseudonym: a UUID made on the device.
  public var deviceId: String
  /// Names the attestation key; never nil or empty with ``AttestationLevel/secureEnclave``.
  public var attestationKeyId: String?
  /// How far the device can prove what it is.
  public var attestationLevel: AttestationLevel
  /// Whether the device measures depth with LiDAR.
  public var hasLidar: Bool
  /// The model's name; not empty.
  public var deviceModel: String
  /// When the device was registered; nil before.
  public var registeredAt: Date?

  /// A state with these values, which ``isValid`` judges.
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
