// SPDX-License-Identifier: Apache-2.0
//
// AWS Signature Version 4 in the header Authorization
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). The body is always signed, so that a
// server refuses one that was cut off or changed.

internal import Primitives
internal import Remotes
internal import Secrets
internal import Texts

/// A request as it is signed.
struct S3SignedRequest {
  let method: String
  /// Encoded.
  let path: String
  /// Names and values, not encoded.
  var query: [(name: String, value: String)] = []
  /// All headers that are sent, with names in lower case; those of the signature are added.
  var headers: [(name: String, value: String)]
  /// SHA-256 of the body, in hexadecimal digits.
  let bodyHash: String

  /// The query, encoded and in the order that the signature needs.
  var canonicalQuery: String {
    query
      .map { (PercentEncoding.text($0.name.utf8), PercentEncoding.text($0.value.utf8)) }
      .sorted { $0 < $1 }
      .map { "\($0.0)=\($0.1)" }
      .joined(separator: "&")
  }
}

/// Signs requests for one place.
struct S3Signer: Sendable {
  let region: String
  let accessKey: String
  let secretKey: SharedSecretBytes

  /// Adds the headers `x-amz-content-sha256`, `x-amz-date` and `authorization`.
  /// - Parameter time: seconds since 1970.
  func sign(_ request: inout S3SignedRequest, time: Int64) {
    let stamp = RFC3339.format(time).filter { $0 != "-" && $0 != ":" }
    let date = String(stamp.prefix(8))
    request.headers.append(("x-amz-content-sha256", request.bodyHash))
    request.headers.append(("x-amz-date", stamp))
    let headers = request.headers.sorted { $0.name < $1.name }
    let names = headers.map(\.name).joined(separator: ";")
    let canonical =
      [request.method, request.path, request.canonicalQuery] + headers.map { "\($0.name):\($0.value)" }
      + ["", names, request.bodyHash]
    let scope = "\(date)/\(region)/s3/aws4_request"
    let text = ["AWS4-HMAC-SHA256", stamp, scope, Self.hash(canonical.joined(separator: "\n"))]
    let code = code(of: text.joined(separator: "\n"), date: date)
    request.headers.append(
      (
        "authorization",
        "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope),SignedHeaders=\(names),Signature=\(code)"
      ))
  }

  private static func hash(_ text: String) -> String {
    Hexadecimal.text(SHA256.hash(Array(text.utf8).rawSpan))
  }

  /// The code under the key for this day, which is derived from the secret key in four steps.
  private func code(of text: String, date: String) -> String {
    var key = secretKey.withBytes { secret in
      SecretBytes(byteCount: 4 + secret.byteCount) { key in
        key.copy(Array("AWS4".utf8).rawSpan, to: 0)
        key.copy(secret, to: 4)
      }
    }
    for step in [date, region, "s3", "aws4_request"] {
      key = key.withBytes { key in
        SecretBytes(byteCount: HMACSHA256.byteCount) { derived in
          var hmac = HMACSHA256()
          hmac.authenticate(Array(step.utf8).rawSpan, key: key, into: &derived)
        }
      }
    }
    return key.withBytes { Hexadecimal.text(HMACSHA256.code(of: Array(text.utf8).rawSpan, key: $0)) }
  }
}
