// SPDX-License-Identifier: Apache-2.0

public import Keychains

/// Signs what is captured on this device.
public protocol CaptureSigner: Sendable {
  /// SHA-256 of the public key, in hexadecimal.
  var keyID: String { get }
  /// 65 bytes (SEC 1, 2.3.3).
  var publicKey: [UInt8] { get }
  /// How far the key proves the device.
  var level: AttestationLevel { get }
  /// The device's pseudonym.
  var deviceID: String { get }
  /// ECDSA P-256 over a SHA-256 digest; DER.
  func sign(digest: [UInt8]) throws -> [UInt8]
}
