// SPDX-License-Identifier: Apache-2.0
//
// The URL of a bucket, read and written.

internal import Secrets

extension S3Place {
  /// - Parameter start: where the credentials begin.
  init(_ text: URLText, from start: Int) throws(RemotePlaceError) {
    let url = try ServiceURL(text, from: start)
    let prefix = try url.rest.map { (rest) throws(RemotePlaceError) in try text.decoded(rest) }
    // A slash and nothing after it is not a prefix.
    guard prefix != "" else { throw .prefix }
    try self.init(
      isEncrypted: url.parameters.isEncrypted, host: url.host, port: url.port, bucket: text.plain(url.first),
      prefix: prefix ?? "", region: url.parameters.region ?? Self.defaultRegion, accessKey: url.name,
      secretKey: url.secret, pin: url.parameters.pin)
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
    ServiceURL.text(scheme: "s3://", name: accessKey, secret: secretKey, after: afterCredentials)
  }
}
