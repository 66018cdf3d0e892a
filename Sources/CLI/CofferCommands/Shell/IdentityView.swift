// SPDX-License-Identifier: Apache-2.0
//
// An identity in lines for users and in JSON. Names may come from elsewhere; ShownLine makes them safe.

internal import Contacts
internal import Correspondence
internal import Enclaves
internal import Foundation
internal import Identities
internal import KeyCustody
internal import OpenPGP
internal import Texts

struct IdentityView {
  let identity: Identity
  /// All of the coffer's, to tell which words mean this one.
  private let all: [Identity]

  /// - Parameter all: needed for views that say what to type.
  init(_ identity: Identity, among all: [Identity] = []) {
    self.identity = identity
    self.all = all.filter { $0.fingerprint != identity.fingerprint } + [identity]
  }

  // MARK: Words

  /// The user ID that speaks for it, else the fingerprint.
  var title: String { identity.userIDs.first?.text ?? identity.fingerprint }

  /// The day of a time, in UTC.
  static func day(_ time: Int64) -> String { String(RFC3339.format(time).prefix(10)) }

  private var profile: String { identity.profile.rawValue }

  /// The words that select it, and no other one, in an example for a shell.
  var word: String {
    let first = identity.userIDs.first
    let fitting = [first?.address, first?.name].compactMap(\.self).first { name in
      if case .one(let found) = all.choose(name) { found.fingerprint == identity.fingerprint } else { false }
    }
    return ShellWord.quoted(fitting ?? identity.fingerprint)
  }

  private var end: (words: String, tone: Tone?) {
    guard let expires = identity.expires else { return ("never expires", nil) }
    if identity.state == .expired { return ("EXPIRED \(Self.day(expires))", .bad) }
    let days = (expires - Int64(Date().timeIntervalSince1970)) / 86_400
    return days > 30
      ? ("expires \(Self.day(expires))", nil)
      : ("expires in \(Int(days).counted("day"))", days <= 14 ? .warning : nil)
  }

  private var condition: (words: String, tone: Tone?) {
    if !identity.hasPrivatePart { return ("PRIVATE PART LOST", .bad) }
    switch identity.state {
    case .revoked: return ("REVOKED", .bad)
    case .unusable: return ("UNUSABLE", .bad)
    case .good, .expired:
      if let backedUp = identity.backedUp { return ("backed up \(Self.day(backedUp))", nil) }
      return identity.isImported ? ("imported; no backup from here", .warning) : ("NO BACKUP", .warning)
    }
  }

  /// A name for a sentence, fit for a terminal.
  var name: String {
    let first = identity.userIDs.first
    return TerminalText.line(first?.name ?? first?.address ?? identity.fingerprint)
  }

  /// What to give away after a change.
  var exportHint: ShownLine {
    "People have your old public part. Send them the new one: coffer identity export \(word) > FILE"
  }

  // MARK: Lines

  /// In the list, on a terminal.
  func row(_ palette: Palette) -> ShownLine {
    let title = ColumnWidth.padded(ColumnWidth.cut(TerminalText.line(title), to: 36), to: 36)
    let start: ShownLine = "\(identity.isDefault ? "*" : " ") \(title)  \(profile.padded(to: 9))  "
    let safety: ShownLine = identity.isQuantumSafe ? "  post-quantum" : ""
    return start + palette.paint("\(end.words.padded(to: 18))", end.tone) + "  "
      + palette.paint("\(condition.words)", condition.tone) + safety
  }

  /// In the list, on a pipe.
  var fields: ShownLine {
    "\(identity.fingerprint)" + "\t" + "\(identity.expires.map(Self.day) ?? "never")" + "\t" + "\(title)"
  }

  /// In capitals and groups of four: two lines of five groups for version 4, four of four for version 6.
  var fingerprint: [ShownLine] { Self.lines(ofFingerprint: identity.fingerprint) }

  private static func lines(ofFingerprint text: String) -> [ShownLine] {
    let digits = Array(text.uppercased())
    let groups = stride(from: 0, to: digits.count, by: 4).map {
      String(digits[$0..<min($0 + 4, digits.count)])
    }
    let perLine = digits.count == 40 ? 5 : 4
    return stride(from: 0, to: groups.count, by: perLine).enumerated().map { number, start in
      "    \(number + 1)  \(groups[start..<min(start + perLine, groups.count)].joined(separator: " "))"
    }
  }

  /// The names and the fingerprint.
  var card: [ShownLine] { identity.userIDs.map { "  \($0.text)" } + fingerprint }

  /// Everything but the parts.
  var page: [ShownLine] {
    // Without its secret part the primary key does nothing.
    let usable = identity.hasPrimaryKey ? identity.parts[...] : identity.parts.dropFirst()
    let uses = Set(usable.flatMap(\.purposes))
    let abilities = ["certify", "sign", "encrypt", "authenticate"].filter(uses.contains)
    let postQuantum = identity.isQuantumSafe ? ", post-quantum" : ""
    let isDefault = identity.isDefault ? ", the default identity" : ""
    return card + [
      "  profile      \(profile), version \(identity.version)\(postQuantum)\(isDefault)",
      "  made         \(Self.day(identity.created)), \(end.words)",
      "  state        \(identity.state.rawValue)",
      "  private part \(identity.place?.sentence ?? "lost")",
      "  can          \(abilities.joined(separator: ", "))",
      "  backup       \(identity.backedUp.map { Self.day($0) } ?? "\(lackOfBackup): coffer identity backup \(word) FILE")",
    ] + replacement.lines.map { "  replacement  \($0)" }
      + (identity.hasPrimaryKey ? [] : ["  primary key  not here: nothing of this identity can be changed"])
  }

  private var replacement: ReplacementWords {
    ReplacementWords(identity.statement, among: all.map(\.statement))
  }

  /// What there is instead of a backup.
  private var lackOfBackup: String {
    identity.isImported ? "none but the file that it came from, if you kept it" : "none"
  }

  /// The primary key and the subkeys.
  var parts: [ShownLine] {
    identity.parts.flatMap { part in
      ["", "  \(PartWords.line(part))"]
        + Self.lines(ofFingerprint: FingerprintText.plain(part.fingerprint))
    }
  }

  // MARK: JSON

  struct Answer: Encodable {
    struct Name: Encodable {
      let text: String
      let name: String?
      let address: String?
    }

    let fingerprint: String
    let profile: String
    let version: Int
    let created: String
    let expires: String?
    let userIds: [Name]
    let custody: String?
    let backedUp: Bool
    let backedUpAt: String?
    let imported: Bool
    let revocation: Bool
    let `default`: Bool
    let state: String
    let privatePart: Bool
    let primaryKey: Bool
    let quantumSafe: Bool
    let replacedBy: ReplacementWords.Other?
    let replaces: [ReplacementWords.Other]?
    let parts: [PartWords.Answer]?
  }

  func answer(withParts: Bool = false) -> Answer {
    Answer(
      fingerprint: identity.fingerprint, profile: profile, version: identity.version,
      created: RFC3339.format(identity.created), expires: identity.expires.map { RFC3339.format($0) },
      userIds: identity.userIDs.map { Answer.Name(text: $0.text, name: $0.name, address: $0.address) },
      custody: identity.place?.kind?.name, backedUp: identity.isBackedUp,
      backedUpAt: identity.backedUp.map { RFC3339.format($0) }, imported: identity.isImported,
      revocation: identity.hasRevocation,
      default: identity.isDefault, state: identity.state.rawValue, privatePart: identity.hasPrivatePart,
      primaryKey: identity.hasPrimaryKey, quantumSafe: identity.isQuantumSafe,
      replacedBy: replacement.replacedBy, replaces: replacement.replaces,
      parts: withParts ? identity.parts.map { PartWords.Answer($0) } : nil)
  }
}

extension EnclaveKind {
  /// Where a private part is, after "it is".
  var sealedTo: String {
    switch self {
    case .tpm: "sealed to this machine's chip"
    case .secureEnclave: "sealed to this machine's Secure Enclave"
    case .software: "sealed by software, not by a chip"
    case .tutorial: "sealed by the tutorial's stand-in for a chip"
    }
  }
}
