// SPDX-License-Identifier: Apache-2.0
//
// What is done to a whole coffer that a passphrase opened. Every judgement opens it with each of the secrets,
// and reads all there is.

import Captures
import CofferKit
import CrashDisk
import Enclaves
import Foundation
import Keychains
import Primitives
import Secrets
import SecurityKeys
import Vaults

final class CofferOperation: CrashScenario {
  let store = "file"
  let operation: String
  private let preparation: (Coffer) throws -> Void
  private let deed: (Coffer) throws -> Void
  private let recovery: (Coffer) throws -> Void
  private let change: (inout CofferContents) throws -> Void
  private var before: CofferContents?

  /// - Parameters:
  ///   - preparation: what else is in the coffer before.
  ///   - recovery: what the next command does that changes something.
  ///   - deed: the operation.
  ///   - change: what it is to do.
  init(
    _ operation: String, preparation: @escaping (Coffer) throws -> Void = { _ in },
    recovery: @escaping (Coffer) throws -> Void = { _ in }, deed: @escaping (Coffer) throws -> Void,
    change: @escaping (inout CofferContents) throws -> Void
  ) {
    self.operation = operation
    self.preparation = preparation
    self.recovery = recovery
    self.deed = deed
    self.change = change
  }

  struct Opened {
    let locked: LockedCoffer
    let coffer: Coffer
  }

  /// What may open a coffer here. The first one opens it before each operation.
  static let secrets = ["Seven-Herons-Cross-The-Fjord-2026", "Nine-Lanterns-Above-The-Weir-2026"]
  /// The least that there is: what is tested is not how long a guess takes.
  static let kdf = SlotKDF.pbkdf2(iterations: 1)
  static let machine = Machine(enclaves: [SoftwareEnclave()])

  static func passphrase(_ text: String) throws -> Passphrase {
    let bytes = Array(text.utf8)
    return try Passphrase(utf8: SecretBytes(copying: bytes.span.bytes))
  }

  static func create(_ home: String, clock: VaultClock = .still) throws -> Coffer {
    try Coffer.create(
      home: home, passphrase: passphrase(secrets[0]),
      recoveryPhrase: RecoveryPhrase(entropy: SecretBytes(zeroed: RecoveryPhrase.entropyByteCount)),
      kdf: kdf, machine: machine, clock: clock)
  }

  static func open(_ home: String, clock: VaultClock = .still) throws -> Opened {
    let locked = try LockedCoffer(home: home, machine: machine, clock: clock)
    for text in secrets {
      do {
        return Opened(locked: locked, coffer: try locked.unlock(SlotCredential(passphrase(text))))
      } catch KeybagError.wrongSecret {}
    }
    throw CrashFinding.lost("no passphrase opens the coffer")
  }

  /// A security key, as if it had answered.
  static let keyLabel = "red"
  static let key: SecurityKeyAnswer = {
    let secret = [UInt8](repeating: 1, count: 32)
    // A name and a point are a credential.
    let credential = SecurityKeyCredential(
      id: Array(keyLabel.utf8), publicKey: P256PrivateKey().publicKey, model: [UInt8](repeating: 0, count: 16)
    )!
    return SecurityKeyAnswer(
      credential: credential, secret: SharedSecretBytes(SecretBytes(copying: secret.span.bytes)))
  }()

  static func addKey(to coffer: Coffer) throws {
    let question = try coffer.questionForSlot(labelled: keyLabel)
    let enrolled = EnrolledSecurityKey(credential: key.credential, secret: key.secret)
    _ = try coffer.addSlot(enrolled, label: keyLabel, question)
  }

  /// The label of the security key, if it opens the coffer as its file is now.
  private static func keyOpening(_ locked: LockedCoffer) throws -> [String] {
    do {
      _ = try locked.unlock(key)
      return [keyLabel]
    } catch KeybagError.noSuchSlot { return [] }
  }

  /// Everything in a coffer, and which secrets open it as its file is now.
  static func contents(_ store: Opened) throws -> CofferContents {
    let opening =
      try keyOpening(store.locked)
      + secrets.filter { text in
        do {
          _ = try store.locked.unlock(SlotCredential(passphrase(text)))
          return true
        } catch KeybagError.wrongSecret {
          return false
        }
      }
    return try CofferContents(store.coffer, opening: Set(opening))
  }

  // MARK: Scenario

  func prepare(_ home: String) throws {
    let coffer = try Self.create(home)
    try preparation(coffer)
    coffer.close()
    let opened = try Self.open(home)
    before = try Self.contents(opened)
    opened.coffer.close()
  }

  func open(_ home: String) throws -> Opened { try Self.open(home) }

  func operate(_ store: Opened) throws { try deed(store.coffer) }

  func judge(_ store: Opened) throws -> CrashVerdict {
    guard let before else { throw CrashFinding.lost("nothing was prepared") }
    try recovery(store.coffer)
    let found = try Self.contents(store)
    if found == before { return .before }
    var after = before
    try change(&after)
    if found == after { return .after }
    throw CrashFinding.mixed(
      "unlike before: \(found.differences(from: before)), unlike after: \(found.differences(from: after))")
  }

  func close(_ store: Opened) { store.coffer.close() }
}
