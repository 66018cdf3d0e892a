// SPDX-License-Identifier: Apache-2.0
//
// Contacts in words and in JSON. Names that others chose are in quotation marks, on one line, and cut.

internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Foundation
internal import OpenPGP
internal import ProtectedData
internal import Texts

enum ContactWords {
  /// A name that somebody else chose: inside quotation marks nothing is ours.
  static func quoted(_ name: String) -> String {
    let line = ColumnWidth.cut(TerminalText.line(name), to: nameWidth).replacing("\"", with: "'")
    return "\"\(line)\""
  }

  private static let nameWidth = 78

  static func day(_ seconds: UInt32) -> String { String(instant(seconds).prefix(10)) }

  /// Lower-case digits.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  static func instant(_ seconds: UInt32) -> String { RFC3339.format(Int64(seconds)) }

  /// The lines of a fingerprint: of version 4 two of five groups, of version 6 four of four, each with its number.
  static func lines(of fingerprint: Fingerprint) -> [String] {
    let groups = FingerprintText.groups(fingerprint)
    let width = groups.count == 10 ? 5 : 4
    return stride(from: 0, to: groups.count, by: width).map { start in
      "\(start / width + 1)  " + groups[start..<start + width].joined(separator: " ")
    }
  }

  /// A key on several lines: whose, from when to when, its fingerprint.
  static func lines(of key: KeySummary) -> [String] {
    var lines = key.userIDs.prefix(nameLimit).map(quoted)
    if key.userIDs.isEmpty { lines = ["no name"] }
    if key.userIDs.count > nameLimit { lines.append("and \(key.userIDs.count - nameLimit) more") }
    var facts = ["made \(day(key.created))"]
    facts.append(state(key) ?? key.expires.map { "expires \(day($0))" } ?? "never expires")
    facts.append(key.isAdvanced ? "advanced" : "universal")
    if key.isQuantumSafe { facts.append("post-quantum") }
    return lines + ["  " + facts.joined(separator: ", ")] + self.lines(of: key.fingerprint).map { "  " + $0 }
  }

  private static let nameLimit = 8

  /// What keeps messages from going to a key; nil for nothing.
  static func state(_ key: KeySummary) -> String? {
    switch key.status {
    case .good: nil
    case .expired: "EXPIRED" + (key.expires.map { " \(day($0))" } ?? "")
    case .revoked: "REVOKED"
    case .cannotReceive: "cannot receive"
    case .tooWeak: "too weak"
    }
  }

  /// What a key says about its replacement, beside the keys of all contacts.
  static func replacement(_ key: KeySummary, among all: [ContactEntry]) -> ReplacementWords {
    ReplacementWords(key.statement, among: all.flatMap { $0.keys.map(\.summary.statement) })
  }

  static func verification(_ contact: ContactEntry) -> String {
    contact.verification.map { "verified \(day($0.date))" } ?? "not verified"
  }

  static func words(_ change: KeyChange) -> String {
    func end(_ seconds: UInt32?) -> String { seconds.map(day) ?? "never" }
    return switch change {
    case .expiry(let from, let to): "expires \(end(from)) -> \(end(to))"
    case .userIDAdded(let name): "another name: \(quoted(name))"
    case .userIDGone(let name): "a name less: \(quoted(name))"
    case .userIDRevoked(let name): "REVOKED: the name \(quoted(name))"
    case .mainUserID(let from, let to): "main name \(quoted(from)) -> \(quoted(to))"
    case .revoked: "REVOKED: its owner takes this key back, for good"
    case .encryptionKeyAdded: "a new part for reading messages; the old one stays for old messages"
    case .subkeyAdded: "a new part"
    case .subkeyRevoked: "REVOKED: a part of the key"
    }
  }

  static func code(_ change: KeyChange) -> String {
    switch change {
    case .expiry: "expiry"
    case .userIDAdded: "name_added"
    case .userIDGone: "name_gone"
    case .userIDRevoked: "name_revoked"
    case .mainUserID: "main_name"
    case .revoked: "revoked"
    case .encryptionKeyAdded: "encryption_key_added"
    case .subkeyAdded: "subkey_added"
    case .subkeyRevoked: "subkey_revoked"
    }
  }
}

extension ContactWords {
  /// A contact for programs.
  struct Answer: Encodable {
    struct Verified: Encodable {
      let at: String
      let how: String
    }

    struct Key: Encodable {
      let fingerprint: String
      let state: String
      let status: String
      let created: String
      let expires: String?
      let firstSeen: String
      let addresses: [String]
      let names: [String]
      let formats: [String]
      let quantumSafe: Bool
      let replacedBy: ReplacementWords.Other?
      let replaces: [ReplacementWords.Other]?
      let parts: [PartWords.Answer]?
    }

    let id: String
    let name: String
    let verified: Verified?
    let notConfirmed: String?
    let keys: [Key]

    /// - Parameter all: the contacts whose keys may be named.
    init(_ contact: ContactEntry, among all: [ContactEntry], withParts: Bool = false) {
      id = contact.id.uuidString.lowercased()
      name = contact.name
      verified = contact.verification.map { Verified(at: instant($0.date), how: $0.manner.code) }
      notConfirmed = contact.failedVerification.map(instant)
      keys = contact.keys.map { key in
        let replacement = ContactWords.replacement(key.summary, among: all)
        return Key(
          fingerprint: FingerprintText.plain(key.summary.fingerprint), state: key.state.code,
          status: key.summary.status.code, created: instant(key.summary.created),
          expires: key.summary.expires.map(instant), firstSeen: instant(key.firstSeen),
          addresses: key.summary.addresses, names: key.summary.userIDs,
          formats: key.summary.readsSEIPD2 ? ["seipd1", "seipd2"] : ["seipd1"],
          quantumSafe: key.summary.isQuantumSafe, replacedBy: replacement.replacedBy,
          replaces: replacement.replaces,
          parts: withParts ? key.summary.parts.map { PartWords.Answer($0) } : nil)
      }
    }
  }
}

extension Contact.Key.State {
  /// For programs; stable.
  var code: String {
    switch self {
    case .inUse: "in_use"
    case .former: "former"
    case .waiting: "waiting"
    }
  }

  var words: String {
    switch self {
    case .inUse: "in use"
    case .former: "former"
    case .waiting: "waiting"
    }
  }
}

extension Contact.Verification.Manner {
  /// For programs; stable.
  fileprivate var code: String {
    switch self {
    case .groups: "groups"
    case .wholeFingerprint: "fingerprint"
    case .code: "qr"
    }
  }

  var words: String {
    switch self {
    case .groups: "typed 4 groups"
    case .wholeFingerprint: "whole fingerprint"
    case .code: "QR code"
    }
  }
}

extension KeySummary.Status {
  /// For programs; stable.
  fileprivate var code: String {
    switch self {
    case .good: "good"
    case .expired: "expired"
    case .revoked: "revoked"
    case .cannotReceive: "cannot_receive"
    case .tooWeak: "too_weak"
    }
  }
}

extension AddressBook {
  /// The one whom `who` means. An error names somebody who is called nearly that.
  func meant(by who: String) throws -> Correspondent {
    do { return try find(who) } catch {
      guard case .unknown = error else { throw error }
      var failure = Failure(correspondence: .unknown(who: who))
      let everybody = identities.map { Correspondent.identity($0) } + contacts.map { .contact($0) }
      failure.suggest(NearName.ofPerson(who, among: everybody.flatMap { [$0.name] + $0.addresses }))
      throw failure
    }
  }
}

extension Failure {
  fileprivate mutating func suggest(_ name: String?) {
    if let name { hint = "did you mean \(ContactWords.quoted(name))?" }
  }
}

extension Coffer {
  /// The contact that `who` means. An error names the word, and the contacts that it fits.
  func contact(_ who: String) throws -> ContactEntry {
    let store = try contacts()
    do { return try store.find(who, at: openPGPTime) } catch ContactError.unknown {
      var failure = Failure(ContactError.unknown)
      failure.message = "no contact is called \(ContactWords.quoted(who))"
      let names = try store.list(at: openPGPTime).flatMap { contact in
        [contact.name] + (contact.keyInUse?.summary.addresses ?? [])
      }
      failure.suggest(NearName.ofPerson(who, among: names))
      throw failure
    } catch ContactError.ambiguous(let ids) {
      var failure = Failure(ContactError.ambiguous(ids))
      let found = try store.list(at: openPGPTime).filter { ids.contains($0.id) }
      failure.candidates = found.map { contact in
        Failure.Candidate(
          contact: contact.name,
          fingerprint: (contact.keyInUse?.summary.fingerprint).map(FingerprintText.plain),
          addresses: contact.keyInUse?.summary.addresses ?? [])
      }
      let names = found.map { contact in
        ([ContactWords.quoted(contact.name)]
          + (contact.keyInUse?.summary.addresses.prefix(1).map { "<\($0)>" } ?? [])
          + [contact.keyInUse?.summary.fingerprint].compactMap(\.self).map(FingerprintText.plain))
          .joined(separator: " ")
      }
      failure.message =
        "\(ContactWords.quoted(who)) fits \(ids.count.counted("contact")): \(names.joined(separator: ", "))"
      throw failure
    }
  }
}
