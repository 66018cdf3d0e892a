// SPDX-License-Identifier: Apache-2.0
//
// What `coffer status` says about OpenPGP: contacts, identities, and what each use of a private part asks for.

internal import CofferKit
internal import Contacts
internal import Identities
internal import KeyCustody
internal import ProtectedData
internal import UserAuthentication

extension StatusCommand {
  /// What protected data and custody hold.
  struct People {
    let contactCount: Int
    let identityCount: Int
    let withoutBackup: Int
    let mode: AuthenticationMode
    /// Wrong fingers in a row until none counts; nil if that cannot be read.
    let fingersLeft: Int?
    /// In mode standard; 0 in high security, whatever the setting.
    let graceSeconds: Int
    /// Whether the guard is security keys.
    let hasGuardKeys: Bool
    let hasCompletedTutorial: Bool

    init(_ coffer: Coffer) throws {
      let identities = try coffer.identities(coffer.openIdentities())
      contactCount = try coffer.contacts().list(at: coffer.openPGPTime).count
      identityCount = identities.count
      withoutBackup = identities.count { $0.hasPrivatePart && !$0.isBackedUp }
      mode = try coffer.authenticationMode()
      hasGuardKeys = try coffer.guardKeys() != nil
      hasCompletedTutorial = try coffer.protectedSettings().hasCompletedTutorial
      let limit = AuthenticationLimits().fingerFailureLimit
      fingersLeft = (try? coffer.fingerCount.value()).map { max(0, limit - $0) }
      graceSeconds = mode.isHighSecurity ? 0 : Int(try coffer.protectedSettings().gracePeriodSeconds)
    }

    func show(_ palette: Palette) {
      StatusCommand.row("contacts   \(contactCount)")
      let advice: ShownLine =
        withoutBackup > 0 ? ", \(withoutBackup) without a backup: run 'coffer identity backup WHO FILE'" : ""
      StatusCommand.row("identities \(identityCount)" + palette.paint(advice, .warning))
      if !hasCompletedTutorial { StatusCommand.row("tutorial   not completed: run 'coffer tutorial'") }
      guard identityCount > 0 || mode != .standard else { return }
      let use = mode.asksFor(hasKeys: hasGuardKeys)
      StatusCommand.row("mode       \(mode.name): each use of a private part \(use)")
      for name in mode.guards(hasKeys: hasGuardKeys) {
        StatusCommand.row("guard      \(name.rawValue): \(name.sentence)")
      }
      StatusCommand.row("fingers    " + palette.paint("\(fingers)", fingersLeft == 0 ? .bad : nil))
      StatusCommand.row("grace      \(grace)")
    }

    /// Whether a finger does instead of the passphrase.
    var isFingerEnough: Bool { mode == .standardWithFinger }

    private var opensWithFinger: Bool { mode == .standardWithFinger || mode == .highSecurityWithFinger }

    private var fingers: String {
      guard opensWithFinger else { return "open nothing" }
      let who = "open private parts, and not the coffer"
      switch fingersLeft {
      case nil: return "\(who); how many were wrong cannot be read"
      case 0: return "locked: too many in a row were wrong; 'coffer unlock' lets them count again"
      case let left?:
        return "\(who); \(left.counted("wrong one", "wrong ones")) in a row until they are locked"
      }
    }

    private var grace: String {
      if mode.isHighSecurity { return "none: each use asks" }
      guard graceSeconds > 0 else { return "off: each use asks" }
      return "in a session nothing is asked for \(graceSeconds) s after the passphrase or PIN"
    }
  }
}
