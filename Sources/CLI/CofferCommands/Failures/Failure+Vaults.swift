// SPDX-License-Identifier: Apache-2.0

internal import Keychains
internal import Vaults

extension Failure {
  init(vault error: VaultError) {
    let code = error.code.lowercased()
    switch error {
    case .dataTampered, .decryptionFailed:
      self.init(.corrupt, code, "message corrupted or tampered", hint: Self.corruptHint)
    case .corrupt:
      self.init(.corrupt, code, "data corruption detected; restore from backup", hint: Self.corruptHint)
    case .lockedAfterFailures:
      self.init(
        .locked, code,
        "data corruption detected; restore from backup: more than 100 messages did not open within an hour, and "
          + "the vault has locked itself",
        hint: "authenticate with 'coffer unlock'; then 'coffer doctor --deep' names the messages")
    case .keychainAccessDenied: self.init(.locked, code, "the coffer is locked")
    case .keychainNotAvailable(let error): self.init(keychain: error)
    case .messageNotFound:
      self.init(.missing, code, "no such message", hint: "'coffer message list' shows what there is")
    case .messageInTrash:
      self.init(
        .missing, code, "the message is in the trash", hint: "'coffer trash restore' puts it back")
    case .notInTrash:
      self.init(
        .missing, code, "no such message in the trash", hint: "'coffer trash list' shows what is in it")
    case .versionNotFound:
      self.init(
        .missing, code, "the message has no such version", hint: "'coffer message history' shows its versions"
      )
    case .messageTooLarge(let limit):
      self.init(.refused, code, "a message may be at most \(limit >> 20) MiB")
    case .metadataOutOfBounds:
      self.init(.refused, code, "the title, the tags or the date is too long")
    case .noRotationUnderWay:
      self.init(.missing, code, "no rotation is under way", hint: "'coffer vault rotate' begins one")
    case .nothingToRollBack:
      self.init(
        .missing, code, "no former key is kept", hint: "former keys are kept for \(Vault.retiredKeyDays) days"
      )
    case .encryptionFailed:
      self.init(.bug, code, "the message could not be encrypted; nothing of it was stored")
    }
  }
}
