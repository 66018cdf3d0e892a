// SPDX-License-Identifier: Apache-2.0
//
// A place in memory.

import Remotes
import Synchronization

final class MemoryRemote: Remote {
  private let stored = Mutex<[String: [UInt8]]>([:])

  /// All objects, by name.
  var objects: [String: [UInt8]] { stored.withLock { $0 } }

  /// What it holds is what it held before.
  func putBack(_ objects: [String: [UInt8]]) { stored.withLock { $0 = objects } }

  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    for (name, bytes) in objects where folder.isEmpty || name.hasPrefix(folder + "/") {
      body(RemoteObject(name: name, byteCount: bytes.count, date: nil))
    }
    return nil
  }

  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    objects[name].map { bytes in range.map { Array(bytes[$0.clamped(to: 0..<bytes.count)]) } ?? bytes }
  }

  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) { stored.withLock { $0[name] = bytes } }

  func stat(_ name: String) throws(RemoteError) -> Int? { objects[name]?.count }

  func delete(_ name: String) throws(RemoteError) { stored.withLock { $0[name] = nil } }
}
