// SPDX-License-Identifier: Apache-2.0
//
// What only a chip does: it is started anew, replaced, cleared, locked, taken away, and has room for three.

#if TPM
  import Dispatch
  import Enclaves
  import Extents
  import Foundation
  import Primitives
  import Secrets
  import SoftwareTPM
  import Synchronization
  import Testing

  @Suite("A TPM", .enabled(if: SoftwareTPM.isInstalled, "swtpm is installed by scripts/packages"))
  struct TPMEnclaveTests {
    private let chip: SoftwareTPM
    private let enclave: TPMEnclave
    private let person = Person()
    private let wrong = KeyAuthorization.passcode(typed("000000"))

    init() throws {
      chip = try SoftwareTPM()
      enclave = TPMEnclave(tcti: chip.tcti)
    }

    private var right: KeyAuthorization { .passcode(person.pin) }

    // MARK: The chip's life

    @Test("Keys outlive a restart, and a process that has only the handle")
    func restart() throws {
      let handles = try AccessControl.Requirement.allCases.map {
        try enclave.makeKey(.agreement, $0, for: person).dataRepresentation
      }
      try chip.restart()
      let other = TPMEnclave(tcti: chip.tcti)
      for (requirement, handle) in zip(AccessControl.Requirement.allCases, handles) {
        for authorization in person.authorizations(requirement) {
          #expect(other.refusal(handle, authorization) == nil, "\(requirement)")
        }
      }
    }

    @Test("On another chip a key is another chip's, and no try is counted")
    func replaced() throws {
      let key = try enclave.makeKey(.agreement, .devicePasscode, for: person)
      try chip.replace()
      for _ in 0..<5 { #expect(enclave.refusal(key, right) == .otherChip) }
      #expect(throws: Never.self) { try enclave.checkReadiness() }
      // The new chip makes keys of its own.
      #expect(enclave.refusal(try enclave.makeKey(.agreement, .devicePasscode, for: person), right) == nil)
    }

    @Test("After the chip was cleared a key is another chip's", arguments: [false, true])
    func cleared(_ hasPersistentRoot: Bool) throws {
      if hasPersistentRoot { try chip.makePersistentRoot("ecc256") }
      let key = try enclave.makeKey(.signing)
      #expect(enclave.refusal(key) == nil)
      try chip.run("clear")
      #expect(enclave.refusal(key) == .otherChip)
    }

    @Test("Without a chip nothing can be asked")
    func missing() throws {
      let key = try enclave.makeKey(.signing)
      for tcti in ["swtpm:path=\(chip.path("none"))", "device:/dev/coffer-has-none", "nonsense", ""] {
        let missing = TPMEnclave(tcti: tcti)
        #expect(throws: EnclaveError.unavailable) { try missing.checkAvailability() }
        #expect(throws: EnclaveError.unavailable) { try missing.checkReadiness() }
        #expect(missing.refusal(key) == .unavailable)
        #expect(throws: EnclaveError.unavailable) { try missing.makeKey(.signing) }
        // Reading a handle needs no chip.
        #expect(throws: Never.self) { try missing.loadKey(key.dataRepresentation) }
      }
    }

    @Test("A chip that dies in the middle does not answer, and works when it is back")
    func killed() throws {
      try chip.setLockout(tries: 30)
      for requirement in [AccessControl.Requirement.biometryAny, .biometryAnyOrDevicePasscode] {
        let key = try enclave.makeKey(.signing, requirement, for: person)
        // The finger is asked for while the key is loaded and two sessions are open.
        let finger = Interruption(person.finger) { self.chip.kill() }
        #expect(enclave.refusal(key, .biometry(finger)) == .notAnswering)
        #expect(enclave.refusal(key, .biometry(person.finger)) == .unavailable)
        try chip.restart()
        #expect(enclave.refusal(key, .biometry(person.finger)) == nil)
        if requirement.asksForPasscode { #expect(enclave.refusal(key, right) == nil) }
      }
    }

    // MARK: Lockout

    @Test("Wrong PINs lock the chip, which says for how long; the right one is not counted against anybody")
    func lockout() throws {
      try chip.setLockout(tries: 3, seconds: 600)
      let key = try enclave.makeKey(.agreement, .devicePasscode, for: person)
      let either = try enclave.makeKey(.agreement, .biometryAnyOrDevicePasscode, for: person)
      let free = try enclave.makeKey(.signing)
      for _ in 0..<10 { #expect(enclave.refusal(key, right) == nil) }
      #expect(try enclave.lockoutStatus().triesLeft == 3)
      #expect(enclave.refusal(key, wrong) == .wrongPasscode)
      #expect(try enclave.lockoutStatus().triesLeft == 2)
      #expect(enclave.refusal(either, wrong) == .wrongPasscode)
      #expect(enclave.refusal(key, wrong) == .wrongPasscode)
      let locked = EnclaveError.lockedOut(secondsLeft: 600)
      #expect(enclave.refusal(key, right) == locked)
      #expect(enclave.refusal(either, right) == locked)
      #expect(throws: locked) { try enclave.checkReadiness() }
      let status = try enclave.lockoutStatus()
      #expect(status.isLocked && status.secondsLeft == 600 && status.triesLeft == 0)
      #expect(throws: Never.self) { try enclave.checkAvailability() }
      // What nobody can guess is not locked, and neither is a finger.
      #expect(enclave.refusal(free) == nil)
      #expect(enclave.refusal(either, .biometry(person.finger)) == nil)
      try chip.restart()
      #expect(enclave.refusal(key, right) == locked)
      try chip.run("dictionarylockout", "--clear-lockout")
      #expect(enclave.refusal(key, right) == nil)
    }

    @Test("Wrong fingers are not counted")
    func fingersAreNotCounted() throws {
      try chip.setLockout(tries: 3)
      let key = try enclave.makeKey(.signing, .biometryAny, for: person)
      for _ in 0..<10 {
        #expect(
          enclave.refusal(key, .biometry(Finger(claiming: person.finger.publicKey))) == .biometryRefused)
      }
      #expect(throws: Never.self) { try enclave.checkReadiness() }
      #expect(enclave.refusal(key, .biometry(person.finger)) == nil)
    }

    @Test("A wrong verifier's public key in the handle opens nothing")
    func verifierInHandle() throws {
      let key = try enclave.makeKey(.signing, .biometryAny, for: person)
      let stranger = Finger()
      var content = Array(key.dataRepresentation.dropLast(32))
      // head (77) ‖ root (1) ‖ Name (34) ‖ salt (32) ‖ count (1)
      content.replaceSubrange(145..<210, with: stranger.publicKey)
      let bytes = content + SHA256.hash(content.span.bytes)
      #expect(enclave.refusal(bytes, .biometry(stranger)) == .corrupt)
    }

    // MARK: Storage roots

    @Test("A persistent storage root of P-256 is used, and stays where it is")
    func persistentRoot() throws {
      let before = try enclave.makeKey(.signing)
      try chip.makePersistentRoot("ecc256")
      let key = try enclave.makeKey(.agreement, .devicePasscode, for: person)
      #expect(key.dataRepresentation[77] == 1)
      #expect(before.dataRepresentation[77] == 2)
      #expect(enclave.refusal(key, right) == nil)
      #expect(enclave.refusal(before) == nil)
      try chip.restart()
      #expect(enclave.refusal(key, right) == nil)
      try chip.run("evictcontrol", "--hierarchy=o", "--object-context=0x81000001")
      // The tool's key has a template of its own; that of the machine's may be the same as ours.
      #expect(enclave.refusal(key, right) == .otherChip || enclave.refusal(key, right) == nil)
      #expect(enclave.refusal(before) == nil)
    }

    @Test("A persistent key that is none of ours to use is left alone", arguments: ["rsa2048", "ecc384"])
    func foreignRoot(_ algorithm: String) throws {
      try chip.makePersistentRoot(algorithm)
      let key = try enclave.makeKey(.signing)
      #expect(key.dataRepresentation[77] == 2)
      #expect(enclave.refusal(key) == nil)
    }

    @Test("A chip whose owner has a password uses no key, says why, and calls no PIN wrong")
    func ownerPassword() throws {
      let key = try enclave.makeKey(.agreement, .devicePasscode, for: person)
      try chip.run("changeauth", "--object-context=o", "secret")
      #expect(enclave.refusal(key, right) == .ownerPassword)
      #expect(throws: EnclaveError.ownerPassword) { try enclave.makeKey(.signing) }
      try chip.run("changeauth", "--object-context=o", "--object-auth=secret")
      #expect(enclave.refusal(key, right) == nil)
      // The same of the persistent key.
      let root = chip.path("root")
      try chip.run(
        "createprimary", "--hierarchy=o", "--key-algorithm=ecc256", "--key-auth=secret",
        "--key-context=\(root)")
      try chip.run("evictcontrol", "--hierarchy=o", "--object-context=\(root)", "0x81000001")
      try chip.run("flushcontext", "--transient-object")
      #expect(throws: EnclaveError.ownerPassword) { try enclave.makeKey(.signing) }
    }

    // MARK: Rests

    @Test("Nothing stays in the chip, nor any descriptor, whatever happens")
    func leaks() throws {
      try chip.setLockout(tries: 1_000)
      let keys = try AccessControl.Requirement.allCases.map {
        try enclave.makeKey(.agreement, $0, for: person)
      }
      let damaged = changed(keys[0].dataRepresentation, at: keys[0].dataRepresentation.count - 40)
      let before = try chip.descriptors()
      for round in 0..<Shares("rests in a chip", count: 4).rounds(of: 40) {
        for key in keys {
          let authorizations = person.authorizations(key.access.requirement)
          #expect(enclave.refusal(key, authorizations[round % authorizations.count]) == nil)
        }
        #expect(enclave.refusal(keys[1], wrong) == .wrongPasscode)
        #expect(enclave.refusal(keys[2], wrong) == .wrongPasscode)
        #expect(enclave.refusal(keys[3], .biometry(Finger())) == .biometryRefused)
        #expect(enclave.refusal(damaged, .none) == .corrupt)
        _ = try enclave.makeKey(.signing, .biometryAny, for: person)
      }
      #expect(try chip.descriptors() == before)
      #expect(try chip.loadedCount() == 0)
    }

    @Test("Several threads take turns")
    func threads() throws {
      let key = try enclave.makeKey(.agreement, .devicePasscode, for: person)
      let enclave = self.enclave
      let right = self.right
      let refusals = Mutex<[EnclaveError?]>([])
      DispatchQueue.concurrentPerform(iterations: 20) { _ in
        let refusal = enclave.refusal(key, right)
        refusals.withLock { $0.append(refusal) }
      }
      #expect(refusals.withLock(\.self) == [EnclaveError?](repeating: nil, count: 20))
      #expect(try chip.loadedCount() == 0)
    }
  }

  /// A finger during whose recognition something happens.
  private final class Interruption: BiometryVerifier {
    private let finger: Finger
    private let event: @Sendable () -> Void

    init(_ finger: Finger, _ event: @escaping @Sendable () -> Void) {
      self.finger = finger
      self.event = event
    }

    var publicKey: [UInt8] { finger.publicKey }

    func sign(digest: [UInt8]) throws(EnclaveError) -> [UInt8] {
      event()
      return try finger.sign(digest: digest)
    }
  }
#endif
