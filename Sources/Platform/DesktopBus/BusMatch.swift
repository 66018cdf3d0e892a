// SPDX-License-Identifier: Apache-2.0

/// Which signals a subscription wants. What is nil may be anything.
///
/// The sender is no wish but a check: anybody on the system bus may send a signal straight to us, under any
/// interface and path, and only the sender's name cannot be forged.
public struct BusMatch: Hashable, Sendable {
  /// A service's name, such as `net.reactivated.Fprint`. Signals count only from its owner of that moment.
  public var service: String
  public var path: String?
  public var interface: String?
  public var member: String?

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
