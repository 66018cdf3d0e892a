// SPDX-License-Identifier: Apache-2.0

/// The content of an answer or a signal: decoded, and independent of the connection.
public struct BusMessage: Equatable, Sendable {
  /// The unique name of the sender, such as `:1.7`, or `org.freedesktop.DBus`. The bus vouches for it.
  public let sender: String
  /// The values in order.
  public let values: [BusValue]

  /// The value at a place.
  /// - Throws: `BusError.malformed` when there are fewer.
  public func value(_ index: Int) throws(BusError) -> BusValue {
    guard values.indices.contains(index) else { throw .malformed }
    return values[index]
  }
}

/// A signal that a subscription asked for.
public struct BusSignal: Equatable, Sendable {
  /// The object that it is about.
  public let path: String
  /// The interface that defines the signal, such as `org.freedesktop.DBus.Properties`.
  public let interface: String
  /// The signal's name in its interface.
  public let member: String
  /// Sender and values.
  public let message: BusMessage

  /// Whether the bus says that `service` went away: delivered for each service with a subscription,
  /// `NameOwnerChanged` without a new owner.
  public func isEnd(of service: String) -> Bool {
    ownerChange?.name == service && ownerChange?.owner == nil
  }

  var ownerChange: (name: String, owner: String?)? {
    guard interface == BusNames.interface, member == "NameOwnerChanged", message.sender == BusNames.bus,
      message.values.count == 3, case .string(let name) = message.values[0],
      case .string(let owner) = message.values[2]
    else { return nil }
    return (name, owner.isEmpty ? nil : owner)
  }
}

/// The bus itself (D-Bus Specification, "Message Bus Messages").
enum BusNames {
  static let bus = "org.freedesktop.DBus"
  static let path = "/org/freedesktop/DBus"
  static let interface = "org.freedesktop.DBus"
  static let properties = "org.freedesktop.DBus.Properties"
}

/// The signals that a subscription wants. A part that is nil matches anything.
///
/// The sender is always checked: anybody on the system bus may send a signal straight to us, under any
/// interface and path, and only the sender's name cannot be forged.
public struct BusMatch: Hashable, Sendable {
  /// A service's name, such as `net.reactivated.Fprint`. Signals count only from its owner of that moment.
  public var service: String
  /// The object that sends the signal; nil for any.
  public var path: String?
  /// The interface that defines the signal; nil for any.
  public var interface: String?
  /// The signal's name in its interface; nil for any.
  public var member: String?

  /// A match for signals of `service`, narrowed by each part that is not nil.
  public init(service: String, path: String? = nil, interface: String? = nil, member: String? = nil) {
    self.service = service
    self.path = path
    self.interface = interface
    self.member = member
  }

  /// The rule for the bus (D-Bus Specification, "Match Rules").
  /// - Throws: `BusError.malformed` for a part with an apostrophe, which no name has.
  func rule() throws(BusError) -> String {
    var rule = "type='signal'"
    let parts = [("sender", service), ("path", path), ("interface", interface), ("member", member)]
    for (key, value) in parts {
      guard let value else { continue }
      guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x27 }) else {
        throw .malformed
      }
      rule += ",\(key)='\(value)'"
    }
    return rule
  }

  /// The rule that tells when the service gets another owner.
  static func ownerRule(_ service: String) -> String {
    "type='signal',sender='\(BusNames.bus)',interface='\(BusNames.interface)',"
      + "member='NameOwnerChanged',arg0='\(service)'"
  }

  func fits(_ signal: BusSignal) -> Bool {
    (path ?? signal.path) == signal.path && (interface ?? signal.interface) == signal.interface
      && (member ?? signal.member) == signal.member
  }
}
