// SPDX-License-Identifier: Apache-2.0
//
// Names of contacts. Each means one contact and nothing else: a name that looks like an address or a fingerprint, or
// that another contact has, would send a message to somebody else.

internal import Foundation
internal import OpenPGP
internal import ProtectedData
internal import Texts

enum ContactName {
  /// A name that the user chose, without blanks at its ends.
  /// - Throws: `.unfitName`, `.nameTaken`.
  static func checked(_ name: String, beside others: [Contact]) throws(ContactError) -> String {
    let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty, name.utf8.count <= Contact.nameByteCountLimit, TerminalText.line(name) == name,
      !meansSomethingElse(name)
    else { throw .unfitName }
    guard !isTaken(name, others) else { throw .nameTaken }
    return name
  }

  /// The name that a key suggests for a new contact: with a number if another contact has it.
  static func suggested(by key: KeySummary, beside others: [Contact]) -> String {
    var name = TerminalText.line(key.suggestedName)
    name = String(decoding: name.utf8.prefix(Contact.nameByteCountLimit / 2), as: UTF8.self)
    if meansSomethingElse(name) { name = key.addresses.first ?? key.fingerprint.keyID.text }
    guard isTaken(name, others) else { return name }
    var number = 2
    while isTaken("\(name) \(number)", others) { number += 1 }
    return "\(name) \(number)"
  }

  private static func isTaken(_ name: String, _ others: [Contact]) -> Bool {
    let folded = ContactQuery.folded(name)
    return others.contains { ContactQuery.folded($0.displayName) == folded }
  }

  /// Whether `ContactQuery` takes the name for an address, a fingerprint or a key ID.
  private static func meansSomethingElse(_ name: String) -> Bool {
    if name.contains("@") { return true }
    return FingerprintText.digits(name).map { [8, 16, 40, 64].contains($0.count) } ?? false
  }
}
