// SPDX-License-Identifier: Apache-2.0
//
// A place in memory, which a scenario makes fail.

import Remotes
import Synchronization

/// Objects in memory. From a request on it answers nothing more, until it is mended.
final class MemoryRemote: Remote {
  /// Where the place fails: all requests but so many first ones, of which the next is carried out or not.
  struct Failure: Hashable {
    let after: Int
    let carriesLastOut: Bool
  }

  private struct State {
    var objects: [String: [UInt8]] = [:]
    var failure: Failure?
    var requestCount = 0
  }

  private let state = Mutex(State())

  /// All objects, by name.
  var objects: [String: [UInt8]] { state.withLock { $0.objects } }

  /// What it holds is what it held before.
  func putBack(_ objects: [String: [UInt8]]) { state.withLock { $0.objects = objects } }

  /// Does `body` while the place fails so.
  func failing<R>(_ failure: Failure?, _ body: () throws -> R) rethrows -> R {
    state.withLock { ($0.failure, $0.requestCount) = (failure, 0) }
    defer { state.withLock { $0.failure = nil } }
    return try body()
  }

  private func answer<R: Sendable>(_ body: (inout [String: [UInt8]]) -> R) throws(RemoteError) -> R {
    let answer: R? = state.withLock { state in
      defer { state.requestCount += 1 }
      guard let failure = state.failure, state.requestCount >= failure.after else {
        return body(&state.objects)
      }
      if state.requestCount == failure.after, failure.carriesLastOut { _ = body(&state.objects) }
      return nil
    }
    guard let answer else { throw .unreachable }
    return answer
  }

  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    let found = try answer { objects in
      objects.filter { folder.isEmpty || $0.key.hasPrefix(folder + "/") }
        .map { RemoteObject(name: $0.key, byteCount: $0.value.count, date: nil) }
    }
    found.forEach(body)
    return nil
  }

  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    try answer { objects in
      objects[name].map { bytes in
        range.map { Array(bytes[$0.clamped(to: 0..<bytes.count)]) } ?? bytes
      }
    }
  }

  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) { try answer { $0[name] = bytes } }

  func stat(_ name: String) throws(RemoteError) -> Int? { try answer { $0[name]?.count } }

  func delete(_ name: String) throws(RemoteError) { try answer { $0[name] = nil } }
}
