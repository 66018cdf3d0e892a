// SPDX-License-Identifier: Apache-2.0
//
// Making a coffer and opening it, in every way there is, and failing to.

import CofferKit
import Keychains
import Secrets
import Storage

extension Operation {
  static let unlocking = [
    Operation("make a coffer") { workspace in
      try workspace.makeCoffer(try workspace.passphrase(), workspace.phrase(), kdf: .recommended)
    },
    Operation("unlock with a passphrase (Argon2id)") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase, workspace.phrase(), kdf: .recommended)
      try workspace.open(passphrase).close()
    },
    Operation("unlock with a passphrase (PBKDF2)") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase, workspace.phrase(), kdf: .pbkdf2)
      try workspace.open(passphrase).close()
    },
    Operation("unlock with the recovery phrase") { workspace in
      let phrase = workspace.phrase()
      try workspace.makeCoffer(try workspace.passphrase(), phrase)
      try workspace.tellKeys(SlotCredential(phrase))
      // As it is typed.
      let typed = try phrase.withWords { try RecoveryPhrase(words: $0) }
      let (home, machine) = (workspace.home, workspace.machine)
      try Coffer.open(home: home, credential: SlotCredential(typed), machine: machine).close()
    },
    Operation("unlock with a chip's PIN", needs: .chip) { workspace in
      let pin = workspace.pin()
      try workspace.makeCofferWithChip(pin)
      let machine = workspace.machine
      try LockedCoffer(home: workspace.home, machine: machine).unlock(machine.chipSlot(), pin: pin).close()
    },
    Operation("unlock with keys handed on") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      let keys = try workspace.classKeys(passphrase)
      let coffer = try LockedCoffer(home: workspace.home, machine: workspace.machine).unlock(keys)
      try coffer.vault.checkRows()
      coffer.close()
    },
    Operation("a wrong passphrase") { workspace in
      try workspace.makeCoffer(try workspace.passphrase())
      let other = try workspace.passphrase("wrong passphrase")
      try expectThrow("a wrong passphrase") { _ = try workspace.open(other) }
    },
    Operation("a wrong PIN", needs: .chip) { workspace in
      try workspace.makeCofferWithChip(workspace.pin())
      let other = workspace.pin("wrong PIN")
      try expectThrow("a wrong PIN") {
        _ = try LockedCoffer(home: workspace.home, machine: workspace.machine).unlock(
          workspace.machine.chipSlot(), pin: other)
      }
    },
    Operation("unlock with damaged slots") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      try workspace.damageFirstSlot()
      try expectThrow("unlocking a damaged slot") { _ = try workspace.open(passphrase) }
    },
    Operation("erase a coffer") { workspace in
      try workspace.makeCoffer(try workspace.passphrase())
      _ = try Erasure.erase(home: workspace.home)
    },
  ]
}

extension Workspace {
  /// Makes a coffer that a chip opens too.
  @inline(never)
  func makeCofferWithChip(_ pin: SharedSecretBytes) throws {
    let passphrase = try passphrase()
    try makeCoffer(passphrase)
    let coffer = try open(passphrase)
    _ = try coffer.addSlot(machine.chipSlot(), pin: pin)
    coffer.close()
  }

  /// The class keys, as an agent gets them.
  func classKeys(_ passphrase: borrowing Passphrase) throws -> ClassKeys {
    let file = try DatabaseFile.open(home: home)
    defer { file.close() }
    return try file.read(Keybag.load).unlock(SlotCredential(passphrase)).keys
  }
}
