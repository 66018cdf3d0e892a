// SPDX-License-Identifier: Apache-2.0
//
// What an operation works in: folders, a machine, secrets made where they are to live, and coffers.

import CofferKit
import Enclaves
import Foundation
import Keychains
import Primitives
import Secrets
import Storage

/// The place and the means of one operation.
final class Workspace: Sendable {
  /// The coffer, and whatever else the operation may write.
  let searched: String
  /// What comes in and goes out plain.
  let given: String
  private let tcti: String?

  init(searched: String, given: String, tcti: String?) {
    self.searched = searched
    self.given = given
    self.tcti = tcti
  }

  var home: String { searched + "/coffer" }
  /// With a chip when the parent gave one, else with a way to none.
  var machine: Machine { Machine(tcti: tcti ?? "swtpm:path=/nonexistent/chip") }

  func chip() throws -> any Enclave {
    guard let chip = machine.chip else { throw Unexpected("no chip in this program") }
    return chip
  }

  /// Costs microseconds and leaves the same traces as the recommended costs.
  static func cheapKDF() throws -> SlotKDF {
    .argon2id(try Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1))
  }

  // MARK: Secrets

  /// Random text in locked memory, of which the parent is told: an upper-case letter, a lower-case letter and
  /// a digit in turn, which every rule for passphrases is content with.
  func text(_ name: StaticString, byteCount: Int) -> SecretBytes {
    let text = Self.untoldText(byteCount: byteCount)
    SecretReport.tell(name, text)
    return text
  }

  /// Random text of which the parent is not told: it belongs into another secret.
  static func untoldText(byteCount: Int) -> SecretBytes {
    var text = SystemRandom.secretBytes(count: byteCount)
    text.withMutableBytes { bytes in
      for offset in 0..<bytes.byteCount {
        let byte = bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        let letter =
          switch offset % 3 {
          case 0: UInt8(ascii: "A") + byte % 26
          case 1: UInt8(ascii: "a") + byte % 26
          default: UInt8(ascii: "0") + byte % 10
          }
        bytes.storeBytes(of: letter, toByteOffset: offset, as: UInt8.self)
      }
    }
    return text
  }

  /// A new passphrase.
  func passphrase(_ name: StaticString = "passphrase") throws -> Passphrase {
    try Passphrase(utf8: text(name, byteCount: 24))
  }

  /// A new PIN; long, so that half of it is not found by chance.
  func pin(_ name: StaticString = "PIN") -> SharedSecretBytes { SharedSecretBytes(text(name, byteCount: 24)) }

  /// A new recovery phrase.
  func phrase() -> RecoveryPhrase {
    let entropy = SystemRandom.secretBytes(count: RecoveryPhrase.entropyByteCount)
    SecretReport.tell("recovery entropy", entropy)
    let phrase = RecoveryPhrase(entropy: entropy)
    phrase.withWords { SecretReport.tell("recovery words", $0) }
    SecretReport.tell("recovery seed", phrase.seed())
    return phrase
  }

  /// Random bytes of which the parent is told.
  func bytes(_ name: StaticString, count: Int) -> SecretBytes {
    let bytes = SystemRandom.secretBytes(count: count)
    SecretReport.tell(name, bytes)
    return bytes
  }

  // MARK: Coffers

  /// Makes a coffer, tells of its keys, and closes it.
  @inline(never)
  func makeCoffer(
    _ passphrase: borrowing Passphrase, _ phrase: borrowing RecoveryPhrase, kdf: SlotKDF? = nil
  ) throws {
    let coffer = try Coffer.create(
      home: home, passphrase: passphrase, recoveryPhrase: phrase, kdf: try kdf ?? Self.cheapKDF(),
      machine: machine)
    coffer.close()
    try tellKeys(SlotCredential(passphrase))
  }

  /// Makes a coffer whose passphrase alone matters.
  func makeCoffer(_ passphrase: borrowing Passphrase) throws { try makeCoffer(passphrase, phrase()) }

  func open(_ passphrase: borrowing Passphrase) throws -> Coffer {
    try Coffer.open(home: home, credential: SlotCredential(passphrase), machine: machine)
  }

  /// Tells of the class keys, of the secret that wraps them for this credential, and of the keys in the
  /// keychain. The coffer must be closed: a second connection to its file would take the first one's locks.
  @inline(never)
  func tellKeys(_ credential: borrowing SlotCredential) throws {
    let file = try DatabaseFile.open(home: home)
    defer { file.close() }
    let unlocked = try file.read(Keybag.load).unlock(credential)
    let secret = try credential.secret(unlocked.slot.kdf, salt: unlocked.slot.salt)
    SecretReport.tell("slot secret", secret)
    tellDerived("slot's wrapping key", from: secret, salt: unlocked.slot.salt, "coffer keybag v1 wrap")
    if let key = unlocked.keys.whenUnlocked { SecretReport.tell("when-unlocked key", key) }
    if let key = unlocked.keys.afterFirstUnlock { SecretReport.tell("after-first-unlock key", key) }
    if let key = unlocked.keys.owner {
      SecretReport.tell("owner key", key)
      let owner = key.withBytes { SecretBytes(copying: $0) }
      tellDerived("custody's passcode", from: owner, salt: [], "coffer custody v1 passcode")
    }
    let keychain = KeychainService(keychain: FileKeychain(file), keys: unlocked.keys)
    for account in try keychain.accounts() {
      guard let name = Self.keyItems.first(where: { account.hasPrefix($0.prefix) })?.name else { continue }
      SecretReport.tell(name, try keychain.requireSecret(forKey: account))
    }
    try tellEnclaveItems(keychain)
    try tellProtectedData(file, keychain)
  }

  private static let keyItems: [(prefix: String, name: StaticString)] = [
    ("vault.master_key", "vault key"), ("vault.state_key", "state key"),
    (KeychainService.Account.captureKey, "capture key"),
  ]

  /// Tells of a key of 32 bytes that HKDF derives from another secret.
  func tellDerived(
    _ name: StaticString, from secret: borrowing SecretBytes, salt: [UInt8], _ info: StaticString
  ) {
    var hkdf = HKDF()
    let key = secret.withBytes { hkdf.deriveKey(ikm: $0, salt: salt.span.bytes, info: info) }
    key.withBytes { SecretReport.tell(name, $0) }
  }
}
