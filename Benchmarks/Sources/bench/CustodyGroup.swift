// SPDX-License-Identifier: Apache-2.0
//
// Bringing all private keys under another mode, by how many there are: with keys in software, and in a TPM in
// software. The time per key says whether it grows more than linearly.

import Enclaves
import Foundation
import KeyCustody
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import SoftwareTPM
import Storage
import UserAuthentication

enum CustodyGroup {
  static func run() throws {
    print("keys  enclave        switch  per key  target")
    for count in [25, 50, 100, 200] { try row("software", SoftwareEnclave(), count, target: 2) }
    guard SoftwareTPM.isInstalled else { return print("swtpm is not installed") }
    let chip = try SoftwareTPM()
    for count in [5, 10, 20, 40] { try row("TPM (swtpm)", TPMEnclave(tcti: chip.tcti), count, target: nil) }
  }

  /// The slower of there and back.
  private static func row(_ name: String, _ enclave: any Enclave, _ count: Int, target: Double?) throws {
    let custody = try BenchCustody(enclave, count: count)
    defer { custody.remove() }
    let there = try seconds { try custody.switchMode(to: .highSecurityWithFinger) }
    let back = try seconds { try custody.switchMode(to: .standard) }
    let seconds = max(there, back)
    let isMissed = target.map { seconds >= $0 && count == 200 } ?? false
    print(
      "\(padded("\(count)", 4))  \(name)\(String(repeating: " ", count: 12 - name.count))  "
        + "\(padded(Table.time(seconds), 8))  \(padded(Table.time(seconds / Double(count)), 7))"
        + (count == 200 ? "  < 2 s \(isMissed ? "MISS" : "ok")" : ""))
  }

  private static func seconds(_ body: () throws -> Void) rethrows -> Double {
    try ContinuousClock().measure(body) / .seconds(1)
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

/// A coffer's file with private keys.
private final class BenchCustody {
  private let home: URL
  private let file: DatabaseFile
  private let custody: PrivateKeyCustody
  private let owner = SharedSecretBytes(SystemRandom.secretBytes(count: 32))

  init(_ enclave: any Enclave, count: Int) throws {
    home = FileManager.default.temporaryDirectory.appending(path: "bench-custody-\(UUID().uuidString)")
    let keys = ClassKeys(
      whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    file = try DatabaseFile.create(home: home.path) { file in
      let keychain = KeychainService(keychain: FileKeychain(file), keys: keys)
      try keychain.prepare()
      try ProtectedDomains.create(file: file, keychain: keychain, enclave: enclave)
      try PrivateKeyCustody.prepare(keychain)
    }
    let keychain = KeychainService(keychain: FileKeychain(file), keys: keys)
    let enclaves: @Sendable (EnclaveKind) -> (any Enclave)? = { $0 == enclave.kind ? enclave : nil }
    let domains = try ProtectedDomains(file: file, keychain: keychain, enclaves: enclaves)
    _ = try domains.unlock(SessionAuthorization(deadline: .now.advanced(by: .seconds(3600))) { true })
    custody = PrivateKeyCustody(
      file: file, keychain: keychain, records: domains, enclave: enclave, enclaveOfKind: enclaves)
    let secrets = (0..<count).map { number in
      (
        secret: SharedSecretBytes(SystemRandom.secretBytes(count: 600)),
        payload: PrivateKeyPayload.transferableSecretKeyV4,
        fingerprint: Fingerprint(bytes: (0..<20).map { UInt8(truncatingIfNeeded: number >> ($0 * 8 % 16)) })!
      )
    }
    try custody.importKeys(secrets, person())
  }

  func switchMode(to mode: AuthenticationMode) throws {
    try custody.switchMode(to: mode, person(), acknowledgesMissingBackup: true)
  }

  private func person() throws -> CustodyAuthorization {
    let context = try UserAuthenticator(prompt: SilentPrompt(), reader: MatchingReader()).evaluate(
      .deviceOwnerWithBiometrics, passcode: PromptRequest("finger")
    ) { _ in false }
    return CustodyAuthorization(finger: try custody.fingerVerifier(context), owner: owner)
  }

  func remove() {
    file.close()
    try? FileManager.default.removeItem(at: home)
  }
}

/// A prompt at which nobody sits.
private struct SilentPrompt: PassphrasePrompt {
  func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes { throw .noTerminal }
  func confirm(_ question: String) throws(PromptError) -> Bool { throw .noTerminal }
}

/// A reader that knows every finger.
private struct MatchingReader: FingerprintReader {
  func hasEnrolledFinger() throws(FingerprintError) -> Bool { true }

  func verify(
    timeout: Duration, attempt: AuthenticationAttempt, progress: (FingerprintProgress) -> Void
  ) throws(FingerprintError) -> Bool { true }
}
