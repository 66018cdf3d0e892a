// SPDX-License-Identifier: Apache-2.0
//
// Where keys are: with a chip (swtpm) and software beside each other. What was in the chip stays there.

#if TPM
  import Enclaves
  import Keychains
  import OpenPGP
  import Primitives
  import ProtectedData
  import Secrets
  import SoftwareTPM
  import Testing

  @testable import KeyCustody

  @Suite(
    "The places of private keys",
    .enabled(if: SoftwareTPM.isInstalled, "swtpm and tpm2-tools are not installed"))
  struct KeyPlaceTests {
    /// The same custody, whose coffer is bound to software while the chip may answer.
    private func inSoftware(_ fixture: CustodyFixture) -> PrivateKeyCustody {
      let enclaves: [any Enclave] = [fixture.enclave, SoftwareEnclave()]
      return PrivateKeyCustody(
        file: fixture.file, keychain: fixture.keychain, records: fixture.records, enclave: enclaves[1]
      ) { kind in enclaves.first { $0.kind == kind } }
    }

    private func kinds(_ custody: PrivateKeyCustody) throws -> [EnclaveKind?] {
      try custody.places().sorted { $0.key < $1.key }.map(\.value.kind)
    }

    @Test("No change brings a key from the chip into software; new keys are where the coffer's are")
    func neverLowered() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(1)
      let custody = inSoftware(fixture)
      let secret = CustodyFixture.secret(1)
      try custody.wrap(
        SecretBytes(copying: secret.span.bytes), .transferableSecretKeyV4, CustodyFixture.fingerprint(1),
        fixture.passcode)
      #expect(try kinds(custody) == [.tpm, .software])
      try custody.replace(CustodyFixture.fingerprint(0), fixture.passcode) { SecretBytes(copying: $0) }
      for mode in [AuthenticationMode.standardWithFinger, .highSecurityWithFinger, .standard] {
        try custody.switchMode(to: mode, fixture.both(), acknowledgesMissingBackup: true)
        #expect(try kinds(custody) == [.tpm, .software])
      }
      for number in 0..<2 {
        #expect(try fixtureRead(custody, number, fixture.passcode) == CustodyFixture.secret(number))
      }
      // And the other way: where the coffer is bound to the chip, a change brings every key there.
      let enclave = fixture.enclave
      let bound = PrivateKeyCustody(
        file: fixture.file, keychain: fixture.keychain, records: fixture.records, enclave: enclave
      ) { $0 == .tpm ? enclave : SoftwareEnclave() }
      try bound.replace(CustodyFixture.fingerprint(1), fixture.passcode) { SecretBytes(copying: $0) }
      #expect(try kinds(bound) == [.tpm, .tpm])
    }

    @Test("While the chip does not answer, a change fails, nothing is written, and no key is called lost")
    func away() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(1)
      let custody = inSoftware(fixture)
      let before = try fixture.items()
      chip.kill()
      let place = try #require(try custody.places()[CustodyFixture.fingerprint(0)])
      #expect(place == PrivateKeyPlace(kind: .tpm, state: .away(.unavailable)) && !place.isLost)
      #expect(throws: CustodyError.enclave(.unavailable)) {
        try custody.switchMode(to: .standardWithFinger, fixture.both(), leaving: .lost)
      }
      #expect(throws: CustodyError.enclave(.unavailable)) {
        try custody.replace(CustodyFixture.fingerprint(0), fixture.passcode) { SecretBytes(copying: $0) }
      }
      // Not even a backup takes its place: nobody knows that it is lost.
      #expect(throws: CustodyError.alreadyExists) {
        try custody.wrap(listing: [listed(0)], fixture.passcode)
      }
      #expect(try fixture.items() == before)
      try chip.restart()
      #expect(try fixtureRead(custody, 0, fixture.passcode) == CustodyFixture.secret(0))
    }

    @Test(
      "Keys of a chip that was cleared are lost, in one question for all; a backup goes into the new chip")
    func cleared() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(3)
      let wire = try ChipWire(chip)
      let watched = TPMEnclave(tcti: wire.tcti)
      let custody = CustodyFixture.custody(fixture.file, fixture.keychain, fixture.records, watched)
      _ = try custody.places()
      let once = wire.answerCount
      wire.changeAnswers(nil)
      try chip.replace()
      #expect(try custody.places().values.allSatisfy { $0.state == .lost(.otherChip) && $0.kind == .tpm })
      #expect(wire.answerCount <= once + 4)
      let software = inSoftware(fixture)
      try software.wrap(listing: [listed(0)], fixture.passcode)
      #expect(try kinds(software) == [.tpm, .tpm, .tpm])
      #expect(try software.places()[CustodyFixture.fingerprint(0)]?.state == .here)
      #expect(try fixtureRead(software, 0, fixture.passcode) == CustodyFixture.secret(0))
      #expect(try software.places().values.count(where: \.isLost) == 2)
      #expect(throws: CustodyError.enclave(.otherChip)) {
        try fixtureRead(software, 1, fixture.passcode)
      }
    }

    @Test("A guard whose chip was cleared is lost with its keys, and is left with the passphrase")
    func guardOfOtherChip() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(1)
      try fixture.enterGuard()
      #expect(try fixture.custody.guardLoss() == nil)
      try chip.replace()
      #expect(try fixture.custody.guardLoss() == .guardOfOtherChip)
      #expect(try fixture.custody.places().values.map(\.state) == [.lost(.guardOfOtherChip)])
      try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .lost)
      #expect(try fixture.custody.guardLoss() == nil)
      #expect(try fixture.items()[GuardRecord.account] == nil)
      try fixture.custody.wrap(listing: [listed(0)], fixture.passcode)
      #expect(try fixture.read(0, fixture.passcode) == CustodyFixture.secret(0))
    }

    private func fixtureRead(
      _ custody: PrivateKeyCustody, _ number: Int, _ authorization: CustodyAuthorization
    ) throws -> [UInt8] {
      try custody.withPrivateKey(CustodyFixture.fingerprint(number), authorization) { secret, _ in
        [UInt8](copying: secret)
      }
    }

    private func listed(_ number: Int) -> ListedPrivateKey {
      let secret = CustodyFixture.secret(number)
      return ListedPrivateKey(
        SharedSecretBytes(SecretBytes(copying: secret.span.bytes)), .transferableSecretKeyV4,
        PGPKeyIdentity(
          profile: .a, fingerprint: CustodyFixture.fingerprint(number), backedUpAt: nil, created: 0,
          expires: nil, userIDs: [], revocationCertificate: [], certificate: []))
    }
  }
#endif
