// SPDX-License-Identifier: Apache-2.0
//
// Fingers through fprintd, the service that drives readers on Linux desktops: its interfaces
// net.reactivated.Fprint.Manager and net.reactivated.Fprint.Device on the system bus.
//
// One verification is one claim of the reader on a connection of its own. The claim is given back on every
// way out; should even that fail, fprintd takes it back when the connection closes. A result counts only if
// it comes from the service's owner after our claim: results of another program's earlier verification are
// discarded.

#if Fingerprint
  public import DesktopBus
  internal import Glibc

  /// The default reader of fprintd, with the fingers of the user that this process runs as.
  ///
  /// It restrains this program but proves nothing to a chip: the comparison runs in a service of this
  /// machine, and anybody who controls this process's environment (`DBUS_SYSTEM_BUS_ADDRESS`) can substitute
  /// another service.
  public struct FprintdReader: FingerprintReader {
    private let connect: @Sendable () throws(BusError) -> BusConnection

    /// - Parameter bus: the system's, except in tests.
    public init(bus: BusConnection.Bus = .system) {
      self.init { () throws(BusError) in try BusConnection(bus) }
    }

    /// A reader over given connections: for tests that keep them open.
    init(connect: @escaping @Sendable () throws(BusError) -> BusConnection) { self.connect = connect }

    /// - Throws: ``FingerprintError`` `.noReader`, `.noLibrary`, `.denied`, `.disconnected`,
    ///   `.failed`.
    public func hasEnrolledFinger() throws(FingerprintError) -> Bool {
      try FprintdDevice.findDefault(connect).hasEnrolledFinger()
    }

    /// - Throws: ``FingerprintError``, every case of it.
    public func verify(
      timeout: Duration, attempt: AuthenticationAttempt, progress: (FingerprintProgress) -> Void
    ) throws(FingerprintError) -> Bool {
      let deadline = ContinuousClock.now.advanced(by: timeout)
      guard attempt.stop == nil else { throw .stopped }
      let device = try FprintdDevice.findDefault(connect)
      try device.claim()
      defer { device.release() }
      guard attempt.stop == nil else { throw .stopped }
      try device.startVerifying()
      defer { device.stopVerifying() }
      progress(.waiting)
      return try device.answer(until: deadline, attempt, progress)
    }
  }

  /// A reader as fprintd's bus object, on a connection of its own.
  private final class FprintdDevice {
    private let connection: BusConnection
    private let path: String
    /// Set when the service has ended: calling it would only restart it.
    private var isGone = false

    private init(_ connection: BusConnection, path: String) {
      self.connection = connection
      self.path = path
    }

    static func findDefault(
      _ connect: () throws(BusError) -> BusConnection
    ) throws(FingerprintError) -> FprintdDevice {
      do throws(BusError) {
        let connection = try connect()
        let path = try connection.call(
          Name.service, path: Name.managerPath, interface: Name.manager, method: "GetDefaultDevice",
          timeout: Limit.call
        ).value(0).objectPath()
        return FprintdDevice(connection, path: path)
      } catch {
        switch error {
        case .noBus, .noService: throw .noReader
        default: throw sorted(error)
        }
      }
    }

    func hasEnrolledFinger() throws(FingerprintError) -> Bool {
      do throws(FingerprintError) {
        let fingers = try call("ListEnrolledFingers", [.string(Name.ownUser)])
        do throws(BusError) { return try !fingers.value(0).strings().isEmpty } catch { throw .failed }
      } catch {
        if error == .notEnrolled { return false }
        throw error
      }
    }

    func claim() throws(FingerprintError) { try call("Claim", [.string(Name.ownUser)]) }

    /// Releases the reader. If that fails, the end of the connection releases it.
    func release() {
      if !isGone { _ = try? call("Release", timeout: Limit.farewell) }
    }

    func startVerifying() throws(FingerprintError) {
      do throws(BusError) {
        // From here on the reader is ours, so a status is about our finger.
        try connection.subscribe(
          BusMatch(service: Name.service, path: path, interface: Name.device, member: Name.status))
        while let earlier = try connection.process() {
          if earlier.member != Name.status { throw .disconnected }
        }
      } catch { throw Self.sorted(error) }
      try call("VerifyStart", [.string(Name.anyFinger)])
    }

    /// Also needed when the verification has ended by itself.
    func stopVerifying() {
      if !isGone { _ = try? call("VerifyStop", timeout: Limit.farewell) }
    }

    /// Waits for a finger that was recognised or not.
    func answer(
      until deadline: ContinuousClock.Instant, _ attempt: AuthenticationAttempt,
      _ progress: (FingerprintProgress) -> Void
    ) throws(FingerprintError) -> Bool {
      while true {
        guard attempt.stop == nil else { throw .stopped }
        if let signal = try nextSignal() {
          if let isRecognised = try result(signal, progress) { return isRecognised }
          continue
        }
        let left = deadline - ContinuousClock.now
        guard left > .zero else { throw .timedOut }
        try wait(for: left, attempt)
      }
    }

    private func nextSignal() throws(FingerprintError) -> BusSignal? {
      do throws(BusError) { return try connection.process() } catch {
        isGone = error == .disconnected
        throw Self.sorted(error)
      }
    }

    /// Nil while the finger has to be scanned again.
    private func result(
      _ signal: BusSignal, _ progress: (FingerprintProgress) -> Void
    ) throws(FingerprintError) -> Bool? {
      guard signal.member == Name.status else {
        // The service's name has another owner, or none.
        isGone = true
        throw .disconnected
      }
      let status: String
      let isDone: Bool
      do throws(BusError) {
        status = try signal.message.value(0).string()
        isDone = try signal.message.value(1).boolean()
      } catch { throw .failed }
      switch status {
      case "verify-match": return true
      case "verify-no-match": return false
      case "verify-disconnected": throw .disconnected
      case "verify-unknown-error": throw .failed
      default: break
      }
      // A request for another scan does not end the verification; an unknown status may.
      guard !isDone else { throw .failed }
      if let problem = Self.scanProblems[status] { progress(.scanAgain(problem)) }
      return nil
    }

    /// Waits until there is news on the bus or from the attempt, or the time is over.
    private func wait(for duration: Duration, _ attempt: AuthenticationAttempt) throws(FingerprintError) {
      var waits = [
        pollfd(fd: connection.fileDescriptor, events: connection.pollEvents, revents: 0),
        pollfd(fd: attempt.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&waits, nfds_t(waits.count), duration.pollMilliseconds) >= 0 || errno == EINTR else {
        throw .failed
      }
    }

    @discardableResult
    private func call(
      _ method: String, _ arguments: [BusValue] = [], timeout: Duration = Limit.call
    ) throws(FingerprintError) -> BusMessage {
      do throws(BusError) {
        return try connection.call(
          Name.service, path: path, interface: Name.device, method: method, arguments, timeout: timeout)
      } catch {
        if error == .noService || error == .disconnected { isGone = true }
        throw Self.sorted(error)
      }
    }

    private static func sorted(_ error: BusError) -> FingerprintError {
      switch error {
      case .denied: .denied
      case .noLibrary: .noLibrary
      case .noBus, .noService, .disconnected: .disconnected
      case .remote(let name): remoteErrors[name] ?? .failed
      case .timedOut, .malformed, .system: .failed
      }
    }

    private static let scanProblems: [String: FingerprintProgress.ScanProblem] = [
      "verify-retry-scan": .unreadable,
      "verify-swipe-too-short": .swipeTooShort,
      "verify-finger-not-centered": .notCentred,
      "verify-remove-and-retry": .removeAndRetry,
    ]

    private static let remoteErrors: [String: FingerprintError] = [
      "net.reactivated.Fprint.Error.NoSuchDevice": .noReader,
      "net.reactivated.Fprint.Error.NoEnrolledPrints": .notEnrolled,
      "net.reactivated.Fprint.Error.AlreadyInUse": .busy,
      "net.reactivated.Fprint.Error.PermissionDenied": .denied,
      // The object was removed together with its reader.
      "org.freedesktop.DBus.Error.UnknownObject": .disconnected,
      "org.freedesktop.DBus.Error.UnknownMethod": .disconnected,
    ]

    private enum Limit {
      /// Opening a slow reader takes seconds; a stop is noticed after this time at the latest.
      static let call: Duration = .seconds(10)
      /// Releasing it is quick, unless the service hangs.
      static let farewell: Duration = .seconds(2)
    }

    private enum Name {
      static let service = "net.reactivated.Fprint"
      static let managerPath = "/net/reactivated/Fprint/Manager"
      static let manager = "net.reactivated.Fprint.Manager"
      static let device = "net.reactivated.Fprint.Device"
      static let status = "VerifyStatus"
      /// The user that asks.
      static let ownUser = ""
      /// Any of the enrolled fingers.
      static let anyFinger = "any"
    }
  }
#endif
