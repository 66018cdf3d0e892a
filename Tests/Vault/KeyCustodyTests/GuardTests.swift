// SPDX-License-Identifier: Apache-2.0
//
// The guard PIN with a chip (swtpm): what it opens, what an attacker has without it, and changes that fail.

#if TPM
  import Enclaves
  import Keychains
  import MemorySearch
  import Primitives
  import ProtectedData
  import Secrets
  import SoftwareTPM
  import Testing

  @testable import KeyCustody

  @Suite("The guard PIN", .enabled(if: SoftwareTPM.isInstalled, "swtpm and tpm2-tools are not installed"))
  struct GuardTests {
    static func pin(_ text: String = "271828-a") -> SharedSecretBytes {
      let bytes = Array(text.utf8)
      return SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
    }

    /// Keys under a guard with a PIN, in a chip of their own.
    private func guarded(_ count: Int) throws -> (SoftwareTPM, CustodyFixture) {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(count)
      try fixture.enterGuard()
      return (chip, fixture)
    }

    @Test("Each use takes passphrase and PIN; each change keeps that; leaving it removes the record")
    func wholeLife() throws {
      let (chip, fixture) = try guarded(2)
      defer { withExtendedLifetime(chip) {} }
      #expect(try fixture.custody.mode() == .highSecurityWithGuard)
      #expect(try fixture.custody.guardWays() == [.pin])
      #expect(try fixture.modesOfKeys() == [.highSecurityWithGuard])
      #expect(try fixture.pendingCount() == 0)
      try fixture.custody.checkGuard()
      let both = try fixture.withPIN()
      #expect(try fixture.read(1, both) == CustodyFixture.secret(1))
      #expect(throws: CustodyError.guardRequired) { try fixture.read(1, fixture.passcode) }
      #expect(throws: CustodyError.passcodeRequired) { try fixture.read(1, fixture.finger()) }
      #expect(throws: CustodyError.guardRequired) {
        try fixture.custody.wrap(
          .init(zeroed: 4), .transferableSecretKeyV4, CustodyFixture.fingerprint(2), fixture.passcode)
      }
      let third = CustodyFixture.secret(2)
      try fixture.custody.wrap(
        SecretBytes(copying: third.span.bytes), .transferableSecretKeyV4, CustodyFixture.fingerprint(2), both)
      #expect(try fixture.read(2, both) == third)
      try fixture.custody.switchMode(to: .standard, both)
      #expect(try fixture.modesOfKeys() == [.standard])
      #expect(try fixture.items()[GuardRecord.account] == nil)
      #expect(try fixture.custody.guardWays() == [])
      for number in 0..<3 {
        #expect(try fixture.read(number, fixture.passcode) == CustodyFixture.secret(number))
      }
    }

    @Test("A new PIN makes a new guard secret, and the former PIN and guard open nothing any more")
    func changedPIN() throws {
      let (chip, fixture) = try guarded(1)
      defer { withExtendedLifetime(chip) {} }
      let former = try fixture.withPIN()
      let next = try fixture.custody.newGuard(pin: Self.pin("314159-b"), in: fixture.enclave)
      // The present guard has to be opened first.
      #expect(throws: CustodyError.guardRequired) {
        try fixture.custody.switchMode(
          to: .highSecurityWithGuard, fixture.passcode, guard: next, acknowledgesMissingBackup: true)
      }
      try fixture.custody.switchMode(
        to: .highSecurityWithGuard, former, guard: next, acknowledgesMissingBackup: true)
      #expect(throws: CustodyError.guardRefused(.wrongPasscode)) { try fixture.withPIN() }
      #expect(throws: CustodyError.guardRequired) { try fixture.read(0, former) }
      let opened = try fixture.custody.openGuard(pin: Self.pin("314159-b"))
      #expect(try fixture.read(0, fixture.passcode.with(guard: opened)) == CustodyFixture.secret(0))
    }

    @Test("Keys without a backup want an acknowledgement, a weak PIN and a missing chip are refused")
    func refusals() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(1)
      let made = try fixture.custody.newGuard(pin: Self.pin(), in: fixture.enclave)
      let before = try fixture.items()
      #expect(throws: CustodyError.acknowledgementRequired(keysWithoutBackup: 1)) {
        try fixture.custody.switchMode(to: .highSecurityWithGuard, fixture.passcode, guard: made)
      }
      #expect(throws: PINPolicy.Problem.tooShort) {
        _ = try fixture.custody.newGuard(pin: Self.pin("12345"), in: fixture.enclave)
      }
      #expect(throws: CustodyError.guardNeedsChip) {
        _ = try fixture.custody.newGuard(pin: Self.pin(), in: SoftwareEnclave())
      }
      #expect(throws: CustodyError.corrupt) { _ = try fixture.custody.openGuard(pin: Self.pin()) }
      #expect(try fixture.items() == before)
    }

    // MARK: What an attacker tries

    @Test("Machine, class keys and passphrase, with a program of one's own: the chip's answer is not enough")
    func ownProgram() throws {
      let (chip, fixture) = try guarded(1)
      defer { withExtendedLifetime(chip) {} }
      let items = try CustodyItems(fixture.keychain)
      let envelope = try items.envelope(CustodyFixture.fingerprint(0))
      let passcode = CustodyAuthorization.passcode(owner: fixture.owner)
      // The chip agrees: it is the passphrase's part. What it gives does not open the envelope.
      _ = try fixture.enclave.sharedSecret(
        envelope.key, with: envelope.sealed.ephemeralKey, authorization: .passcode(passcode))
      let guesses = [passcode, SharedSecretBytes(SecretBytes(zeroed: 32)), fixture.owner]
      for guess in guesses {
        let own = OpenGuard(digest: try #require(envelope.guardDigest), key: guess)
        #expect(throws: CustodyError.corrupt) {
          _ = try envelope.open(in: fixture.enclave, authorization: .passcode(passcode), guard: own)
        }
      }
      // Nor does the guard's key in the chip give G for the passphrase, or for a finger.
      let way = try #require(items.guardRecord().pinWays.first)
      for authorization: KeyAuthorization in [
        .none, .passcode(passcode), .biometry(try fixture.verifier()),
      ] {
        #expect(throws: EnclaveError.self) {
          _ = try fixture.enclave.sharedSecret(
            way.key, with: way.sealed.ephemeralKey, authorization: authorization)
        }
      }
    }

    @Test("Guessing the PIN ends in the chip's lockout, and then the right one does not open either")
    func lockout() throws {
      let (chip, fixture) = try guarded(1)
      defer { withExtendedLifetime(chip) {} }
      var isLocked = false
      for number in 0..<40 where !isLocked {
        do {
          _ = try fixture.custody.openGuard(pin: Self.pin("guess-\(number)"))
          Issue.record("a guess opened the guard")
        } catch {
          if case .guardRefused(.lockedOut) = error {
            isLocked = true
          } else {
            #expect(error == .guardRefused(.wrongPasscode))
          }
        }
      }
      #expect(isLocked)
      #expect(throws: CustodyError.self) { _ = try fixture.withPIN() }
      #expect(throws: CustodyError.self) { try fixture.custody.checkGuard() }
    }

    @Test("A copied file does not open at another chip, even with passphrase and PIN")
    func otherChip() throws {
      let (chip, fixture) = try guarded(1)
      try chip.replace()
      #expect(throws: CustodyError.guardRefused(.otherChip)) { _ = try fixture.withPIN() }
    }

    @Test("An envelope or a guard record from before does not come back")
    func downgrade() throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(1)
      let envelope = CustodyItems.Place.permanent.account(CustodyFixture.fingerprint(0))
      let standard = try #require(fixture.items()[envelope])
      try fixture.enterGuard()
      let guarded = try fixture.items()
      try fixture.change(envelope) { _ in standard }
      #expect(throws: CustodyError.corrupt) { try fixture.read(0, fixture.passcode) }
      #expect(throws: CustodyError.corrupt) { try fixture.read(0, fixture.withPIN()) }
      try fixture.change(envelope) { _ in guarded[envelope] }
      #expect(try fixture.read(0, fixture.withPIN()) == CustodyFixture.secret(0))
      // A record that somebody else made, with a PIN that they know.
      let other = try GuardRecord.make(pin: Self.pin("known-to-me"), in: fixture.enclave)
      try fixture.change(GuardRecord.account) { _ in other.bytes().withBytes { [UInt8](copying: $0) } }
      #expect(throws: CustodyError.corrupt) {
        _ = try fixture.custody.openGuard(pin: Self.pin("known-to-me"))
      }
      #expect(try fixture.custody.examine() == 1)
      // And an envelope of the guard in a coffer that has none.
      try fixture.change(GuardRecord.account) { _ in guarded[GuardRecord.account] }
      try fixture.custody.switchMode(to: .standard, fixture.withPIN())
      try fixture.change(envelope) { _ in guarded[envelope] }
      #expect(throws: CustodyError.corrupt) { try fixture.read(0, fixture.passcode) }
    }

    @Test("Every flipped byte of a guard record is noticed, and a shorter or longer one is refused")
    func flips() throws {
      let chip = try SoftwareTPM()
      let enclave = TPMEnclave(tcti: chip.tcti)
      let record = try GuardRecord.make(pin: Self.pin(), in: enclave)
      let bytes = record.bytes().withBytes { [UInt8](copying: $0) }
      #expect(try GuardRecord(bytes.span.bytes) == record)
      for offset in bytes.indices {
        var changed = bytes
        changed[offset] ^= 0x01
        #expect((try? GuardRecord(changed.span.bytes))?.digest() != record.digest(), "byte \(offset)")
      }
      // What the digest would notice does not open either; some bytes, for each asks the chip.
      for offset in [9, 40, bytes.count - 1, bytes.count - 49, bytes.count - 61, bytes.count - 100] {
        var changed = bytes
        changed[offset] ^= 0x80
        #expect(throws: CustodyError.self, "byte \(offset)") {
          let read = try GuardRecord(changed.span.bytes)
          _ = try read.open(pin: Self.pin()) { _ in enclave }
        }
      }
      for other in [Array(bytes.dropLast()), bytes + [0], []] {
        #expect(throws: CustodyError.corrupt) { _ = try GuardRecord(other.span.bytes) }
      }
    }

    @inline(never)
    private func usePIN() throws -> (gone: [(String, Needle)], seen: Int) {
      let (chip, fixture) = try guarded(1)
      defer { withExtendedLifetime(chip) {} }
      let pin = SharedSecretBytes(SystemRandom.secretBytes(count: 24))
      var gone = [("PIN", pin.withBytes { Needle($0) })]
      let made = try fixture.custody.newGuard(pin: pin, in: fixture.enclave)
      gone.append(("guard key", made.open.key.withBytes { Needle($0) }))
      try fixture.custody.switchMode(
        to: .highSecurityWithGuard, fixture.withPIN(), guard: made, acknowledgesMissingBackup: true)
      let opened = try fixture.custody.openGuard(pin: pin)
      #expect(try fixture.read(0, fixture.passcode.with(guard: opened)) == CustodyFixture.secret(0))
      return (gone, try ProcessMemory.places(of: gone[1].1).count)
    }

    @Test("No PIN and no guard key stays, once they were used")
    func nothingStays() async {
      await #expect(processExitsWith: .success) {
        recordingErrors {
          let (gone, seen) = try GuardTests().usePIN()
          #expect(seen > 0, "the search finds what is there")
          for (name, needle) in gone { try ProcessMemory.expectGone(needle, "\(name)") }
        }
      }
    }

    // MARK: Changes that fail

    @Test("A store that fails at any batch leaves mode, guard and keys as they were", arguments: 0..<2)
    func storeFails(after count: Int) throws {
      let chip = try SoftwareTPM()
      let fixture = try CustodyFixture(TPMEnclave(tcti: chip.tcti))
      try fixture.wrap(2)
      let before = try fixture.items()
      let made = try fixture.custody.newGuard(pin: Self.pin(), in: fixture.enclave)
      fixture.store.plan.withLock { $0.batchesLeft = count }
      #expect(throws: CustodyError.keychain(.saveFailed(10))) {
        try fixture.custody.switchMode(
          to: .highSecurityWithGuard, fixture.passcode, guard: made, acknowledgesMissingBackup: true)
      }
      fixture.store.plan.withLock { $0.batchesLeft = nil }
      #expect(try fixture.custody.recover() == (count == 0 ? .nothingPending : .rolledBack))
      #expect(try fixture.items() == before)
      #expect(try fixture.read(0, fixture.passcode) == CustodyFixture.secret(0))
    }

    @Test("Staged keys and their staged guard are promoted together when the former keys are gone")
    func promotion() throws {
      let (chip, fixture) = try guarded(2)
      defer { withExtendedLifetime(chip) {} }
      let next = try fixture.custody.newGuard(pin: Self.pin("314159-b"), in: fixture.enclave)
      fixture.store.plan.withLock { $0.batchesLeft = 1 }
      #expect(throws: CustodyError.self) {
        try fixture.custody.switchMode(
          to: .highSecurityWithGuard, fixture.withPIN(), guard: next, acknowledgesMissingBackup: true)
      }
      fixture.store.plan.withLock { $0.batchesLeft = nil }
      try fixture.change(GuardRecord.account) { _ in nil }
      #expect(try fixture.custody.recover() == .promoted)
      #expect(try fixture.pendingCount() == 0)
      let opened = try fixture.custody.openGuard(pin: Self.pin("314159-b"))
      for number in 0..<2 {
        #expect(
          try fixture.read(number, fixture.passcode.with(guard: opened)) == CustodyFixture.secret(number))
      }
    }
  }

  extension CustodyFixture {
    func enterGuard() throws {
      let made = try custody.newGuard(pin: GuardTests.pin(), in: enclave)
      try custody.switchMode(
        to: .highSecurityWithGuard, passcode, guard: made, acknowledgesMissingBackup: true)
    }

    /// Passphrase and PIN were typed.
    func withPIN() throws -> CustodyAuthorization {
      passcode.with(guard: try custody.openGuard(pin: GuardTests.pin()))
    }
  }
#endif
