// SPDX-License-Identifier: Apache-2.0
//
// Changes of what opens a coffer, and of the machine that it is registered on.

import CofferKit
import Enclaves
import Keychains
import Secrets

extension Operation {
  static let slots = [
    Operation("change the passphrase") { room in
      let former = try room.passphrase()
      let new = try room.passphrase("new passphrase")
      try room.makeCoffer(former)
      let coffer = try room.open(former)
      try coffer.changePassphrase(to: new)
      coffer.close()
      try room.tellKeys(SlotCredential(new))
    },
    Operation("set a passphrase after a recovery") { room in
      let phrase = room.phrase()
      try room.makeCoffer(try room.passphrase(), phrase)
      let coffer = try Coffer.open(
        home: room.home, credential: SlotCredential(phrase), machine: room.machine)
      let new = try room.passphrase("new passphrase")
      _ = try coffer.resetPassphrase(to: new, kdf: Room.cheapKDF())
      coffer.close()
      try room.tellKeys(SlotCredential(new))
    },
    Operation("refuse a weak passphrase") { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase)
      let coffer = try room.open(passphrase)
      defer { coffer.close() }
      // Nine characters: too few for every policy.
      let weak = try Passphrase(utf8: room.text("weak passphrase", byteCount: 9))
      try expectThrow("a weak passphrase") { try coffer.changePassphrase(to: weak) }
    },
    Operation("add a passphrase and remove it") { room in
      let passphrase = try room.passphrase()
      let other = try room.passphrase("second passphrase")
      try room.makeCoffer(passphrase)
      let coffer = try room.open(passphrase)
      let slot = try coffer.addSlot(other, kdf: Room.cheapKDF())
      try coffer.removeSlot(slot.id)
      coffer.close()
    },
    Operation("add a recovery phrase") { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase)
      let coffer = try room.open(passphrase)
      _ = try coffer.addSlot(room.phrase())
      coffer.close()
    },
    Operation("add a chip's slot and remove it", needs: .chip) { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase)
      let coffer = try room.open(passphrase)
      let slot = try coffer.addSlot(room.machine.chipSlot(), pin: room.pin())
      try coffer.removeSlot(slot.id)
      coffer.close()
    },
    Operation("recovery drill") { room in
      let phrase = room.phrase()
      try room.makeCoffer(try room.passphrase(), phrase)
      let coffer = try Coffer.open(
        home: room.home, credential: SlotCredential(phrase), machine: room.machine)
      try coffer.vault.checkCount()
      try coffer.noteRecoveryDrill()
      coffer.close()
    },
    Operation("forget this machine") { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase)
      let coffer = try room.open(passphrase)
      _ = try coffer.forgetDevice()
      _ = try coffer.registerDeviceIfForgotten()
      coffer.close()
    },
    Operation("forget this machine's chip", needs: .chip) { room in
      let passphrase = try room.passphrase()
      try room.makeCoffer(passphrase)
      let coffer = try room.open(passphrase)
      _ = try coffer.addSlot(room.machine.chipSlot(), pin: room.pin())
      try expect(try coffer.forgetDevice().slotCount == 1, "the chip's slot goes")
      coffer.close()
    },
  ]
}
