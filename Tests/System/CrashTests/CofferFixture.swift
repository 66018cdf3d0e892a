// SPDX-License-Identifier: Apache-2.0
//
// A folder for one worker of a test: coffers made with a cheap key derivation, the secrets that open them
// in files, and the runs of the command on them. It goes with its last reference.

import CofferKit
import Foundation
import Glibc
import Keychains
import Primitives
import Secrets
import SmallDisks

final class CofferFixture: Sendable {
  let folder: String
  var home: String { folder + "/coffer" }
  var database: String { home + "/coffer.db" }
  var passphraseFile: String { folder + "/passphrase" }
  var newPassphraseFile: String { folder + "/new-passphrase" }
  var phraseFile: String { folder + "/phrase" }

  static let passphrase = "Seven-Herons-Cross-The-Fjord-2026"
  static let newPassphrase = "Nine-Otters-Guard-The-Harbour-2031"
  /// What a coffer's directory may hold, whatever happened.
  static let names: Set = ["coffer.db", "coffer.db-wal", "coffer.db-shm", "coffer.lock", "blobs", "search"]
  /// The way to a TPM that is not there: what a run has that was given no other, whatever the machine has.
  static let noChip = "swtpm:path=/nonexistent/chip"

  /// What the runs see beside the usual: where agents are, and the TPM.
  let environment: [String]
  /// Runs the command without a process for each.
  private let worker: CofferWorker

  /// - Parameter tcti: the way to the TPM.
  init(tcti: String = noChip) throws {
    // Short: the path of an agent's socket may have 107 bytes.
    folder = FileManager.default.temporaryDirectory.appending(path: "cc-\(UUID().uuidString.prefix(8))")
      .path()
    environment = ["XDG_RUNTIME_DIR=\(folder)/run", "COFFER_TCTI=\(tcti)"]
    worker = CofferWorker(streams: folder, environment: environment)
    try FileManager.default.createDirectory(
      atPath: folder + "/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(Self.passphrase.utf8).write(to: URL(filePath: passphraseFile))
    try Data(Self.newPassphrase.utf8).write(to: URL(filePath: newPassphraseFile))
    try Self.phrase().withWords { words in
      try words.withUnsafeBytes { try Data($0).write(to: URL(filePath: phraseFile)) }
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  // MARK: Coffers

  /// Makes a coffer in `home`; deriving its key costs microseconds.
  func makeCoffer() throws -> Coffer {
    let kdf = SlotKDF.argon2id(try Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1))
    return try Coffer.create(
      home: home, passphrase: try Passphrase(utf8: Self.secret(Self.passphrase)),
      recoveryPhrase: Self.phrase(), kdf: kdf, machine: Machine(tcti: Self.noChip))
  }

  /// Puts a coffer file in the place of whatever is in `home`.
  func put(_ file: Data) throws {
    try? FileManager.default.removeItem(atPath: home)
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try file.write(to: URL(filePath: database))
    chmod(database, 0o600)
  }

  /// Puts a copy of a coffer, blobs and all, in the place of whatever is in `home`.
  func put(copyOf other: String) throws {
    try? FileManager.default.removeItem(atPath: home)
    try FileManager.default.copyItem(atPath: other, toPath: home)
  }

  /// The names of the files in which large parts of captures are.
  func blobs() throws -> [String] {
    let folder = home + "/blobs"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  /// Files in `home` that do not belong there.
  func strayFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: home).filter { !Self.names.contains($0) }
  }

  static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).span.bytes) }

  private static func phrase() -> RecoveryPhrase {
    RecoveryPhrase(entropy: SecretBytes(copying: [UInt8](repeating: 0x5A, count: 16).span.bytes))
  }

  // MARK: Runs

  /// Runs `coffer` on the coffer of this place, with its passphrase.
  func run(_ words: String..., secret: [String]? = nil) throws -> CofferRun {
    try start(words, secret: secret).wait()
  }

  /// The same, in a process for many runs: where there are thousands of them, and a process for each shows no more.
  func runWithin(_ words: [String], secret: [String]? = nil) throws -> CofferRun {
    try worker.run(words + ["--home", home] + (secret ?? ["--passphrase-file", passphraseFile]))
  }

  /// - Parameters:
  ///   - secret: the options that name a secret; else those of the passphrase.
  ///   - streams: what the run writes is here; the folder of this place unless several run at once.
  ///   - disk: the small disk that the run sees, with the coffer on it.
  func start(
    _ words: [String], secret: [String]? = nil, streams: String? = nil, on disk: SmallDisk? = nil
  ) throws -> Running {
    try CofferRun.start(
      words + ["--home", disk.map { $0.point + "/coffer" } ?? home]
        + (secret ?? ["--passphrase-file", passphraseFile]),
      streams: streams ?? folder, environment: environment, prefix: disk?.prefix ?? [])
  }
}
