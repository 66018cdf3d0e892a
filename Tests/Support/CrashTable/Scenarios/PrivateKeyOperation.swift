// SPDX-License-Identifier: Apache-2.0
//
// What is done to private keys. Each run opens protected data and custody as a command does after an unlock, and
// each judgement opens every private key by all that the mode takes.

import CrashDisk
import Enclaves
import KeyCustody
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import UserAuthentication

final class PrivateKeyOperation: CrashScenario {
  let operation: String
  var store: String { kind.name }
  private let kind: KeychainKind
  private let before: Contents
  private let after: Contents
  private let deed: (OpenCustody) throws -> Void

  /// The mode, the guard's PIN or security keys, and each private key by its number.
  struct Contents: Equatable {
    var mode = AuthenticationMode.standard
    var pin: OpenCustody.PIN?
    var guardKeys: [OpenCustody.Key] = []
    var keys: [Int: [UInt8]]
  }

  /// - Parameters:
  ///   - keyCount: how many keys there are before.
  ///   - isGuarded: whether they are under the first guard before.
  ///   - guardKeys: the security keys of the guard before.
  ///   - deed: the operation.
  ///   - change: what it is to do.
  init(
    _ kind: KeychainKind, _ operation: String, keyCount: Int, isGuarded: Bool = false,
    guardKeys: [OpenCustody.Key] = [],
    deed: @escaping (OpenCustody) throws -> Void,
    change: (inout Contents) -> Void
  ) {
    self.kind = kind
    self.operation = operation
    self.deed = deed
    before = Contents(
      mode: isGuarded || !guardKeys.isEmpty ? .highSecurityWithGuard : .standard,
      pin: isGuarded ? .first : nil, guardKeys: guardKeys,
      keys: Dictionary(uniqueKeysWithValues: (0..<keyCount).map { ($0, Self.key($0, edition: 0)) }))
    var after = before
    change(&after)
    self.after = after
  }

  static func all(_ kind: KeychainKind) -> [PrivateKeyOperation] {
    [
      PrivateKeyOperation(
        kind, "key wrap", keyCount: 2, deed: { try $0.wrap(2, key(2, edition: 0)) },
        change: { $0.keys[2] = key(2, edition: 0) }),
      PrivateKeyOperation(
        kind, "key delete", keyCount: 3, deed: { try $0.custody.delete(fingerprint(1)) },
        change: { $0.keys[1] = nil }),
      PrivateKeyOperation(
        kind, "change of expiry", keyCount: 2,
        deed: { open in
          try open.custody.replace(fingerprint(1), open.authorization()) { _ in
            let next = key(1, edition: 1)
            return SecretBytes(copying: next.span.bytes)
          }
        },
        change: { $0.keys[1] = key(1, edition: 1) }),
      PrivateKeyOperation(
        kind, "key import", keyCount: 2, deed: { try $0.importKeys(1...3, edition: 2) },
        change: { contents in for number in 1...3 { contents.keys[number] = key(number, edition: 2) } }),
    ]
      + (1...5).map { count in
        PrivateKeyOperation(
          kind, count == 1 ? "mode switch, 1 key" : "mode switch, \(count) keys", keyCount: count,
          deed: { open in
            try open.custody.switchMode(
              to: .highSecurityWithFinger, open.authorization(), acknowledgesMissingBackup: true)
          },
          change: { $0.mode = .highSecurityWithFinger })
      } + guards(kind)
  }

  private static func guards(_ kind: KeychainKind) -> [PrivateKeyOperation] {
    [
      PrivateKeyOperation(
        kind, "finger switched on", keyCount: 2,
        deed: { try $0.custody.switchMode(to: .standardWithFinger, $0.authorization()) },
        change: { $0.mode = .standardWithFinger }),
      PrivateKeyOperation(
        kind, "guard made", keyCount: 2, deed: { try $0.enterGuard(.first, $0.authorization()) },
        change: {
          $0.mode = .highSecurityWithGuard
          $0.pin = .first
        }),
      PrivateKeyOperation(
        kind, "guard changed", keyCount: 2, isGuarded: true,
        deed: { try $0.enterGuard(.second, $0.withGuard()) }, change: { $0.pin = .second }),
      PrivateKeyOperation(
        kind, "guard left", keyCount: 2, isGuarded: true,
        deed: { try $0.custody.switchMode(to: .standard, $0.withGuard()) },
        change: {
          $0.mode = .standard
          $0.pin = nil
        }),
      PrivateKeyOperation(
        kind, "security key added to the guard", keyCount: 2, guardKeys: [.red, .blue],
        deed: { try $0.enterGuard([.red, .blue, .green], $0.withGuard()) },
        change: { $0.guardKeys = [.red, .blue, .green] }),
      PrivateKeyOperation(
        kind, "security key removed from the guard", keyCount: 2, guardKeys: [.red, .blue, .green],
        deed: { try $0.enterGuard([.blue, .green], $0.withGuard()) },
        change: { $0.guardKeys = [.blue, .green] }),
    ]
  }

  static func fingerprint(_ number: Int) -> Fingerprint {
    // 20 bytes are a fingerprint.
    Fingerprint(bytes: [UInt8](repeating: UInt8(number + 1), count: 20))!
  }

  /// A private key as it is exported: told from any other, and from itself with another expiry.
  static func key(_ number: Int, edition: UInt8) -> [UInt8] {
    [UInt8](repeating: UInt8(number + 1), count: 300) + [edition]
  }

  // MARK: Scenario

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, kind) { opened in
      try ProtectedDomains.create(file: opened.file, keychain: opened.keychain, enclave: SoftwareEnclave())
      try PrivateKeyCustody.prepare(opened.keychain)
    }
    let opened = try open(home)
    for (number, key) in before.keys { try opened.wrap(number, key) }
    if let pin = before.pin { try opened.enterGuard(pin, opened.authorization()) }
    if !before.guardKeys.isEmpty { try opened.enterGuard(before.guardKeys, opened.authorization()) }
    close(opened)
  }

  func open(_ home: String) throws -> OpenCustody { try OpenCustody(OpenKeychain.open(home, kind)) }

  func operate(_ store: OpenCustody) throws { try deed(store) }

  func judge(_ store: OpenCustody) throws -> CrashVerdict {
    try store.recover()
    let found = Contents(
      mode: try store.custody.mode(), pin: try store.pin(), guardKeys: try store.guardKeys(),
      keys: try store.keys())
    try store.checkOrder()
    if found == before { return .before }
    if found == after { return .after }
    throw CrashFinding.mixed("the private keys are neither those before nor those after")
  }

  func close(_ store: OpenCustody) { store.opened.file.close() }
}
