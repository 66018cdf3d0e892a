// SPDX-License-Identifier: Apache-2.0
//
// A connection to a bus, for the three services that Coffer talks to: fprintd, logind, and the Secret
// Service. Only calls out and signals in: it owns no name and answers no calls.
//
// Signals are not dispatched to callbacks: the bus is told the match rules, and whatever sd-bus has not
// used for itself comes out of its processing step. A subscription knows who owns its service's name.

#if DesktopBus
  internal import CSystemdBus
  internal import Glibc

  /// A connection to a message bus.
  ///
  /// A connection belongs to one thread at a time: it is not `Sendable`, so it may be sent on whole, or kept
  /// in a lock, and never shared. It is closed when the last reference goes.
  @safe
  public final class BusConnection {
    /// Which bus.
    public enum Bus: Equatable, Sendable {
      /// `DBUS_SYSTEM_BUS_ADDRESS`, or the system's place for it.
      case system
      /// `DBUS_SESSION_BUS_ADDRESS`, or `$XDG_RUNTIME_DIR/bus`.
      case session
      /// An address, as in `unix:path=/run/…`.
      case address(String)
    }

    /// The default limit for an answer, which is the usual one of D-Bus libraries.
    public static let defaultTimeout: Duration = .seconds(25)

    /// The name that the bus gave this connection, such as `:1.7`.
    public let uniqueName: String

    private let bus: OpaquePointer
    private let library: coffer_sd_bus
    private var matches: Set<BusMatch> = []
    /// The unique name that owns each subscribed service, nil for none.
    private var owners: [String: String?] = [:]

    /// Connects, and waits until the bus has let us in.
    /// - Throws: `BusError.noBus`, `.noLibrary`, `.denied`.
    public convenience init(_ address: Bus) throws(BusError) {
      try unsafe self.init(address, coffer_sd_bus_open()?.pointee)
    }

    /// - Parameter library: nil for one that is missing.
    init(_ address: Bus, _ library: coffer_sd_bus?) throws(BusError) {
      guard let library = library else { throw .noLibrary }
      var opened: OpaquePointer? = nil
      var result: Int32
      switch address {
      case .system: result = unsafe library.sd_bus_open_system(&opened)
      case .session: result = unsafe library.sd_bus_open_user(&opened)
      case .address(let text):
        guard !text.utf8.contains(0) else { throw .noBus }
        result = unsafe library.sd_bus_new(&opened)
        if result >= 0 { result = unsafe library.sd_bus_set_address(opened, text) }
        if result >= 0 { result = unsafe library.sd_bus_set_bus_client(opened, 1) }
        if result >= 0 { result = unsafe library.sd_bus_start(opened) }
      }
      // The bus sends the unique name first; from then on the connection works.
      var name: UnsafePointer<CChar>? = nil
      if result >= 0 { result = unsafe library.sd_bus_get_unique_name(opened, &name) }
      guard result >= 0, let opened = unsafe opened else {
        _ = unsafe library.sd_bus_close_unref(opened)
        throw Self.openingError(-result)
      }
      uniqueName = unsafe text(unsafe name)
      unsafe bus = opened
      self.library = library
    }

    deinit { _ = unsafe library.sd_bus_close_unref(bus) }

    // MARK: Calls

    /// Calls a method and waits for its answer. Signals that come meanwhile are kept.
    ///
    /// A service that is not running is started, if the bus knows how.
    /// - Throws: `BusError`; `.remote` with the name of the error that the service answered.
    @discardableResult
    public func call(
      _ destination: String, path: String, interface: String, method: String, _ arguments: [BusValue] = [],
      timeout: Duration = defaultTimeout
    ) throws(BusError) -> BusMessage {
      let texts = [destination, path, interface, method]
      guard texts.allSatisfy({ !$0.utf8.contains(0) }) else { throw .malformed }
      var made: OpaquePointer? = nil
      let result = unsafe library.sd_bus_message_new_method_call(
        bus, &made, destination, path, interface, method)
      guard result >= 0, let made = unsafe made else { throw Self.callError(-result, nil) }
      let request = unsafe RawMessage(owning: made, library)
      try request.append(arguments: arguments)
      return try answer(to: request, timeout)
    }

    private func answer(
      to request: borrowing RawMessage, _ timeout: Duration
    ) throws(BusError) -> BusMessage {
      var error = unsafe sd_bus_error()
      defer { unsafe library.sd_bus_error_free(&error) }
      var reply: OpaquePointer? = nil
      // Zero would mean sd-bus's own default.
      let microseconds = max(1, timeout.microseconds)
      let result = unsafe library.sd_bus_call(bus, request.pointer, microseconds, &error, &reply)
      guard result >= 0, let reply = unsafe reply else {
        let name = unsafe error.name.map { unsafe String(cString: $0) }
        throw Self.callError(-result, name)
      }
      return try decoded(unsafe RawMessage(owning: reply, library))
    }

    /// Reads a property of an object (`org.freedesktop.DBus.Properties.Get`).
    public func property(
      _ name: String, of destination: String, path: String, interface: String,
      timeout: Duration = defaultTimeout
    ) throws(BusError) -> BusValue {
      let arguments: [BusValue] = [.string(interface), .string(name)]
      return try call(
        destination, path: path, interface: BusNames.properties, method: "Get", arguments, timeout: timeout
      ).value(0).variant()
    }

    /// The unique name of the present owner of `service`; nil when it has none. Starts nothing.
    public func owner(of service: String) throws(BusError) -> String? {
      do {
        return try callBus("GetNameOwner", service).value(0).string()
      } catch {
        guard error == .noService else { throw error }
        return nil
      }
    }

    @discardableResult
    private func callBus(_ method: String, _ argument: String) throws(BusError) -> BusMessage {
      try call(
        BusNames.bus, path: BusNames.path, interface: BusNames.interface, method: method, [.string(argument)])
    }

    // MARK: Signals

    /// Asks for signals; from now on ``nextSignal(timeout:)`` and ``process()`` return them.
    ///
    /// With the first subscription to a service its changes of owner come too, so that the end of a service
    /// is a signal (``BusSignal/isEnd(of:)``).
    public func subscribe(_ match: BusMatch) throws(BusError) {
      let rule = try match.rule()
      guard !matches.contains(match) else { return }
      if owners[match.service] == nil {
        // Subscribe to changes first, then ask for the owner, so that no change is missed.
        try callBus("AddMatch", BusMatch.ownerRule(match.service))
        owners.updateValue(try owner(of: match.service), forKey: match.service)
      }
      try callBus("AddMatch", rule)
      matches.insert(match)
    }

    /// Ends a subscription. Signals that have come already may still be returned.
    public func unsubscribe(_ match: BusMatch) throws(BusError) {
      guard matches.remove(match) != nil else { return }
      try callBus("RemoveMatch", try match.rule())
      guard !matches.contains(where: { $0.service == match.service }) else { return }
      owners.removeValue(forKey: match.service)
      try callBus("RemoveMatch", BusMatch.ownerRule(match.service))
    }

    /// Waits for the next signal that a subscription wants.
    /// - Returns: nil when none came in time.
    /// - Throws: `BusError.disconnected` when the bus is gone.
    public func nextSignal(timeout: Duration) throws(BusError) -> BusSignal? {
      let end = ContinuousClock.now.advanced(by: timeout)
      while true {
        if let signal = try process() { return signal }
        let left = end - ContinuousClock.now
        guard left > .zero else { return nil }
        let result = unsafe library.sd_bus_wait(bus, left.microseconds)
        guard result >= 0 || result == -EINTR else { throw Self.callError(-result, nil) }
      }
    }

    /// Does what can be done without waiting. For use beside other descriptors: poll
    /// ``fileDescriptor`` for ``pollEvents``, and call this until it returns nil before polling again, also
    /// once after subscribing and after each call.
    /// - Returns: a signal, or nil when there is nothing left to do.
    public func process() throws(BusError) -> BusSignal? {
      while true {
        var received: OpaquePointer? = nil
        let result = unsafe library.sd_bus_process(bus, &received)
        guard result >= 0 else { throw Self.callError(-result, nil) }
        guard result > 0 else { return nil }
        guard let message = unsafe received else { continue }
        if let signal = try wanted(unsafe RawMessage(owning: message, library)) { return signal }
      }
    }

    /// The descriptor to poll. It belongs to the connection: never close or read it.
    public var fileDescriptor: Int32 { unsafe library.sd_bus_get_fd(bus) }

    /// The events to poll for, as in `poll(2)`. May change with each ``process()``.
    public var pollEvents: Int16 { Int16(truncatingIfNeeded: unsafe library.sd_bus_get_events(bus)) }

    private func wanted(_ message: consuming RawMessage) throws(BusError) -> BusSignal? {
      var type: UInt8 = 0
      _ = unsafe library.sd_bus_message_get_type(message.pointer, &type)
      guard type == Self.signalType else { return nil }
      let path = unsafe text(library.sd_bus_message_get_path(message.pointer))
      let interface = unsafe text(library.sd_bus_message_get_interface(message.pointer))
      let member = unsafe text(library.sd_bus_message_get_member(message.pointer))
      // sd-bus's own word, under a name that the bus lets nobody use.
      guard interface != Self.localInterface else { throw .disconnected }
      // A signal that cannot be read is ignored: it must not end the wait for the others.
      guard let content = try? decoded(message) else { return nil }
      let signal = BusSignal(path: path, interface: interface, member: member, message: content)
      if let change = signal.ownerChange, owners[change.name] != nil {
        owners.updateValue(change.owner, forKey: change.name)
        return signal
      }
      let isWanted = matches.contains { match in
        match.fits(signal) && (match.service == content.sender || owners[match.service] == content.sender)
      }
      return isWanted ? signal : nil
    }

    private static let signalType: UInt8 = 4
    private static let localInterface = "org.freedesktop.DBus.Local"

    private func decoded(_ message: borrowing RawMessage) throws(BusError) -> BusMessage {
      unsafe BusMessage(
        sender: text(unsafe library.sd_bus_message_get_sender(message.pointer)), values: try message.values())
    }

    // MARK: Errors

    private static func openingError(_ number: Int32) -> BusError {
      switch number {
      case EACCES, EPERM: .denied
      case ENOMEM, EMFILE, ENFILE: .system(number)
      default: .noBus
      }
    }

    private static func callError(_ number: Int32, _ name: String?) -> BusError {
      guard let name else {
        return switch number {
        case ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN, ECHILD: .disconnected
        case ETIMEDOUT: .timedOut
        case EACCES, EPERM: .denied
        case EINVAL, EBADMSG, EMSGSIZE, ENXIO: .malformed
        default: .system(number)
        }
      }
      let prefix = "org.freedesktop.DBus.Error."
      guard name.hasPrefix(prefix) else {
        // sd-bus's names for errors of its own.
        return switch number {
        case ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN: .disconnected
        default: .remote(name)
        }
      }
      let rest = name.dropFirst(prefix.count)
      return switch rest {
      // NoReply is the bus's word that the owner left; waiting in vain ends with our own time-out.
      case "ServiceUnknown", "NameHasNoOwner", "NoReply": .noService
      case _ where rest.hasPrefix("Spawn."): .noService
      case "AccessDenied", "AuthFailed", "InteractiveAuthorizationRequired": .denied
      case "Timeout", "TimedOut": .timedOut
      case "Disconnected": .disconnected
      default: .remote(name)
      }
    }
  }

  private func text(_ pointer: UnsafePointer<CChar>?) -> String {
    unsafe pointer.map { unsafe String(cString: $0) } ?? ""
  }

  extension Duration {
    /// Rounded up; at most about 31 years, far below what sd-bus takes for "forever".
    fileprivate var microseconds: UInt64 {
      let (seconds, attoseconds) = components
      guard seconds >= 0, attoseconds >= 0 else { return 0 }
      return UInt64(min(seconds, 1_000_000_000)) * 1_000_000
        + UInt64(attoseconds / 1_000_000_000_000) + (attoseconds % 1_000_000_000_000 > 0 ? 1 : 0)
    }
  }
#endif
