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
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrapWithFinger(2)
      #expect(try fixture.read(1, fixture.passcode) == CustodyFixture.secret(1))
      #expect(try fixture.read(1, fixture.finger()) == CustodyFixture.secret(1))
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
      #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
      #expect(try fixture.read(0, fixture.finger()) == CustodyFixture.secret(0))
      #expect(throws: CustodyError.fingerRequired) { try fixture.read(0, fixture.passcode) }
      let before = try fixture.items()
      try chip.replace()
      #expect(throws: CustodyError.enclave(.otherChip)) { try fixture.read(0, fixture.finger()) }
      #expect(throws: CustodyError.enclave(.otherChip)) {
        try fixture.custody.switchMode(to: .standard, fixture.both())
      }
      #expect(try fixture.items() == before)
    }

    @Test("The chip itself refuses another owner's passcode, and another finger's key")
    func refusals() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrapWithFinger(1)
      let stranger = CustodyAuthorization(owner: .init(.init(zeroed: 32)))
      #expect(throws: CustodyError.enclave(.wrongPasscode)) { try fixture.read(0, stranger) }
      let otherKey = try FingerKey(FingerKey.generate()).verifier(until: .now.advanced(by: .seconds(6_000)))
      #expect(throws: CustodyError.enclave(.biometryRefused)) {
        try fixture.read(0, CustodyAuthorization(finger: otherKey))
      }
      #expect(try fixture.read(0, fixture.passcode) == CustodyFixture.secret(0))
    }

    @Test("A chip that goes away in the middle of a switch leaves every key as it was")
    func goesAway() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrapWithFinger(2)
      let before = try fixture.items()
      chip.kill()
      #expect(throws: CustodyError.self) {
        try fixture.custody.switchMode(
          to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
      }
      #expect(try fixture.items() == before)
      #expect(fixture.records.journal == nil)
      try chip.restart()
      #expect(try fixture.read(1, fixture.finger()) == CustodyFixture.secret(1))
    }
  }
#endif
