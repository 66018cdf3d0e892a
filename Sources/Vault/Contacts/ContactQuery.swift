// SPDX-License-Identifier: Apache-2.0
//
// Which contact a word means. The first rule that finds exactly one decides, and the first that finds several is an
// error: the wrong one is never chosen silently. Part of a word in the middle, and short key IDs, find nothing.

internal import Foundation
package import OpenPGP
internal import ProtectedData

/// What a word can mean somebody by.
package struct WhoNames {
  /// Of primary keys and subkeys.
  package let fingerprints: [Fingerprint]
  /// Those that are claimed now.
  package let addresses: [String]
  /// Whole names.
  package let names: [String]
  /// User IDs, which mean somebody as a whole only.
  package let userIDs: [String]

  /// Somebody with these keys, addresses, names and user IDs.
  package init(
    fingerprints: [Fingerprint], addresses: [String], names: [String], userIDs: [String] = []
  ) {
    self.fingerprints = fingerprints
    self.addresses = addresses
    self.names = names
    self.userIDs = userIDs
  }
}

/// What a user typed to name somebody: a fingerprint, a key ID, an address, a name, or beginnings of its words.
package struct ContactQuery {
  private let text: String

  /// The words of a user.
  package init(_ text: String) { self.text = text.trimmingCharacters(in: .whitespacesAndNewlines) }

  /// The one contact that is meant.
  /// - Throws: `.unknown`, `.ambiguous`, `.tooFewDigits`.
  func one(of contacts: [ContactEntry]) throws(ContactError) -> ContactEntry {
    let found = try fitting(contacts) { $0.whoNames }
    guard found.count < 2 else { throw .ambiguous(found.map(\.id)) }
    guard let contact = found.first else { throw .unknown }
    return contact
  }

  /// Those that fit the first rule that anything fits; none when nothing fits any.
  /// - Throws: `.tooFewDigits`.
  package func fitting<Item>(_ items: [Item], _ names: (Item) -> WhoNames) throws(ContactError) -> [Item] {
    let named = items.map { (item: $0, names: names($0)) }
    for rule in try rules() {
      let found = named.filter { rule($0.names) }
      if !found.isEmpty { return found.map(\.item) }
    }
    if isPartOfFingerprint { throw .tooFewDigits }
    return []
  }

  private func rules() throws(ContactError) -> [(WhoNames) -> Bool] {
    guard !text.isEmpty else { return [] }
    if let digits = FingerprintText.digits(text) {
      switch digits.count {
      case 40, 64: return [{ $0.fingerprints.contains { $0.bytes == FingerprintText.bytes(digits) } }]
      case 16: return [{ $0.fingerprints.contains { $0.keyID.bytes == FingerprintText.bytes(digits) } }]
      case 8 where digits.contains(where: \.isNumber): throw .tooFewDigits
      default: break
      }
    }
    if text.contains("@") {
      let address = Self.folded(address: text)
      return [
        { $0.addresses.contains { Self.folded(address: $0) == address } },
        { [text] in ($0.userIDs + $0.names).contains { Self.folded($0) == Self.folded(text) } },
      ]
    }
    let name = Self.folded(text)
    let beginnings = Self.words(name)
    guard !beginnings.isEmpty else { return [{ $0.names.contains { Self.folded($0) == name } }] }
    return [
      { $0.names.contains { Self.folded($0) == name } },
      { who in
        who.names.contains { whole in
          let words = Self.words(Self.folded(whole))
          return beginnings.allSatisfy { beginning in words.contains { $0.hasPrefix(beginning) } }
        }
      },
    ]
  }

  /// Whether it can only be some of the digits of a fingerprint: not `abba` or `2026`, which may be meant as names.
  private var isPartOfFingerprint: Bool {
    guard let digits = FingerprintText.digits(text), digits.count >= 4 else { return false }
    return digits.contains(where: \.isNumber) && digits.contains(where: \.isLetter)
  }

  /// The domain without regard to the case of ASCII letters; the local part likewise, so that two contacts that
  /// differ in case alone are ambiguous.
  static func folded(address: String) -> String {
    String(decoding: address.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// NFC and case folding.
  static func folded(_ text: String) -> String {
    text.precomposedStringWithCanonicalMapping.lowercased()
  }

  private static func words(_ text: String) -> [String] {
    text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}

extension ContactEntry {
  /// What it can be meant by.
  package var whoNames: WhoNames {
    WhoNames(
      fingerprints: keys.flatMap { $0.summary.parts.map(\.fingerprint) }, addresses: addresses,
      names: [name])
  }

  /// The addresses that its keys claim now, former keys aside.
  var addresses: [String] { keys.filter { $0.state == .inUse }.flatMap(\.summary.addresses) }
}

/// A fingerprint as people type it.
package enum FingerprintText {
  /// The lower-case digits of a text of hexadecimal digits, with blanks, colons and a `0x` or not; nil when it has
  /// other characters.
  package static func digits(_ text: String) -> String? {
    var digits = text.lowercased().filter { !$0.isWhitespace && $0 != ":" }
    if digits.hasPrefix("0x") { digits.removeFirst(2) }
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    return digits
  }

  /// - Precondition: `digits` come from ``digits(_:)`` and are even in number.
  package static func bytes(_ digits: String) -> [UInt8] {
    let values = digits.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }

  /// The fingerprint that is meant; nil when it is not a whole one.
  package static func fingerprint(_ text: String) -> Fingerprint? {
    guard let digits = digits(text), digits.count == 40 || digits.count == 64 else { return nil }
    return Fingerprint(bytes: bytes(digits))
  }

  /// Lower-case digits without blanks, for programs.
  package static func plain(_ fingerprint: Fingerprint) -> String { fingerprint.hexadecimal.lowercased() }

  /// Groups of four capital digits.
  package static func groups(_ fingerprint: Fingerprint) -> [String] {
    let digits = Array(fingerprint.hexadecimal)
    return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<$0 + 4]) }
  }
}
