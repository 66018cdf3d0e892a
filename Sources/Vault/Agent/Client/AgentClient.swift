// SPDX-License-Identifier: Apache-2.0
//
// The side of the commands. Keys go from `SecretBytes` to the socket and from the socket to `SecretBytes`;
// nothing waits longer than the deadline, so an agent that hangs does not hang the command.

public import Foundation
internal import Glibc
public import Keychains
public import Secrets

/// A connection to an agent.
///
/// After `AgentError.notAnswering` or `.malformedAnswer` the connection cannot be used any more: go on as if
/// there were no agent. Belongs to one thread at a time.
@safe
public final class AgentClient {
  /// How long a request may take, in milliseconds: a thousand times what it takes.
  public static let deadlineMilliseconds = 500

  /// How long its requests may take; tests that are not about this limit have a larger one.
  var deadlineMilliseconds = AgentClient.deadlineMilliseconds
  private let path: String
  /// The process that listens, as the kernel tells it.
  let processID: Int32
  private var socket: PacketSocket
  private var isBroken = false

  private init(_ path: String, _ socket: consuming PacketSocket, processID: Int32) {
    self.path = path
    self.socket = socket
    self.processID = processID
  }

  /// Connects to the agent that listens at `path`.
  /// - Returns: nil when nobody listens there or can be reached, or the listener belongs to another user.
  /// - Throws: `AgentError.notAnswering` when an agent listens but does not accept the connection.
  static func find(_ path: String) throws(AgentError) -> AgentClient? {
    guard let connection = try Connection(path) else { return nil }
    let processID = connection.processID
    return AgentClient(path, connection.intoSocket(), processID: processID)
  }

  /// A connected socket, and who is at its other end.
  private struct Connection: ~Copyable {
    private let socket: PacketSocket
    let processID: Int32

    init?(_ path: String) throws(AgentError) {
      let socket = try PacketSocket()
      let number = socket.descriptor
      // Does not block: a full queue means that the agent hangs.
      let failure = unsafe try? PacketSocket.withAddress(path) { address, length in
        unsafe Glibc.connect(number, address, length) == 0 ? 0 : errno
      }
      if failure == EAGAIN { throw .notAnswering }
      guard failure == 0, let processID = socket.peerOfSameUser() else { return nil }
      self.socket = socket
      self.processID = processID
    }

    consuming func intoSocket() -> PacketSocket { socket }
  }

  // MARK: Requests

  /// The agent's state.
  /// - Throws: `AgentError.notAnswering`, `.malformedAnswer`.
  public func status() throws(AgentError) -> AgentStatus {
    let answer = try ask(.status)
    guard answer.header.kind == AgentAnswer.status.rawValue,
      let status = answer.first.withBytes({ AgentStatus(answer.header, body: $0) })
    else { throw malformed() }
    return status
  }

  /// Gives the agent the keys of a coffer that was just opened. The limits restart.
  ///
  /// If this throws, the agent does not use the keys: it keeps them only if its answer could be delivered.
  ///
  /// - Parameters:
  ///   - keys: both class keys. An owner key is not sent: the protocol has no place for it.
  ///   - binding: identifies their coffer; requests must name the same.
  ///   - slot: the slot that was opened.
  /// - Throws: `AgentError.missingKey`, `.notAnswering`, `.malformedAnswer`.
  public func give(_ keys: ClassKeys, binding: AgentBinding, slot: UUID) throws(AgentError) {
    guard let whenUnlocked = keys.whenUnlocked, let afterFirstUnlock = keys.afterFirstUnlock,
      whenUnlocked.count == AgentHeader.keyByteCount, afterFirstUnlock.count == AgentHeader.keyByteCount
    else { throw .missingKey }
    let request = AgentRequest.give(binding: binding, slot: slot)
    let answer = try whenUnlocked.withBytes { first throws(AgentError) in
      try afterFirstUnlock.withBytes { second throws(AgentError) in try ask(request, first, second) }
    }
    try requireDone(answer.header)
  }

  /// Asks for keys.
  ///
  /// - Parameters:
  ///   - selection: which keys are wanted.
  ///   - binding: what the keys must belong to.
  /// - Throws: `AgentError.locked` when the agent holds none of the requested keys; `.otherCoffer`,
  ///   `.notAnswering`, `.malformedAnswer`.
  public func keys(
    _ selection: AgentKeySelection, binding: AgentBinding
  ) throws(AgentError) -> AgentKeys {
    let answer = try ask(.get(selection, binding: binding))
    switch AgentAnswer(rawValue: answer.header.kind) {
    case .keys: break
    case .notAvailable: throw .locked
    case .otherCoffer: throw .otherCoffer
    default: throw malformed()
    }
    guard let slot = answer.header.slot, answer.header.binding == binding else { throw malformed() }
    switch (answer.header.keys, answer.first.count, answer.second.count) {
    case (3, AgentHeader.keyByteCount, AgentHeader.keyByteCount) where selection != .afterFirstUnlock:
      return AgentKeys(
        keys: ClassKeys(whenUnlocked: answer.first, afterFirstUnlock: answer.second), slot: slot)
    case (2, AgentHeader.keyByteCount, 0):
      return AgentKeys(keys: ClassKeys(whenUnlocked: nil, afterFirstUnlock: answer.first), slot: slot)
    default: throw malformed()
    }
  }

  /// Lets the agent keep the passcode of private keys, while the coffer is unlocked.
  ///
  /// - Parameters:
  ///   - passcode: 32 bytes.
  ///   - seconds: how long, at most an hour; 0 erases the one it has.
  ///   - binding: identifies the coffer.
  /// - Throws: `AgentError.missingKey`, `.otherCoffer`, `.notAnswering`, `.malformedAnswer`.
  public func keep(
    _ passcode: SharedSecretBytes, seconds: Int, binding: AgentBinding
  ) throws(AgentError) {
    guard passcode.count == AgentHeader.keyByteCount else { throw .missingKey }
    let number = Self.bytes(seconds)
    let answer = try passcode.withBytes { passcode throws(AgentError) in
      try ask(.keep(binding: binding), number.rawSpan, passcode)
    }
    if answer.header.kind == AgentAnswer.otherCoffer.rawValue { throw .otherCoffer }
    try requireDone(answer.header)
  }

  /// The passcode of private keys, while the agent keeps it.
  /// - Throws: `AgentError.locked` when it has none; `.otherCoffer`, `.notAnswering`, `.malformedAnswer`.
  public func passcode(binding: AgentBinding) throws(AgentError) -> SharedSecretBytes {
    let answer = try ask(.getPasscode(binding: binding))
    switch AgentAnswer(rawValue: answer.header.kind) {
    case .keys: break
    case .notAvailable: throw .locked
    case .otherCoffer: throw .otherCoffer
    default: throw malformed()
    }
    guard answer.header.keys == AgentKeySelection.passcode, answer.header.binding == binding,
      answer.first.count == AgentHeader.keyByteCount, answer.second.count == 0
    else { throw malformed() }
    return answer.first
  }

  /// Changes the idle limit until the agent gets keys again.
  /// - Throws: `AgentError.limitOutOfBounds`, `.notAnswering`, `.malformedAnswer`.
  public func setIdleLimit(seconds: Int) throws(AgentError) { try set(.idleLimit, seconds) }

  /// Changes how long after its beginning the session ends at the latest, until the agent gets keys again.
  /// - Throws: `AgentError.limitOutOfBounds`, `.notAnswering`, `.malformedAnswer`.
  public func setAbsoluteLimit(seconds: Int) throws(AgentError) { try set(.absoluteLimit, seconds) }

  private func set(_ limit: AgentRequest, _ seconds: Int) throws(AgentError) {
    guard AgentOptions.limitBounds.contains(seconds) else { throw .limitOutOfBounds }
    let number = Self.bytes(seconds)
    try requireDone(ask(limit, number.rawSpan).header)
  }

  private static func bytes(_ seconds: Int) -> [UInt8] {
    let number = UInt32(clamping: seconds)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// Lets the agent erase the when-unlocked key; they are erased when this returns.
  /// - Throws: `AgentError.notAnswering`, `.malformedAnswer`.
  public func lock() throws(AgentError) { try requireDone(ask(.lock).header) }

  /// Lets the agent erase both keys and end.
  /// - Throws: `AgentError.notAnswering`, `.malformedAnswer`.
  public func logout() throws(AgentError) { try requireDone(ask(.logout).header) }

  // MARK: One request

  private struct Answer {
    let header: AgentHeader
    let first: SharedSecretBytes
    let second: SharedSecretBytes
  }

  private func requireDone(_ header: AgentHeader) throws(AgentError) {
    guard header.kind == AgentAnswer.done.rawValue else { throw malformed() }
  }

  private func malformed() -> AgentError {
    isBroken = true
    return .malformedAnswer
  }

  private func ask(
    _ request: AgentRequest, _ first: RawSpan = RawSpan(), _ second: RawSpan = RawSpan()
  ) throws(AgentError) -> Answer {
    guard !isBroken else { throw .notAnswering }
    // Until the answer is here: a late one must not be taken for the answer to the next request.
    isBroken = true
    let header = request.header.bytes
    var answer: Answer?
    if PacketSocket.send(socket.descriptor, header, first, second) { answer = try receive() }
    if answer == nil {
      // The agent closes a connection that is silent while somebody types. Every request may be repeated.
      guard let connection = try Connection(path) else { throw .notAnswering }
      socket = connection.intoSocket()
      if PacketSocket.send(self.socket.descriptor, header, first, second) { answer = try receive() }
    }
    guard let answer else { throw .notAnswering }
    isBroken = false
    return answer
  }

  /// The next packet; nil when the connection was closed.
  private func receive() throws(AgentError) -> Answer? {
    var header = [UInt8](repeating: 0, count: AgentHeader.byteCount)
    var first = SecretBytes(zeroed: AgentHeader.keyByteCount)
    var second = SecretBytes(zeroed: AgentHeader.keyByteCount)
    var waitsLeft = deadlineMilliseconds / Self.waitMilliseconds
    var isShut = false
    while true {
      let received = first.withMutableBytes { first in
        second.withMutableBytes { second in
          PacketSocket.receive(socket.descriptor, &header, &first, &second)
        }
      }
      switch received {
      case .packet(let byteCount):
        guard byteCount >= AgentHeader.byteCount, let parsed = AgentHeader(header) else {
          throw .malformedAnswer
        }
        let body = byteCount - AgentHeader.byteCount
        first.shorten(to: min(body, AgentHeader.keyByteCount))
        second.shorten(to: max(body - AgentHeader.keyByteCount, 0))
        return Answer(header: parsed, first: SharedSecretBytes(first), second: SharedSecretBytes(second))
      case .tooLong: throw .malformedAnswer
      case .closed:
        if isShut { throw .notAnswering }
        return nil
      case .nothing:
        if waitsLeft > 0 {
          waitsLeft -= 1
          wait()
        } else if isShut {
          throw .notAnswering
        } else {
          // From here on the agent cannot answer, and sees that; an earlier answer can still be read. So both
          // sides agree on whether the request was answered.
          shutdown(socket.descriptor, Int32(SHUT_RD))
          isShut = true
        }
      }
    }
  }

  /// The time is counted in waits of so many milliseconds: where this process waits for a processor, as the agent does,
  /// or the machine stood still, that does not count.
  private static let waitMilliseconds = 20

  /// Waits until there is something to receive, or a part of the time is over.
  private func wait() {
    var polled = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    unsafe poll(&polled, 1, Int32(Self.waitMilliseconds))
  }
}
