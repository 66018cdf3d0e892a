// SPDX-License-Identifier: Apache-2.0
//
// Custody with keys in a TPM (swtpm).

#if TPM
  import Enclaves
  import ProtectedData
  import SoftwareTPM
  import Testing

  @testable import KeyCustody

  @Suite("Custody in a chip", .enabled(if: SoftwareTPM.isInstalled, "swtpm and tpm2-tools are not installed"))
  struct ChipCustodyTests {
    @Test("Keys are wrapped, used and brought under the other mode by the chip, and by no other chip")
    func wholeLife() throws {
      let chip = try SoftwareTPM()
      let made = try MadeCustody(TPMEnclave(tcti: chip.tcti))
      try made.wrap(2)
      #expect(try made.read(1, made.passcode) == MadeCustody.secret(1))
      #expect(try made.read(1, made.finger()) == MadeCustody.secret(1))
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
      #expect(try made.modesOfKeys() == [.highSecurity])
      #expect(try made.read(0, made.finger()) == MadeCustody.secret(0))
      #expect(throws: CustodyError.fingerRequired) { try made.read(0, made.passcode) }
      let before = try made.items()
      try chip.replace()
      #expect(throws: CustodyError.enclave(.otherChip)) { try made.read(0, made.finger()) }
      #expect(throws: CustodyError.enclave(.otherChip)) {
        try made.custody.switchMode(to: .standard, made.both())
      }
      #expect(try made.items() == before)
    }

    @Test("The chip itself refuses another owner's passcode, and another finger's key")
    func refusals() throws {
      let chip = try SoftwareTPM()
      let made = try MadeCustody(TPMEnclave(tcti: chip.tcti))
      try made.wrap(1)
      let stranger = CustodyAuthorization(owner: .init(.init(zeroed: 32)))
      #expect(throws: CustodyError.enclave(.wrongPasscode)) { try made.read(0, stranger) }
      let otherKey = try FingerKey(FingerKey.generate()).verifier(until: .now.advanced(by: .seconds(60)))
      #expect(throws: CustodyError.enclave(.biometryRefused)) {
        try made.read(0, CustodyAuthorization(finger: otherKey))
      }
      #expect(try made.read(0, made.passcode) == MadeCustody.secret(0))
    }

    @Test("A chip that goes away in the middle of a switch leaves every key as it was")
    func goesAway() throws {
      let chip = try SoftwareTPM()
      let made = try MadeCustody(TPMEnclave(tcti: chip.tcti))
      try made.wrap(2)
      let before = try made.items()
      chip.kill()
      #expect(throws: CustodyError.self) {
        try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
      }
      #expect(try made.items() == before)
      #expect(made.records.journal == nil)
      try chip.restart()
      #expect(try made.read(1, made.finger()) == MadeCustody.secret(1))
    }
  }
#endif
