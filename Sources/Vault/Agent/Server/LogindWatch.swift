// SPDX-License-Identifier: Apache-2.0
//
// systemd-logind (org.freedesktop.login1): the screen's lock, sleep, logout. A delay inhibitor makes the
// machine wait until the keys are erased.

#if Logind
  internal import DesktopBus
  internal import Glibc

  /// Watches logind on the system bus. Belongs to one thread.
  final class LogindWatch: SessionWatch {
    private let bus: BusConnection
    private var inhibitor: BusFileDescriptor?
    private(set) var isPresent = false
    private let user = geteuid()
    private let timeout: Duration

    /// Nil when there is no bus.
    /// - Parameter timeout: how long an answer of logind may take.
    init?(bus address: BusConnection.Bus = .system, timeout: Duration = usualTimeout) {
      self.timeout = timeout
      do throws(BusError) {
        bus = try BusConnection(address)
        let manager = "org.freedesktop.login1.Manager"
        try bus.subscribe(BusMatch(service: Self.service, interface: Self.session, member: "Lock"))
        try bus.subscribe(
          BusMatch(service: Self.service, interface: Self.properties, member: "PropertiesChanged"))
        for member in ["PrepareForSleep", "UserRemoved"] {
          try bus.subscribe(
            BusMatch(service: Self.service, path: Self.path, interface: manager, member: member))
        }
      } catch { return nil }
      delaySleep()
    }

    var descriptor: Int32 { bus.fileDescriptor }
    var pollEvents: Int16 { bus.pollEvents }

    func delaySleep() {
      let arguments: [BusValue] = [
        .string("sleep"), .string("Coffer"), .string("Keys are erased before sleep"), .string("delay"),
      ]
      do throws(BusError) {
        inhibitor = try bus.call(
          Self.service, path: Self.path, interface: "org.freedesktop.login1.Manager", method: "Inhibit",
          arguments, timeout: timeout
        ).value(0).fileDescriptor()
        isPresent = true
      } catch {
        // If the inhibitor is refused, the signals still come.
        isPresent = error != .noService && error != .disconnected
      }
    }

    func allowSleep() { inhibitor = nil }

    func nextEvent() -> SessionEvent? {
      do throws(BusError) {
        while let signal = try bus.process() {
          if let event = event(signal) { return event }
        }
        return nil
      } catch {
        isPresent = false
        return .lost
      }
    }

    private func event(_ signal: BusSignal) -> SessionEvent? {
      if signal.isEnd(of: Self.service) {
        isPresent = false
        return nil
      }
      switch signal.member {
      case "NameOwnerChanged":
        // logind was restarted; it may have lost our inhibitor.
        delaySleep()
        return nil
      case "Lock":
        return isOurs(signal.path) ? .locked : nil
      case "PropertiesChanged":
        guard case .string(Self.session)? = signal.message.values.first,
          let changed = try? signal.message.value(1).properties(), changed["LockedHint"] == .boolean(true)
        else { return nil }
        return isOurs(signal.path) ? .locked : nil
      case "PrepareForSleep":
        // A signal that cannot be read is taken for the beginning of sleep.
        return (try? signal.message.value(0).boolean()) == false ? .awake : .fallingAsleep
      case "UserRemoved":
        return (try? signal.message.value(0).uint32()) == user ? .loggedOut : nil
      default:
        return nil
      }
    }

    /// Whether a session may be this user's: true if logind does not say.
    private func isOurs(_ path: String) -> Bool {
      guard
        let value = try? bus.property(
          "User", of: Self.service, path: path, interface: Self.session, timeout: timeout),
        let owner = try? value.structure(count: 2)[0].uint32()
      else { return true }
      return owner == user
    }

    private static let service = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let session = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    /// Less than clients wait for us, so that a logind that hangs does not hang the agent.
    static let usualTimeout: Duration = .milliseconds(250)
  }
#endif
