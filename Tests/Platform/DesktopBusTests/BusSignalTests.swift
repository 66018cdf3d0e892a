// SPDX-License-Identifier: Apache-2.0
//
// Signals: who may send them, and how they are waited for.

#if DesktopBus
  import DesktopBus
  import Extents
  import Foundation
  import PrivateBus
  import Testing

  @Suite("Signals of a bus", .enabled(if: PrivateBus.isAvailable, "no dbus-daemon or python3-dbusmock"))
  struct BusSignalTests {
    private let fprint = "net.reactivated.Fprint"
    private let device = "net.reactivated.Fprint.Device"

    @Test("A signal comes to who asked, in order, and the timeout is nil")
    func signals() throws {
      let bus = try PrivateBus()
      try bus.startMock(.logind)
      let connection = try bus.connect()
      let manager = "org.freedesktop.login1.Manager"
      let match = BusMatch(
        service: "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: manager,
        member: "PrepareForSleep")
      #expect(try connection.nextSignal(timeout: .milliseconds(1)) == nil)
      try connection.subscribe(match)
      try connection.subscribe(match)
      for isGoing in [true, false] {
        try bus.emit(.logind, interface: manager, signal: "PrepareForShutdown", [.boolean(isGoing)])
        try bus.emit(.logind, interface: manager, signal: "PrepareForSleep", [.boolean(isGoing)])
      }
      for isGoing in [true, false] {
        let signal = try #require(try connection.nextSignal(timeout: Patience.duration))
        #expect(signal.member == "PrepareForSleep")
        #expect(signal.message.values == [.boolean(isGoing)])
      }
      #expect(try connection.nextSignal(timeout: .milliseconds(1)) == nil)
      try connection.unsubscribe(match)
      try bus.emit(.logind, interface: manager, signal: "PrepareForSleep", [.boolean(true)])
      #expect(try connection.owner(of: "org.freedesktop.login1") != nil)
      #expect(try connection.nextSignal(timeout: .milliseconds(1)) == nil)
    }

    @Test("A signal that a stranger forges is not believed")
    func forged() throws {
      let bus = try PrivateBus()
      try bus.startMock(.fprintd)
      try bus.startMock(.logind)
      let path = try bus.control(.fprintd, "AddDevice", [.string("Reader"), .string("press")]).value(0)
        .objectPath()
      let connection = try bus.connect()
      try connection.subscribe(BusMatch(service: fprint, path: path, interface: device))
      // The other mock takes the part of the stranger: same path, same interface, sent straight to us.
      try bus.control(.logind, "AddObject", forgery(path))
      try bus.control(
        .logind, "EmitSignalDetailed",
        [
          .string(device), .string("VerifyStatus"), .string("sb"),
          .array(of: "v", [.variant(.string("verify-match")), .variant(.boolean(true))]),
          .properties(["destination": .string(connection.uniqueName)]),
        ], path: path)
      try bus.control(
        .fprintd, "EmitVerifyStatus", [.string("verify-no-match"), .boolean(true)], path: path)
      let signal = try #require(try connection.nextSignal(timeout: Patience.duration))
      #expect(signal.message.values == [.string("verify-no-match"), .boolean(true)])
      #expect(try connection.nextSignal(timeout: .milliseconds(1)) == nil)
    }

    @Test("The end of a service is a signal, and its successor's signals count")
    func owners() throws {
      let bus = try PrivateBus()
      let connection = try bus.connect()
      try connection.subscribe(BusMatch(service: fprint, member: "VerifyStatus"))
      for _ in 0..<2 {
        try bus.startMock(.fprintd)
        #expect(try connection.nextSignal(timeout: Patience.duration)?.isEnd(of: fprint) == false)
        let path = try bus.control(.fprintd, "AddDevice", [.string("Reader"), .string("press")]).value(0)
          .objectPath()
        try bus.control(.fprintd, "EmitVerifyStatus", [.string("verify-match"), .boolean(true)], path: path)
        #expect(try connection.nextSignal(timeout: Patience.duration)?.member == "VerifyStatus")
        try bus.stopMock(.fprintd)
        #expect(try connection.nextSignal(timeout: Patience.duration)?.isEnd(of: fprint) == true)
      }
    }

    @Test("The descriptor wakes a poll beside others, and processing drains it")
    func polling() throws {
      let bus = try PrivateBus()
      try bus.startMock(.logind)
      let connection = try bus.connect()
      try connection.subscribe(BusMatch(service: "org.freedesktop.login1", member: "Lock"))
      #expect(try connection.process() == nil)
      var wait = pollfd(fd: connection.fileDescriptor, events: connection.pollEvents, revents: 0)
      #expect(poll(&wait, 1, 0) == 0)
      try bus.emit(.logind, interface: "org.freedesktop.login1.Session", signal: "Lock")
      #expect(poll(&wait, 1, Patience.milliseconds) == 1)
      #expect(try connection.process()?.member == "Lock")
      #expect(try connection.process() == nil)
      #expect(poll(&wait, 1, 0) == 0)
    }

    @Test("The fingerprint mock plays its script, and lets go of a reader whose user has left")
    func fingerprintMock() throws {
      let bus = try PrivateBus()
      try bus.startMock(.fprintd)
      let path = try bus.control(.fprintd, "AddDevice", [.string("Reader"), .string("press")]).value(0)
        .objectPath()
      try bus.control(
        .fprintd, "SetEnrolledFingers", [.string("me"), .strings(["right-index-finger"])], path: path)
      try bus.control(
        .fprintd, "SetVerifyScript", [.strings(["verify-retry-scan", "verify-match"])], path: path)
      try scan(bus, path)
      let isFree = try Patience.until {
        try !bus.control(.fprintd, "IsClaimed", path: path).value(0).boolean()
      }
      #expect(isFree)
    }

    private func scan(_ bus: PrivateBus, _ path: String) throws {
      let connection = try bus.connect()
      try connection.subscribe(BusMatch(service: fprint, path: path, member: "VerifyStatus"))
      try connection.call(fprint, path: path, interface: device, method: "Claim", [.string("me")])
      #expect(throws: BusError.remote("net.reactivated.Fprint.Error.AlreadyInUse")) {
        try bus.connect().call(fprint, path: path, interface: device, method: "Claim", [.string("me")])
      }
      try connection.call(fprint, path: path, interface: device, method: "VerifyStart", [.string("any")])
      let results = try (0..<2).map { _ in
        try connection.nextSignal(timeout: Patience.duration)?.message.values ?? []
      }
      #expect(
        results == [
          [.string("verify-retry-scan"), .boolean(false)], [.string("verify-match"), .boolean(true)],
        ])
    }

    private func forgery(_ path: String) -> [BusValue] {
      [.string(path), .string(device), .properties([:]), .array(of: "(ssss)", [])]
    }
  }
#endif
