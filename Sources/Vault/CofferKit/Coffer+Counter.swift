// SPDX-License-Identifier: Apache-2.0
//
// The counter in the machine's chip that belongs to a coffer (Specs/binding.md, "A counter in the chip"). An attacker
// can restore an older copy of the whole file, but cannot set the counter back. The value in the file is always
// increased first: it may be one ahead of the chip, never behind.

internal import Enclaves
internal import Glibc
internal import Keychains
internal import Logging
internal import Storage
internal import Vaults

/// How the value in a coffer's file compares with the chip's.
enum CounterVerdict: Equatable {
  /// The coffer has no counter.
  case noCounter
  case latest
  /// A process ended after it wrote the record, and before it increased the chip's counter.
  case chipOneBehind
  /// The chip has counted changes that this file does not have.
  case earlierState
  /// The chip does not have the counter, or has a value that no change of this coffer explains: it is another chip,
  /// was cleared, or does not answer.
  case unverifiable

  init(recorded: UInt64, shown: UInt64) {
    if recorded == shown {
      self = .latest
    } else if recorded < shown {
      self = .earlierState
    } else {
      self = recorded - shown == 1 ? .chipOneBehind : .unverifiable
    }
  }
}

/// The counter of one coffer, and the chip that it is in.
struct RollbackCounter {
  let file: DatabaseFile
  let binding: FileBinding
  let machine: Machine
  let clock: VaultClock

  /// Seconds after which changes other than to slots count too. A chip's memory wears out after about 100,000
  /// writes.
  static let patienceSeconds: Int64 = 3_600

  private var chip: (any CounterEnclave)? { machine.chip as? any CounterEnclave }

  func mark() throws -> CounterMark? { try file.read { try binding.counter($0) } }

  /// Compares record and chip, and completes an update that another process did not finish.
  /// - Throws: `StorageError.earlierState`. It is not an error if the chip does not answer: the coffer may have
  ///   been moved to another machine.
  @discardableResult
  func check() throws -> CounterVerdict {
    while true {
      guard let mark = try mark() else { return .noCounter }
      guard let shown = value(mark) else { return .unverifiable }
      let verdict = CounterVerdict(recorded: mark.value, shown: shown)
      switch verdict {
      case .latest, .noCounter, .unverifiable: return verdict
      case .earlierState:
        // Another process may have counted between the two reads.
        guard try self.mark() != mark else { throw StorageError.earlierState }
      case .chipOneBehind:
        // Another process may be between record and chip, and will finish by itself.
        do { try file.claimWriting() } catch { return verdict }
        guard try self.mark() == mark, value(mark) == shown else { continue }
        countUp(mark)
        return verdict
      }
    }
  }

  /// The mark to write in the transaction of the next change of slots; nil when the chip cannot be increased now.
  func next() throws -> CounterMark? {
    guard let mark = try mark(), let shown = value(mark) else { return nil }
    switch CounterVerdict(recorded: mark.value, shown: shown) {
    case .latest, .chipOneBehind: break
    // A change must not turn a restored older state into the current one.
    case .noCounter, .earlierState, .unverifiable: return nil
    }
    return CounterMark(handle: mark.handle, value: shown + 1, time: clock.now())
  }

  /// Increases the chip's counter to a mark that is on the disk, in several tries if the chip asks for that. If this
  /// fails, the next process that opens the coffer does it.
  /// - Returns: whether the chip has counted.
  @discardableResult
  func countUp(_ mark: CounterMark) -> Bool {
    guard let chip, let counter = try? ChipCounter(dataRepresentation: mark.handle) else { return false }
    for pause in Self.pausesMilliseconds {
      do throws(EnclaveError) {
        _ = try chip.incrementCounter(counter, authorization: binding.counterAuthorization())
        return true
      } catch {
        guard error == .tryLater else { break }
        usleep(pause * 1_000)
      }
    }
    // After an error the chip may have counted or not.
    if value(mark) == mark.value { return true }
    Coffer.log.warning("the counter in the chip was not counted up")
    return false
  }

  /// A chip that spares its memory takes the next write after some time; a command does not wait longer for it.
  private static let pausesMilliseconds: [UInt32] = [50, 200, 500, 1_000]

  /// Increases the counter for changes since the last time, if that was long enough ago.
  func countUpIfDue() {
    do {
      try file.claimWriting()
      // A mark from the future, written when the clock was wrong, does not delay counting.
      guard let mark = try mark(), !(0..<Self.patienceSeconds).contains(clock.now() - mark.time),
        let next = try next()
      else { return }
      try file.write { try binding.setCounter(next, $0) }
      countUp(next)
    } catch {
      Coffer.log.warning("the counter in the chip was not counted up")
    }
  }

  /// Creates a counter if the chip can and there is none yet.
  func makeIfMissing() {
    do {
      guard try mark() == nil, let chip else { return }
      let (counter, value) = try chip.createCounter(authorization: binding.counterAuthorization())
      let mark = CounterMark(handle: counter.dataRepresentation, value: value, time: clock.now())
      try file.write { try binding.setCounter(mark, $0) }
    } catch {
      Coffer.log.warning("the chip gives no counter")
    }
  }

  /// Accepts this state as the current one, whatever the chip's value.
  ///
  /// - Returns: false when it already is the current one, or there is no counter.
  /// - Throws: `EnclaveError.unavailable` when the chip does not give the counter's value.
  func accept() throws -> Bool {
    try file.claimWriting()
    guard let mark = try mark() else { return false }
    guard let shown = value(mark) else { throw EnclaveError.unavailable }
    switch CounterVerdict(recorded: mark.value, shown: shown) {
    case .noCounter, .latest, .chipOneBehind: return false
    case .earlierState, .unverifiable: break
    }
    let accepted = CounterMark(handle: mark.handle, value: shown + 1, time: clock.now())
    try file.write { try binding.setCounter(accepted, $0) }
    countUp(accepted)
    return true
  }

  /// Deletes the counter of a coffer that forgets this machine or is erased.
  /// - Returns: false when it may still be in the chip.
  static func delete(handle: [UInt8], machine: Machine) -> Bool {
    guard let counter = try? ChipCounter(dataRepresentation: handle) else { return true }
    guard let chip = machine.chip as? any CounterEnclave else { return false }
    do throws(EnclaveError) {
      try chip.deleteCounter(counter)
      return true
    } catch { return error == .counterGone || error == .otherChip }
  }

  /// The chip's value; nil when it does not answer.
  private func value(_ mark: CounterMark) -> UInt64? {
    guard let chip, let counter = try? ChipCounter(dataRepresentation: mark.handle) else { return nil }
    return try? chip.counterValue(counter, authorization: binding.counterAuthorization())
  }
}

/// The result of forgetting a machine.
public struct ForgottenDevice: Equatable, Sendable {
  /// Slots of its chip that were removed.
  public let slotCount: Int
  /// Whether the coffer's counter may still be in the chip.
  public let counterRemains: Bool
}
