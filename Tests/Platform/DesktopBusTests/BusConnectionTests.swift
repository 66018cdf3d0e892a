// SPDX-License-Identifier: Apache-2.0
//
// Calls, errors and values over a private bus, against mocks and a real keyring daemon.

#if DesktopBus
  import DesktopBus
  import Extents
  import Foundation
  import PrivateBus
  import Testing

  @Suite("A connection to a bus", .enabled(if: PrivateBus.isAvailable, "no dbus-daemon or python3-dbusmock"))
  struct BusConnectionTests {
    static let login = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"

    @Test("Values of every type come back as they were sent")
    func roundTrip() throws {
      let bus = try PrivateBus()
      try bus.startMock(.logind)
      let connection = try bus.connect()
      let values: [BusValue] = [
        .byte(255), .boolean(true), .boolean(false), .int16(-2), .uint16(65535), .int32(-3),
        .uint32(.max), .int64(.min), .uint64(.max), .double(0.5), .string("a\u{E9}\u{1F511}"), .string(""),
        .objectPath("/a/b"), .signature("a{sv}"), .signature("(ua(sh))ay"), .signature(""),
        .bytes([0, 1, 255]), .bytes([]),
        .strings(["one", "two"]), .strings([]), .objectPaths(["/", "/c"]),
        .attributes(["k": "v", "l": ""]), .attributes([:]), .properties(["p": .uint32(7), "q": .bytes([9])]),
        .structure([.string("in"), .structure([.uint32(1)])]),
        .array(of: "(su)", [.structure([.string("s"), .uint32(2)])]),
      ]
      for value in values {
        try bus.control(
          .logind, "AddMethod",
          [
            .string(Self.manager), .string("Echo"), .string(value.typeSignature),
            .string(value.typeSignature), .string("ret = args[0]"),
          ])
        let reply = try connection.call(
          "org.freedesktop.login1", path: Self.login, interface: Self.manager, method: "Echo", [value])
        #expect(reply.values == [value])
        #expect(try reply.sender == connection.owner(of: "org.freedesktop.login1"))
      }
    }

    @Test("A property is read, and logind's inhibitor is a descriptor that ends when it is dropped")
    func logind() throws {
      let bus = try PrivateBus()
      try bus.startMock(.logind)
      let connection = try bus.connect()
      let service = "org.freedesktop.login1"
      let idle = try connection.property("IdleHint", of: service, path: Self.login, interface: Self.manager)
      #expect(idle == .boolean(false))
      #expect(throws: BusError.self) {
        try connection.property("NoSuch", of: service, path: Self.login, interface: Self.manager)
      }
      func inhibitors() throws -> Int {
        try connection.call(service, path: Self.login, interface: Self.manager, method: "ListInhibitors")
          .value(0).elements().count
      }
      var lock: BusFileDescriptor? = try connection.call(
        service, path: Self.login, interface: Self.manager, method: "Inhibit",
        [.string("sleep"), .string("coffer"), .string("locking"), .string("delay")]
      ).value(0).fileDescriptor()
      #expect(fcntl(try #require(lock?.number), F_GETFD) & FD_CLOEXEC != 0)
      #expect(try inhibitors() == 1)
      lock = nil
      // The mock learns of it when its loop comes round.
      #expect(try Patience.until { try inhibitors() == 0 })
    }

    @Test("Errors are told apart")
    func errors() throws {
      let bus = try PrivateBus()
      try bus.startMock(.fprintd)
      let connection = try bus.connect()
      let fprint = PrivateBus.Mock.fprintd
      #expect(throws: BusError.noService) {
        try connection.call("org.example.Nobody", path: "/", interface: "org.example.I", method: "M")
      }
      #expect(throws: BusError.remote("net.reactivated.Fprint.Error.NoSuchDevice")) {
        try connection.call(
          fprint.service, path: fprint.path, interface: fprint.service + ".Manager",
          method: "GetDefaultDevice")
      }
      #expect(throws: BusError.malformed) {
        try connection.call(fprint.service, path: "no path", interface: "org.example.I", method: "M")
      }
      for bad: BusValue in [
        .string("a\0b"), .objectPath("x"), .signature("("), .signature("()"), .signature("a"),
        .signature("{sv}"), .signature("a{vs}"),
        .signature("a{s}"), .signature("z"), .array(of: "s", [.uint32(1)]),
        .array(of: "", []), .structure([]), .entry(.string(""), .string("")),
        .variant(.structure([])), .array(of: "()", []), .variant(.entry(.string(""), .string(""))),
      ] {
        #expect(throws: BusError.malformed) {
          try connection.call(
            fprint.service, path: fprint.path, interface: "org.example.I", method: "M", [bad])
        }
        #expect(try connection.owner(of: fprint.service) != nil, "\(bad)")
      }
      try bus.control(
        fprint, "AddMethod",
        [
          .string("org.example.I"), .string("Slow"), .string(""), .string(""),
          .string("import time; time.sleep(2)"),
        ])
      #expect(throws: BusError.timedOut) {
        try connection.call(
          fprint.service, path: fprint.path, interface: "org.example.I", method: "Slow",
          timeout: .milliseconds(50))
      }
      try bus.stopMock(.fprintd)
      #expect(throws: BusError.noService) {
        try connection.call(fprint.service, path: fprint.path, interface: "org.example.I", method: "M")
      }
      #expect(try connection.owner(of: fprint.service) == nil)
    }

    @Test("A service that dies while it is asked, and a bus that ends, are not waited for")
    func ends() throws {
      let bus = try PrivateBus()
      try bus.startMock(.fprintd)
      let connection = try bus.connect()
      let fprint = PrivateBus.Mock.fprintd
      try bus.control(
        fprint, "AddMethod",
        [
          .string("org.example.I"), .string("Die"), .string(""), .string(""),
          .string("import os; os._exit(1)"),
        ])
      #expect(throws: BusError.noService) {
        try connection.call(fprint.service, path: fprint.path, interface: "org.example.I", method: "Die")
      }
      bus.stop()
      #expect(throws: BusError.disconnected) { try connection.nextSignal(timeout: Patience.duration) }
      #expect(throws: BusError.disconnected) { try connection.owner(of: fprint.service) }
      #expect(throws: BusError.disconnected) { try connection.nextSignal(timeout: Patience.duration) }
    }

    @Test("Without a bus there is an error, and no waiting")
    func noBus() throws {
      for address in ["unix:path=/nonexistent/bus", "no address", "", "a\0b"] {
        #expect(throws: BusError.noBus) { try BusConnection(.address(address)) }
      }
    }

    @Test("The environment's addresses lead to the system's and the session's bus")
    func environment() async {
      await #expect(processExitsWith: .success) {
        let bus = try PrivateBus()
        try bus.startMock(.logind)
        for (name, place) in [
          ("DBUS_SYSTEM_BUS_ADDRESS", BusConnection.Bus.system), ("DBUS_SESSION_BUS_ADDRESS", .session),
        ] {
          setenv(name, bus.address, 1)
          let owner = try BusConnection(place).owner(of: "org.freedesktop.login1")
          setenv(name, "unix:path=/nonexistent", 1)
          guard owner != nil, (try? BusConnection(place)) == nil else { exit(3) }
        }
        bus.stop()
      }
    }

    @Test("A thousand calls, answers, errors and signals leave no message behind")
    func messages() async {
      // In a process of its own: other tests take and give back memory meanwhile.
      await #expect(processExitsWith: .success) {
        let bus = try PrivateBus()
        let echo = try Echo(bus)
        for _ in 0..<100 { try echo.round() }
        let memory = residentKiB()
        let rounds = Shares("calls of a bus", count: 4).rounds(of: 1_000)
        for _ in 0..<rounds { try echo.round() }
        let growth = residentKiB() - memory
        bus.stop()
        // Each round carries 40 kB in four messages: one message kept a round would be 10 kB each. A sanitizer
        // keeps what was freed, and looks for what was not by itself.
        guard growth < 5 * rounds || isSanitized() else {
          print("grew by \(growth) KiB")
          exit(3)
        }
      }
    }

    @Test("A thousand connections, and as many errors, leave no descriptor behind")
    func descriptors() throws {
      let bus = try PrivateBus()
      let echo = try Echo(bus)
      #expect(bus.connectionCount == 1)
      for _ in 0..<10 { try echo.round() }
      for _ in 0..<1000 {
        let connection = try bus.connect()
        #expect(throws: BusError.noService) {
          try connection.call("org.example.Nobody", path: "/", interface: "org.example.I", method: "M")
        }
      }
      #expect(bus.connectionCount == 1)
      for _ in 0..<100 {
        _ = try echo.connection.call(
          "org.freedesktop.login1", path: Self.login, interface: Self.manager, method: "Inhibit",
          [.string("sleep"), .string("coffer"), .string(""), .string("delay")])
      }
      // The mock counts the pipes whose other ends are open.
      let areGone = try Patience.until {
        try echo.connection.call(
          "org.freedesktop.login1", path: Self.login, interface: Self.manager, method: "ListInhibitors"
        ).value(0).elements().isEmpty
      }
      #expect(areGone)
    }
  }

  /// A mock that sends back what it gets, as an answer and as a signal.
  private struct Echo {
    let connection: BusConnection
    private let value = BusValue.bytes([UInt8](repeating: 7, count: 10_000))

    struct Mismatch: Error {}

    init(_ bus: PrivateBus) throws {
      try bus.startMock(.logind)
      connection = try bus.connect()
      try connection.subscribe(BusMatch(service: "org.freedesktop.login1"))
      try bus.control(
        .logind, "AddMethod",
        [
          .string(BusConnectionTests.manager), .string("Echo"), .string("ay"), .string("ay"),
          .string("self.EmitSignal('', 'Echoed', 'ay', [args[0]]); ret = args[0]"),
        ])
    }

    func round() throws {
      let reply = try call(BusConnectionTests.manager, "Echo")
      guard reply.values == [value] else { throw Mismatch() }
      do {
        _ = try call("a.b", "C")
        throw Mismatch()
      } catch BusError.remote {}
      while let signal = try connection.nextSignal(timeout: Patience.duration) {
        if signal.member == "Echoed" { return }
      }
      throw Mismatch()
    }

    private func call(_ interface: String, _ method: String) throws -> BusMessage {
      try connection.call(
        "org.freedesktop.login1", path: BusConnectionTests.login, interface: interface, method: method,
        [value])
    }
  }

  private func residentKiB() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }

  private func isSanitized() -> Bool {
    let program = dlopen(nil, RTLD_NOW)
    return dlsym(program, "__asan_init") != nil || dlsym(program, "__tsan_init") != nil
  }
#endif
