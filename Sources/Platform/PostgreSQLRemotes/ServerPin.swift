// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets
internal import Texts

/// The pin of a server's key, as places have it.
package enum ServerPin {
  /// Whether a pin stands for this key.
  /// - Parameter key: a SubjectPublicKeyInfo in DER (RFC 5280, 4.1).
  package static func isMet(_ pin: String, by key: [UInt8]) -> Bool {
    let hash = SHA256.hash(key.rawSpan)
    var text = [UInt8](repeating: 0, count: Base64.characterCount(byteCount: hash.count))
    text.withMutableRawSpan { Base64.encode(hash.rawSpan, into: &$0, at: 0) }
    return pin == "sha256//" + String(decoding: text, as: UTF8.self)
  }
}
