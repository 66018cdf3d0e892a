// SPDX-License-Identifier: Apache-2.0
//
// Checking a signature from what came over the network, with none of the client's code but the hash.

import Glibc
import Primitives

enum S3Verification {
  /// What the server answers to a request that is not signed as it must be; nil for one that is.
  static func refusal(of head: S3Head, _ body: [UInt8]) -> S3Answer? {
    guard let header = head["authorization"], header.hasPrefix("AWS4-HMAC-SHA256 "),
      let stamp = head["x-amz-date"], let bodyHash = head["x-amz-content-sha256"]
    else { return S3Answer(status: 403, code: "AccessDenied") }
    var fields: [Substring: Substring] = [:]
    for field in header.dropFirst(17).split(whereSeparator: { ", ".contains($0) }) {
      let sides = field.split(separator: "=", maxSplits: 1)
      if sides.count == 2 { fields[sides[0]] = sides[1] }
    }
    guard let credential = fields["Credential"]?.split(separator: "/"), credential.count == 5,
      let names = fields["SignedHeaders"], let signature = fields["Signature"]
    else { return S3Answer(status: 400, code: "AuthorizationHeaderMalformed") }
    guard credential[0] == S3Server.accessKey else {
      return S3Answer(status: 403, code: "InvalidAccessKeyId")
    }
    guard credential[2] == S3Server.region, credential[1] == stamp.prefix(8) else {
      return S3Answer(status: 400, code: "AuthorizationHeaderMalformed")
    }
    guard abs(seconds(stamp) - time(nil)) < 15 * 60 else {
      return S3Answer(status: 403, code: "RequestTimeTooSkewed")
    }
    guard bodyHash == hash(body) else { return S3Answer(status: 400, code: "XAmzContentSHA256Mismatch") }
    // The host and all that is Amazon's must be signed.
    let signed = names.split(separator: ";").map(String.init)
    let needed = head.headers.map(\.name).filter { $0 == "host" || $0.hasPrefix("x-amz-") }
    guard signed.sorted() == signed, Set(needed).isSubset(of: signed) else {
      return S3Answer(status: 403, code: "AccessDenied")
    }
    var text = "\(head.method)\n\(head.target.split(separator: "?")[0])\n"
    text += head.query.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: "&") + "\n"
    for name in signed { text += "\(name):\(head[name] ?? "")\n" }
    text += "\n\(names)\n\(bodyHash)"
    let scope = credential.dropFirst().joined(separator: "/")
    let statement = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(hash(Array(text.utf8)))"
    var key = Array(("AWS4" + S3Server.secretKey).utf8)
    for part in credential.dropFirst() { key = code(Array(part.utf8), key) }
    let expected = code(Array(statement.utf8), key).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      .joined()
    return expected == signature ? nil : S3Answer(status: 403, code: "SignatureDoesNotMatch")
  }

  private static func hash(_ bytes: [UInt8]) -> String {
    SHA256.hash(bytes.span.bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func code(_ message: [UInt8], _ key: [UInt8]) -> [UInt8] {
    HMACSHA256.code(of: message.span.bytes, key: key.span.bytes)
  }

  /// "20130524T000000Z" in seconds since 1970.
  private static func seconds(_ stamp: String) -> Int {
    let digits = stamp.compactMap(\.wholeNumberValue)
    guard digits.count == 14 else { return 0 }
    func number(_ range: Range<Int>) -> Int32 { Int32(digits[range].reduce(0) { $0 * 10 + $1 }) }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (number(0..<4) - 1_900, number(4..<6) - 1, number(6..<8))
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (number(8..<10), number(10..<12), number(12..<14))
    return timegm(&parts)
  }
}
