// SPDX-License-Identifier: Apache-2.0
//
// A store of keychain records in memory whose every call is numbered. It stops at the call that it is told,
// and a restart decides what became of all that had not been synchronised.

public import Keychains
import Synchronization

/// An ``ItemStore`` that can be stopped, and forgets.
public final class NumberedItemStore: ItemStore {
  /// What becomes of the call at which the store stops; none of them is answered.
  public enum Manner: CaseIterable, Sendable {
    /// It does not happen.
    case before
    /// It happens.
    case after
    /// It happens in part: half of a record is added. As `before` for any other call.
    case torn
  }

  /// What a restart leaves of the changes that were not synchronised.
  public enum Loss: CaseIterable, Sendable {
    /// All of them: the writer ended, the machine went on. They are still not synchronised.
    case nothing
    case everything
    /// The first ones are lost, the later ones kept.
    case earlierHalf
    case laterHalf
    /// Every other one is lost.
    case evenOnes, oddOnes
    /// Every record that was added is there with half of its bytes, and what was removed is there.
    case halfOfEach
  }

  /// The status of the error that every call answers from the stop on.
  public static let stopStatus: Int32 = -1_000

  private enum Change {
    case add(StoredRecord)
    case remove(StoredRecord.Place)
  }

  private struct State {
    var durable: [StoredRecord] = []
    var unsynchronised: [Change] = []
    var added = 0
    var callCount = 0
    var stop: (call: Int, manner: Manner)?
    var isStopped = false

    var visible: [StoredRecord] { unsynchronised.reduce(into: durable, Self.apply) }

    static func apply(_ records: inout [StoredRecord], _ change: Change) {
      switch change {
      case .add(let record): records.append(record)
      case .remove(let place): records.removeAll { $0.place == place }
      }
    }
  }

  private let state = Mutex(State())

  public init() {}

  /// Calls since the beginning or the last restart, a stopped one included.
  public var callCount: Int { state.withLock { $0.callCount } }

  /// Whether the stop has happened.
  public var isStopped: Bool { state.withLock { $0.isStopped } }

  /// The records as a reader would see them. Setting them is not a call, and they are synchronised then: for
  /// damage.
  public var records: [StoredRecord] {
    get { state.withLock { $0.visible } }
    set {
      state.withLock {
        $0.durable = newValue
        $0.unsynchronised = []
      }
    }
  }

  /// The records that are synchronised.
  public var durableRecords: [StoredRecord] { state.withLock { $0.durable } }

  /// Stops at a call, counted from 1 since the beginning or the last restart.
  public func stop(at call: Int, _ manner: Manner) { state.withLock { $0.stop = (call, manner) } }

  /// Begins anew after a stop, or without one; calls are counted from 1 again.
  public func restart(_ loss: Loss) {
    state.withLock { state in
      if loss != .nothing {
        let changes = Self.survivors(state.unsynchronised, loss)
        state.durable = changes.reduce(into: state.durable, State.apply)
        state.unsynchronised = []
      }
      state.callCount = 0
      state.stop = nil
      state.isStopped = false
    }
  }

  /// A copy in the state of this moment: what is synchronised and what is not.
  public func copy() -> NumberedItemStore {
    let copy = NumberedItemStore()
    let (durable, unsynchronised, added) = state.withLock { ($0.durable, $0.unsynchronised, $0.added) }
    copy.state.withLock {
      $0.durable = durable
      $0.unsynchronised = unsynchronised
      $0.added = added
    }
    return copy
  }

  private static func survivors(_ changes: [Change], _ loss: Loss) -> [Change] {
    let half = (changes.count + 1) / 2
    func every(_ remainder: Int) -> [Change] {
      changes.enumerated().filter { $0.offset % 2 == remainder }.map(\.element)
    }
    switch loss {
    case .nothing: return changes
    case .everything: return []
    case .earlierHalf: return Array(changes.dropFirst(half))
    case .laterHalf: return Array(changes.prefix(half))
    case .evenOnes: return every(1)
    case .oddOnes: return every(0)
    case .halfOfEach:
      return changes.compactMap { change in
        guard case .add(let record) = change else { return nil }
        return .add(record.halved)
      }
    }
  }

  // MARK: Calls

  public func open(
    _ failure: @escaping @Sendable (Int32) -> KeychainError
  ) throws(KeychainError) -> any ItemStoreSession {
    Session(store: self, failure: failure)
  }

  private struct Session: ItemStoreSession {
    let store: NumberedItemStore
    let failure: @Sendable (Int32) -> KeychainError

    func records() throws(KeychainError) -> [StoredRecord] {
      try store.call(failure) { state, _ in state.visible }
    }

    func add(_ bytes: [UInt8]) throws(KeychainError) {
      try store.call(failure) { state, isTorn in
        state.added += 1
        let record = StoredRecord(place: StoredRecord.Place("\(state.added)"), bytes: bytes)
        state.unsynchronised.append(.add(isTorn ? record.halved : record))
      }
    }

    func remove(_ place: StoredRecord.Place) throws(KeychainError) {
      try store.call(failure) { state, isTorn in
        if !isTorn { state.unsynchronised.append(.remove(place)) }
      }
    }

    func synchronise() throws(KeychainError) {
      try store.call(failure) { state, isTorn in
        guard !isTorn else { return }
        state.durable = state.visible
        state.unsynchronised = []
      }
    }
  }

  private func call<R>(
    _ failure: (Int32) -> KeychainError, _ body: (inout State, _ isTorn: Bool) -> R
  ) throws(KeychainError) -> R {
    let result = state.withLock { state -> R? in
      guard !state.isStopped else { return nil }
      state.callCount += 1
      guard let stop = state.stop, stop.call == state.callCount else { return body(&state, false) }
      state.isStopped = true
      if stop.manner != .before { _ = body(&state, stop.manner == .torn) }
      return nil
    }
    guard let result else { throw failure(Self.stopStatus) }
    return result
  }
}

extension StoredRecord {
  fileprivate var halved: StoredRecord {
    StoredRecord(place: place, bytes: Array(bytes.prefix(bytes.count / 2)))
  }
}
