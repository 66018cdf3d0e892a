// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Texts

struct AuditCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "audit", abstract: "The log of what was done.")
  static let page = """
    coffer audit: the log of what was done to this coffer

    usage: coffer audit [--no-pager]
                        \(OpeningOptions.usage)

    The log is encrypted. It records kinds and counts but no names, and keeps the newest 1,000 entries.

    example: coffer audit
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let time: String
    let event: String
    let count: Int
  }

  func execute(_ context: CommandContext) throws {
    let entries = try context.open(opening).auditLog()
    Terminal.beginPaging(context)
    for entry in entries where !Terminal.isOutputLost {
      let time = RFC3339.format(entry.time)
      if context.isJSON {
        JSON.print(Answer(time: time, event: entry.event.code, count: entry.count))
      } else {
        let count = entry.count > 0 ? ": \(entry.count)" : ""
        Terminal.print("\(LocalTime.shown(time))  \(entry.event.name)\(count)")
      }
    }
    Terminal.endPaging()
  }
}

extension AuditLog.Event {
  /// For programs; stable.
  var code: String {
    switch self {
    case .created: "created"
    case .passphraseChanged: "passphrase_changed"
    case .slotAdded: "slot_added"
    case .slotRemoved: "slot_removed"
    case .recovered: "recovered"
    case .recoveryDrill: "recovery_drill"
    case .messagesAdded: "messages_added"
    case .messagesRemoved: "messages_removed"
    case .messagesEdited: "messages_edited"
    case .messagesPutBack: "messages_restored"
    case .messagesErased: "messages_erased"
    case .messagesExported: "messages_exported"
    case .keyRotated: "key_rotated"
    case .keyRolledBack: "key_rolled_back"
    case .damageFound: "damage_found"
    case .deviceForgotten: "device_forgotten"
    case .deviceRegistered: "device_registered"
    case .captureAdded: "capture_added"
    case .captureRemoved: "capture_removed"
    case .captureExported: "capture_exported"
    case .captureChanged: "capture_changed"
    case .modeSwitched: "mode_switched"
    case .guardGivenUp: "guard_given_up"
    case .domainReset: "domain_reset"
    case .protectedDataReset: "protected_data_reset"
    case .privateKeysIncomplete: "private_keys_incomplete"
    case .failuresWarned: "failures_warned"
    case .vaultLocked: "vault_locked"
    case .failuresExamined: "failures_examined"
    case .earlierStateAccepted: "earlier_state_accepted"
    case .identityGenerated: "identity_generated"
    case .identityDeleted: "identity_deleted"
    case .contactStored: "contact_stored"
    case .contactRenamed: "contact_renamed"
    case .contactRemoved: "contact_removed"
    case .contactVerified: "contact_verified"
    case .contactNotConfirmed: "contact_not_confirmed"
    case .contactVerificationUndone: "contact_verification_undone"
    case .openPGPEncrypted: "openpgp_encrypted"
    case .openPGPDecrypted: "openpgp_decrypted"
    case .openPGPSigned: "openpgp_signed"
    case .backedUp: "backed_up"
    case .backedUpWithIdentities: "backed_up_with_identities"
    case .restored: "restored"
    case .settingsChanged: "settings_changed"
    case .identityBackedUp: "identity_backed_up"
    case .identitiesImported: "identities_imported"
    case .identityEndChanged: "identity_end_changed"
    case .identityRevoked: "identity_revoked"
    case .identityChanged: "identity_changed"
    case .revocationExported: "revocation_exported"
    case .contactCertified: "contact_certified"
    case .gitSigned: "git_signed"
    case .gitSignedExplained: "git_signed_explained"
    case .accountMade: "account_made"
    case .accountJoined: "account_joined"
    case .accountForgotten: "account_forgotten"
    case .deviceApproved: "device_approved"
    case .deviceRevoked: "device_revoked"
    case .deviceRejoined: "device_rejoined"
    case .accountSecretsChanged: "account_secrets_changed"
    case .accountSettled: "account_settled"
    case .removalsConfirmed: "removals_confirmed"
    case .quarantineTaken: "quarantine_taken"
    case .capturesReleased: "captures_released"
    case .accountMoved: "account_moved"
    case .packsDeleted: "packs_deleted"
    case .accountDestroyed: "account_destroyed"
    }
  }

  var name: String {
    switch self {
    case .created: "coffer made"
    case .passphraseChanged: "passphrase changed"
    case .slotAdded: "slot added"
    case .slotRemoved: "slot removed"
    case .recovered: "recovered"
    case .recoveryDrill: "recovery drill"
    case .messagesAdded: "messages added"
    case .messagesRemoved: "messages moved to the trash"
    case .messagesEdited: "messages edited"
    case .messagesPutBack: "messages taken out of the trash"
    case .messagesErased: "messages erased"
    case .messagesExported: "messages exported"
    case .keyRotated: "vault key rotated"
    case .keyRolledBack: "vault key rolled back"
    case .damageFound: "damage found"
    case .deviceForgotten: "device forgotten"
    case .deviceRegistered: "device registered"
    case .captureAdded: "capture added"
    case .captureRemoved: "capture removed"
    case .captureExported: "capture exported"
    case .captureChanged: "capture changed"
    case .modeSwitched: "mode of private keys switched"
    case .guardGivenUp: "guard given up, with private keys that it opens"
    case .domainReset: "domain of protected data reset"
    case .protectedDataReset: "protected data reset"
    case .privateKeysIncomplete: "private keys incomplete"
    case .failuresWarned: "messages did not open"
    case .vaultLocked: "messages did not open, and the vault locked itself"
    case .failuresExamined: "failures looked at"
    case .earlierStateAccepted: "earlier state accepted"
    case .identityGenerated: "identity made"
    case .identityDeleted: "identity deleted"
    case .contactStored: "contact stored"
    case .contactRenamed: "contact renamed"
    case .contactRemoved: "contact removed"
    case .contactVerified: "contact verified"
    case .contactNotConfirmed: "contact not confirmed"
    case .contactVerificationUndone: "contact no longer verified"
    case .openPGPEncrypted: "OpenPGP message written"
    case .openPGPDecrypted: "OpenPGP message opened"
    case .openPGPSigned: "signature made"
    case .backedUp: "backed up, without identities"
    case .backedUpWithIdentities: "backed up, with identities"
    case .restored: "restored from a backup"
    case .settingsChanged: "setting changed"
    case .identityBackedUp: "identity backed up"
    case .identitiesImported: "identities imported"
    case .identityEndChanged: "end of an identity changed"
    case .identityRevoked: "identity revoked"
    case .identityChanged: "names or parts of an identity changed"
    case .revocationExported: "revocation of an identity exported"
    case .contactCertified: "contact certified"
    case .gitSigned: "signature made for git"
    case .gitSignedExplained: "signature made for git, version 6 explained"
    case .accountMade: "account of several devices made"
    case .accountJoined: "account joined"
    case .accountForgotten: "account forgotten"
    case .deviceApproved: "device let into the account"
    case .deviceRevoked: "device of the account revoked"
    case .deviceRejoined: "account joined again"
    case .accountSecretsChanged: "what opens the account changed"
    case .accountSettled: "continuation of the account chosen"
    case .removalsConfirmed: "held removals of a device confirmed"
    case .quarantineTaken: "taken from the quarantine"
    case .capturesReleased: "captures released"
    case .accountMoved: "account moved"
    case .packsDeleted: "packs of removed messages deleted"
    case .accountDestroyed: "account deleted at its place"
    }
  }
}
