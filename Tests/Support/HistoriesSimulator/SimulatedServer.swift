// SPDX-License-Identifier: Apache-2.0
//
// A server in memory that answers the five requests: with the faults of a network, and with everything that a hostile
// one can do. It keeps a journal of all writes, so that it can show any older state to anybody.

import Primitives
import SeededGenerators

@testable import Histories

/// What goes wrong with one request.
enum NetworkFault: Hashable, Sendable {
  /// The request never came.
  case requestLost
  /// It was carried out, and the answer was lost.
  case answerLost
  /// Of a `put`, the beginning was stored, and the answer was lost.
  case torn
  /// A `list` shows the state so many writes ago.
  case late(Int)
  /// A `put` was carried out twice.
  case repeated
}

struct SimulatedServer: Sendable {
  struct Write: Sendable {
    let name: ObjectName
    /// Nil: deleted.
    let bytes: [UInt8]?
    /// The device that wrote; -1 is the server.
    let author: Int
    let time: UInt64
  }

  /// What a device is shown.
  struct View: Hashable, Sendable {
    /// Writes up to this one, by anybody.
    var end: Int
    /// And later ones by these.
    var group: Set<Int>
  }

  private(set) var journal: [Write] = []
  private var writes: [ObjectName: [Int]] = [:]
  private var names: [Folder: Set<ObjectName>] = [:]
  /// The server's clock.
  var now: UInt64 = 0
  /// Older or divided states that devices are shown; the whole state to all others.
  var views: [Int: View] = [:]
  var withheld: Set<ObjectName> = []
  var showsNothing = false
  /// Every list is this late.
  var lateness = 0

  // MARK: Requests

  mutating func answer(_ request: Request, to device: Int, fault: NetworkFault?) -> Answer {
    if fault == .requestLost { return .failed }
    switch request {
    case .list(let folder):
      var end = journal.count - lateness
      if case .late(let steps) = fault { end = min(end, journal.count - steps) }
      return fault == .answerLost ? .failed : .listed(list(folder, for: device, end: end), at: now)
    case .get(let name):
      guard fault != .answerLost else { return .failed }
      return object(name, for: device).map { .got(ReceivedObject($0)) } ?? .missing
    case .stat(let name):
      guard fault != .answerLost else { return .failed }
      return object(name, for: device).map { .found(byteCount: $0.count) } ?? .missing
    case .put(let name, let bytes):
      write(fault == .torn ? Array(bytes.prefix(bytes.count * 2 / 3)) : bytes, as: name, by: device)
      if fault == .repeated { write(bytes, as: name, by: device) }
      return fault == .torn || fault == .answerLost ? .failed : .done
    case .delete(let name):
      write(nil, as: name, by: device)
      return fault == .answerLost ? .failed : .done
    }
  }

  private func list(_ folder: Folder, for device: Int, end: Int) -> [ListedObject] {
    guard !showsNothing else { return [] }
    return (names[folder] ?? []).sorted().compactMap { name in
      guard !withheld.contains(name), let number = visible(name, to: device, end: end),
        let bytes = journal[number].bytes
      else { return nil }
      return ListedObject(name: name, byteCount: bytes.count, date: journal[number].time)
    }
  }

  /// What a device gets by this name.
  func object(_ name: ObjectName, for device: Int) -> [UInt8]? {
    guard !showsNothing, !withheld.contains(name) else { return nil }
    return visible(name, to: device, end: journal.count).flatMap { journal[$0].bytes }
  }

  private func visible(_ name: ObjectName, to device: Int, end: Int) -> Int? {
    let view = views[device]
    return writes[name]?.last { number in
      number < end && (view.map { number < $0.end || $0.group.contains(journal[number].author) } ?? true)
    }
  }

  mutating func write(_ bytes: [UInt8]?, as name: ObjectName, by author: Int) {
    writes[name, default: []].append(journal.count)
    if let folder = name.folder { names[folder, default: []].insert(name) }
    journal.append(Write(name: name, bytes: bytes, author: author, time: now))
  }

  // MARK: The whole state

  /// All names with an object now, in rising order.
  var objectNames: [ObjectName] { writes.keys.filter { current($0) != nil }.sorted() }

  func current(_ name: ObjectName) -> [UInt8]? { writes[name]?.last.flatMap { journal[$0].bytes } }

  /// Whether a device deleted an object: a sweep found all of it dead.
  func wasSwept(_ name: ObjectName) -> Bool {
    writes[name]?.contains { journal[$0].bytes == nil && journal[$0].author >= 0 } ?? false
  }

  /// A backup from so many writes ago comes back.
  mutating func comeBack(from steps: Int) {
    let end = max(0, journal.count - steps)
    for name in writes.keys.sorted() {
      let old = writes[name]?.last { $0 < end }.flatMap { journal[$0].bytes }
      if old != current(name) { write(old, as: name, by: -1) }
    }
  }

  /// From here on it shows everything that it has, to everybody.
  mutating func becomeHonest() {
    views = [:]
    withheld = []
    showsNothing = false
    lateness = 0
  }
}
