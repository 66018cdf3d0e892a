// SPDX-License-Identifier: Apache-2.0
//
// An agent in this process, on a thread of its own, with a clock that the test moves and a desktop that the
// test plays. It ends with its last reference.

import CSystem
import Extents
import Foundation
import Keychains
import Primitives
import Secrets
import Synchronization
import Testing

@testable import Agent

/// A folder with a short name, since a socket's path has 107 bytes; removed with its last reference.
final class RuntimeFolder: Sendable {
  let path: String
  var home: String { path + "/home" }

  init(owner: uid_t? = nil) throws {
    let template = FileManager.default.temporaryDirectory.appending(path: "ag-XXXXXX").path
    let name = strdup(template)
    defer { free(name) }
    guard let name, mkdtemp(name) != nil else { throw POSIXError(.EIO) }
    path = String(cString: name)
    mkdir(path + "/home", 0o700)
    if let owner {
      chown(path, owner, owner)
      chown(path + "/home", owner, owner)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func place() throws -> AgentPlace { try AgentPlace(home: home, runtime: path) }
}

/// A pipe that no program started meanwhile keeps open.
func makePipe() -> (reading: Int32, writing: Int32) {
  var ends: (reading: Int32, writing: Int32) = (-1, -1)
  coffer_pipe(&ends.reading, &ends.writing)
  return ends
}

/// A clock that stands still until it is moved.
final class TestClock: AgentClock, Sendable {
  private struct State {
    var now: UInt64 = 1_000_000_000_000
    var moment: UInt64?
    var waits = 0
  }

  let descriptor: Int32
  private let bell: Int32
  private let state = Mutex(State())

  init() {
    (descriptor, bell) = makePipe()
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(descriptor)
    close(bell)
  }

  var now: UInt64 { state.withLock { $0.now } }

  /// How often the agent has begun to wait. What it did before, the test may look at.
  var waits: Int { state.withLock { $0.waits } }

  func wake(at moment: UInt64?) {
    state.withLock {
      $0.moment = moment
      $0.waits += 1
      silence()
      ringIfDue($0)
    }
  }

  /// Moves the clock on.
  func advance(seconds: Double) {
    state.withLock {
      $0.now += UInt64(seconds * 1e9)
      ringIfDue($0)
    }
  }

  private func ringIfDue(_ state: State) {
    guard let moment = state.moment, state.now >= moment else { return }
    var byte: UInt8 = 0
    write(bell, &byte, 1)
  }

  private func silence() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }
}

/// A desktop that the test plays.
final class TestWatch: SessionWatch, @unchecked Sendable {
  let descriptor: Int32
  private let bell: Int32
  private let events = Mutex<[SessionEvent]>([])
  /// What was asked of it, in order, with what `look` saw at that moment.
  let calls = Mutex<[(call: String, seen: AgentStatus.State?)]>([])
  let look = Mutex<(@Sendable () -> AgentStatus.State)?>(nil)
  let isPresent = true
  let pollEvents = Int16(POLLIN)

  init() {
    (descriptor, bell) = makePipe()
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(descriptor)
    close(bell)
  }

  func send(_ event: SessionEvent) {
    events.withLock { $0.append(event) }
    var byte: UInt8 = 0
    write(bell, &byte, 1)
  }

  func nextEvent() -> SessionEvent? {
    var byte: UInt8 = 0
    read(descriptor, &byte, 1)
    return events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  func allowSleep() { note("allow") }
  func delaySleep() { note("delay") }

  private func note(_ call: String) {
    let seen = look.withLock { $0 }?()
    calls.withLock { $0.append((call, seen)) }
  }
}

/// A home with an agent in this process. Say `defer { served.end() }`: a client does not keep it.
final class ServedHome: @unchecked Sendable {
  let folder: RuntimeFolder
  let place: AgentPlace
  let clock = TestClock()
  let holder: KeyHolder
  private let ender: Int32
  private let ended = DispatchSemaphore(value: 0)
  private let isOpen = Atomic(true)
  private let hasEnded = Mutex(false)

  init(
    options: AgentOptions = AgentOptions(), patience: Duration = Patience.duration,
    connectWatch: @escaping @Sendable () -> (any SessionWatch)? = { nil }
  ) throws {
    folder = try RuntimeFolder()
    place = try folder.place()
    holder = KeyHolder(
      page: try KeyPage(ordinary: options.usesOrdinaryMemory), clock: clock, options: options)
    let ends = makePipe()
    ender = ends.writing
    let failure = Mutex<AgentError?>(nil)
    let listens = DispatchSemaphore(value: 0)
    // The holder is this thread's until the agent ends; tests look at it only when the agent waits.
    nonisolated(unsafe) let holder = holder
    let place = place
    let signals = ends.reading
    let ended = ended
    Thread.detachNewThread {
      do throws(AgentError) {
        let listening = try AgentServer.Listening(place)
        let loop = AgentLoop(
          listener: listening.descriptor, signals: signals, holder: holder,
          watchesPressure: options.locksOnMemoryPressure, patience: patience, connectWatch: connectWatch)
        listens.signal()
        loop.run()
        listening.end()
        loop.sayFarewell()
      } catch {
        failure.withLock { $0 = error }
        listens.signal()
      }
      close(signals)
      ended.signal()
    }
    listens.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  deinit { end() }

  /// Ends the agent as a signal would, and waits until it has.
  func end() {
    if isOpen.exchange(false, ordering: .relaxed) { close(ender) }
    waitForEnd()
  }

  func waitForEnd() {
    hasEnded.withLock {
      if !$0 { ended.wait() }
      $0 = true
    }
  }

  func client() throws -> AgentClient { try #require(AgentClient.connect(place)) }

  /// Waits until the agent is in a state, asking it again and again.
  func wait(for state: AgentStatus.State) throws {
    let client = try client()
    try eventually { try client.status().state == state }
  }
}

extension AgentClient {
  /// The agent at its place; nil when there is none, or it takes nobody in. It is waited for without a limit.
  static func connect(_ place: AgentPlace) -> AgentClient? {
    let client = try? find(place.socket)
    client?.deadlineMilliseconds = Int(Patience.milliseconds)
    return client
  }
}

/// Waits until something is so.
func eventually(
  _ isSo: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  if try !Patience.until(isSo) { Issue.record("waited in vain", sourceLocation: sourceLocation) }
}

/// Two random class keys.
func someKeys() -> ClassKeys {
  ClassKeys(
    whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
    afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
}

func binding(_ name: String = "a coffer") -> AgentBinding { AgentBinding(to: name.utf8Span.span.bytes) }

func isSame(_ left: SharedSecretBytes?, _ right: SharedSecretBytes?) -> Bool {
  guard let left, let right else { return left == nil && right == nil }
  return left.withBytes { left in right.withBytes { right in constantTimeEqual(left, right) } }
}
