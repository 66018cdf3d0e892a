// SPDX-License-Identifier: Apache-2.0
//
// The first frame: where the remote is, and the credentials, in locked memory on both sides.

package import Remotes
package import Secrets

/// How fast, and how patiently.
package struct CourierLimits: Equatable, Sendable {
  /// Bytes a second to the server; 0 for no limit. Only a service that speaks S3 has limits of speed.
  package var up: UInt64 = 0
  /// Bytes a second from the server; 0 for no limit.
  package var down: UInt64 = 0
  /// A transfer that makes no progress for so long is given up.
  package var stallSeconds: UInt16 = 60
  /// Before the first repetition; each further pause is twice as long.
  package var firstPauseMilliseconds: UInt16 = 1_000

  package init() {}
}

/// A place on the network.
package enum CourierPlace: Sendable {
  case s3(S3Place)
  case postgreSQL(PostgreSQLPlace)

  /// The port of the server: the sandbox allows no other.
  package var port: UInt16 {
    switch self {
    case .s3(let place): place.port
    case .postgreSQL(let place): place.port
    }
  }
}

/// The request that opens (Specs/courier.md).
package struct CourierOpening: Sendable {
  package static let kind: UInt8 = 1
  /// Bytes in the body, at most: the parts of a place have limits of their own.
  package static let bodyByteCountLimit = 2_048

  package let place: CourierPlace
  package let limits: CourierLimits

  package init(_ place: CourierPlace, _ limits: CourierLimits) {
    self.place = place
    self.limits = limits
  }

  /// The whole frame.
  package func frame() -> SecretBytes {
    switch place {
    case .s3(let place):
      frame(
        1, place.isEncrypted, place.port,
        [place.host, place.bucket, place.prefix, place.region, place.accessKey], place.secretKey, place.pin)
    case .postgreSQL(let place):
      frame(
        2, place.isEncrypted, place.port, [place.host, place.database, place.account, place.user],
        place.password, place.pin)
    }
  }

  private func frame(
    _ kind: UInt8, _ isEncrypted: Bool, _ port: UInt16, _ texts: [String], _ secret: SharedSecretBytes,
    _ pin: String?
  ) -> SecretBytes {
    var before = FieldWriter()
    before.byte(kind)
    before.flag(isEncrypted)
    before.number(UInt64(port), 2)
    for text in texts { before.text(text) }
    before.number(UInt64(secret.count), 2)
    var after = FieldWriter()
    after.text(pin ?? "")
    after.number(limits.up, 8)
    after.number(limits.down, 8)
    after.number(UInt64(limits.stallSeconds), 2)
    after.number(UInt64(limits.firstPauseMilliseconds), 2)
    let count = before.bytes.count + secret.count + after.bytes.count
    let head = CourierHead(kind: Self.kind, number: 0, bodyByteCount: count).bytes
    return secret.withBytes { secret in
      SecretBytes(byteCount: head.count + count) { frame in
        var offset = 0
        func append(_ byte: UInt8) {
          frame.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
          offset += 1
        }
        (head + before.bytes).forEach(append)
        for place in 0..<secret.byteCount {
          append(unsafe secret.unsafeLoad(fromByteOffset: place, as: UInt8.self))
        }
        after.bytes.forEach(append)
      }
    }
  }

  /// Reads the body of the frame.
  package init(body: RawSpan) throws(CourierProtocolError) {
    // Only what surrounds the secret becomes ordinary bytes.
    var reader = FieldReader(Self.copy(body, 0..<4))
    let kind = try reader.byte()
    guard (1...2).contains(kind) else { throw CourierProtocolError() }
    let isEncrypted = try reader.flag()
    let port = UInt16(truncatingIfNeeded: try reader.number(2))
    var offset = 4
    var texts: [String] = []
    for _ in 0..<(kind == 1 ? 5 : 4) {
      let range = try Self.text(body, at: &offset)
      guard let text = String(validating: Self.copy(body, range), as: UTF8.self) else {
        throw CourierProtocolError()
      }
      texts.append(text)
    }
    let range = try Self.text(body, at: &offset)
    var rest = FieldReader(Self.copy(body, offset..<body.byteCount))
    let text = try rest.text(Self.bodyByteCountLimit)
    let pin = text.isEmpty ? nil : text
    var limits = CourierLimits()
    limits.up = try rest.number(8)
    limits.down = try rest.number(8)
    limits.stallSeconds = UInt16(truncatingIfNeeded: try rest.number(2))
    limits.firstPauseMilliseconds = UInt16(truncatingIfNeeded: try rest.number(2))
    try rest.end()
    let secret = SharedSecretBytes(SecretBytes(copying: body.extracting(range)))
    do {
      place =
        kind == 1
        ? .s3(
          try S3Place(
            isEncrypted: isEncrypted, host: texts[0], port: port, bucket: texts[1], prefix: texts[2],
            region: texts[3], accessKey: texts[4], secretKey: secret, pin: pin))
        : .postgreSQL(
          try PostgreSQLPlace(
            isEncrypted: isEncrypted, host: texts[0], port: port, database: texts[1], account: texts[2],
            user: texts[3], password: secret, pin: pin))
    } catch {
      throw CourierProtocolError()
    }
    self.limits = limits
  }

  /// The bytes of a range; fewer where the body ends before.
  private static func copy(_ body: RawSpan, _ range: Range<Int>) -> [UInt8] {
    range.clamped(to: 0..<body.byteCount).map {
      unsafe body.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
    }
  }

  /// The place of a text.
  private static func text(_ body: RawSpan, at offset: inout Int) throws(CourierProtocolError) -> Range<Int> {
    var length = FieldReader(copy(body, offset..<max(offset, min(offset + 2, body.byteCount))))
    let start = offset + 2
    let end = start + Int(try length.number(2))
    guard end <= body.byteCount else { throw CourierProtocolError() }
    offset = end
    return start..<end
  }
}
