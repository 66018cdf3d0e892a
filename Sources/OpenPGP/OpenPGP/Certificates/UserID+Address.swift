// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.11: by convention a user ID is an RFC 2822 name-addr, or the address alone.

extension UserID {
  /// The mail address: what stands between the last angle brackets, or the whole when there are none and it
  /// has an @; nil for anything else. Compared as it is written: what is left of the @ is the server's affair.
  public var address: String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    var address = text[...]
    if text.hasSuffix(">"), let start = text.lastIndex(of: "<") {
      address = text[text.index(after: start)..<text.index(before: text.endIndex)]
    }
    let parts = address.split(separator: "@", omittingEmptySubsequences: false)
    let isAddress = parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
    guard isAddress, !address.contains(where: { $0.isWhitespace || "<>".contains($0) }) else { return nil }
    return String(address)
  }
}
