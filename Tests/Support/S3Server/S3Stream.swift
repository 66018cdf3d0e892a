// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 as the server reads it: a head, and a body of a length that was said before.

import Glibc

/// The head of a request.
struct S3Head {
  let method: String
  let target: String
  /// With names in lower case.
  let headers: [(name: String, value: String)]

  subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  var contentLength: Int { self["content-length"].flatMap { Int($0) } ?? 0 }

  /// The path, decoded.
  var path: String { Self.decode(target.split(separator: "?", maxSplits: 1)[0]) }

  /// The query as it was sent.
  var query: [(name: Substring, value: Substring)] {
    let parts = target.split(separator: "?", maxSplits: 1)
    guard parts.count == 2 else { return [] }
    return parts[1].split(separator: "&").map { parameter in
      let sides = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (sides[0], sides.count == 2 ? sides[1] : "")
    }
  }

  func parameter(_ name: String) -> String? { query.first { $0.name == name }.map { Self.decode($0.value) } }

  static func decode(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// One connection.
final class S3Stream {
  private let connection: Int32
  private var buffer: [UInt8] = []

  init(_ connection: Int32) { self.connection = connection }

  /// The next request's head; nil when the connection has ended.
  func readHead() -> S3Head? {
    var searched = 0
    while true {
      if let end = end(of: buffer, from: max(0, searched - 3)) {
        let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
        buffer.removeFirst(end + 4)
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
          guard let colon = line.firstIndex(of: ":") else { return nil }
          let value = line[line.index(after: colon)...].drop { $0 == " " }
          return (line[..<colon].lowercased(), String(value))
        }
        return S3Head(method: String(words[0]), target: String(words[1]), headers: headers)
      }
      searched = buffer.count
      guard searched < 1 << 16, fill() else { return nil }
      // The beginning of TLS, say.
      guard buffer[0] >= UInt8(ascii: "A") else { return nil }
    }
  }

  /// Nil when the connection ends before.
  func readBody(_ count: Int) -> [UInt8]? {
    buffer.reserveCapacity(count)
    while buffer.count < count { guard fill() else { return nil } }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = send(connection, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count > 0 { sent += count } else if errno != EINTR { return false }
      }
      return true
    }
  }

  private func end(of bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (start...max(start, bytes.count - 4)).first {
      bytes[$0..<min($0 + 4, bytes.count)].elementsEqual("\r\n\r\n".utf8)
    }
  }

  private func fill() -> Bool {
    let part = [UInt8](unsafeUninitializedCapacity: 1 << 18) { part, count in
      repeat {
        count = max(0, recv(connection, part.baseAddress!, part.count, 0))
      } while count == 0 && errno == EINTR
    }
    buffer += part
    return !part.isEmpty
  }
}
