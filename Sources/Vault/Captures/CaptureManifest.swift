// SPDX-License-Identifier: Apache-2.0
//
// The statement that a device signs: the hashes of all parts, in one line of JSON whose bytes are fixed
// (Specs/captures.md, "Manifest and assertion").

internal import Foundation
public import Keychains
internal import MessageFormats
public import Primitives
internal import Secrets
internal import Texts

/// The manifest of a capture.
public struct CaptureManifest: Equatable, Sendable {
  /// One part of it.
  public struct Part: Equatable, Sendable {
    /// As in ``CapturePart/name``.
    public let name: String
    /// Bytes of the plaintext.
    public let byteCount: Int
    /// SHA-256 of the plaintext, 64 hexadecimal digits.
    public let sha256: String
  }

  /// The capture that this is the manifest of.
  public let capture: CaptureID
  /// Seconds since 1970, UTC.
  public let created: Int64
  /// The pseudonym of the device that signed.
  public let deviceID: String
  /// SHA-256 of the public key that signed, in hexadecimal.
  public let keyID: String
  /// How far that key proves the device.
  public let level: AttestationLevel
  /// The signed parts, in the order of their numbers.
  public let parts: [Part]

  init(_ capture: CaptureID, created: Int64, signer: any CaptureSigner, parts: [PartEntry]) {
    self.capture = capture
    self.created = created
    deviceID = signer.deviceID
    keyID = signer.keyID
    level = signer.level
    self.parts = parts.map {
      Part(name: $0.part.name, byteCount: $0.byteCount, sha256: Hexadecimal.text($0.hash))
    }
  }

  /// Whether it is of a capture with this id, this time and these parts, no more and no fewer of those that are signed.
  func isOf(_ id: CaptureID, created: Int64, parts entries: [PartEntry]) -> Bool {
    capture == id && self.created == created
      && parts
        == entries.filter { CapturePart.signed.contains($0.part) }.map {
          Part(name: $0.part.name, byteCount: $0.byteCount, sha256: Hexadecimal.text($0.hash))
        }
  }

  /// Whether an assertion is a signature of it, by the key that it names.
  func isSigned(by assertion: [UInt8]) -> Bool {
    guard assertion.count > P256.publicKeyByteCount else { return false }
    let publicKey = Array(assertion[..<P256.publicKeyByteCount])
    let bytes = bytes
    return Hexadecimal.text(SHA256.hash(publicKey.rawSpan)) == keyID
      && P256.isValidSignature(
        Array(assertion[P256.publicKeyByteCount...]), digest: SHA256.hash(bytes.rawSpan),
        publicKey: publicKey)
  }

  /// The bytes that are signed.
  var bytes: [UInt8] {
    let parts = parts.map {
      "{\"bytes\":\($0.byteCount),\"name\":\"\($0.name)\",\"sha256\":\"\($0.sha256)\"}"
    }
    return Array(
      ("{\"capture\":\"\(capture)\",\"created\":\"\(RFC3339.format(created))\",\"device\":\"\(deviceID)\","
        + "\"keyId\":\"\(keyID)\",\"level\":\"\(level.rawValue)\",\"parts\":[\(parts.joined(separator: ","))],"
        + "\"version\":1}").utf8)
  }

  /// Reads a manifest; nil unless writing it again gives the same bytes.
  init?(_ bytes: [UInt8]) {
    struct Document: Decodable {
      struct Part: Decodable {
        let bytes: Int
        let name: String
        let sha256: String
      }
      let capture: String
      let created: String
      let device: String
      let keyId: String
      let level: AttestationLevel
      let parts: [Part]
    }
    guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
      let capture = CaptureID(document.capture), let created = RFC3339.parse(document.created)
    else { return nil }
    self.capture = capture
    self.created = created
    deviceID = document.device
    keyID = document.keyId
    level = document.level
    parts = document.parts.map { Part(name: $0.name, byteCount: $0.bytes, sha256: $0.sha256) }
    guard self.bytes == bytes else { return nil }
  }
}

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
