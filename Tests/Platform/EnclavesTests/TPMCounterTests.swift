// SPDX-License-Identifier: Apache-2.0
//
// Counters in a chip: they go up by one, outlive everything but their deletion, and are told from others.

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

  @Suite("A TPM's counters", .enabled(if: SoftwareTPM.isInstalled, "swtpm is installed by scripts/packages"))
  struct TPMCounterTests {
    private let chip: SoftwareTPM
    private let enclave: TPMEnclave
    private let authorization = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
    private let other = SharedSecretBytes(SystemRandom.secretBytes(count: 32))

    init() throws {
      chip = try SoftwareTPM()
      enclave = TPMEnclave(tcti: chip.tcti)
    }

    // MARK: It counts

    @Test("A counter goes up by one each time, and not when it is read")
    func counts() throws {
      let made = try enclave.createCounter(authorization: authorization)
      #expect(made.value > 0)
      var expected = made.value
      for _ in 0..<5 {
        #expect(try enclave.counterValue(made.counter, authorization: authorization) == expected)
        expected += 1
        #expect(try enclave.incrementCounter(made.counter, authorization: authorization) == expected)
      }
      #expect(try enclave.counterValue(made.counter, authorization: authorization) == expected)
    }

    @Test("A counter outlives a restart, a power cut, and a process that has only its bytes")
    func restart() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let bytes = made.counter.dataRepresentation
      let value = try enclave.incrementCounter(made.counter, authorization: authorization)
      try chip.restart()
      let read = try ChipCounter(dataRepresentation: bytes)
      #expect(read == made.counter && read.dataRepresentation == bytes)
      let again = TPMEnclave(tcti: chip.tcti)
      #expect(try again.counterValue(read, authorization: authorization) == value)
      #expect(try again.incrementCounter(read, authorization: authorization) == value + 1)
      chip.kill()
      try chip.restart()
      #expect(try again.counterValue(read, authorization: authorization) == value + 1)
    }

    @Test("Counters of two authorizations have nothing to do with each other")
    func two() throws {
      let one = try enclave.createCounter(authorization: authorization)
      let two = try enclave.createCounter(authorization: other)
      #expect(one.counter != two.counter)
      let value = try enclave.incrementCounter(one.counter, authorization: authorization)
      #expect(value == one.value + 1)
      #expect(try enclave.counterValue(two.counter, authorization: other) == two.value)
      #expect(try chip.indexes().count == 2)
    }

    @Test("Several threads each get a value of their own")
    func threads() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let (enclave, authorization) = (self.enclave, self.authorization)
      let values = Mutex<Set<UInt64?>>([])
      DispatchQueue.concurrentPerform(iterations: 20) { _ in
        let value = try? enclave.incrementCounter(made.counter, authorization: authorization)
        values.withLock { _ = $0.insert(value) }
      }
      #expect(values.withLock(\.self) == Set(made.value + 1...made.value + 20))
      #expect(try chip.loadedCount() == 0)
    }

    @Test("Only a TPM offers counters")
    func offered() {
      let enclaves: [any Enclave] = [enclave, SoftwareEnclave()]
      #expect(enclaves.map { $0 is any CounterEnclave } == [true, false])
    }

    // MARK: Refusals

    @Test("Another authorization counts nothing up, reads nothing, and brings no chip nearer to its lockout")
    func wrongAuthorization() throws {
      try chip.setLockout(tries: 3)
      let made = try enclave.createCounter(authorization: authorization)
      for _ in 0..<5 { #expect(enclave.refusals(made.counter, other) == [.corrupt, .corrupt]) }
      for count in [0, 31, 33] {
        let short = SharedSecretBytes(SystemRandom.secretBytes(count: count))
        #expect(enclave.refusals(made.counter, short) == [.invalidInput, .invalidInput])
        #expect(throws: EnclaveError.invalidInput) { try enclave.createCounter(authorization: short) }
      }
      #expect(try enclave.lockoutStatus().triesLeft == 3)
      #expect(try enclave.counterValue(made.counter, authorization: authorization) == made.value)
    }

    @Test("A chip that is locked for wrong PINs counts on")
    func lockedChip() throws {
      try chip.setLockout(tries: 1)
      let person = Person()
      let key = try enclave.makeKey(.agreement, .devicePasscode, for: person)
      let made = try enclave.createCounter(authorization: authorization)
      #expect(enclave.refusal(key, .passcode(typed("000000"))) == .wrongPasscode)
      #expect(throws: EnclaveError.self) { try enclave.checkReadiness() }
      let value = try enclave.incrementCounter(made.counter, authorization: authorization)
      #expect(value == made.value + 1)
    }

    @Test("Without a chip nothing is said of a counter")
    func missing() throws {
      let made = try enclave.createCounter(authorization: authorization)
      for tcti in ["swtpm:path=\(chip.path("none"))", "nonsense", ""] {
        let missing = TPMEnclave(tcti: tcti)
        #expect(throws: EnclaveError.unavailable) { try missing.createCounter(authorization: authorization) }
        #expect(missing.refusals(made.counter, authorization) == [.unavailable, .unavailable])
        #expect(throws: EnclaveError.unavailable) { try missing.deleteCounter(made.counter) }
      }
    }

    @Test("On a chip that was cleared or replaced a counter is another chip's", arguments: [false, true])
    func otherChip(_ isCleared: Bool) throws {
      for hasPersistentRoot in [false, true] {
        if hasPersistentRoot { try chip.makePersistentRoot("ecc256") }
        let made = try enclave.createCounter(authorization: authorization)
        if isCleared { try chip.run("clear") } else { try chip.replace() }
        #expect(enclave.refusals(made.counter, authorization) == [.otherChip, .otherChip])
        #expect(throws: EnclaveError.otherChip) { try enclave.deleteCounter(made.counter) }
      }
    }

    @Test("A counter that somebody deleted is gone, and so it is when another index stands in its place")
    func deleted() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let index = try #require(try chip.indexes().first)
      let place = "0x" + String(index, radix: 16)
      try chip.run("nvundefine", place)
      #expect(enclave.refusals(made.counter, authorization) == [.counterGone, .counterGone])
      #expect(throws: EnclaveError.counterGone) { try enclave.deleteCounter(made.counter) }

      try chip.run("nvdefine", place, "--size=8", "--attributes=nt=counter|authread|authwrite|no_da")
      try chip.run("nvincrement", place, "--hierarchy=\(place)")
      #expect(enclave.refusals(made.counter, authorization) == [.counterGone, .counterGone])
      #expect(throws: EnclaveError.counterGone) { try enclave.deleteCounter(made.counter) }
      #expect(try chip.indexes() == [index])
    }

    @Test("An index with the very same public area, and an authorization of its own, is another counter")
    func forged() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let index = try #require(try chip.indexes().first)
      try chip.forgeCounter(at: index)
      #expect(try chip.indexes() == [index])
      try chip.setLockout(tries: 2)
      for _ in 0..<3 {
        #expect(enclave.refusals(made.counter, authorization) == [.counterGone, .counterGone])
      }
      #expect(try enclave.lockoutStatus().triesLeft == 2)
      // A new one is made beside it, above all that there was.
      let new = try enclave.createCounter(authorization: authorization)
      #expect(new.counter != made.counter && new.value > made.value)
      #expect(try chip.indexes().count == 2)
      try chip.run("nvundefine", "0x" + String(index, radix: 16))
      #expect(try enclave.counterValue(new.counter, authorization: authorization) == new.value)
    }

    @Test("A counter that is made later never has a value that an earlier one has had")
    func neverLower() throws {
      var made = try enclave.createCounter(authorization: authorization)
      for _ in 0..<3 {
        var value = made.value
        for _ in 0..<10 { value = try enclave.incrementCounter(made.counter, authorization: authorization) }
        try enclave.deleteCounter(made.counter)
        #expect(try chip.indexes() == [])
        #expect(enclave.refusals(made.counter, authorization) == [.counterGone, .counterGone])
        let next = try enclave.createCounter(authorization: authorization)
        #expect(next.counter != made.counter && next.value > value)
        made = next
      }
    }

    @Test("A chip without room makes no counter, says so, and makes one when there is room again")
    func noRoom() throws {
      try chip.fill()
      let before = try chip.indexes()
      #expect(throws: EnclaveError.counterRefused) { try enclave.createCounter(authorization: authorization) }
      #expect(try chip.indexes() == before)
      #expect(try chip.loadedCount() == 0)
      try chip.run("nvundefine", "0x" + String(try #require(before.last), radix: 16))
      let made = try enclave.createCounter(authorization: authorization)
      #expect(try enclave.incrementCounter(made.counter, authorization: authorization) == made.value + 1)
    }

    @Test("A chip whose owner has a password makes and deletes no counter; those that are there count on")
    func ownerPassword() throws {
      let early = try enclave.createCounter(authorization: authorization)
      try chip.run("changeauth", "--object-context=o", "secret")
      #expect(throws: EnclaveError.counterRefused) { try enclave.createCounter(authorization: other) }
      // No storage root key, no session.
      #expect(enclave.refusals(early.counter, authorization) == [.ownerPassword, .ownerPassword])
      try chip.run("changeauth", "--object-context=o", "--object-auth=secret")
      try enclave.deleteCounter(early.counter)
      try chip.makePersistentRoot("ecc256")
      let made = try enclave.createCounter(authorization: authorization)
      try chip.run("changeauth", "--object-context=o", "secret")
      #expect(throws: EnclaveError.counterRefused) { try enclave.createCounter(authorization: other) }
      #expect(throws: EnclaveError.counterRefused) { try enclave.deleteCounter(made.counter) }
      #expect(try enclave.incrementCounter(made.counter, authorization: authorization) == made.value + 1)
      #expect(try chip.indexes().count == 1)
    }

    // MARK: Interruptions

    @Test("An interrupted creation leaves one index at most, which the next one takes up")
    func interruptedCreation() throws {
      let wire = try ChipWire(chip)
      let enclave = TPMEnclave(tcti: wire.tcti)
      // How many answers one creation takes.
      wire.changeAnswers(nil)
      let first = try enclave.createCounter(authorization: authorization)
      let count = wire.answerCount
      try enclave.deleteCounter(first.counter)
      var (failures, leftBehind) = (0, 0)
      let shares = Shares("TPM, interrupted creation", count: 4)
      for target in shares.of(0..<count) {
        wire.changeAnswers { [chip] index, _ in if index == target { chip.kill() } }
        do throws(EnclaveError) { _ = try enclave.createCounter(authorization: authorization) } catch {
          #expect(error == .notAnswering || error == .unavailable, "at \(target)")
          failures += 1
        }
        wire.changeAnswers(nil)
        try chip.restart()
        let left = try chip.indexes()
        #expect(left.count <= 1, "at \(target)")
        leftBehind += left.count
        let made = try enclave.createCounter(authorization: authorization)
        let now = try chip.indexes()
        #expect(now.count == 1 && (left.isEmpty || now == left), "at \(target)")
        #expect(try enclave.incrementCounter(made.counter, authorization: authorization) == made.value + 1)
        try enclave.deleteCounter(made.counter)
      }
      #expect(failures > 0)
      if shares.isWhole { #expect(failures > 5 && leftBehind > 1) }
    }

    @Test("An interrupted count leaves the counter where it was, or up by one")
    func interruptedCount() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let wire = try ChipWire(chip)
      let wired = TPMEnclave(tcti: wire.tcti)
      var value = try wired.incrementCounter(made.counter, authorization: authorization)
      let count = wire.answerCount
      var failures = 0
      let shares = Shares("TPM, interrupted count", count: 2)
      for target in shares.of(0..<count) {
        wire.changeAnswers { [chip] index, _ in if index == target { chip.kill() } }
        do throws(EnclaveError) {
          #expect(try wired.incrementCounter(made.counter, authorization: authorization) == value + 1)
        } catch {
          #expect(error == .notAnswering || error == .unavailable, "at \(target)")
          failures += 1
        }
        wire.changeAnswers(nil)
        try chip.restart()
        let now = try wired.counterValue(made.counter, authorization: authorization)
        #expect(now == value || now == value + 1, "at \(target)")
        value = now
      }
      #expect(failures > 0 && value > made.value)
      if shares.isWhole { #expect(failures > 3) }
    }

    @Test("Who makes a counter again with its authorization gets the one that is there, counted up")
    func again() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let again = try enclave.createCounter(authorization: authorization)
      #expect(again.counter == made.counter && again.value == made.value + 1)
      #expect(try chip.indexes().count == 1)
    }

    // MARK: Bytes

    @Test("Bytes that are not a counter are corrupt, and of another kind of enclave so called")
    func notACounter() throws {
      let bytes = try enclave.createCounter(authorization: authorization).counter.dataRepresentation
      #expect(bytes.count == ChipCounter.byteCount)
      for count in 0..<bytes.count {
        #expect(throws: EnclaveError.corrupt) {
          try ChipCounter(dataRepresentation: Array(bytes.prefix(count)))
        }
      }
      #expect(throws: EnclaveError.corrupt) { try ChipCounter(dataRepresentation: bytes + [0]) }
      for (offset, byte, error) in [
        (0, 2, .wrongKind), (0, 3, .wrongKind), (0, 0, .corrupt), (0, 9, .corrupt), (1, 0, .corrupt),
        (1, 3, .corrupt), (36, 0x81, .corrupt), (37, 0xC0, .corrupt), (37, 0x7F, .corrupt),
      ] as [(Int, UInt8, EnclaveError)] {
        var changed = bytes
        changed[offset] = byte
        #expect(throws: error, "\(offset)") { try ChipCounter(dataRepresentation: changed) }
      }
    }

    @Test("A changed byte of a counter gives no value")
    func tampering() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let bytes = made.counter.dataRepresentation
      // The place of the storage root key only says where to look first.
      for offset in bytes.indices where offset != 1 {
        var changed = bytes
        changed[offset] ^= 1 << UInt8.random(in: 0..<8)
        do throws(EnclaveError) {
          let counter = try ChipCounter(dataRepresentation: changed)
          _ = try enclave.counterValue(counter, authorization: authorization)
          Issue.record("a value, with a changed byte at \(offset)")
        } catch {
          #expect([.corrupt, .wrongKind, .otherChip].contains(error), "at \(offset)")
        }
      }
      #expect(try enclave.counterValue(made.counter, authorization: authorization) == made.value)
    }

    @Test("Nothing stays in the chip but the counters, nor any descriptor, whatever happens")
    func leaks() throws {
      let made = try enclave.createCounter(authorization: authorization)
      let before = try chip.descriptors()
      for _ in 0..<20 {
        _ = try enclave.incrementCounter(made.counter, authorization: authorization)
        _ = try enclave.createCounter(authorization: authorization)
        let new = try enclave.createCounter(authorization: other)
        try enclave.deleteCounter(new.counter)
        #expect(enclave.refusals(new.counter, other) == [.counterGone, .counterGone])
      }
      #expect(try chip.descriptors() == before)
      #expect(try chip.loadedCount() == 0)
      #expect(try chip.indexes().count == 1)
    }
  }

  extension CounterEnclave {
    /// Why a counter is not read, and why it is not counted up.
    fileprivate func refusals(_ counter: ChipCounter, _ authorization: SharedSecretBytes) -> [EnclaveError?] {
      [
        refusal { () throws(EnclaveError) in try counterValue(counter, authorization: authorization) },
        refusal { () throws(EnclaveError) in try incrementCounter(counter, authorization: authorization) },
      ]
    }

    private func refusal(_ body: () throws(EnclaveError) -> UInt64) -> EnclaveError? {
      do throws(EnclaveError) {
        _ = try body()
        return nil
      } catch {
        return error
      }
    }
  }
#endif
