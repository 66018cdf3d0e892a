// SPDX-License-Identifier: Apache-2.0

/// The domains of protected app data (PD-10 to PD-14). The numbers are stored.
public enum ProtectedDomain: UInt8, Sendable, CaseIterable {
  /// The authentication mode of private keys, and the journal of a change that is under way.
  case privateKeyControl = 1
  /// The metadata of the user's own OpenPGP keys. No secrets.
  case keyMetadata = 2
  /// The settings that are read and changed only while unlocked.
  case protectedSettings = 3
  /// The certificates of other people.
  case contacts = 4
  /// A marker that shows that the framework works.
  case frameworkSentinel = 5

  /// The fixed name, as commands take and print it.
  public var name: String {
    switch self {
    case .privateKeyControl: "private-key-control"
    case .keyMetadata: "key-metadata"
    case .protectedSettings: "protected-settings"
    case .contacts: "contacts"
    case .frameworkSentinel: "protected-framework-sentinel"
    }
  }

  /// The domain of this fixed name; nil for any other.
  public init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

/// The state of protected data.
public enum ProtectedState: Equatable, Sendable {
  /// Nothing is open: unlock first.
  case locked
  /// Every domain that can be opened is open.
  case unlocked
  /// Nothing opens until the framework is recovered or explicitly reset (PD-22).
  case frameworkRecovery(FrameworkFault)
  /// Nothing opens until the process ends (PD-23).
  case restartRequired
}

/// The state of a domain after unlocking.
public enum DomainState: Equatable, Sendable {
  /// The domain can be read and changed.
  case open
  /// It was being made or removed, and another process that writes prevents us from settling that.
  case pendingMutation
  /// The domain is damaged; only ``ProtectedDomains/resetDomain(_:)`` helps.
  case recovery(DomainFault)
}
