// SPDX-License-Identifier: Apache-2.0

/// The domain of the user's own OpenPGP keys (PD-11).
public struct KeyMetadata: ProtectedPayload {
  public static let domain = ProtectedDomain.keyMetadata
  public static let schemaVersion: UInt16 = 1
  public static let initial = KeyMetadata(identities: [])
  /// Own keys. People have a handful; more would not be told apart.
  public static let countLimit = 256

  /// In the order in which they are shown; no fingerprint twice.
  public var identities: [PGPKeyIdentity]

  public init(identities: [PGPKeyIdentity]) { self.identities = identities }

  // MARK: Bytes

  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try fields(bytes) }

  public init(_ bytes: RawSpan) throws(MalformedPayload) {
    identities = try Self.fields(bytes).map { PGPKeyIdentity($0, bytes) }
  }

  private static func fields(_ bytes: RawSpan) throws(MalformedPayload) -> [PGPKeyIdentity.Fields] {
    var cursor = PayloadCursor()
    var found: [PGPKeyIdentity.Fields] = []
    for _ in 0..<(try cursor.count(bytes, limit: countLimit)) {
      found.append(try PGPKeyIdentity.Fields(bytes, &cursor))
    }
    try cursor.finish(bytes)
    guard bytes.areDistinct(found.map(\.fingerprint)) else { throw MalformedPayload() }
    return found
  }

  public func write(to writer: inout PayloadWriter) {
    writer.append(bigEndian: UInt16(clamping: identities.count))
    for identity in identities { identity.write(to: &writer) }
  }
}
