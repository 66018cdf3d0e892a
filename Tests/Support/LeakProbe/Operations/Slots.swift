// SPDX-License-Identifier: Apache-2.0
//
// Changes of what opens a coffer, and of the machine that it is registered on.

import CofferKit
import Enclaves
import Keychains
import Secrets

extension Operation {
  static let slots = [
    Operation("change the passphrase") { workspace in
      let former = try workspace.passphrase()
      let new = try workspace.passphrase("new passphrase")
      try workspace.makeCoffer(former)
      let coffer = try workspace.open(former)
      try coffer.changePassphrase(to: new)
      coffer.close()
      try workspace.tellKeys(SlotCredential(new))
    },
    Operation("set a passphrase after a recovery") { workspace in
      let phrase = workspace.phrase()
      try workspace.makeCoffer(try workspace.passphrase(), phrase)
      let coffer = try Coffer.open(
        home: workspace.home, credential: SlotCredential(phrase), machine: workspace.machine)
      let new = try workspace.passphrase("new passphrase")
      _ = try coffer.resetPassphrase(to: new, kdf: Workspace.cheapKDF())
      coffer.close()
      try workspace.tellKeys(SlotCredential(new))
    },
    Operation("refuse a weak passphrase") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      let coffer = try workspace.open(passphrase)
      defer { coffer.close() }
      // Nine characters: too few for every policy.
      let weak = try Passphrase(utf8: workspace.text("weak passphrase", byteCount: 9))
      try expectThrow("a weak passphrase") { try coffer.changePassphrase(to: weak) }
    },
    Operation("add a passphrase and remove it") { workspace in
      let passphrase = try workspace.passphrase()
      let other = try workspace.passphrase("second passphrase")
      try workspace.makeCoffer(passphrase)
      let coffer = try workspace.open(passphrase)
      let slot = try coffer.addSlot(other, kdf: Workspace.cheapKDF())
      try coffer.removeSlot(slot.id)
      coffer.close()
    },
    Operation("add a recovery phrase") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      let coffer = try workspace.open(passphrase)
      _ = try coffer.addSlot(workspace.phrase())
      coffer.close()
    },
    Operation("add a chip's slot and remove it", needs: .chip) { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      let coffer = try workspace.open(passphrase)
      let slot = try coffer.addSlot(workspace.machine.chipSlot(), pin: workspace.pin())
      try coffer.removeSlot(slot.id)
      coffer.close()
    },
    Operation("recovery drill") { workspace in
      let phrase = workspace.phrase()
      try workspace.makeCoffer(try workspace.passphrase(), phrase)
      let coffer = try Coffer.open(
        home: workspace.home, credential: SlotCredential(phrase), machine: workspace.machine)
      try coffer.vault.checkRows()
      try coffer.noteRecoveryDrill()
      coffer.close()
    },
    Operation("forget this machine") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      let coffer = try workspace.open(passphrase)
      _ = try coffer.forgetDevice()
      _ = try coffer.registerDeviceIfForgotten()
      coffer.close()
    },
    Operation("forget this machine's chip", needs: .chip) { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      let coffer = try workspace.open(passphrase)
      _ = try coffer.addSlot(workspace.machine.chipSlot(), pin: workspace.pin())
      try expect(try coffer.forgetDevice().slotCount == 1, "the chip's slot goes")
      coffer.close()
    },
  ]
}
