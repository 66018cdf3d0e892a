// SPDX-License-Identifier: Apache-2.0
//
// One thread, one poll. In each round, events that take keys away come before requests for keys: signals to
// end, time, the desktop, memory pressure, then clients.

internal import CSystem
internal import Foundation
internal import Glibc
internal import Secrets

/// Answers clients until the agent is to end. Belongs to one thread.
@safe
final class AgentLoop {
  /// Connections kept at a time: commands come one by one, and a descriptor each is cheap.
  static let connectionLimit = 16
  /// Nanoseconds that a connection may be silent: far more than a client needs between two requests.
  static let silenceLimit: UInt64 = 2_000_000_000
  /// Less than clients wait for a new agent.
  static let usualPatience = Duration.seconds(2)

  private struct Connection {
    let descriptor: Int32
    var deadline: UInt64
  }

  private let listener: Int32
  private let signals: Int32
  private let holder: KeyHolder
  private let connector: WatchConnector
  private var watch: (any SessionWatch)?
  private var pressure: MemoryPressure?
  private var connections: [Connection] = []
  private var isEnding = false
  /// The client that asked for the end, and has no answer yet.
  private var farewell: Int32?
  private var wantsWatch = false

  /// - Parameters:
  ///   - listener: a listening socket that does not block; stays the caller's.
  ///   - signals: readable when the agent should end; -1 for none.
  ///   - connectWatch: connects to the source of screen and sleep events, in a thread of its own. Tried at the start,
  ///     and again after keys were given.
  ///   - patience: how long the start waits for that source; it is heard whenever it answers.
  init(
    listener: Int32, signals: Int32, holder: KeyHolder, watchesPressure: Bool,
    patience: Duration = usualPatience, connectWatch: @escaping @Sendable () -> (any SessionWatch)?
  ) {
    self.listener = listener
    self.signals = signals
    self.holder = holder
    connector = WatchConnector(connectWatch)
    connector.begin()
    watch = connector.take(within: patience) ?? nil
    pressure = watchesPressure ? MemoryPressure() : nil
  }

  deinit { for connection in connections { close(connection.descriptor) } }

  /// Runs until logout or a signal; both keys are erased then.
  func run() {
    while !isEnding { round() }
    holder.forget()
  }

  /// Answers the client that asked for the end, after the socket was closed.
  func sayFarewell() {
    if let farewell { _ = send(.done, farewell) }
  }

  private func round() {
    // Signals that the bus connection has read already do not wake the poll.
    hearWatch()
    holder.clock.wake(at: nextMoment())
    var polled = [
      pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
      pollfd(fd: holder.clock.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: watch?.descriptor ?? -1, events: watch?.pollEvents ?? 0, revents: 0),
      pollfd(fd: pressure?.descriptor ?? -1, events: Int16(POLLPRI), revents: 0),
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
      pollfd(fd: connector.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    polled += connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    guard unsafe poll(&polled, nfds_t(polled.count), -1) > 0 else { return }
    if polled[0].revents != 0 {
      isEnding = true
      return
    }
    holder.expire()
    hearWatch()
    if polled[3].revents != 0 {
      holder.lock()
      // An error, as when the trigger went away, would wake us forever.
      if polled[3].revents & Int16(POLLERR) != 0 { pressure = nil }
    }
    if polled[5].revents != 0, let found = connector.take() { watch = found ?? watch }
    for entry in polled[6...] where entry.revents != 0 && !isEnding { hear(entry.fd) }
    if polled[4].revents != 0 { accept() }
    closeSilent()
    if wantsWatch {
      wantsWatch = false
      if watch == nil { connector.begin() }
    }
  }

  private func nextMoment() -> UInt64? {
    let moments = connections.map(\.deadline) + [holder.nextLimit].compactMap { $0 }
    return moments.min()
  }

  // MARK: The desktop

  private func hearWatch() {
    while let event = watch?.nextEvent() {
      switch event {
      case .locked: holder.lock()
      case .fallingAsleep:
        holder.prepareForSleep()
        watch?.allowSleep()
      case .awake: watch?.delaySleep()
      case .loggedOut:
        holder.forget()
        isEnding = true
      case .lost: watch = nil
      }
    }
  }

  private var sessionWatch: AgentStatus.SessionWatch {
    if watch?.isPresent == true { return .watched }
    #if Logind
      return .absent
    #else
      return .builtWithout
    #endif
  }

  // MARK: Connections

  private func accept() {
    let accepted = coffer_accept(listener)
    guard accepted >= 0 else { return }
    guard PacketSocket.peerOfSameUser(accepted) != nil else {
      close(accepted)
      return
    }
    if connections.count == Self.connectionLimit,
      let oldest = connections.min(by: { $0.deadline < $1.deadline })
    {
      drop(oldest.descriptor)
    }
    connections.append(Connection(descriptor: accepted, deadline: holder.clock.now + Self.silenceLimit))
  }

  private func drop(_ descriptor: Int32) {
    connections.removeAll { $0.descriptor == descriptor }
    close(descriptor)
  }

  private func closeSilent() {
    let now = holder.clock.now
    for connection in connections where connection.deadline <= now { drop(connection.descriptor) }
  }

  /// Receives one request and answers it.
  private func hear(_ descriptor: Int32) {
    var header = [UInt8](repeating: 0, count: AgentHeader.byteCount)
    let received = holder.page.withSpare { spare in
      var none = MutableRawSpan()
      return PacketSocket.receive(descriptor, &header, &spare, &none)
    }
    // The page's spare half is erased after every request, unless it becomes the half that holds the keys.
    defer { holder.page.eraseSpare() }
    if received == .nothing { return }
    guard case .packet(let byteCount) = received, let header = AgentHeader(header),
      let request = AgentRequest(header, byteCount: byteCount), answer(request, descriptor)
    else { return drop(descriptor) }
    if let index = connections.firstIndex(where: { $0.descriptor == descriptor }) {
      connections[index].deadline = holder.clock.now + Self.silenceLimit
    }
  }

  /// Does what is asked and says so.
  /// - Returns: false when the answer could not be sent.
  private func answer(_ request: AgentRequest, _ descriptor: Int32) -> Bool {
    switch request {
    case .status:
      let status = holder.status(sessionWatch: sessionWatch, isPressureWatched: pressure != nil)
      return send(
        .status, descriptor, status.body.rawSpan, binding: status.binding, slot: status.slot)
    case .give(let binding, let slot):
      // The answer goes first: a client that no longer waits has shut down its socket, and its keys do not
      // count. The limits begin before the client gets the answer.
      let now = holder.clock.now
      guard send(.done, descriptor) else { return false }
      holder.accept(binding: binding, slot: slot, now: now)
      wantsWatch = true
      return true
    case .get(let selection, let binding):
      let keys = holder.page.held & selection.rawValue & AgentKeySelection.all.rawValue
      guard keys != 0 else { return send(.notAvailable, descriptor) }
      guard binding == holder.binding else { return send(.otherCoffer, descriptor) }
      if keys & 1 != 0, selection == .all { holder.touch() }
      return holder.page.withKeys(keys) {
        send(.keys, descriptor, $0, keys: keys, binding: binding, slot: holder.slot)
      }
    case .keep(let binding):
      guard binding == holder.binding else { return send(.otherCoffer, descriptor) }
      // The one held goes before the answer, which says that it is gone. With a new one, as with class keys, the
      // answer goes first.
      holder.erasePasscode()
      let now = holder.clock.now
      guard send(.done, descriptor) else { return false }
      holder.keepPasscode(now: now)
      return true
    case .getPasscode(let binding):
      let key = holder.page.held & AgentKeySelection.passcode
      guard key != 0 else { return send(.notAvailable, descriptor) }
      guard binding == holder.binding else { return send(.otherCoffer, descriptor) }
      return holder.page.withKeys(key) {
        send(.keys, descriptor, $0, keys: key, binding: binding, slot: holder.slot)
      }
    case .idleLimit:
      holder.setIdleLimit()
      return send(.done, descriptor)
    case .absoluteLimit:
      holder.setAbsoluteLimit()
      return send(.done, descriptor)
    case .lock:
      holder.lock()
      return send(.done, descriptor)
    case .logout:
      holder.forget()
      isEnding = true
      farewell = descriptor
      return true
    }
  }

  private func send(
    _ answer: AgentAnswer, _ descriptor: Int32, _ body: RawSpan = RawSpan(), keys: UInt8 = 0,
    binding: AgentBinding? = nil, slot: UUID? = nil
  ) -> Bool {
    let header = AgentHeader(kind: answer.rawValue, keys: keys, binding: binding, slot: slot)
    return PacketSocket.send(descriptor, header.bytes, body, RawSpan())
  }
}
