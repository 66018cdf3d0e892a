// SPDX-License-Identifier: Apache-2.0

import CrashDisk
import Foundation
import Keychains
import Primitives
import Secrets
import Storage

/// A kind of keychain. The operations that go through it run over each.
struct KeychainKind: Sendable {
  /// As the table names it.
  let name: String
  /// The keychain of the coffer in `home`, whose file is open.
  let open: @Sendable (_ home: String, _ file: DatabaseFile) throws -> any Keychain

  /// Sealed rows in the coffer's own file.
  static let file = KeychainKind(name: "file") { _, file in FileKeychain(file) }

  /// Records in a store that knows no transactions, with a journal over them.
  static let journal = KeychainKind(name: "journal") { home, file in
    JournallingKeychain(store: try RecordedItems(home: home), coffer: coffer) {
      () throws(StorageError) in try file.claimWriting()
    }
  }

  static let all = [file, journal]

  private static let coffer = UUID()
}

/// A coffer's file and its keychain, opened with keys that an agent would hand on.
struct OpenKeychain {
  /// The same in each run; they stand for what a slot would give.
  static let keys = ClassKeys(whenUnlocked: key(0x33), afterFirstUnlock: key(0x44))

  let file: DatabaseFile
  let keychain: KeychainService

  /// Makes a file with an empty keychain, and lets `fill` put something in.
  static func create(_ home: String, _ kind: KeychainKind, fill: (OpenKeychain) throws -> Void) throws {
    let file = try DatabaseFile.create(home: home) { file in
      let keychain = KeychainService(keychain: try kind.open(home, file), keys: keys)
      try keychain.prepare()
      try fill(OpenKeychain(file: file, keychain: keychain))
    }
    file.close()
  }

  static func open(_ home: String, _ kind: KeychainKind) throws -> OpenKeychain {
    let file = try DatabaseFile.open(home: home)
    return OpenKeychain(
      file: file, keychain: KeychainService(keychain: try kind.open(home, file), keys: keys))
  }

  /// Every item with what is in it.
  func items() throws -> [String: [UInt8]] {
    try Dictionary(
      uniqueKeysWithValues: keychain.accounts().map { account in
        (account, Array(try keychain.require(forKey: account)))
      })
  }

  private static func key(_ byte: UInt8) -> SharedSecretBytes {
    let bytes = [UInt8](repeating: byte, count: SymmetricKey.byteCount)
    return SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
  }
}
