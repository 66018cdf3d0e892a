// SPDX-License-Identifier: Apache-2.0
//
// What the URLs of services have in common, read and written:
//
//   SCHEME://NAME:SECRET@HOST[:PORT][/FIRST[/REST]][?PARAMETER=VALUE[&…]]
//
// The secret passes from locked memory to locked memory.

internal import Secrets

/// The parts of such a URL. What is a range is not decoded yet.
struct ServiceURL {
  /// Decoded.
  let name: String
  /// Decoded.
  let secret: SharedSecretBytes
  let host: String
  /// Nil for the usual one.
  let port: UInt16?
  /// The first part of the path.
  let first: Range<Int>
  /// What is behind the slash after it; nil where there is no slash.
  let rest: Range<Int>?
  let parameters: URLParameters

  /// - Parameter start: where the credentials begin.
  init(_ text: URLText, from start: Int) throws(RemotePlaceError) {
    let authorityEnd = text.first("/", in: start..<text.count) ?? text.count
    guard let at = text.first("@", in: start..<authorityEnd), let colon = text.first(":", in: start..<at),
      text.first(":", in: colon + 1..<at) == nil, text.first("@", in: at + 1..<authorityEnd) == nil
    else { throw .credentials }
    var hostEnd = authorityEnd
    var port: UInt16?
    // The colons of an address of IPv6 are in its brackets.
    let bracket = text.first("]", in: at + 1..<authorityEnd).map { $0 + 1 } ?? at + 1
    if let portColon = text.first(":", in: bracket..<authorityEnd) {
      let digits = text.plain(portColon + 1..<authorityEnd)
      guard let number = UInt16(digits), number > 0, "\(number)" == digits else { throw .port }
      port = number
      hostEnd = portColon
    }
    let pathEnd = text.first("?", in: authorityEnd..<text.count) ?? text.count
    let firstStart = min(authorityEnd + 1, pathEnd)
    let slash = text.first("/", in: firstStart..<pathEnd)
    first = firstStart..<(slash ?? pathEnd)
    rest = slash.map { $0 + 1..<pathEnd }
    parameters = try URLParameters(text, from: pathEnd)
    name = try text.decoded(start..<colon)
    guard let decoded = PercentEncoding.decode(text.bytes.extracting(colon + 1..<at)) else { throw .encoding }
    secret = SharedSecretBytes(decoded)
    host = text.plain(at + 1..<hostEnd)
    self.port = port
  }

  /// The whole URL.
  /// - Parameter after: what is behind the `@`.
  static func text(scheme: String, name: String, secret: SharedSecretBytes, after: String) -> SecretBytes {
    let head = scheme + PercentEncoding.text(name.utf8) + ":"
    let tail = "@" + after
    return secret.withBytes { secret in
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

/// The parameters behind the question mark. Not every service takes a region.
struct URLParameters {
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
