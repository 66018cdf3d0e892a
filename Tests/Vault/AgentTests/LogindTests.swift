// SPDX-License-Identifier: Apache-2.0
//
// The agent and systemd-logind, played by python-dbusmock on a bus of its own.

#if Logind
  import DesktopBus
  import Extents
  import Foundation
  import Keychains
  import PrivateBus
  import Testing

  @testable import Agent

  @Suite("The agent and logind", .enabled(if: PrivateBus.isAvailable, "needs dbus-daemon and dbusmock"))
  struct LogindTests {
    private let bus: PrivateBus
    private let served: ServedHome
    private let client: AgentClient

    init() throws {
      let bus = try PrivateBus()
      try bus.startMock(.logind)
      let address = bus.address
      served = try ServedHome { LogindWatch(bus: .address(address), timeout: Patience.duration) }
      self.bus = bus
      client = try served.client()
      try client.give(someKeys(), binding: binding(), slot: UUID())
    }

    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"

    private func addSession(_ name: String, user: uid_t) throws -> String {
      let arguments: [BusValue] = [
        .string(name), .string("seat0"), .uint32(user), .string("somebody"), .boolean(true),
      ]
      return try bus.control(.logind, "AddSession", arguments).value(0).string()
    }

    private func inhibitors() throws -> [[BusValue]] {
      let answer = try bus.connect().call(
        "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: Self.manager,
        method: "ListInhibitors", timeout: Patience.duration)
      return try answer.value(0).elements().map { try $0.structure(count: 6) }
    }

    @Test("It is watched, and sleep waits for the agent")
    func inhibits() throws {
      defer { served.end() }
      #expect(try client.status().sessionWatch == .watched)
      let inhibitors = try inhibitors()
      #expect(inhibitors.count == 1)
      #expect(inhibitors[0].first == .string("sleep") && inhibitors[0][3] == .string("delay"))
    }

    @Test("A locked session of this user locks")
    func lock() throws {
      defer { served.end() }
      let path = try addSession("c1", user: geteuid())
      try bus.emit(.logind, path: path, interface: Self.session, signal: "Lock")
      try served.wait(for: .locked)
    }

    @Test("A screen locker that only sets the hint locks too")
    func lockedHint() throws {
      defer { served.end() }
      let path = try addSession("c1", user: geteuid())
      try bus.connect().call(
        "org.freedesktop.login1", path: path, interface: Self.session, method: "SetLockedHint",
        [.boolean(true)], timeout: Patience.duration)
      try served.wait(for: .locked)
    }

    @Test("A session of another user does not lock this one's coffer")
    func otherUser() throws {
      defer { served.end() }
      let other = try addSession("c2", user: geteuid() + 1)
      try bus.emit(.logind, path: other, interface: Self.session, signal: "Lock")
      // What comes after it on the same bus has been heard, so it has been heard too.
      try bus.emit(.logind, interface: Self.manager, signal: "PrepareForSleep", [.boolean(false)])
      try bus.emit(
        .logind, interface: Self.manager, signal: "UserRemoved", [.uint32(geteuid() + 1), .objectPath("/x")])
      let mine = try addSession("c1", user: geteuid())
      #expect(try client.status().state == .unlocked)
      try bus.emit(.logind, path: mine, interface: Self.session, signal: "Lock")
      try served.wait(for: .locked)
    }

    @Test("A session that logind does not know of counts as this user's")
    func unknownSession() throws {
      defer { served.end() }
      // The manager's object has no user.
      try bus.emit(.logind, interface: Self.session, signal: "Lock")
      try served.wait(for: .locked)
    }

    @Test("Before sleep the key goes and then the inhibitor; afterwards there is a new one")
    func sleep() throws {
      defer { served.end() }
      try bus.emit(.logind, interface: Self.manager, signal: "PrepareForSleep", [.boolean(true)])
      try eventually { try inhibitors().isEmpty }
      // The inhibitor is gone, so the key is.
      #expect(served.holder.state != .unlocked)
      try bus.emit(.logind, interface: Self.manager, signal: "PrepareForSleep", [.boolean(false)])
      try eventually { try inhibitors().count == 1 }
      #expect(try client.status().state != .unlocked)
    }

    @Test("The end of the user's last session ends the agent")
    func userRemoved() throws {
      try bus.emit(
        .logind, interface: Self.manager, signal: "UserRemoved", [.uint32(geteuid()), .objectPath("/x")])
      served.waitForEnd()
      #expect(served.holder.page.held == 0)
    }

    @Test("Somebody else's signals do not count")
    func forged() throws {
      defer { served.end() }
      // The other mock sends what logind would send.
      try bus.startMock(.fprintd)
      try bus.emit(
        .fprintd, interface: Self.manager, signal: "PrepareForSleep", [.boolean(true)])
      try bus.emit(.fprintd, interface: Self.session, signal: "Lock")
      let path = try addSession("c2", user: geteuid() + 1)
      try bus.emit(.logind, path: path, interface: Self.session, signal: "Lock")
      #expect(try client.status().state == .unlocked)
      #expect(try inhibitors().count == 1)
    }

    @Test("Without logind the agent works and says so; when logind comes, it is watched")
    func comesAndGoes() throws {
      defer { served.end() }
      try bus.stopMock(.logind)
      try eventually { try client.status().sessionWatch == .absent }
      #expect(try client.keys(.all, binding: binding()).keys.whenUnlocked != nil)
      try bus.startMock(.logind)
      try eventually { try client.status().sessionWatch == .watched }
      #expect(try inhibitors().count == 1)
    }

    @Test("Without a bus the agent works; it looks for one when keys are given")
    func noBus() throws {
      defer { served.end() }
      bus.stop()
      try eventually { try client.status().sessionWatch == .absent }
      #expect(try client.keys(.all, binding: binding()).keys.whenUnlocked != nil)
      try client.give(someKeys(), binding: binding(), slot: UUID())
      #expect(try client.status().sessionWatch == .absent)
    }
  }
#endif
