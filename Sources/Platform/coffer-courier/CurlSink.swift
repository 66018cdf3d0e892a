// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an answer while it arrives: the headers that are used, and of the body as much as was asked for.

internal import S3Remotes

/// Takes one answer. libcurl calls it in the thread that waits for the answer.
final class CurlSink {
  private let byteCountLimit: Int
  private let skippedByteCount: Int
  private let hasNoBody: Bool
  private var headerByteCount = 0
  private var skipped = 0

  private(set) var status: Int?
  private(set) var headers: [String: String] = [:]
  private(set) var body: [UInt8] = []
  /// Whether the head came to its end. libcurl takes one that was cut off for whole.
  private(set) var hasWholeHead = false
  /// Whether the rest of the body was refused, because there is as much as was asked for.
  private(set) var isFull = false

  /// Bytes in all headers, at most. Servers have limits from 8 to 64 KiB for a whole request.
  private static let headerByteCountLimit = 64 << 10

  init(_ request: HTTPRequest) {
    byteCountLimit = request.answerByteCountLimit
    skippedByteCount = request.skippedByteCount
    hasNoBody = request.method == .head
  }

  /// For CURLOPT_HEADERFUNCTION: one line.
  static let takeHeader:
    @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
      bytes, size, count, context in
      guard let sink = unsafe sink(context), let bytes = unsafe bytes else { return 0 }
      let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
      return unsafe sink.take(header: Array(line)) ? size * count : 0
    }

  /// For CURLOPT_WRITEFUNCTION: a part of the body.
  static let takeBody:
    @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
      bytes, size, count, context in
      guard let sink = unsafe sink(context), let bytes = unsafe bytes else { return 0 }
      unsafe sink.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
      // A number other than that of the bytes ends the transfer.
      return sink.isFull ? 0 : size * count
    }

  /// Whether the end of the body can be told from the end of the connection.
  var hasEnd: Bool {
    hasWholeHead
      && (hasNoBody || status == 204 || headers["content-length"] != nil
        || headers["transfer-encoding"] != nil)
  }

  private static func sink(_ context: UnsafeMutableRawPointer?) -> CurlSink? {
    unsafe context.map { unsafe Unmanaged<CurlSink>.fromOpaque($0).takeUnretainedValue() }
  }

  private func take(header: [UInt8]) -> Bool {
    headerByteCount += header.count
    guard headerByteCount <= Self.headerByteCountLimit else { return false }
    let line = String(decoding: header, as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      // An answer of the class 1xx may have come before.
      let parts = line.split(separator: " ", maxSplits: 2)
      status = parts.count > 1 ? Int(parts[1].prefix { $0.isNumber }) : nil
      headers = [:]
      hasWholeHead = false
    } else if line == "\r\n" || line == "\n" {
      hasWholeHead = true
    } else if let colon = line.firstIndex(of: ":") {
      let name = line[..<colon].lowercased()
      if HTTPAnswer.usedHeaders.contains(name) {
        let value = line[line.index(after: colon)...]
        headers[name] = value.split { $0.isWhitespace }.joined(separator: " ")
      }
    }
    return true
  }

  private func take(body bytes: UnsafeRawBufferPointer) {
    let isWanted = (200...299).contains(status ?? 0)
    let limit = isWanted ? byteCountLimit : HTTPAnswer.errorByteCountLimit
    let passed = status == 200 ? min(skippedByteCount - skipped, bytes.count) : 0
    skipped += passed
    let kept = min(bytes.count - passed, limit - body.count)
    if body.isEmpty, kept > 0, let length = headers["content-length"].flatMap({ Int($0) }) {
      // Growing copies. What a server says of the length is believed up to what is kept.
      body.reserveCapacity(max(kept, min(limit, length)))
    }
    unsafe body.append(contentsOf: bytes[passed..<passed + kept])
    if passed + kept < bytes.count { isFull = true }
  }
}
