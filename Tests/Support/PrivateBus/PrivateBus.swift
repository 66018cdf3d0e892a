// SPDX-License-Identifier: Apache-2.0
//
// A message bus for one test, and services on it: python-dbusmock's logind, an fprintd made here, and a real
// gnome-keyring-daemon with a home of its own. Nothing outlives the test: see `Supervised`.

#if DesktopBus
  public import DesktopBus
  import Extents
  import Foundation
  import Synchronization

  /// A private bus. Its address serves as the system's and as the session's; everybody may own any name.
  public final class PrivateBus: Sendable {
    /// What `DBUS_SYSTEM_BUS_ADDRESS` and `DBUS_SESSION_BUS_ADDRESS` take, and `BusConnection(.address(…))`.
    public let address: String

    /// Services that can be put in the place of the system's.
    public enum Mock: String, Sendable {
      /// `org.freedesktop.login1`, the template of python-dbusmock.
      case logind
      /// `net.reactivated.Fprint`; `FprintdTemplate` says how it is controlled.
      case fprintd

      /// The name that it owns.
      public var service: String { self == .logind ? "org.freedesktop.login1" : "net.reactivated.Fprint" }
      /// The object that is controlled unless another is named.
      public var path: String {
        self == .logind ? "/org/freedesktop/login1" : "/net/reactivated/Fprint/Manager"
      }
    }

    public struct Failure: Error {
      public var reason: String
    }

    /// Whether bus, mocks and keyring are installed; for `.enabled(if:)`.
    public static let isAvailable =
      ["dbus-daemon", "gnome-keyring-daemon"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
      }
      && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbusmock/__main__.py")

    private let folder: String
    private let running = Mutex<[String: Supervised]>([:])

    public init() throws {
      // A socket's path has 107 bytes; the name is short.
      let template = FileManager.default.temporaryDirectory.appending(path: "bus-XXXXXX").path
      guard let made = template.withCString({ mkdtemp(strdup($0)) }) else { throw Failure(reason: "mkdtemp") }
      folder = String(cString: made)
      free(made)
      guard folder.utf8.count < 100 else { throw Failure(reason: "TMPDIR is too long for a socket's path") }
      address = "unix:path=\(folder)/s"
      let configuration = """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
        </busconfig>
        """
      try configuration.write(toFile: folder + "/bus.conf", atomically: false, encoding: .utf8)
      try start("bus", ["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(folder)/bus.conf"])
      try wait(for: "bus") { (try? connect()) != nil }
    }

    deinit { stop() }

    /// A new connection to the bus.
    public func connect() throws(BusError) -> BusConnection { try BusConnection(.address(address)) }

    /// Connections to the bus that this process has open.
    public var connectionCount: Int {
      let path = Array(address.utf8.dropFirst("unix:path=".utf8.count))
      return (0..<4096).count { number in
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(Int32(number), $0, &length) }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return false }
        return withUnsafeBytes(of: address.sun_path) { $0.prefix { $0 != 0 }.elementsEqual(path) }
      }
    }

    /// Ends the bus and everything on it.
    public func stop() {
      running.withLock { running in
        // Services before the bus.
        for (name, process) in running where name != "bus" { process.stop() }
        running["bus"]?.stop()
        running = [:]
      }
      try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Mocks

    /// Starts a mock, and waits until it owns its name.
    public func startMock(_ mock: Mock) throws {
      var template = mock.rawValue
      if mock == .fprintd {
        template = folder + "/fprintd_template.py"
        try FprintdTemplate.text.write(toFile: template, atomically: false, encoding: .utf8)
      }
      try start(
        mock.rawValue, owning: mock.service, ["/usr/bin/python3", "-m", "dbusmock", "--template", template])
    }

    /// Starts a mock of another service from a template's text, and waits until it owns its name.
    public func startMock(template text: String, named name: String, owning service: String) throws {
      let path = "\(folder)/\(name)_template.py"
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      try start(name, owning: service, ["/usr/bin/python3", "-m", "dbusmock", "--template", path])
    }

    /// Kills a mock, and waits until its name has no owner.
    public func stopMock(_ mock: Mock) throws { try end(mock.rawValue, mock.service) }

    /// Calls a method of the mock's control interface, such as `AddSession`, `EmitSignal`, `AddMethod`,
    /// `UpdateProperties` or `GetMethodCalls`.
    @discardableResult
    public func control(
      _ mock: Mock, _ method: String, _ arguments: [BusValue] = [], path: String? = nil
    ) throws -> BusMessage {
      try connect().call(
        mock.service, path: path ?? mock.path, interface: "org.freedesktop.DBus.Mock", method: method,
        arguments, timeout: Patience.duration)
    }

    /// Lets a mock's object emit a signal, such as logind's `PrepareForSleep` with one boolean.
    public func emit(
      _ mock: Mock, path: String? = nil, interface: String, signal: String, _ values: [BusValue] = []
    ) throws {
      let signature = values.map(\.typeSignature).joined()
      try control(
        mock, "EmitSignal",
        [
          .string(interface), .string(signal), .string(signature),
          .array(of: "v", values.map { .variant($0) }),
        ], path: path)
    }

    // MARK: Keyring

    /// The Secret Service's name.
    public static let secretService = "org.freedesktop.secrets"

    /// Starts a keyring daemon with the password given, and waits until it owns its name. Its keyring is
    /// made the first time, and is there again after ``stopKeyring()``.
    public func startKeyring(password: String = "a password for tests") throws {
      KeyringWatch.current?.add(self)
      let home = folder + "/home"
      for part in ["", "/data", "/run"] { mkdir(home + part, 0o700) }
      try start(
        "keyring", owning: Self.secretService,
        ["gnome-keyring-daemon", "--unlock", "--components=secrets", "--foreground"],
        input: password,
        environment: [
          "HOME": home, "XDG_DATA_HOME": home + "/data", "XDG_RUNTIME_DIR": home + "/run",
          "GNOME_KEYRING_CONTROL": nil, "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
        ])
    }

    /// What an end of the keyring daemon that nobody asked for left behind: its status, 134 after SIGABRT, and
    /// its last words. Nil while it runs, and after ``stopKeyring()``.
    public var keyringDeath: String? {
      guard let process = running.withLock({ $0["keyring"] }) else { return nil }
      // The bus knows of the end before the shell that waits for it.
      let isGone = (try? connect().owner(of: Self.secretService)) == nil
      if isGone { _ = Patience.until { process.ownEnd != nil } }
      guard let status = process.ownEnd else { return nil }
      let log = (try? String(contentsOfFile: "\(folder)/keyring.log", encoding: .utf8)) ?? ""
      return "status \(status); it said: \(log.suffix(500))"
    }

    /// Kills the keyring daemon, and waits until its name has no owner.
    public func stopKeyring() throws { try end("keyring", Self.secretService) }

    // MARK: Processes

    private func start(
      _ name: String, owning service: String? = nil, _ command: [String], input: String = "",
      environment: [String: String?] = [:]
    ) throws {
      // One that runs already goes first, so that its ownership is not taken for the new one's.
      if let service { try end(name, service) }
      var all: [String: String?] = ["DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address]
      all.merge(environment) { $1 }
      let process = try Supervised(
        command, input: input, environment: all, log: "\(folder)/\(name).log",
        folder: name == "bus" ? folder : nil)
      running.withLock { $0[name] = process }
      guard let service else { return }
      let connection = try connect()
      try wait(for: name) { try connection.owner(of: service) != nil }
    }

    private func end(_ name: String, _ service: String) throws {
      guard let process = running.withLock({ $0.removeValue(forKey: name) }) else { return }
      process.stop()
      let connection = try connect()
      try wait(for: name) { try connection.owner(of: service) == nil }
    }

    private func wait(for name: String, _ isReady: () throws -> Bool) throws {
      guard try Patience.until(isReady) else {
        let log = (try? String(contentsOfFile: "\(folder)/\(name).log", encoding: .utf8)) ?? ""
        throw Failure(reason: "waited for \(name) in vain; it said: \(log.suffix(2000))")
      }
    }
  }
#endif
