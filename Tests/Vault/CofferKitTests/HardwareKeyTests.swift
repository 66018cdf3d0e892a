// SPDX-License-Identifier: Apache-2.0
//
// A coffer whose keys are in a chip (swtpm), while that answers and while it does not: nothing goes into software
// without a word.

#if TPM
  import Enclaves
  import Identities
  import KeyCustody
  import Keychains
  import ProtectedData
  import Secrets
  import SoftwareTPM
  import Synchronization
  import TemporaryHomes
  import Testing

  @testable import CofferKit

  @Suite(
    "Keys that are in a chip", .enabled(if: SoftwareTPM.isInstalled, "swtpm is installed by scripts/packages")
  )
  struct HardwareKeyTests {
    private let chip: SoftwareTPM
    private let home: TemporaryHome
    private let machine: Machine

    init() throws {
      chip = try SoftwareTPM()
      home = try TemporaryHome()
      machine = Machine(tcti: chip.tcti)
    }

    private func make(_ kind: EnclaveKind? = .tpm) throws -> Coffer {
      try Coffer.create(
        home: home.path, passphrase: passphrase(), recoveryPhrase: newPhrase(),
        kdf: .pbkdf2(iterations: 600_000), machine: machine, attestation: kind)
    }

    private func identity(_ coffer: Coffer) throws -> Identity {
      let open = try coffer.openIdentities()
      return try coffer.generateIdentity(
        NewIdentity(userIDs: [UserIDText(new: "Ada")]), open, coffer.authorization())
    }

    private func open() throws -> Coffer {
      try Coffer.open(home: home.path, credential: SlotCredential(passphrase()), machine: machine)
    }

    @Test(
      "A reset while the chip does not answer is refused, unless software is wanted; then private keys stay")
    func reset() throws {
      let coffer = try make()
      #expect(try identity(coffer).place == PrivateKeyPlace(kind: .tpm))
      chip.kill()
      #expect(throws: CofferError.hardwareRequired) { try coffer.resetProtectedData() }
      #expect(try ProtectedDomains.enclaveKind(coffer.keychain) == .tpm)
      #expect(try coffer.resetProtectedData(in: .software) == .software)
      coffer.close()
      try chip.restart()
      let again = try open()
      let found = try #require(try again.identities(again.openIdentities(), asking: true).first)
      #expect(found.place == PrivateKeyPlace(kind: .tpm))
      let owned = try again.openIdentities()
      let changed = try again.makeChange(.end(nil), of: found, owned, again.authorization())
      #expect(changed.place == PrivateKeyPlace(kind: .tpm))
      // The mixture is named, and is no damage.
      let diagnosis = try again.examine(isDeep: false)
      #expect(diagnosis.isHealthy)
      #expect(
        diagnosis.findings.contains {
          $0.severity == .advice && $0.text.contains("protected data in software, 1 private key in a TPM")
        })
      again.close()
    }

    @Test("A coffer that was made in software is shown as that, also when protected data has gone to a chip")
    func raised() throws {
      let coffer = try make(.software)
      _ = try identity(coffer)
      #expect(try coffer.resetProtectedData() == .tpm)
      let found = try #require(try coffer.identities(coffer.openIdentities()).first)
      #expect(found.place == PrivateKeyPlace(kind: .software))
      chip.kill()
      #expect(throws: CofferError.hardwareRequired) { try coffer.resetProtectedData() }
      coffer.close()
    }

    @Test("New keys beside others: told, in the chip, or in software if those of before are there too")
    func newKeys() throws {
      let coffer = try make()
      #expect(try coffer.enclaveForNewKeys(nil).kind == .tpm)
      #expect(try coffer.enclaveForNewKeys(.software).kind == .software)
      chip.kill()
      #expect(throws: CofferError.hardwareRequired) { try coffer.enclaveForNewKeys(nil) }
      #expect(throws: CofferError.hardwareRequired) { try coffer.enclaveForAccountKeys(nil) }
      #expect(throws: EnclaveError.unavailable) { try coffer.enclaveForNewKeys(.tpm) }
      #expect(try coffer.enclaveForNewKeys(.software).kind == .software)
      // Without the key that protected data was bound to, other keys say what was there.
      try coffer.keychain.delete(forKey: "com.cypherair.v1.protected-data.binding-key")
      #expect(throws: CofferError.hardwareRequired) { try coffer.enclaveForNewKeys(nil) }
      coffer.close()
      let other = try TemporaryHome()
      let plain = try makeCoffer(other.path)
      #expect(try plain.enclaveForNewKeys(nil).kind == .software)
    }

    @Test("The examination calls keys of a cleared chip lost, and recovers when they are gone")
    func cleared() throws {
      let coffer = try make()
      let ada = try identity(coffer)
      try chip.replace()
      try coffer.resetProtectedData()
      let diagnosis = try coffer.examine(isDeep: false)
      #expect(!diagnosis.isHealthy)
      #expect(
        diagnosis.findings.contains { $0.text.contains("1 of 1 private keys cannot be opened any more") })
      let open = try coffer.openIdentities()
      #expect(open.unlisted.map(\.fingerprint) == [ada.fingerprint])
      #expect(open.unlisted.map(\.place) == [PrivateKeyPlace(kind: .tpm, state: .lost(.otherChip))])
      // It hides and blocks nothing.
      _ = try identity(coffer)
      let both = try coffer.openIdentities()
      #expect(try coffer.identities(both).count == 1)
      try coffer.deleteUnlisted(both.unlisted[0], both, acknowledgesMissingBackup: true)
      #expect(try coffer.examine(isDeep: false).isHealthy)
      coffer.close()
    }

    // MARK: The counter

    @Test("A chip that asks to be asked later is asked again; if it does not count, the coffer says so")
    func counter() throws {
      let busy = BusyChip(TPMEnclave(tcti: chip.tcti))
      let machine = Machine(enclaves: [busy, SoftwareEnclave()])
      let coffer = try Coffer.create(
        home: home.path, passphrase: passphrase(), recoveryPhrase: newPhrase(),
        kdf: .pbkdf2(iterations: 600_000), machine: machine, attestation: .tpm)
      busy.refusals.store(2, ordering: .relaxed)
      _ = try coffer.addSlot(newPhrase())
      #expect(!coffer.isCounterBehind)
      #expect(try coffer.counter.check() == .latest)
      busy.refusals.store(1_000, ordering: .relaxed)
      _ = try coffer.addSlot(newPhrase())
      #expect(coffer.isCounterBehind)
      #expect(try coffer.counter.check() == .chipOneBehind)
      coffer.close()
      busy.refusals.store(0, ordering: .relaxed)
      let again = try Coffer.open(
        home: home.path, credential: SlotCredential(passphrase()), machine: machine)
      #expect(!again.isCounterBehind)
      #expect(try again.counter.check() == .latest)
      again.close()
    }
  }

  /// A chip that asks so many times to be asked later before it counts.
  private final class BusyChip: CounterEnclave {
    let refusals = Atomic(0)
    private let below: TPMEnclave
    let kind = EnclaveKind.tpm

    init(_ below: TPMEnclave) { self.below = below }

    func checkAvailability() throws(EnclaveError) { try below.checkAvailability() }
    func checkReadiness() throws(EnclaveError) { try below.checkReadiness() }
    func checkReadiness(of key: EnclaveKey) throws(EnclaveError) { try below.checkReadiness(of: key) }
    func origin(of key: EnclaveKey) throws(EnclaveError) -> [UInt8] { try below.origin(of: key) }
    func createKey(
      use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
    ) throws(EnclaveError) -> EnclaveKey {
      try below.createKey(use: use, access: access, enrolment: enrolment)
    }
    func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey { try below.loadKey(handle) }
    func deleteKey(_ key: EnclaveKey) throws(EnclaveError) { try below.deleteKey(key) }
    func sharedSecret(
      _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> SecretBytes {
      try below.sharedSecret(key, with: publicKey, authorization: authorization)
    }
    func signature(
      _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> [UInt8] {
      try below.signature(key, digest: digest, authorization: authorization)
    }
    func createCounter(
      authorization: SharedSecretBytes
    ) throws(EnclaveError) -> (counter: ChipCounter, value: UInt64) {
      try below.createCounter(authorization: authorization)
    }
    func counterValue(
      _ counter: ChipCounter, authorization: SharedSecretBytes
    ) throws(EnclaveError) -> UInt64 {
      try below.counterValue(counter, authorization: authorization)
    }
    func incrementCounter(
      _ counter: ChipCounter, authorization: SharedSecretBytes
    ) throws(EnclaveError) -> UInt64 {
      guard refusals.load(ordering: .relaxed) == 0 else {
        refusals.subtract(1, ordering: .relaxed)
        throw .tryLater
      }
      return try below.incrementCounter(counter, authorization: authorization)
    }
    func deleteCounter(_ counter: ChipCounter) throws(EnclaveError) { try below.deleteCounter(counter) }
  }
#endif
