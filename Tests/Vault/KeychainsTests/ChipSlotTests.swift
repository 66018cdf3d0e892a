// SPDX-License-Identifier: Apache-2.0
//
// Slots that a chip opens: on a TPM in software, restarted, replaced and locked out.

#if TPM
  import Enclaves
  import Foundation
  import Primitives
  import Secrets
  import SoftwareTPM
  import Testing

  @testable import Keychains

  @Suite("Slots of a chip", .enabled(if: SoftwareTPM.isInstalled, "swtpm is installed by scripts/packages"))
  struct ChipSlotTests {
    private let chip: SoftwareTPM
    private let enclave: TPMEnclave
    private let keybag: Keybag
    private let keys: ClassKeys

    init() throws {
      chip = try SoftwareTPM()
      enclave = TPMEnclave(tcti: chip.tcti)
      var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
      let credential = try TPMSlot(enclave).newCredential(pin: Self.pin("482913"))
      try keybag.addSlot(credential, label: "here", kdf: .agreement, keys: unlocked.keys, now: 2)
      self.keybag = keybag
      keys = unlocked.keys
    }

    @Test("The PIN gives all keys, also after the record was stored and the machine started anew")
    func opens() throws {
      #expect(try keybag.unlock(TPMSlot(enclave), pin: pin("482913")).keys.exposed == keys.exposed)
      let stored = try read(keybag.record())
      #expect(stored == keybag)
      try chip.restart()
      let unlocked = try stored.unlock(TPMSlot(enclave), pin: pin("482913"))
      #expect(unlocked.keys.exposed == keys.exposed)
      #expect(unlocked.slot.kind == .enclave && unlocked.slot.label == "here")
    }

    @Test("A chip knows that a slot is its own, also while it is locked; another chip has none")
    func hasSlot() throws {
      #expect(keybag.hasSlot(of: TPMSlot(enclave)))
      #expect(try !Keybag.create(passphrase("two"), kdf: cheapPBKDF2, now: 1).0.hasSlot(of: TPMSlot(enclave)))
      try chip.run("dictionarylockout", "-s", "-n", "1", "-t", "600", "-l", "600")
      _ = try? keybag.unlock(TPMSlot(enclave), pin: pin("000001"))
      #expect(keybag.hasSlot(of: TPMSlot(enclave)))
      try chip.replace()
      #expect(!keybag.hasSlot(of: TPMSlot(enclave)))
    }

    @Test("Wrong PINs are counted until the chip locks itself, and says for how long")
    func lockout() throws {
      try chip.run("dictionarylockout", "-s", "-n", "3", "-t", "600", "-l", "600")
      for _ in 1...3 {
        #expect(throws: KeybagError.enclave(.wrongPasscode)) {
          try keybag.unlock(TPMSlot(enclave), pin: pin("000001"))
        }
      }
      #expect(throws: KeybagError.enclave(.lockedOut(secondsLeft: 600))) {
        try keybag.unlock(TPMSlot(enclave), pin: pin("482913"))
      }
      #expect(throws: EnclaveError.lockedOut(secondsLeft: 600)) { try enclave.checkReadiness() }
      #expect(try keybag.unlock(passphrase("one")).keys.exposed == keys.exposed)
      try chip.run("dictionarylockout", "-c")
      #expect(try keybag.unlock(TPMSlot(enclave), pin: pin("482913")).keys.exposed == keys.exposed)
    }

    @Test("A chip that was replaced or cleared is named, and the passphrase opens as before")
    func replaced() throws {
      try chip.replace()
      #expect(throws: KeybagError.enclave(.otherChip)) {
        try keybag.unlock(TPMSlot(enclave), pin: pin("482913"))
      }
      #expect(try keybag.unlock(passphrase("one")).keys.exposed == keys.exposed)
    }

    @Test("A chip that was cleared is another one")
    func cleared() throws {
      try chip.run("clear", "-c", "p")
      #expect(throws: KeybagError.enclave(.otherChip)) {
        try keybag.unlock(TPMSlot(enclave), pin: pin("482913"))
      }
    }

    @Test("Without the chip the slot says so")
    func missing() throws {
      chip.kill()
      #expect(throws: KeybagError.enclave(.unavailable)) {
        try keybag.unlock(TPMSlot(enclave), pin: pin("482913"))
      }
    }

    @Test("No changed byte of the slot lets the PIN open it")
    func tampered() throws {
      let record = keybag.record()
      let start = record.slotBounds[1]
      let end = record.count - 64
      for offset in stride(from: start, to: end, by: 7) {
        let changed = record.with([record[offset] ^ 0x01], at: offset)
        guard let damaged = try? read(changed) else { continue }
        #expect(throws: KeybagError.self, "byte \(offset - start) of the slot") {
          try damaged.unlock(TPMSlot(enclave), pin: pin("482913"))
        }
      }
    }

    @Test("Two slots of one chip are told apart by their PINs")
    func twoSlots() throws {
      var keybag = keybag
      let second = try TPMSlot(enclave).newCredential(pin: pin("771204"))
      try keybag.addSlot(second, kdf: .agreement, keys: keys, now: 3)
      #expect(try keybag.unlock(TPMSlot(enclave), pin: pin("771204")).slot == keybag.slots[2])
      #expect(try keybag.unlock(TPMSlot(enclave), pin: pin("482913")).slot == keybag.slots[1])
      #expect(throws: KeybagError.enclave(.wrongPasscode)) {
        try keybag.unlock(TPMSlot(enclave), pin: pin("000001"))
      }
    }

    @Test("A chip is never the only way in")
    func lastPortable() throws {
      var keybag = keybag
      #expect(throws: KeybagError.lastSlot) { try keybag.removeSlot(keybag.slots[0].id, keys: keys) }
      let credential = try TPMSlot(enclave).newCredential(pin: pin("771204"))
      #expect(throws: KeybagError.lastSlot) {
        try keybag.replaceSlot(keybag.slots[0].id, by: credential, kdf: .agreement, keys: keys, now: 3)
      }
      try keybag.removeSlot(keybag.slots[1].id, keys: keys)
      #expect(keybag.slots.count == 1)
    }

    @Test("Software is refused: it counts no wrong tries")
    func software() throws {
      #expect(throws: KeybagError.notHardware) {
        _ = try TPMSlot(SoftwareEnclave()).newCredential(pin: pin("482913"))
      }
    }

    private func pin(_ digits: String) -> SharedSecretBytes { Self.pin(digits) }

    private static func pin(_ digits: String) -> SharedSecretBytes {
      SharedSecretBytes(SecretBytes(copying: Array(digits.utf8).span.bytes))
    }
  }
#endif
