// SPDX-License-Identifier: Apache-2.0
//
// What somebody learns who reads the wires between process and chip, and what they reach who change them.

#if TPM
  import Extents
  import Foundation
  import Primitives
  import Secrets
  import SeededGenerators
  import SoftwareTPM
  import Synchronization
  import Testing

  @testable import Enclaves

  @Suite(
    "The wires to a TPM", .enabled(if: SoftwareTPM.isInstalled, "swtpm is installed by scripts/packages"))
  struct TPMWireTests {
    private let chip: SoftwareTPM
    private let wire: ChipWire
    private let enclave: TPMEnclave
    private let person = Person()

    init() throws {
      chip = try SoftwareTPM()
      wire = try ChipWire(chip)
      enclave = TPMEnclave(tcti: wire.tcti)
    }

    @Test("Without the library nothing is said of a chip: there is one")
    func noLibrary() throws {
      #expect(throws: EnclaveError.noLibrary) { _ = try TPMContext(tcti: chip.tcti, nil) }
      #expect(throws: Never.self) { _ = try TPMContext(tcti: chip.tcti) }
    }

    @Test("A chip that goes away while it is spoken to is an error, and ends no process")
    func goesAway() async {
      await #expect(processExitsWith: .success) {
        let chip = try SoftwareTPM()
        // A socket whose other end is closed at once: each write to it is one that nobody reads.
        let path = chip.path("gone")
        try FileManager.default.createSymbolicLink(
          atPath: path + ".ctrl", withDestinationPath: chip.path("s.ctrl"))
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
          }
        }
        guard bound == 0, listen(listener, 8) == 0 else { exit(2) }
        Thread.detachNewThread {
          while true { close(accept(listener, nil, nil)) }
        }
        let enclave = TPMEnclave(tcti: "swtpm:path=\(path)")
        for _ in 0..<200 {
          do throws(EnclaveError) {
            try enclave.checkAvailability()
            exit(3)
          } catch { guard error == .unavailable || error == .notAnswering else { exit(4) } }
        }
        // What the process does with the signal otherwise is as before.
        var action = sigaction()
        sigaction(SIGPIPE, nil, &action)
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        guard sigismember(&blocked, SIGPIPE) == 0 else { exit(5) }
      }
    }

    @Test("A chip whose owner has a password answers, and is not called absent")
    func ownerPassword() throws {
      let own = TPMEnclave(tcti: chip.tcti)
      let key = try own.makeKey(.agreement, .none, for: person)
      try chip.run("changeauth", "-c", "owner", "secret")
      try own.checkAvailability()
      #expect(throws: EnclaveError.ownerPassword) {
        _ = try own.makeKey(.agreement, .none, for: person)
      }
      #expect(throws: EnclaveError.ownerPassword) { try own.checkReadiness(of: key) }
    }

    @Test("What a chip asks to be repeated later is told from what it refuses")
    func later() {
      for code: UInt32 in [0x920, 0x922, 0x923, 0x0C_0920] {
        #expect(EnclaveError(responseCode: code) == .tryLater)
      }
      #expect(EnclaveError(responseCode: 0x921) == .lockedOut(secondsLeft: nil))
      #expect(EnclaveError(responseCode: 0x924) == .failed(code: 0x924))
    }

    @Test("Neither PIN nor what is derived from it nor what was agreed goes over the wire in the clear")
    func secrets() throws {
      let peer = P256PrivateKey()
      for requirement in AccessControl.Requirement.allCases {
        let key = try enclave.makeKey(.agreement, requirement, for: person)
        let salt = try TPMBody(try EnclaveHandle(key.dataRepresentation)).salt
        let secrets = [
          exposed(person.pin), exposed(SharedSecretBytes(TPMBody.authValue(person.pin, salt: salt))),
          exposed(SharedSecretBytes(try peer.sharedSecret(with: key.publicKey))),
        ]
        for authorization in person.authorizations(requirement) {
          let agreed = exposed(
            SharedSecretBytes(
              try enclave.sharedSecret(key, with: peer.publicKey, authorization: authorization)))
          #expect(agreed == secrets[2])
        }
        let record = Data(wire.takeRecord())
        // The search sees what is there.
        #expect(record.range(of: Data(key.publicKey[1..<33])) != nil)
        for (index, secret) in secrets.enumerated() {
          // Half of a key is bad enough; half of a PIN is found anywhere.
          let parts = secret.count == 32 ? [secret[..<16], secret[16...]] : [secret[...]]
          for part in parts {
            #expect(record.range(of: Data(part)) == nil, "\(requirement), \(index)")
          }
        }
      }
    }

    @Test("A changed answer ends in an error, or in what the chip would have said")
    func changes() throws {
      var random = SeededGenerator(run: Extent.seed)
      try chip.setLockout(tries: 10_000)
      let peer = P256PrivateKey()
      for requirement in Shares("changed answers of a chip", count: 4).of(AccessControl.Requirement.allCases)
      {
        let key = try enclave.makeKey(.agreement, requirement, for: person)
        let expected = exposed(SharedSecretBytes(try peer.sharedSecret(with: key.publicKey)))
        let authorization = try #require(person.authorizations(requirement).last)
        wire.changeAnswers(nil)
        _ = try enclave.agrees(key, authorization)
        let count = wire.answerCount
        var errors = 0
        for target in 0..<count {
          for _ in 0..<2 {
            let bit = UInt8.random(in: 0..<8, using: &random)
            let place = Int.random(in: 0..<10_000, using: &random)
            wire.changeAnswers { index, answer in
              // Not in the length: that would only make the other side wait.
              if index == target { answer[6 + place % (answer.count - 6)] ^= 1 << bit }
            }
            do throws(EnclaveError) {
              let secret = try enclave.sharedSecret(
                key, with: peer.publicKey, authorization: authorization)
              #expect(exposed(SharedSecretBytes(secret)) == expected, "\(requirement), answer \(target)")
            } catch {
              errors += 1
            }
            // What nobody could read the handle of is still in the chip.
            wire.changeAnswers(nil)
            try chip.run("flushcontext", "--transient-object")
            try chip.run("flushcontext", "--loaded-session")
          }
        }
        wire.changeAnswers(nil)
        #expect(errors > count / 2)
        #expect(enclave.refusal(key, authorization) == nil)
      }
    }

    @Test("Neither a counter's authorization nor what is derived from it goes over the wire in the clear")
    func counterSecrets() throws {
      let authorization = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
      let made = try enclave.createCounter(authorization: authorization)
      _ = try enclave.createCounter(authorization: authorization)
      _ = try enclave.counterValue(made.counter, authorization: authorization)
      _ = try enclave.incrementCounter(made.counter, authorization: authorization)
      try enclave.deleteCounter(made.counter)
      let secret = try TPMCounterSecret(authorization, rootName: made.counter.rootName)
      let record = Data(wire.takeRecord())
      // The search sees what is there.
      #expect(record.range(of: Data(secret.mark)) != nil)
      for bytes in [exposed(authorization), exposed(secret.authValue)] {
        #expect(record.range(of: Data(bytes[..<16])) == nil)
        #expect(record.range(of: Data(bytes[16...])) == nil)
      }
    }

    @Test("A changed answer gives no other value of a counter than the chip's")
    func changedCounter() throws {
      var random = SeededGenerator(run: Extent.seed)
      let authorization = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
      let made = try enclave.createCounter(authorization: authorization)
      var value = made.value
      for isRead in [true, false] {
        wire.changeAnswers(nil)
        value = try read(made.counter, authorization, counting: !isRead)
        let count = wire.answerCount
        var errors = 0
        for target in 0..<count {
          for _ in 0..<4 {
            let bit = UInt8.random(in: 0..<8, using: &random)
            let place = Int.random(in: 0..<10_000, using: &random)
            wire.changeAnswers { index, answer in
              // Not in the length: that would only make the other side wait.
              if index == target { answer[6 + place % (answer.count - 6)] ^= 1 << bit }
            }
            let isSame: Bool
            do throws(EnclaveError) {
              let answer = try read(made.counter, authorization, counting: !isRead)
              wire.changeAnswers(nil)
              isSame = try enclave.counterValue(made.counter, authorization: authorization) == answer
            } catch {
              errors += 1
              isSame = true
            }
            #expect(isSame, "answer \(target)")
            // What nobody could read the handle of is still in the chip.
            wire.changeAnswers(nil)
            try chip.run("flushcontext", "--transient-object")
            try chip.run("flushcontext", "--loaded-session")
          }
        }
        #expect(errors > count / 2)
        let now = try enclave.counterValue(made.counter, authorization: authorization)
        #expect(isRead ? now == value : now > value)
        value = now
      }
    }

    @Test("An answer that was recorded earlier is not taken for the value of a counter")
    func replayedCounter() throws {
      let authorization = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
      let made = try enclave.createCounter(authorization: authorization)
      let earlier = Answers()
      wire.changeAnswers { _, answer in earlier.append(answer) }
      _ = try enclave.counterValue(made.counter, authorization: authorization)
      wire.changeAnswers(nil)
      _ = try enclave.incrementCounter(made.counter, authorization: authorization)
      // Each answer of the earlier conversation in turn, then all from it on, as whoever kept them would give them.
      var errors = 0
      for target in 0..<earlier.all.count {
        for isRest in [false, true] {
          wire.changeAnswers { index, answer in
            if isRest ? index >= target : index == target, index < earlier.all.count {
              answer = earlier.all[index]
            }
          }
          do throws(EnclaveError) {
            let value = try enclave.counterValue(made.counter, authorization: authorization)
            // What never changes can be repeated.
            #expect(value == made.value + 1, "answer \(target)")
          } catch {
            errors += 1
          }
          wire.changeAnswers(nil)
          try chip.run("flushcontext", "--transient-object")
          try chip.run("flushcontext", "--loaded-session")
        }
      }
      // That of the session and that of the counter at least.
      #expect(errors >= 3)
      let value = try enclave.counterValue(made.counter, authorization: authorization)
      #expect(value == made.value + 1)
    }

    @Test("What a resource manager passes on is sorted as the chip's own word, and the library's is not")
    func layers() {
      let (chip, manager, library): (UInt32, UInt32, UInt32) = (0, 0x0C_0000, 0x07_0000)
      for layer in [chip, manager] {
        // TPM_RC_NV_DEFINED, TPM_RC_NV_SPACE; TPM_RC_HANDLE for the first handle; TPM_RC_BAD_AUTH for the first session.
        #expect(EnclaveError.blamesIndex(layer | 0x14C) && !EnclaveError.blamesIndex(layer | 0x14B))
        #expect(EnclaveError(responseCode: layer | 0x14B).isOfChip)
        #expect(EnclaveError.blamesHandle(layer | 0x18B))
        #expect(EnclaveError(responseCode: layer | 0x9A2) == .wrongPasscode)
      }
      #expect(!EnclaveError(responseCode: library | 0x14).isOfChip)
      #expect(!EnclaveError.notAnswering.isOfChip && !EnclaveError.failed(code: 0).isOfChip)
    }

    private func read(
      _ counter: ChipCounter, _ authorization: SharedSecretBytes, counting: Bool
    ) throws(EnclaveError) -> UInt64 {
      try counting
        ? enclave.incrementCounter(counter, authorization: authorization)
        : enclave.counterValue(counter, authorization: authorization)
    }

    @Test("Somebody who shows a key of their own under the storage root's Name gets no session")
    func impostor() throws {
      try chip.makePersistentRoot("ecc256")
      let key = try enclave.makeKey(.agreement, .devicePasscode, for: person)
      #expect(key.dataRepresentation[77] == 1)
      let impostor = P256PrivateKey().publicKey
      wire.changeAnswers { index, answer in
        // header (10) ‖ size (2) ‖ type, name algorithm (4) ‖ attributes (4) ‖ policy (2) ‖ cipher (6)
        // ‖ scheme, curve, derivation (6) ‖ x (2 + 32) ‖ y (2 + 32) ‖ Name …
        guard index == 0, answer.count > 102 else { return }
        answer.replaceSubrange(36..<68, with: impostor[1..<33])
        answer.replaceSubrange(70..<102, with: impostor[33..<65])
      }
      #expect(enclave.refusal(key, .passcode(person.pin)) == .otherChip)
      wire.changeAnswers(nil)
      #expect(enclave.refusal(key, .passcode(person.pin)) == nil)
    }

    @Test("A chip that answers nonsense is not taken for one")
    func nonsense() throws {
      let key = try enclave.makeKey(.signing)
      for count in [10, 11, 20, 60, 500, 4_096] {
        wire.changeAnswers { _, answer in
          answer = [0x80, 0x01, 0, 0, UInt8(count >> 8), UInt8(count & 0xFF)]
          answer += (6..<count).map { _ in UInt8.random(in: .min ... .max) }
        }
        for _ in 0..<10 { #expect(enclave.refusal(key) != nil) }
        #expect(throws: EnclaveError.self) { try enclave.makeKey(.signing) }
        #expect(throws: EnclaveError.self) { try enclave.lockoutStatus() }
        // The code of success, and nonsense behind it.
        wire.changeAnswers { _, answer in
          answer = [0x80, 0x01, 0, 0, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 0, 0]
          answer += (10..<count).map { _ in UInt8.random(in: .min ... .max) }
        }
        for _ in 0..<10 { #expect(enclave.refusal(key) != nil) }
      }
      wire.changeAnswers(nil)
      #expect(enclave.refusal(key) != .corrupt)
    }

    private func exposed(_ secret: SharedSecretBytes) -> [UInt8] {
      secret.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
    }
  }

  /// What a chip answered, one after the other.
  private final class Answers: Sendable {
    private let list = Mutex<[[UInt8]]>([])

    var all: [[UInt8]] { list.withLock { $0 } }

    func append(_ answer: [UInt8]) { list.withLock { $0.append(answer) } }
  }
#endif
