// SPDX-License-Identifier: Apache-2.0
//
// A remote in memory, honest or hostile, with the faults of a network.

@testable import Histories

/// What goes wrong with one request.
enum Fault: Hashable, Sendable {
  case none
  /// The request never came.
  case requestLost
  /// It was carried out, and the answer was lost.
  case answerLost
  /// Of a `put`, only the beginning was stored, and the answer was lost.
  case torn
  /// Of a `list`, an older state is shown: so many writes ago.
  case late(Int)
}

/// Objects by name, in the order in which they were written.
struct SimulatedRemote: Sendable {
  struct Object: Sendable {
    var bytes: [UInt8]
    let writtenAt: UInt64
    let order: Int
  }

  private(set) var objects: [ObjectName: Object] = [:]
  private var writes = 0
  /// The server's clock.
  var now: UInt64 = 1_700_000_000
  /// Names that a hostile server withholds.
  var withheld: Set<ObjectName> = []
  /// Every byte that was ever stored.
  private(set) var everything: [[UInt8]] = []

  mutating func answer(_ request: Request, fault: Fault) -> Answer {
    if fault == .requestLost { return .failed }
    switch request {
    case .list(let folder):
      var newest = writes
      if case .late(let steps) = fault { newest -= steps }
      return .listed(
        objects.filter { $0.key.folder == folder && $0.value.order <= newest && !withheld.contains($0.key) }
          .sorted { $0.key < $1.key }
          .map { ListedObject(name: $0.key, byteCount: $0.value.bytes.count, date: $0.value.writtenAt) }, at: now)
    case .get(let name):
      guard let object = objects[name], !withheld.contains(name) else { return .missing }
      return fault == .answerLost ? .failed : .got(object.bytes)
    case .put(let name, let bytes):
      store(fault == .torn ? Array(bytes.prefix(bytes.count / 2)) : bytes, as: name)
      return fault == .none ? .done : .failed
    case .stat(let name):
      guard let object = objects[name], !withheld.contains(name) else { return .missing }
      return fault == .answerLost ? .failed : .found(byteCount: object.bytes.count)
    case .delete(let name):
      objects[name] = nil
      return fault == .none ? .done : .failed
    }
  }

  mutating func store(_ bytes: [UInt8], as name: ObjectName) {
    writes += 1
    let first = objects[name]
    objects[name] = Object(bytes: bytes, writtenAt: first?.writtenAt ?? now, order: first?.order ?? writes)
    everything.append(bytes)
  }

  mutating func remove(_ name: ObjectName) { objects[name] = nil }

  mutating func flipBit(of name: ObjectName, at offset: Int) {
    guard let count = objects[name]?.bytes.count, count > 0 else { return }
    objects[name]?.bytes[offset % count] ^= 1
  }
}
