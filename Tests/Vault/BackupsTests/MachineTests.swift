// SPDX-License-Identifier: Apache-2.0
//
// From one machine to another: chips, software, the Secret Service.

#if TPM
  import Captures
  import Enclaves
  import Foundation
  import KeyCustody
  import Keychains
  import Secrets
  import SoftwareTPM
  import Storage
  import TemporaryHomes
  import Testing

  @testable import CofferKit

  @Suite(
    "A backup that goes to another machine",
    .enabled(if: SoftwareTPM.isInstalled, "swtpm is installed by scripts/packages"))
  struct MachineTests {
    private func pin() throws -> SharedSecretBytes { SharedSecretBytes(try passphrase("2468-1357")) }

    @Test("From a chip to another: private parts are the same, the PIN's slot stays behind")
    func chipToChip() throws {
      let chips = (try SoftwareTPM(), try SoftwareTPM())
      let old = Machine(tcti: chips.0.tcti)
      let new = Machine(tcti: chips.1.tcti)
      let fixture = try BackupFixture(old, attestation: .tpm)
      _ = try fixture.addIdentity("Ada <ada@example.org>")
      _ = try fixture.coffer.addSlot(try old.chipSlot(), pin: pin(), label: "old machine")
      try fixture.backUp(withIdentities: true)
      let home = try TemporaryHome()
      let restored = try restore(fixture.path(), to: home.path, new)
      let coffer = restored.coffer
      #expect(restored.enclave == .tpm)
      #expect(restored.leftOutSlots.map(\.kind) == [.enclave])
      #expect(restored.leftOutSlots.map(\.label) == ["old machine"])
      #expect(try coffer.slots().map(\.kind) == [.passphrase, .recoveryPhrase])
      #expect(try privateParts(coffer) == privateParts(fixture.coffer))
      #expect(try coffer.device()?.enclave == .tpm)
      #expect(try coffer.device()?.state.deviceId != fixture.coffer.device()?.state.deviceId)
      #expect(try coffer.counter.check() == .latest)
      let id = try #require(try coffer.captures.list().first?.id)
      #expect(try coffer.captures.verify(id).signer == .formerDevice)
      coffer.close()
      let again = try Coffer.open(home: home.path, credential: SlotCredential(passphrase()), machine: new)
      #expect(try privateParts(again).count == 1)
      again.close()
      // The first machine's chip is not needed any more, and the second one's is.
      let stranger = try Coffer.open(home: home.path, credential: SlotCredential(passphrase()), machine: old)
      #expect(throws: (any Error).self) { try privateParts(stranger) }
    }

    @Test(
      "With a guard: private parts come along only if it is opened, and then open with the passphrase there")
    func guarded() throws {
      let chip = try SoftwareTPM()
      let machine = Machine(tcti: chip.tcti)
      let fixture = try BackupFixture(machine, attestation: .tpm, blobs: false)
      let ada = try fixture.addIdentity("Ada <ada@example.org>")
      let before = try privateParts(fixture.coffer)
      let custody = try fixture.coffer.openPrivateKeys().custody
      let made = try custody.newGuard(pin: pin(), in: try #require(machine.chip))
      try fixture.coffer.switchMode(
        custody, to: .highSecurityWithGuard, fixture.coffer.authorization(), guard: made,
        acknowledgesMissingBackup: true)
      // Not without the guard, and then there is no file.
      #expect(throws: CustodyError.guardRequired) { try fixture.backUp("no", withIdentities: true) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == [])
      // A backup without them asks for no guard, and what is restored from it has no private part at all.
      try fixture.backUp("without")
      let without = try restore(fixture.path("without"), to: TemporaryHome().path, machine)
      #expect(without.identities == [] && without.missingIdentities.map(\.fingerprint) == [ada])
      #expect(try privateParts(without.coffer).isEmpty)
      #expect(try without.coffer.examine(isDeep: true).isHealthy)
      // With the guard they are in the file, and the guard is not: there they are in mode standard.
      let authorization = fixture.coffer.authorization().with(guard: try custody.openGuard(pin: pin()))
      _ = try fixture.coffer.backUp(
        to: fixture.path("with"),
        privateParts: BackupOfPrivateParts(custody: custody, authorization: authorization),
        record: nil
      ) { _, _ in true }
      let with = try restore(
        fixture.path("with"), to: TemporaryHome().path, plainMachine, attestation: .software)
      #expect(with.identities.map(\.fingerprint) == [ada])
      #expect(try with.coffer.authenticationMode() == .standard)
      #expect(try privateParts(with.coffer) == before)
      #expect(try !with.coffer.keychain.accounts().contains { $0.contains("guard") })
      #expect(try with.coffer.examine(isDeep: true).isHealthy)
      // The old coffer is as it was.
      #expect(throws: CustodyError.guardRequired) { try privateParts(fixture.coffer) }
    }

    @Test("From software to a chip, and from there to software again")
    func thereAndBack() throws {
      let fixture = try BackupFixture(blobs: false)
      let ada = try fixture.addIdentity("Ada <ada@example.org>")
      let before = try privateParts(fixture.coffer)
      try fixture.backUp(withIdentities: true)
      let chip = try SoftwareTPM()
      let machine = Machine(tcti: chip.tcti)
      let middle = try restore(fixture.path(), to: TemporaryHome().path, machine)
      #expect(middle.enclave == .tpm)
      #expect(try privateParts(middle.coffer) == before)
      let parts = BackupOfPrivateParts(
        custody: try middle.coffer.openPrivateKeys().custody, authorization: middle.coffer.authorization())
      let second = fixture.path("second")
      _ = try middle.coffer.backUp(to: second, privateParts: parts, record: nil) { _, _ in true }
      // Not without a word: what was in a chip would be in software.
      let place = try TemporaryHome().path
      #expect(throws: CofferError.hardwareRequired) { try restore(second, to: place, plainMachine) }
      #expect(!DatabaseFile.exists(home: place))
      let last = try restore(second, to: place, plainMachine, attestation: .software)
      #expect(last.enclave == .software)
      #expect(try privateParts(last.coffer) == before)
      #expect(last.identities.map(\.fingerprint) == [ada])
    }
  }
#endif
