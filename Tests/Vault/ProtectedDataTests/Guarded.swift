// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that closures of several threads may change.
final class Guarded<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }

  var value: Value { mutex.withLock { $0 } }

  func change(_ body: (inout Value) -> Void) { mutex.withLock { body(&$0) } }
}
