// SPDX-License-Identifier: Apache-2.0
//
// A device that asks to be enrolled says so in an object that whoever has the account's card can open:
//
//   "COFREQ01" (8) ‖ salt (32) ‖ sealed request ‖ tag (16)
//
// It is sealed as segments are, under HKDF(secret of the URL, "coffer account v1 request"), with the label "coffer request
// v1" and the context account (16) ‖ id of the request (16). The request is
//
//   version 1 (1) ‖ made at, in seconds since 1970 (8) ‖ device, as in `device.add`
//
// Nothing in it is believed before a member has compared the fingerprint: SHA-256("coffer account v1 fingerprint" ‖ account
// ‖ device), of which both devices show the first 132 bits as twelve words.

internal import Primitives
public import Secrets

/// What a device asks for that does not belong to the account yet.
public struct JoinRequest: Hashable, Sendable {
  public let device: DeviceEntry
  /// When it was made, by the device's clock, in seconds since 1970.
  public let madeAt: UInt64

  /// Seconds after which it is void.
  public static let lifetime: UInt64 = 7 * 24 * 60 * 60
  /// By how many seconds the clock of the device may be ahead.
  private static let clockTolerance: UInt64 = 24 * 60 * 60
  /// Bytes of an object, at most.
  public static let byteCountLimit = 512

  private static let magic = Array("COFREQ01".utf8)
  private static let version: UInt8 = 1

  public init(device: DeviceEntry, madeAt: UInt64) {
    self.device = device
    self.madeAt = madeAt
  }

  /// Whether it is too old, or from a future that no clock explains.
  public func isVoid(at now: UInt64) -> Bool {
    madeAt < now ? now - madeAt > Self.lifetime : madeAt - now > Self.clockTolerance
  }

  /// The object.
  /// - Parameters:
  ///   - id: of the request.
  ///   - account: that it is for.
  ///   - urlSecret: of the account's card.
  public func seal(id: RequestID, account: AccountID, urlSecret: SharedSecretBytes) -> [UInt8] {
    var content = [Self.version]
    content.append(bigEndian: madeAt)
    content += device.body
    let seal = Self.seal(id, account, urlSecret)
    let salt = seal.salt(of: content)
    return seal.seal(content, after: Self.magic + salt, salt: salt)
  }

  /// Opens an object.
  /// - Throws: ``FormatError/notAuthentic`` for the request of another card, under another name or of another account, and
  ///   for changed bytes; ``FormatError/unknownVersion``, ``FormatError/malformed``, ``FormatError/tooLarge``.
  public init(
    _ object: [UInt8], id: RequestID, account: AccountID, urlSecret: SharedSecretBytes
  ) throws(FormatError) {
    guard object.count <= Self.byteCountLimit else { throw .tooLarge }
    var head = try FieldReader(object, behind: Self.magic)
    let salt = try head.bytes(ObjectHead.saltByteCount)
    let content = try Self.seal(id, account, urlSecret).open(object, from: head.offset, salt: salt)
    var fields = FieldReader(content)
    guard try fields.byte() == Self.version else { throw .unknownVersion }
    madeAt = try fields.integer()
    device = try DeviceEntry(from: &fields)
    try fields.finish()
    // A list shows the name; a device that rejoins does so itself.
    guard !device.name.isEmpty, device.replaces == nil else { throw .malformed }
  }

  private static func seal(
    _ id: RequestID, _ account: AccountID, _ urlSecret: SharedSecretBytes
  ) -> DeterministicSeal {
    let key = urlSecret.withBytes { HKDF.secret(from: $0, info: "coffer account v1 request") }
    return DeterministicSeal(
      key: SharedSecretBytes(key), label: "coffer request v1", context: account.bytes + id.bytes)
  }
}

extension DeviceEntry {
  /// 32 bytes, different for each device and account. Whoever compares them knows that nobody exchanged the keys.
  public func fingerprint(in account: AccountID) -> [UInt8] {
    let bytes = Array("coffer account v1 fingerprint".utf8) + account.bytes + body
    return SHA256.hash(bytes.rawSpan)
  }
}
