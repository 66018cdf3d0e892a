// SPDX-License-Identifier: Apache-2.0
//
// The URL of a bucket, read and written. The secret key passes from locked memory to locked memory.

internal import Secrets

extension S3Place {
  /// - Parameter start: where the credentials begin.
  init(_ text: URLText, from start: Int) throws(RemotePlaceError) {
    let authorityEnd = text.first("/", in: start..<text.count) ?? text.count
    guard let at = text.first("@", in: start..<authorityEnd), let colon = text.first(":", in: start..<at),
      text.first(":", in: colon + 1..<at) == nil, text.first("@", in: at + 1..<authorityEnd) == nil
    else { throw .credentials }
    let hostStart = at + 1
    var hostEnd = authorityEnd
    var port: UInt16?
    // The colons of an address of IPv6 are in its brackets.
    let bracket = text.first("]", in: hostStart..<authorityEnd).map { $0 + 1 } ?? hostStart
    if let portColon = text.first(":", in: bracket..<authorityEnd) {
      let digits = text.plain(portColon + 1..<authorityEnd)
      guard let number = UInt16(digits), number > 0, "\(number)" == digits else { throw .port }
      port = number
      hostEnd = portColon
    }
    let pathEnd = text.first("?", in: authorityEnd..<text.count) ?? text.count
    let bucketStart = min(authorityEnd + 1, pathEnd)
    let slash = text.first("/", in: bucketStart..<pathEnd)
    let prefix = try slash.map { (slash) throws(RemotePlaceError) in try text.decoded(slash + 1..<pathEnd) }
    // A slash and nothing after it is not a prefix.
    guard prefix != "" else { throw .prefix }
    let parameters = try URLParameters(text, from: pathEnd)
    guard let secret = PercentEncoding.decode(text.bytes.extracting(colon + 1..<at)) else { throw .encoding }
    try self.init(
      isEncrypted: parameters.isEncrypted, host: text.plain(hostStart..<hostEnd), port: port,
      bucket: text.plain(bucketStart..<(slash ?? pathEnd)), prefix: prefix ?? "",
      region: parameters.region ?? Self.defaultRegion, accessKey: try text.decoded(start..<colon),
      secretKey: SharedSecretBytes(secret), pin: parameters.pin)
  }

  /// "host", or "host:port" where the port is not the usual one: what requests name as their host.
  package var authority: String { port == (isEncrypted ? 443 : 80) ? host : "\(host):\(port)" }

  /// The URL without what is before the host.
  var afterCredentials: String {
    var text = authority + "/" + bucket
    if !prefix.isEmpty { text += "/" + PercentEncoding.text(prefix.utf8, keeping: "/") }
    text += "?region=" + region
    if !isEncrypted { text += "&tls=off" }
    if let pin { text += "&pin=" + PercentEncoding.text(pin.utf8, keeping: "/=") }
    return text
  }

  func url() -> SecretBytes {
    let head = "s3://" + PercentEncoding.text(accessKey.utf8) + ":"
    let tail = "@" + afterCredentials
    return secretKey.withBytes { secret in
      PercentEncoding.text(secret).withBytes { secret in
        SecretBytes(byteCount: head.utf8.count + secret.byteCount + tail.utf8.count) { url in
          var offset = 0
          func append(_ byte: UInt8) {
            url.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            offset += 1
          }
          head.utf8.forEach(append)
          for place in 0..<secret.byteCount {
            append(unsafe secret.unsafeLoad(fromByteOffset: place, as: UInt8.self))
          }
          tail.utf8.forEach(append)
        }
      }
    }
  }
}

/// The parameters behind the question mark.
private struct URLParameters {
  var isEncrypted = true
  var region: String?
  var pin: String?

  /// - Parameter start: of the question mark, or the end.
  init(_ text: URLText, from start: Int) throws(RemotePlaceError) {
    guard start < text.count else { return }
    var next = start + 1
    while true {
      let end = text.first("&", in: next..<text.count) ?? text.count
      guard let equals = text.first("=", in: next..<end) else { throw .parameter }
      let value = try text.decoded(equals + 1..<end)
      switch text.plain(next..<equals) {
      case "region" where region == nil: region = value
      case "tls" where isEncrypted && value == "off": isEncrypted = false
      case "pin" where pin == nil: pin = value
      default: throw .parameter
      }
      guard end < text.count else { return }
      next = end + 1
    }
  }
}

/// The text of a URL, which has a secret in it: only parts of it become a `String`.
struct URLText: ~Escapable {
  let bytes: RawSpan

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) { self.bytes = bytes }

  var count: Int { bytes.byteCount }

  /// Whether it has nothing but visible characters of ASCII, and no `#`.
  var isVisible: Bool {
    (0..<count).allSatisfy { (0x21...0x7E).contains(byte($0)) && byte($0) != UInt8(ascii: "#") }
  }

  func starts(with text: String) -> Bool {
    count >= text.utf8.count && zip(0..., text.utf8).allSatisfy { byte($0) == $1 }
  }

  func first(_ character: Unicode.Scalar, in range: Range<Int>) -> Int? {
    range.first { byte($0) == UInt8(ascii: character) }
  }

  func has(_ character: Unicode.Scalar, in range: Range<Int>) -> Bool { first(character, in: range) != nil }

  /// A part that is not secret, as it is.
  func plain(_ range: Range<Int>) -> String { String(decoding: range.map { byte($0) }, as: UTF8.self) }

  /// A part that is not secret, decoded.
  func decoded(_ range: Range<Int>) throws(RemotePlaceError) -> String {
    guard let decoded = PercentEncoding.decode(bytes.extracting(range)) else { throw .encoding }
    let text = decoded.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
    guard let text else { throw .encoding }
    return text
  }

  private func byte(_ offset: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
