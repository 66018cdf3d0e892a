// SPDX-License-Identifier: Apache-2.0
//
// What is done to protected data: the ledger of their generations is in the keychain, all else in the file.

import CrashDisk
import Enclaves
import Keychains
import ProtectedData

final class ProtectedOperation: CrashScenario {
  let operation: String
  var store: String { kind.name }
  private let kind: KeychainKind
  private let deed: (ProtectedDomains) throws -> Void
  private let after: ProtectedSettings

  init(
    _ kind: KeychainKind, _ operation: String, after: ProtectedSettings,
    deed: @escaping (ProtectedDomains) throws -> Void
  ) {
    self.kind = kind
    self.operation = operation
    self.after = after
    self.deed = deed
  }

  static func all(_ kind: KeychainKind) -> [ProtectedOperation] {
    [
      ProtectedOperation(kind, "protected settings write", after: settings(graceSeconds: 90)) { domains in
        try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 90 }
      },
      ProtectedOperation(kind, "domain delete and create", after: .initial) { domains in
        try domains.resetDomain(.protectedSettings)
      },
      ProtectedOperation(kind, "all domains delete and create", after: .initial) { domains in
        try domains.resetFramework(.always, in: SoftwareEnclave())
      },
    ]
  }

  private static let before = settings(graceSeconds: 60)

  private static func settings(graceSeconds: UInt32) -> ProtectedSettings {
    var settings = ProtectedSettings.initial
    settings.gracePeriodSeconds = graceSeconds
    return settings
  }

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, kind) { opened in
      try ProtectedDomains.create(file: opened.file, keychain: opened.keychain, enclave: SoftwareEnclave())
    }
    let (opened, domains) = try open(home)
    _ = try domains.unlock(.always)
    try domains.update(ProtectedSettings.self) { $0 = Self.before }
    opened.file.close()
  }

  func open(_ home: String) throws -> (OpenKeychain, ProtectedDomains) {
    let opened = try OpenKeychain.open(home, kind)
    return (opened, try opened.protectedDomains())
  }

  func operate(_ store: (OpenKeychain, ProtectedDomains)) throws {
    _ = try store.1.unlock(.always)
    try deed(store.1)
  }

  func judge(_ store: (OpenKeychain, ProtectedDomains)) throws -> CrashVerdict {
    let domains = store.1
    // Protected data that were being deleted are in recovery, and do not pass for empty: the person, who wanted
    // them gone, repeats it.
    if after == .initial, try isInRecovery(domains) { try operateAgain(domains) }
    let states = try domains.unlock(.always).domains
    guard ProtectedDomain.allCases.allSatisfy({ states[$0] == .open }) else {
      throw CrashFinding.lost("a domain does not open")
    }
    let found: ProtectedSettings = try domains.read()
    if found == Self.before { return .before }
    if found == after { return .after }
    throw CrashFinding.mixed("the settings are neither those before nor those after")
  }

  private func isInRecovery(_ domains: ProtectedDomains) throws -> Bool {
    do {
      return try domains.unlock(.always).domains[.protectedSettings] == .recovery(.absent)
    } catch ProtectedDataError.frameworkRecovery {
      return true
    }
  }

  private func operateAgain(_ domains: ProtectedDomains) throws {
    try deed(domains)
    _ = try domains.unlock(.always)
  }

  func close(_ store: (OpenKeychain, ProtectedDomains)) { store.0.file.close() }
}

extension OpenKeychain {
  /// The protected data, locked.
  func protectedDomains() throws -> ProtectedDomains {
    try ProtectedDomains(
      file: file, keychain: keychain, enclaves: { $0 == .software ? SoftwareEnclave() : nil },
      bindingKind: .software, latch: RestartLatch())
  }
}

extension SessionAuthorization {
  /// The coffer is open for this one command.
  static var always: SessionAuthorization {
    SessionAuthorization(deadline: .now.advanced(by: .seconds(3_600))) { true }
  }
}
