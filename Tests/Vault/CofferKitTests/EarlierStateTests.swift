// SPDX-License-Identifier: Apache-2.0
//
// A coffer whose whole folder was put back to an earlier state, on a machine whose TPM has counted on.

#if TPM
  import Enclaves
  import Foundation
  import Keychains
  import Secrets
  import SoftwareTPM
  import Storage
  import Synchronization
  import TemporaryHomes
  import Testing
  import Vaults

  @testable import CofferKit

  @Suite(
    "A whole coffer that was put back",
    .enabled(if: SoftwareTPM.isInstalled, "swtpm is installed by scripts/packages"))
  struct EarlierStateTests {
    private let place: ChipPlace

    init() throws { place = try ChipPlace() }

    @Test("After a change of slots, a copy from before it does not open, by any slot")
    func slotChange() throws {
      let coffer = try place.make()
      try place.copy()
      _ = try coffer.addSlot(newPhrase())
      coffer.close()
      try place.open().close()
      try place.putBack()
      #expect(throws: StorageError.earlierState) { _ = try place.open() }
      #expect(throws: StorageError.earlierState) { _ = try place.open() }
    }

    @Test("An hour after the last count a message counts, and before that it does not")
    func hourly() throws {
      let coffer = try place.make()
      let first = try #require(try coffer.counter.mark())
      try place.copy()
      coffer.audit(.messagesAdded, count: 1)
      #expect(try coffer.counter.mark() == first)
      place.advance(RollbackCounter.patienceSeconds)
      coffer.audit(.messagesAdded, count: 1)
      #expect(try coffer.counter.mark()?.value == first.value + 1)
      coffer.close()
      try place.open().close()
      try place.putBack()
      #expect(throws: StorageError.earlierState) { _ = try place.open() }
    }

    @Test(
      "The owner can take a copy that was put back for the present state; the later one is then the earlier")
    func accepted() throws {
      let coffer = try place.make()
      try place.copy()
      _ = try coffer.addSlot(newPhrase())
      coffer.close()
      let later = try place.home.copy()
      try place.putBack()
      let accepted = try place.open(acceptsEarlierState: true)
      #expect(try accepted.acceptEarlierState())
      #expect(try !accepted.acceptEarlierState())
      #expect(try accepted.auditLog().last?.event == .earlierStateAccepted)
      accepted.close()
      let again = try place.open()
      #expect(try again.counter.check() == .latest)
      again.close()
      try place.putBack(later)
      #expect(throws: StorageError.earlierState) { _ = try place.open() }
    }

    @Test("An agent's keys do not accept an earlier state, and a change with them does not hide it")
    func handedOn() throws {
      let coffer = try place.make()
      let keys = coffer.keys
      try place.copy()
      _ = try coffer.addSlot(newPhrase())
      coffer.close()
      try place.putBack()
      place.advance(2 * RollbackCounter.patienceSeconds)
      let session = try LockedCoffer(home: place.home.path, machine: place.machine, clock: place.clock)
        .unlock(keys)
      #expect(throws: CofferError.slotRequired) { _ = try session.acceptEarlierState() }
      session.audit(.messagesAdded, count: 1)
      session.close()
      #expect(throws: StorageError.earlierState) { _ = try place.open() }
    }

    @Test("A process that ended between record and chip is followed by the chip at the next opening")
    func interrupted() throws {
      let coffer = try place.make()
      let mark = try #require(try coffer.counter.next())
      try coffer.file.write { try coffer.binding.setCounter(mark, $0) }
      coffer.close()
      try place.open().close()
      let coffers = try place.open()
      #expect(try coffers.counter.check() == .latest)
      #expect(try coffers.counter.mark() == mark)
    }

    @Test("While another process is between record and chip, nobody counts in its place")
    func betweenRecordAndChip() throws {
      let writer = try place.make()
      let mark = try #require(try writer.counter.next())
      try writer.file.write { try writer.binding.setCounter(mark, $0) }
      let reader = try place.open()
      #expect(try reader.counter.check() == .chipOneBehind)
      writer.counter.countUp(mark)
      #expect(try reader.counter.check() == .latest)
      #expect(try reader.counter.mark() == mark)
    }

    @Test("A machine that was forgotten gets a counter again with its next registration")
    func registeredAgain() throws {
      let coffer = try place.make()
      #expect(try coffer.forgetDevice() == ForgottenDevice(slotCount: 0, counterRemains: false))
      #expect(try coffer.counter.check() == .noCounter)
      #expect(try coffer.registerDeviceIfForgotten() != nil)
      #expect(try coffer.counter.check() == .latest)
    }

    @Test("Without the chip no earlier state is taken for the present one, and nothing says so")
    func acceptedWithoutChip() throws {
      let coffer = try place.make()
      try place.copy()
      _ = try coffer.addSlot(newPhrase())
      coffer.close()
      try place.putBack()
      place.chip.kill()
      let away = try place.open(acceptsEarlierState: true)
      #expect(throws: EnclaveError.unavailable) { _ = try away.acceptEarlierState() }
      #expect(try away.auditLog().last?.event == .created)
    }

    @Test("Without the chip the coffer opens, takes changes, and goes on counting when the chip is back")
    func chipAway() throws {
      let coffer = try place.make()
      let mark = try coffer.counter.mark()
      coffer.close()
      place.chip.kill()
      let alone = try place.open()
      #expect(try alone.counter.check() == .unverifiable)
      _ = try alone.addSlot(newPhrase())
      #expect(try alone.counter.mark() == mark)
      alone.close()
      try place.chip.restart()
      let back = try place.open()
      #expect(try back.counter.check() == .latest)
      _ = try back.addSlot(newPhrase())
      #expect(try back.counter.mark()?.value == (mark?.value ?? 0) + 1)
    }

    @Test("Another chip in its place is not taken for an earlier state, and the doctor says so")
    func otherChip() throws {
      try place.make().close()
      try place.chip.replace()
      let coffer = try place.open()
      #expect(try coffer.counter.check() == .unverifiable)
      #expect(try coffer.examine(isDeep: false).findings.contains { $0.text.contains("counter") })
    }

    @Test("Forgetting the machine and erasing the coffer leave no counter in the chip")
    func deleted() throws {
      let coffer = try place.make()
      #expect(try place.chip.indexes().count == 1)
      _ = try coffer.forgetDevice()
      #expect(try place.chip.indexes().isEmpty)
      #expect(try coffer.counter.mark() == nil)
      coffer.close()
      let other = try ChipPlace()
      try other.make().close()
      #expect(try other.chip.indexes().count == 1)
      #expect(try Erasure.erase(home: other.home.path, machine: other.machine) == Erasure.Remains())
      #expect(try other.chip.indexes().isEmpty)
    }

    @Test("A chip without room for a counter leaves a coffer without one, and the doctor says so")
    func noRoom() throws {
      try place.chip.fill()
      let coffer = try place.make()
      #expect(try coffer.counter.mark() == nil)
      let findings = try coffer.examine(isDeep: false).findings
      #expect(findings.contains { $0.severity == .advice && $0.text.contains("no counter") })
    }

    @Test(
      "Verdicts",
      arguments: [
        (5, 5, CounterVerdict.latest), (6, 5, .chipOneBehind), (7, 5, .unverifiable), (4, 5, .earlierState),
        (0, UInt64.max, .earlierState),
      ] as [(UInt64, UInt64, CounterVerdict)])
    func verdicts(recorded: UInt64, shown: UInt64, verdict: CounterVerdict) {
      #expect(CounterVerdict(recorded: recorded, shown: shown) == verdict)
    }
  }

  /// A chip, a home, a copy of it, and a clock that stands still.
  private final class ChipPlace: Sendable {
    let chip: SoftwareTPM
    let home: TemporaryHome
    private let former: TemporaryHome
    private let seconds = Atomic<Int64>(1_759_536_000)

    init() throws {
      chip = try SoftwareTPM()
      home = try TemporaryHome()
      former = try TemporaryHome()
    }

    var machine: Machine { Machine(tcti: chip.tcti) }

    var clock: VaultClock {
      VaultClock(
        now: { self.seconds.load(ordering: .relaxed) }, uptime: { self.seconds.load(ordering: .relaxed) },
        pause: { _ in })
    }

    func advance(_ seconds: Int64) { self.seconds.add(seconds, ordering: .relaxed) }

    func make() throws -> Coffer {
      try Coffer.create(
        home: home.path, passphrase: passphrase(), recoveryPhrase: newPhrase(),
        kdf: .pbkdf2(iterations: 600_000),
        machine: machine, attestation: .tpm, clock: clock)
    }

    func open(acceptsEarlierState: Bool = false) throws -> Coffer {
      try LockedCoffer(
        home: home.path, machine: machine, clock: clock, acceptsEarlierState: acceptsEarlierState
      ).unlock(SlotCredential(passphrase()))
    }

    /// Copies the folder as it is.
    func copy() throws { try FileManager.default.copyItem(atPath: home.path, toPath: former.path) }

    func putBack(_ other: TemporaryHome? = nil) throws {
      try FileManager.default.removeItem(atPath: home.path)
      try FileManager.default.copyItem(atPath: (other ?? former).path, toPath: home.path)
    }
  }
#endif
