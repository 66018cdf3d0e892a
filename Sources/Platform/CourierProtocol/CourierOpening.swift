// SPDX-License-Identifier: Apache-2.0
//
// The first frame: where the remote is, and the credentials, in locked memory on both sides.

package import Remotes
package import Secrets

/// How fast, and how patiently.
package struct CourierLimits: Equatable, Sendable {
  /// Bytes a second to the server; 0 for no limit.
  package var up: UInt64 = 0
  /// Bytes a second from the server; 0 for no limit.
  package var down: UInt64 = 0
  /// A transfer that makes no progress for so long is given up.
  package var stallSeconds: UInt16 = 60
  /// Before the first repetition; each further pause is twice as long.
  package var firstPauseMilliseconds: UInt16 = 1_000

  package init() {}
}

/// The request that opens (Specs/courier.md).
package struct CourierOpening: Sendable {
  package static let kind: UInt8 = 1
  /// Bytes in the body, at most: the parts of a place have limits of their own.
  package static let bodyByteCountLimit = 2_048

  package let place: S3Place
  package let limits: CourierLimits

  package init(_ place: S3Place, _ limits: CourierLimits) {
    self.place = place
    self.limits = limits
  }

  /// The whole frame.
  package func frame() -> SecretBytes {
    var before = FieldWriter()
    before.byte(1)
    before.flag(place.isEncrypted)
    before.number(UInt64(place.port), 2)
    for text in [place.host, place.bucket, place.prefix, place.region, place.accessKey] { before.text(text) }
    before.number(UInt64(place.secretKey.count), 2)
    var after = FieldWriter()
    after.text(place.pin ?? "")
    after.number(limits.up, 8)
    after.number(limits.down, 8)
    after.number(UInt64(limits.stallSeconds), 2)
    after.number(UInt64(limits.firstPauseMilliseconds), 2)
    let count = before.bytes.count + place.secretKey.count + after.bytes.count
    let head = CourierHead(kind: Self.kind, number: 0, bodyByteCount: count).bytes
    return place.secretKey.withBytes { secret in
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
    // Only what surrounds the secret key becomes ordinary bytes.
    var reader = FieldReader(Self.copy(body, 0..<4))
    guard try reader.byte() == 1 else { throw CourierProtocolError() }
    let isEncrypted = try reader.flag()
    let port = UInt16(truncatingIfNeeded: try reader.number(2))
    var offset = 4
    var texts: [String] = []
    for _ in 0..<5 {
      let range = try Self.text(body, at: &offset)
      guard let text = String(validating: Self.copy(body, range), as: UTF8.self) else {
        throw CourierProtocolError()
      }
      texts.append(text)
    }
    let secret = try Self.text(body, at: &offset)
    var rest = FieldReader(Self.copy(body, offset..<body.byteCount))
    let pin = try rest.text(Self.bodyByteCountLimit)
    var limits = CourierLimits()
    limits.up = try rest.number(8)
    limits.down = try rest.number(8)
    limits.stallSeconds = UInt16(truncatingIfNeeded: try rest.number(2))
    limits.firstPauseMilliseconds = UInt16(truncatingIfNeeded: try rest.number(2))
    try rest.end()
    do {
      place = try S3Place(
        isEncrypted: isEncrypted, host: texts[0], port: port, bucket: texts[1], prefix: texts[2],
        region: texts[3],
        accessKey: texts[4], secretKey: SharedSecretBytes(SecretBytes(copying: body.extracting(secret))),
        pin: pin.isEmpty ? nil : pin)
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
