// SPDX-License-Identifier: Apache-2.0
//
// The security keys of the guard: enrolled, added, removed. Every change makes a new guard secret, for which each key
// that stays is needed once.

internal import CofferKit
internal import KeyCustody
internal import ProtectedData
internal import Secrets
internal import SecurityKeys

/// `coffer mode guard add NAME` and `coffer mode guard remove NAME`.
struct GuardKeyChange {
  /// What is done with the key of the name.
  enum Deed: String, CaseIterable {
    case add, remove
  }

  let deed: Deed
  let label: String

  /// - Parameter words: after `mode guard`.
  /// - Throws: ``Failure``.
  init(_ words: [String]) throws {
    guard words.count == 2, let deed = Deed(rawValue: words[0]) else {
      throw Failure.usage("'mode guard' wants add NAME or remove NAME", hint: "coffer mode --help")
    }
    guard StoredSecurityKey.isLabel(words[1]) else { throw Failure.invalidName }
    self.deed = deed
    label = words[1]
  }

  func execute(_ context: CommandContext, _ opening: OpeningOptions, newPIN: NewGuardPINOptions) throws {
    let coffer = try context.open(opening)
    let present = try GuardKeys.required(coffer)
    switch deed {
    case .add: try add(to: present, coffer, context, opening, newPIN)
    case .remove: try remove(from: present, coffer, context, opening)
    }
  }

  private func add(
    to present: GuardKeys, _ coffer: Coffer, _ context: CommandContext, _ opening: OpeningOptions,
    _ newPIN: NewGuardPINOptions
  ) throws {
    guard !present.keys.contains(where: { $0.label == label }) else {
      throw Failure(.inUse, "already_exists", "a security key of the guard already has this name")
    }
    guard context.hasTerminal else {
      throw Failure(.locked, "no_prompt", "there is no terminal to say on which security key to plug in")
    }
    let parts = try context.privateParts(coffer, opening, "to change the guard", sealing: true)
    let enrolment = SecurityKeyEnrolment(context, parts.custody)
    let kept = try enrolment.kept(present.keys, present.salt, parts.answer)
    let pin = try newPIN.given()
    let made = try context.withNextSecurityKey("take the security key out, and put in the new one") {
      try context.enrolledSecurityKey(
        besides: present.keys.map(\.credential), salt: present.salt, pin: pin, option: "--new-guard-pin")
    }
    try enrolment.change(parts, kept + [try GuardKey(label, made)], present.salt)
  }

  private func remove(
    from present: GuardKeys, _ coffer: Coffer, _ context: CommandContext, _ opening: OpeningOptions
  ) throws {
    guard present.keys.contains(where: { $0.label == label }) else {
      throw Failure(
        .missing, "no_such_key", "no security key of the guard has this name",
        hint: "'coffer mode' shows the names")
    }
    let staying = present.keys.filter { $0.label != label }
    guard !staying.isEmpty else {
      throw Failure(
        .refused, "last_key", "this is the guard's only security key",
        hint:
          "'coffer mode standard' leaves the guard, with --guard-lost without it; 'coffer mode guard add NAME' adds another key"
      )
    }
    let parts = try context.privateParts(coffer, opening, "to change the guard", sealing: true)
    let enrolment = SecurityKeyEnrolment(context, parts.custody)
    try enrolment.change(parts, try enrolment.kept(staying, present.salt, parts.answer), present.salt)
  }
}

extension GuardKeys {
  /// The keys of the guard.
  /// - Throws: ``Failure`` when it has none.
  fileprivate static func required(_ coffer: Coffer) throws -> GuardKeys {
    guard let keys = try coffer.guardKeys() else {
      throw Failure(
        .refused, "no_key_guard", "the guard is not one of security keys",
        hint: "'coffer mode high-security --guard security-key' makes one")
    }
    return keys
  }
}

/// Gathers the security keys of a new guard, one after the other.
struct SecurityKeyEnrolment {
  private let context: CommandContext
  private let custody: PrivateKeyCustody

  init(_ context: CommandContext, _ custody: PrivateKeyCustody) {
    var context = context
    context.purpose = nil
    self.context = context
    self.custody = custody
  }

  /// A guard of the plugged key, and of a second one that is offered at once on a terminal.
  func newGuard(pin: SharedSecretBytes?) throws -> NewGuard {
    let salt = PrivateKeyCustody.newGuardSalt()
    let first = try context.enrolledSecurityKey(
      besides: [], salt: salt, pin: pin, option: "--new-guard-pin")
    var keys = [try GuardKey("first", first)]
    if context.hasTerminal, !context.isJSON, try wantsSecond() {
      let second = try context.withNextSecurityKey("take the security key out, and put in the second one") {
        try context.enrolledSecurityKey(
          besides: [first.credential], salt: salt, pin: nil, option: "--new-guard-pin")
      }
      keys.append(try GuardKey("second", second))
    }
    return try custody.newGuard(keys: keys, salt: salt)
  }

  private func wantsSecond() throws -> Bool {
    context.remark("If the only security key is lost, only the backups of your identities help.")
    return try context.confirm("Enrol a second key now?")
  }

  /// The keys that stay: the one that has answered, and each other as it is plugged in.
  func kept(
    _ keys: [GuardKeys.Key], _ salt: [UInt8], _ answer: SecurityKeyAnswer?
  ) throws -> [GuardKey] {
    try keys.map { key in
      if let answer, answer.credential == key.credential { return try GuardKey(key.label, answer) }
      let words = "take the security key out, and put in '\(key.label)'"
      let answer = try context.withNextSecurityKey(words) {
        try context.securityKeyAnswer([key.credential], salt: salt, pin: nil, option: "--guard-pin")
      }
      return try GuardKey(key.label, answer)
    }
  }

  /// Brings all private parts under a guard of these keys.
  func change(_ parts: PrivateParts, _ keys: [GuardKey], _ salt: [UInt8]) throws {
    try parts.coffer.switchMode(
      custody, to: .highSecurityWithGuard, parts.authorization,
      guard: custody.newGuard(keys: keys, salt: salt), leaving: .lost, acknowledgesMissingBackup: true)
    let labels = keys.map(\.label)
    if context.isJSON {
      return JSON.print(ModeCommand.Answer(.highSecurityWithGuard, keys: labels))
    }
    context.remark("The guard's security keys: \(labels.joined(separator: ", ")).")
  }
}
