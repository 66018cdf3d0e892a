// SPDX-License-Identifier: Apache-2.0

import CrashDisk
import Enclaves
import KeyCustody
import ProtectedData
import Secrets

/// An operation on private keys. No crash may lose one, or leave two under different modes.
final class CustodyOperation: CrashScenario {
  let operation: String
  var store: String { kind.name }
  private let kind: KeychainKind
  private let before: State
  private let after: State
  private let run: (OpenCustody) throws -> Void

  /// What is compared: every key, and the mode.
  private struct State: Equatable {
    var keys: [Int: [UInt8]]
    var mode = AuthenticationMode.standard
  }

  private init(
    _ kind: KeychainKind, _ operation: String, count: Int, after change: (inout State) -> Void,
    _ run: @escaping (OpenCustody) throws -> Void
  ) {
    self.kind = kind
    self.operation = operation
    before = State(keys: Dictionary(uniqueKeysWithValues: (1...count).map { ($0, Self.secret($0)) }))
    var after = before
    change(&after)
    self.after = after
    self.run = run
  }

  /// A private key of its number and edition.
  private static func secret(_ number: Int, _ edition: UInt8 = 0) -> [UInt8] {
    [UInt8](repeating: UInt8(number) | 0x80, count: 200) + [edition]
  }

  static func all(_ kind: KeychainKind) -> [CustodyOperation] {
    [wrapping(kind), deleting(kind), changingExpiry(kind), importing(kind)]
      + (1...5).map { switching(kind, count: $0) }
  }

  private static func wrapping(_ kind: KeychainKind) -> CustodyOperation {
    CustodyOperation(kind, "private key, wrap", count: 2, after: { $0.keys[3] = secret(3) }) { open in
      try open.wrap(3, secret(3))
    }
  }

  private static func deleting(_ kind: KeychainKind) -> CustodyOperation {
    CustodyOperation(kind, "private key, delete", count: 3, after: { $0.keys[2] = nil }) { open in
      try open.custody.delete(OpenCustody.fingerprint(2))
    }
  }

  private static func changingExpiry(_ kind: KeychainKind) -> CustodyOperation {
    CustodyOperation(kind, "private key, change expiry", count: 3, after: { $0.keys[2] = secret(2, 1) }) {
      open in
      try open.custody.replace(OpenCustody.fingerprint(2), open.person()) { _ in
        let next = secret(2, 1)
        return SecretBytes(copying: next.span.bytes)
      }
    }
  }

  private static func importing(_ kind: KeychainKind) -> CustodyOperation {
    let imported = [2: secret(2, 1), 4: secret(4, 1)]
    return CustodyOperation(
      kind, "private keys, import", count: 3, after: { $0.keys.merge(imported) { $1 } }
    ) { open in
      let keys = imported.map { number, secret in
        (
          secret: SharedSecret(SecretBytes(copying: secret.span.bytes)),
          payload: PrivateKeyPayload.transferableSecretKeyV4, fingerprint: OpenCustody.fingerprint(number)
        )
      }
      try open.custody.importKeys(keys, open.person())
    }
  }

  private static func switching(_ kind: KeychainKind, count: Int) -> CustodyOperation {
    CustodyOperation(
      kind, "mode switch, \(count) \(count == 1 ? "key" : "keys")", count: count,
      after: { $0.mode = .highSecurity }
    ) { open in
      try open.custody.switchMode(to: .highSecurity, open.person(), acknowledgesMissingBackup: true)
    }
  }

  // MARK: Scenario

  func prepare(_ home: String) throws { try OpenCustody.create(home, kind, keys: before.keys) }

  func open(_ home: String) throws -> OpenCustody { try OpenCustody.open(home, kind) }

  func operate(_ store: OpenCustody) throws { try run(store) }

  func judge(_ store: OpenCustody) throws -> CrashVerdict {
    let mode = try store.custody.mode()
    let control = try store.domains.control()
    guard control.recoveryJournal == nil, control.authMode == mode else {
      throw CrashFinding.mixed("the journal is open, or tells another mode than the keys have")
    }
    let found = State(keys: try store.keys(), mode: mode)
    for number in before.keys.keys where found.keys[number] == nil && after.keys[number] != nil {
      throw CrashFinding.lost("private key \(number)")
    }
    let accounts = try store.opened.keychain.accounts()
    guard !accounts.contains(where: { $0.contains("pending-se-key") }) else {
      throw CrashFinding.mixed("something of an interrupted change is left")
    }
    if found == before { return .before }
    if found == after { return .after }
    throw CrashFinding.mixed("the private keys are neither those before nor those after")
  }

  func close(_ store: OpenCustody) { store.opened.file.close() }
}
