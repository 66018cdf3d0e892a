// SPDX-License-Identifier: Apache-2.0

import CrashDisk
import KeyCustody
import ProtectedData

/// An operation on protected data.
final class DomainOperation: CrashScenario {
  /// What becomes of the settings.
  enum Kind: String, CaseIterable {
    case write = "protected settings, write"
    /// Deletes the domain and creates it anew.
    case reset = "domain, delete and create"
  }

  var operation: String { what.rawValue }
  var store: String { kind.name }
  private let kind: KeychainKind
  private let what: Kind

  init(_ kind: KeychainKind, _ what: Kind) {
    self.kind = kind
    self.what = what
  }

  static func all(_ kind: KeychainKind) -> [DomainOperation] {
    Kind.allCases.map { DomainOperation(kind, $0) }
  }

  private static let metadata = KeyMetadata(identities: [
    PGPKeyIdentity(
      keyVersion: .v4, profile: .a, fingerprint: [UInt8](repeating: 7, count: 20), isBackedUp: true,
      created: 1,
      expires: nil, userIDs: ["somebody"], revocationCertificate: [], certificate: [])
  ])

  private static var former: ProtectedSettings {
    var settings = ProtectedSettings.initial
    settings.gracePeriodSeconds = 11
    return settings
  }

  private static var changed: ProtectedSettings {
    var settings = former
    settings.encryptToSelf.toggle()
    return settings
  }

  func prepare(_ home: String) throws {
    try OpenCustody.create(home, kind, keys: [:])
    let made = try OpenCustody.open(home, kind)
    try made.domains.update(ProtectedSettings.self) { $0 = Self.former }
    try made.domains.update(KeyMetadata.self) { $0 = Self.metadata }
    made.opened.file.close()
  }

  func open(_ home: String) throws -> OpenCustody { try OpenCustody.open(home, kind) }

  func operate(_ store: OpenCustody) throws {
    switch what {
    case .write: try store.domains.update(ProtectedSettings.self) { $0 = Self.changed }
    case .reset: try store.domains.resetDomain(.protectedSettings)
    }
  }

  func judge(_ store: OpenCustody) throws -> CrashVerdict {
    guard try store.domains.read(KeyMetadata.self) == Self.metadata else {
      throw CrashFinding.lost("a domain that nobody touched")
    }
    if what == .reset, case .recovery(.absent) = store.domains.domains[.protectedSettings] {
      // Given up on the way: it says so, and does not look like an empty one. The person resets it again.
      try store.domains.resetDomain(.protectedSettings)
    }
    let found = try store.domains.read(ProtectedSettings.self)
    if found == Self.former { return .before }
    if found == (what == .write ? Self.changed : .initial) { return .after }
    throw CrashFinding.mixed("the settings are neither the former nor the new ones")
  }

  func close(_ store: OpenCustody) { store.opened.file.close() }
}
