// SPDX-License-Identifier: Apache-2.0

/// A signal that a subscription asked for.
public struct BusSignal: Equatable, Sendable {
  /// The object that it is about.
  public let path: String
  public let interface: String
  public let member: String
  /// Sender and values.
  public let message: BusMessage

  /// Whether this is the bus's word that `service` went away: delivered for each service with a
  /// subscription, `NameOwnerChanged` without a new owner.
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
