// SPDX-License-Identifier: Apache-2.0
//
// What would come out of GnuPG, and what came of it: the preview, the counts, the answer for programs.

internal import CofferKit
internal import Contacts
internal import Correspondence
internal import GnuPG
internal import Identities
internal import OpenPGP
internal import Primitives
internal import Texts

struct GPGImportPlan {
  /// One private key that gpg knows.
  struct Own {
    enum State: String {
      case imported
      /// Taken without its primary key.
      case offlinePrimary = "offline_primary"
      case onCard = "on_card"
      /// No part of it is with gpg.
      case elsewhere
      case alreadyHere = "already_here"
      /// Here, and changed in GnuPG since.
      case updated
      case skipped
    }

    let key: GnuPGKey
    var state: State
    /// What GnuPG's copy of a key that is here has beyond it.
    var news: OwnKeyNews?
    var reason: String?
    /// Whether it is in the coffer now.
    var isSealed = false

    /// Whether its private part is asked for.
    var isWanted: Bool { state == .imported || state == .offlinePrimary || state == .updated && hasNewParts }
    /// Whether gpg has a private part that is not here, though the key is.
    private var hasNewParts: Bool {
      guard let news, key.places.contains(.here) else { return false }
      return !news.news.newSubkeys.isEmpty || !news.identity.hasPrimaryKey && key.places.first == .here
    }

    mutating func leaveOut(_ reason: String) {
      state = .skipped
      self.reason = reason
    }
  }

  var identities: [Own]
  private var previews: [ContactPreview] = []
  private var omissions: [GnuPGPublicParts.Omission] = []
  private let kept: Set<String>

  /// - Parameter keys: as gpg lists them.
  init(_ keys: [GnuPGKey], _ coffer: Coffer, _ context: CommandContext) throws {
    let (open, all) = try context.identities(coffer)
    let sealed = try open.store.keptFingerprints()
    kept = sealed.union(all.map(\.fingerprint))
    identities = keys.map { Own(key: $0, state: Self.state(of: $0, isHere: sealed.contains($0.fingerprint))) }
  }

  private static func state(of key: GnuPGKey, isHere: Bool) -> Own.State {
    if isHere { return .alreadyHere }
    guard key.places.contains(.here) else { return key.places.contains(.card) ? .onCard : .elsewhere }
    return key.places.first == .here ? .imported : .offlinePrimary
  }

  /// Whether a key is the user's own, here or with gpg: it does not become a contact.
  func isOwn(_ fingerprint: String) -> Bool {
    kept.contains(fingerprint) || identities.contains { $0.key.fingerprint == fingerprint }
  }

  /// What GnuPG's public parts of the user's own keys say beyond what is here.
  mutating func compare(_ parts: PublicParts?, _ coffer: Coffer) throws {
    let book = try coffer.addressBook()
    let copies = parts.map { book.known($0).certificates } ?? []
    for index in identities.indices where identities[index].state == .alreadyHere {
      let fingerprint = identities[index].key.fingerprint
      guard let identity = book.identities.first(where: { $0.fingerprint == fingerprint }),
        let copy = copies.first(where: { $0.fingerprint == identity.certificate.fingerprint })
      else { continue }
      identities[index].news = OwnKeyNews(identity, identity.news(in: copy), coffer)
      identities[index].state = .updated
      let isNew = identities[index].news?.isNew == true || identities[index].isWanted
      if !isNew { identities[index].state = .alreadyHere }
    }
  }

  mutating func add(_ previews: [ContactPreview], _ omissions: [GnuPGPublicParts.Omission]) {
    self.previews = previews
    self.omissions = omissions
  }

  mutating func noteSealed() {
    for index in identities.indices where identities[index].isWanted { identities[index].isSealed = true }
  }

  /// What becomes of a public part where nobody decides one by one: what takes something away is left out, and another
  /// key for an address waits.
  static func decision(_ preview: ContactPreview) -> NewKeyDecision? {
    switch preview.outcome {
    case .new, .newKey: .keep
    case .unchanged: nil
    case .updated: preview.needsDecision ? nil : .keep
    }
  }

  // MARK: Counts

  private func count(_ outcome: ContactPreview.Outcome) -> Int { previews.count { $0.outcome == outcome } }
  private var refused: [ContactPreview] {
    previews.filter { $0.outcome == .updated && Self.decision($0) == nil }
  }

  /// Contacts that are stored or changed.
  var contactCount: Int { previews.count { Self.decision($0) != nil } }
  var hasAnything: Bool { !changed.isEmpty || contactCount > 0 }
  /// Identities that are taken, or learn something.
  private var changed: [Own] { identities.filter { $0.isWanted || $0.state == .updated } }
  /// What should have been taken, and was not.
  var leftOutCount: Int {
    omissions.count + refused.count + identities.count { $0.state == .skipped }
  }

  /// "2 identities and 41 contacts".
  var summary: String { Self.words(changed.count, contactCount) }

  private static func words(_ identities: Int, _ contacts: Int) -> String {
    let parts = [
      identities > 0 ? identities.counted("identity", "identities") : nil,
      contacts > 0 ? contacts.counted("contact") : nil,
    ]
    return parts.compactMap(\.self).joined(separator: " and ")
  }

  /// What came in.
  var result: String {
    let taken = identities.count { $0.isSealed || $0.state == .updated }
    let words = Self.words(taken, contactCount)
    return words.isEmpty ? "Nothing was taken." : "\(words) taken over."
  }

  // MARK: The preview

  func tell(_ gnupg: GnuPG, _ context: CommandContext) {
    context.remark("GnuPG \(gnupg.version), \(gnupg.home)")
    for (index, own) in identities.enumerated() {
      let end = own.key.expires.map { "expires \(IdentityView.day($0))" } ?? "never expires"
      let start = index == 0 ? "yours:   " : "         "
      context.remark("  \(start)\(GnuPGPrivateParts.name(own.key))")
      context.remark("           \(own.key.algorithm), \(end)")
      context.remark("           \(own.key.fingerprint)")
      if let words = Self.words(own) { context.remark("           \(words)") }
      if own.state == .updated {
        for line in own.news?.lines ?? [] { context.remark("             \(line)") }
        if own.isWanted { context.remark("             a private part that is not here") }
      }
    }
    let all = previews.count + omissions.count
    var facts = [all.counted("public part")]
    let expired = previews.count { $0.key.status == .expired }
    let weak = previews.count { $0.key.status == .tooWeak || $0.key.status == .cannotReceive }
    if expired > 0 { facts.append("\(expired) of them expired") }
    if weak > 0 { facts.append("\(weak) that messages cannot go to") }
    if count(.unchanged) > 0 { facts.append("\(count(.unchanged)) here already") }
    context.remark("  others:  \(facts.joined(separator: ", "))")
    for preview in previews where preview.outcome == .newKey {
      let name = ContactWords.quoted(preview.contact?.name ?? "")
      context.remark("           \(name) has another key here; this one will wait for your decision")
    }
    for preview in refused {
      let name = ContactWords.quoted(preview.contact?.name ?? "")
      context.remark("           \(name) has changed in a way that you should see: left out")
    }
    for omission in omissions {
      context.remark("           \(GnuPGPrivateParts.name(omission.key)) is left out: \(omission.words)")
    }
    if contactCount > 0 {
      context.remark("GnuPG's trust is not taken over: you verify contacts here yourself.")
    }
  }

  private static func words(_ own: Own) -> String? {
    switch own.state {
    case .imported:
      own.key.places.contains(.card) ? "a part of it is on a card, and stays there" : nil
    case .offlinePrimary:
      "its main part is not here: it can read and sign, and never be changed or revoked"
    case .onCard: "on a card: stays there"
    case .elsewhere: "no part of it is here: left out"
    case .alreadyHere: "already here: left out"
    case .updated: "already here; new in GnuPG:"
    case .skipped: nil
    }
  }

  // MARK: JSON

  var answer: GPGImportCommand.Answer {
    GPGImportCommand.Answer(
      identities: identities.map {
        .init(
          fingerprint: $0.key.fingerprint, name: $0.key.userIDs.first, state: $0.state.rawValue,
          reason: $0.reason)
      },
      contacts: .init(
        new: count(.new), updated: count(.updated) - refused.count, unchanged: count(.unchanged),
        waiting: count(.newKey), refused: refused.count),
      failed: omissions.map { .init(fingerprint: $0.key.fingerprint, reason: $0.reason) })
  }
}
