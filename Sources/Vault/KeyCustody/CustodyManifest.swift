// SPDX-License-Identifier: Apache-2.0
//
// Which envelopes are valid, and under which mode (Specs/envelopes.md, "Manifest"):
//
//   "COFPKMF1" ‖ generation (8) ‖ mode (1) ‖ digest of the guard record (0 or 32) ‖ count (2) ‖ (length (1) ‖ fingerprint ‖ digest (32))…

internal import OpenPGP
internal import Primitives
internal import ProtectedData
internal import Secrets

struct CustodyManifest: Equatable, Sendable {
  /// One more with each change.
  var generation: UInt64 = 0
  var mode: AuthenticationMode = .standard
  /// SHA-256 of the guard record, if the mode has one.
  var guardDigest: [UInt8]?
  /// SHA-256 of each envelope.
  var digests: [Fingerprint: [UInt8]] = [:]

  static let account = "com.cypherair.v1.se-key-manifest"
  /// A change holds all envelopes in memory, some 1.5 KiB each.
  static let keyLimit = 1_000
  private static let magic = Array("COFPKMF1".utf8)

  init() {}

  /// Whether the manifest names this envelope.
  func names(_ envelope: PrivateKeyEnvelope) -> Bool {
    digests[envelope.fingerprint] == envelope.digest() && envelope.mode == mode
      && envelope.guardDigest == guardDigest
  }

  var bytes: [UInt8] {
    var bytes = Self.magic
    bytes.append(bigEndian: generation)
    bytes.append(mode.rawValue)
    bytes += guardDigest ?? []
    bytes.append(bigEndian: UInt16(digests.count))
    for (fingerprint, digest) in digests.sorted(by: { $0.key < $1.key }) {
      bytes.append(UInt8(fingerprint.bytes.count))
      bytes += fingerprint.bytes + digest
    }
    return bytes
  }

  /// - Throws: `CustodyError.corrupt` for anything but what ``bytes`` gives.
  init(_ bytes: RawSpan) throws(CustodyError) {
    do { try self.init(fields: bytes) } catch { throw .corrupt }
  }

  private init(fields bytes: RawSpan) throws {
    var cursor = ByteCursor()
    guard try cursor.readBytes(bytes, count: Self.magic.count) == Self.magic else {
      throw CustodyError.corrupt
    }
    generation = UInt64(bitPattern: try cursor.readInt64(bytes))
    guard let mode = AuthenticationMode(rawValue: try cursor.readByte(bytes)) else {
      throw CustodyError.corrupt
    }
    self.mode = mode
    if mode == .highSecurityWithGuard {
      guardDigest = try cursor.readBytes(bytes, count: SHA256.byteCount)
    }
    let count = try cursor.readUInt16(bytes)
    guard count <= Self.keyLimit else { throw CustodyError.corrupt }
    var last: Fingerprint?
    for _ in 0..<count {
      let byteCount = Int(try cursor.readByte(bytes))
      guard let fingerprint = Fingerprint(bytes: try cursor.readBytes(bytes, count: byteCount)),
        last.map({ $0 < fingerprint }) ?? true
      else { throw CustodyError.corrupt }
      digests[fingerprint] = try cursor.readBytes(bytes, count: SHA256.byteCount)
      last = fingerprint
    }
    guard cursor.isAtEnd(of: bytes) else { throw CustodyError.corrupt }
  }
}
