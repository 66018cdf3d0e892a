// SPDX-License-Identifier: Apache-2.0
//
// The five requests, as S3 answers them.

import Glibc
import Primitives

extension S3Server {
  /// Checks the signature, and carries a request out.
  func answer(_ head: S3Head, _ body: [UInt8]) -> S3Answer {
    if let refusal = S3Verification.refusal(of: head, body) { return refusal }
    let parts = head.path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: true)
    guard parts.first.map(String.init) == Self.bucket else {
      return S3Answer(status: 404, code: "NoSuchBucket")
    }
    guard parts.count == 2 else {
      return head.method == "GET" ? list(head) : S3Answer(status: 405, code: "MethodNotAllowed")
    }
    let key = String(parts[1])
    switch head.method {
    case "PUT":
      state.withLock {
        $0.objects[key] = S3Object(bytes: body, date: time(nil), listsBefore: $0.faults.listsBefore)
      }
      return S3Answer(status: 200, headers: [("ETag", "\"x\"")])
    case "DELETE":
      state.withLock { _ = $0.objects.removeValue(forKey: key) }
      return S3Answer(status: 204)
    case "GET", "HEAD":
      let (object, knowsRanges) = state.withLock { ($0.objects[key], $0.faults.knowsRanges) }
      guard let object else { return S3Answer(status: 404, code: "NoSuchKey") }
      if head.method == "HEAD" {
        var answer = S3Answer(status: 200)
        answer.length = object.bytes.count
        return answer
      }
      guard knowsRanges, let range = head["range"] else { return S3Answer(status: 200, body: object.bytes) }
      return part(range, of: object.bytes)
    default: return S3Answer(status: 405, code: "MethodNotAllowed")
    }
  }

  private func part(_ range: String, of bytes: [UInt8]) -> S3Answer {
    let numbers = range.split(separator: "=").last?.split(separator: "-").compactMap { Int($0) } ?? []
    guard range.hasPrefix("bytes="), numbers.count == 2, numbers[0] <= numbers[1], numbers[0] < bytes.count
    else {
      return S3Answer(status: 416, code: "InvalidRange")
    }
    let last = min(numbers[1], bytes.count - 1)
    return S3Answer(
      status: 206, headers: [("Content-Range", "bytes \(numbers[0])-\(last)/\(bytes.count)")],
      body: Array(bytes[numbers[0]...last]))
  }

  private func list(_ head: S3Head) -> S3Answer {
    guard head.parameter("list-type") == "2" else { return S3Answer(status: 400, code: "InvalidArgument") }
    let prefix = head.parameter("prefix") ?? ""
    // The continuation is the last key, with characters that have to be encoded.
    let after = head.parameter("continuation-token").map { String($0.dropFirst(4)) }
    let (found, count) = state.withLock { state in
      var found: [(key: String, object: S3Object)] = []
      for (key, object) in state.objects where key.hasPrefix(prefix) {
        if object.listsBefore > 0 {
          state.objects[key]?.listsBefore -= 1
        } else if after.map({ key > $0 }) ?? true {
          found.append((key, object))
        }
      }
      return (found.sorted { $0.key < $1.key }, state.faults.pageCount)
    }
    var text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    text += "<Name>\(Self.bucket)</Name><Prefix>\(Self.escaped(prefix))</Prefix>"
    text += "<IsTruncated>\(found.count > count)</IsTruncated>"
    if found.count > count {
      text += "<NextContinuationToken>\(Self.escaped("<+/&" + found[count - 1].key))</NextContinuationToken>"
    }
    for (key, object) in found.prefix(count) {
      text +=
        "<Contents><Key>\(Self.escaped(key))</Key><LastModified>\(HTTPTime.stamp(object.date))</LastModified>"
      text += "<ETag>&quot;x&quot;</ETag><Size>\(object.bytes.count)</Size></Contents>"
    }
    return S3Answer(status: 200, body: Array((text + "</ListBucketResult>").utf8))
  }

  private static func escaped(_ text: String) -> String {
    text.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined()
  }
}

/// Times as text, by the C library, which is not what the client reads them with.
enum HTTPTime {
  static func text(_ seconds: Int) -> String { format(seconds, "%a, %d %b %Y %H:%M:%S GMT") }
  static func stamp(_ seconds: Int) -> String { format(seconds, "%Y-%m-%dT%H:%M:%S.000Z") }

  private static func format(_ seconds: Int, _ form: String) -> String {
    var (seconds, parts) = (time_t(seconds), tm())
    gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, form, &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
