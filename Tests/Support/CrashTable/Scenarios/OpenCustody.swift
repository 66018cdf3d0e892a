// SPDX-License-Identifier: Apache-2.0

import Enclaves
import KeyCustody
import Keychains
import ProtectedData
import Secrets
import Storage
import UserAuthentication

/// Private keys and protected data over a kind of keychain, opened as the next command opens them.
struct OpenCustody {
  let opened: OpenKeychain
  let domains: ProtectedDomains
  let custody: PrivateKeyCustody

  /// Makes custody with these keys, in mode *standard*.
  static func create(_ home: String, _ kind: KeychainKind, keys: [Int: [UInt8]]) throws {
    try OpenKeychain.create(home, kind) { opened in
      try ProtectedDomains.create(file: opened.file, keychain: opened.keychain, enclave: SoftwareEnclave())
      try PrivateKeyCustody.prepare(opened.keychain)
    }
    let made = try open(home, kind)
    for (number, secret) in keys.sorted(by: { $0.key < $1.key }) { try made.wrap(number, secret) }
    made.opened.file.close()
  }

  static func open(_ home: String, _ kind: KeychainKind) throws -> OpenCustody {
    let opened = try OpenKeychain.open(home, kind)
    let domains = try ProtectedDomains(
      file: opened.file, keychain: opened.keychain,
      enclaves: { $0 == .software ? SoftwareEnclave() : nil }, latch: RestartLatch())
    let custody = PrivateKeyCustody(
      file: opened.file, keychain: opened.keychain, records: domains, enclave: SoftwareEnclave(),
      enclaveOfKind: { $0 == .software ? SoftwareEnclave() : nil })
    let made = OpenCustody(opened: opened, domains: domains, custody: custody)
    try made.unlock()
    return made
  }

  /// What an unlock does: opens the domains, and ends an interrupted change.
  private func unlock() throws {
    let session = SessionAuthorization(deadline: .now.advanced(by: .seconds(60))) { true }
    _ = try domains.unlock(session)
    _ = try custody.recover()
  }

  // MARK: The person

  /// The passphrase was typed and a finger recognised.
  func person() throws -> CustodyAuthorization {
    let reader = ScriptedFingerprintReader(events: [.match])
    let context = try UserAuthenticator(prompt: ScriptedPrompt(), reader: reader).evaluate(
      .deviceOwnerWithBiometrics, passcode: PromptRequest("finger")
    ) { _ in false }
    return CustodyAuthorization(finger: try custody.fingerVerifier(context), owner: Self.owner)
  }

  private static let owner = SharedSecret(
    SecretBytes(copying: [UInt8](repeating: 0x55, count: 32).span.bytes))

  // MARK: Keys

  static func fingerprint(_ number: Int) -> KeyFingerprint {
    KeyFingerprint([UInt8](repeating: UInt8(number), count: 20))!
  }

  func wrap(_ number: Int, _ secret: [UInt8]) throws {
    try custody.wrap(
      SecretBytes(copying: secret.span.bytes), .transferableSecretKeyV4, Self.fingerprint(number), person())
  }

  /// All private keys, opened.
  func keys() throws -> [Int: [UInt8]] {
    let person = try person()
    return try Dictionary(
      uniqueKeysWithValues: custody.fingerprints().map { fingerprint in
        let secret = try custody.withPrivateKey(fingerprint, person) { secret, _ in
          secret.withUnsafeBytes { Array($0) }
        }
        return (Int(fingerprint.bytes[0]), secret)
      })
  }
}
