// SPDX-License-Identifier: Apache-2.0

import Captures
import Enclaves
import Foundation
import Identities
import KeyCustody
import Keychains
import MessageFormats
import Primitives
import Secrets
import TemporaryHomes

@testable import CofferKit

/// A machine without a chip.
let plainMachine = Machine(enclaves: [SoftwareEnclave()])

func passphrase(_ text: String = "Correct-horse-7-battery") throws -> Passphrase {
  let bytes = Array(text.utf8)
  return try Passphrase(utf8: SecretBytes(copying: bytes.rawSpan))
}

/// A coffer with something of everything.
final class BackupFixture {
  let home: TemporaryHome
  let machine: Machine
  let coffer: Coffer
  private let entropy: [UInt8] = SystemRandom.publicBytes(count: 16)
  /// Where backups go.
  let folder: TemporaryHome

  init(_ machine: Machine = plainMachine, attestation: EnclaveKind = .software, blobs: Bool = true) throws {
    home = try TemporaryHome()
    folder = try TemporaryHome()
    self.machine = machine
    let words = entropy
    coffer = try Coffer.create(
      home: home.path, passphrase: passphrase(),
      recoveryPhrase: RecoveryPhrase(entropy: SecretBytes(copying: words.rawSpan)),
      kdf: .pbkdf2(iterations: 600_000), machine: machine, attestation: attestation)
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    for number in 0..<3 { try addMessage(number) }
    try addCapture(byteCount: 100)
    if blobs { try addCapture(byteCount: 150_000) }
  }

  /// The coffer's words.
  func phrase() -> RecoveryPhrase {
    let words = entropy
    return RecoveryPhrase(entropy: SecretBytes(copying: words.rawSpan))
  }

  func addMessage(_ number: Int) throws {
    let text = Array("the text of message \(number)".utf8)
    _ = try coffer.addMessage(
      SecretBytes(copying: text.rawSpan),
      metadata: MessageMetadata(title: "title \(number)", contentType: "text/plain"))
  }

  @discardableResult
  func addCapture(byteCount: Int) throws -> CaptureID {
    let photo = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ byteCount) }
    let access = coffer.captureAccess
    var capture = NewCapture(photo: PartSource(SecretBytes(copying: photo.rawSpan)))
    capture.label = CaptureLabel(title: "photo \(byteCount)", note: "two\nlines", tags: ["home"])
    return try access.add(capture, signer: access.signer()).id
  }

  func addIdentity(_ name: String) throws -> String {
    let wanted = try NewIdentity(userIDs: [UserIDText(new: name)])
    return try coffer.generateIdentity(wanted, coffer.openIdentities(), coffer.authorization())
      .fingerprint
  }

  func path(_ name: String = "backup") -> String { folder.path + "/" + name }

  @discardableResult
  func backUp(_ name: String = "backup", withIdentities: Bool = false) throws -> BackupReport {
    let custody = try coffer.openPrivateKeys().custody
    let parts = BackupOfPrivateParts(custody: custody, authorization: coffer.authorization())
    return try coffer.backUp(
      to: path(name), privateParts: withIdentities ? parts : nil, record: nil, progress: { _, _ in true })
  }

  func bytes(_ name: String = "backup") throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path(name))))
  }

  func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: URL(filePath: path(name)))
  }
}

/// Restores a backup with the passphrase of the fixture.
func restore(
  _ path: String, to home: String, _ machine: Machine = plainMachine, attestation: EnclaveKind? = nil,
  progress: (Int, Int) -> Bool = { _, _ in true }
) throws -> RestoredCoffer {
  let backup = try LockedBackup(path: path)
  let keys = try backup.unlock(SlotCredential(passphrase()))
  return try Coffer.restore(
    backup, keys, to: home, machine: machine, attestation: attestation, progress: progress)
}

/// The messages of a coffer, by their titles.
func texts(_ coffer: Coffer) throws -> [String: [UInt8]] {
  var found: [String: [UInt8]] = [:]
  _ = try coffer.vault.forEachMessage(tag: nil) { _, metadata, content in
    found[metadata.title] = content.withUnsafeBytes { Array($0) }
    return true
  }
  return found
}

/// The private parts of a coffer, by their fingerprints.
func privateParts(_ coffer: Coffer) throws -> [String: [UInt8]] {
  let custody = try coffer.openPrivateKeys().custody
  var found: [String: [UInt8]] = [:]
  for fingerprint in try custody.fingerprints() {
    found[Hexadecimal.text(fingerprint.bytes)] = try custody.withPrivateKey(
      fingerprint, coffer.authorization()
    ) { secret, _ in secret.withUnsafeBytes { Array($0) } }
  }
  return found
}
