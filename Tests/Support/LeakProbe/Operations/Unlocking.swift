// SPDX-License-Identifier: Apache-2.0
//
// Making a coffer and opening it, in every way there is, and failing to.

import CofferKit
import Keychains
import Secrets
import Storage

extension Operation {
  static let unlocking = [
    Operation("make a coffer") { room in
      try room.makeCoffer(try room.passphrase(), room.phrase(), kdf: .recommended)
    },
    Operation("unlock with a passphrase (Argon2id)") { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase, room.phrase(), kdf: .recommended)
      try room.open(passphrase).close()
    },
    Operation("unlock with a passphrase (PBKDF2)") { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase, room.phrase(), kdf: .pbkdf2)
      try room.open(passphrase).close()
    },
    Operation("unlock with the recovery phrase") { room in
      let phrase = room.phrase()
      try room.makeCoffer(try room.passphrase(), phrase)
      try room.tellKeys(SlotCredential(phrase))
      // As it is typed.
      let typed = try phrase.withWords { try RecoveryPhrase(words: $0) }
      try Coffer.open(home: room.home, credential: SlotCredential(typed), machine: room.machine).close()
    },
    Operation("unlock with a chip's PIN", needs: .chip) { room in
      let pin = room.pin()
      try room.makeCofferWithChip(pin)
      try LockedCoffer(home: room.home, machine: room.machine).unlock(pin: pin).close()
    },
    Operation("unlock with keys handed on") { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase)
      let keys = try room.classKeys(passphrase)
      let coffer = try LockedCoffer(home: room.home, machine: room.machine).unlock(keys)
      try coffer.vault.checkCount()
      coffer.close()
    },
    Operation("a wrong passphrase") { room in
      try room.makeCoffer(try room.passphrase())
      let other = try room.passphrase("wrong passphrase")
      try expectThrow("a wrong passphrase") { _ = try room.open(other) }
    },
    Operation("a wrong PIN", needs: .chip) { room in
      try room.makeCofferWithChip(room.pin())
      let other = room.pin("wrong PIN")
      try expectThrow("a wrong PIN") {
        _ = try LockedCoffer(home: room.home, machine: room.machine).unlock(pin: other)
      }
    },
    Operation("unlock with damaged slots") { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase)
      try room.damageFirstSlot()
      try expectThrow("unlocking a damaged slot") { _ = try room.open(passphrase) }
    },
    Operation("erase a coffer") { room in
      try room.makeCoffer(try room.passphrase())
      _ = try Erasure.erase(home: room.home)
    },
  ]
}

extension Room {
  /// Makes a coffer that a chip opens too.
  @inline(never)
  func makeCofferWithChip(_ pin: SharedSecretBytes) throws {
    let passphrase = try passphrase()
    try makeCoffer(passphrase)
    let coffer = try open(passphrase)
    _ = try coffer.addSlot(pin: pin)
    coffer.close()
  }

  /// The class keys, as an agent gets them.
  func classKeys(_ passphrase: borrowing Passphrase) throws -> ClassKeys {
    let file = try DatabaseFile.open(home: home)
    defer { file.close() }
    return try file.read(Keybag.load).unlock(SlotCredential(passphrase)).keys
  }
}
