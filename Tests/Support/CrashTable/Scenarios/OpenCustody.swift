// SPDX-License-Identifier: Apache-2.0

import CrashDisk
import Enclaves
import KeyCustody
import Keychains
import Primitives
import ProtectedData
import SecurityKeys
import ScriptedPrompts
import Secrets
import UserAuthentication

/// Protected data and custody, opened and recovered, and the person whom they belong to.
struct OpenCustody {
  let opened: OpenKeychain
  let custody: PrivateKeyCustody
  private let domains: ProtectedDomains

  /// Metadata of keys, mode and journal.
  var records: any CustodyRecords { domains }

  init(_ opened: OpenKeychain) throws {
    self.opened = opened
    domains = try opened.protectedDomains()
    guard try domains.unlock(.always).outcome == .opened else {
      throw CrashFinding.lost("protected data do not open")
    }
    custody = PrivateKeyCustody(
      file: opened.file, keychain: opened.keychain, records: domains, enclave: SoftwareEnclave(),
      enclaveOfKind: { kind in
        switch kind {
        case .software: SoftwareEnclave()
        case .tpm: StandInChip()
        case .secureEnclave, .tutorial: nil
        }
      })
    try recover()
  }

  /// Ends what was interrupted, as a command does after each unlock.
  func recover() throws {
    guard try custody.recover() != .unrecoverable else {
      throw CrashFinding.lost("private keys are incomplete")
    }
  }

  // MARK: The person

  /// What a slot would give to whoever opens it.
  private static let owner = SharedSecretBytes(SecretBytes(zeroed: SymmetricKey.byteCount))

  /// A finger was recognised a moment ago.
  private func finger() throws -> any BiometryVerifier {
    let authenticator = UserAuthenticator(
      prompt: ScriptedPrompt(), reader: ScriptedFingerprintReader(events: [.match]))
    let context = try authenticator.evaluate(
      .deviceOwnerWithBiometrics, passcode: PromptRequest("")
    ) { _ in false }
    return try custody.fingerVerifier(context)
  }

  /// Passphrase and finger.
  func authorization() throws -> CustodyAuthorization {
    CustodyAuthorization(finger: try finger(), owner: Self.owner)
  }

  /// By what the keys of a mode open, each.
  private func ways(_ mode: AuthenticationMode) throws -> [CustodyAuthorization] {
    let finger = CustodyAuthorization(finger: try finger())
    switch mode {
    case .standard: return [CustodyAuthorization(owner: Self.owner)]
    case .standardWithFinger: return [CustodyAuthorization(owner: Self.owner), finger]
    case .highSecurityWithFinger: return [finger]
    case .highSecurityWithGuard: return [try withGuard()]
    }
  }

  // MARK: The guard

  /// The PINs of the guard, before and after a change.
  enum PIN: String, CaseIterable {
    case first = "271828-a"
    case second = "314159-b"

    var secret: SharedSecretBytes {
      let bytes = Array(rawValue.utf8)
      return SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
    }
  }

  /// Brings all keys under a new guard.
  func enterGuard(_ pin: PIN, _ authorization: CustodyAuthorization) throws {
    let made = try custody.newGuard(pin: pin.secret, in: StandInChip())
    try custody.switchMode(
      to: .highSecurityWithGuard, authorization, guard: made, acknowledgesMissingBackup: true)
  }

  /// The security keys of the guard, as if they had answered.
  enum Key: String, CaseIterable {
    case red, blue, green

    static let salt = [UInt8](repeating: 7, count: 32)
    private static let points = (0..<3).map { _ in P256PrivateKey().publicKey }

    /// What the key would give for the salt.
    var answer: SecurityKeyAnswer {
      let number = rawValue.utf8.count - 3
      let name = Array(rawValue.utf8)
      let secret = [UInt8](repeating: UInt8(number + 1), count: 32)
      // A name and a point are a credential.
      let credential = SecurityKeyCredential(
        id: name, publicKey: Self.points[number], model: [UInt8](repeating: 0, count: 16))!
      return SecurityKeyAnswer(
        credential: credential, secret: SharedSecretBytes(SecretBytes(copying: secret.span.bytes)))
    }
  }

  /// Brings all keys under a new guard of security keys.
  func enterGuard(_ keys: [Key], _ authorization: CustodyAuthorization) throws {
    let made = try custody.newGuard(
      keys: keys.map { try GuardKey($0.rawValue, $0.answer) }, salt: Key.salt)
    try custody.switchMode(
      to: .highSecurityWithGuard, authorization, guard: made, acknowledgesMissingBackup: true)
  }

  /// The security keys that open the guard; none in a mode without, or with a PIN.
  func guardKeys() throws -> [Key] {
    guard let keys = try custody.guardKeys() else { return [] }
    let found = Key.allCases.filter { (try? custody.openGuard($0.answer)) != nil }
    guard found.map(\.rawValue).sorted() == keys.keys.map(\.label).sorted() else {
      throw CrashFinding.lost("a security key does not open the guard")
    }
    return found
  }

  /// The PIN that opens the guard; nil in a mode without a guard record, or with security keys.
  func pin() throws -> PIN? {
    guard try custody.mode() == .highSecurityWithGuard, try custody.guardKeys() == nil else { return nil }
    let found = PIN.allCases.filter { (try? custody.openGuard(pin: $0.secret)) != nil }
    guard found.count == 1 else { throw CrashFinding.lost("no PIN opens the guard") }
    return found[0]
  }

  /// Passphrase, and PIN or security key.
  func withGuard() throws -> CustodyAuthorization {
    if let key = try guardKeys().first {
      return CustodyAuthorization(owner: Self.owner, guard: try custody.openGuard(key.answer))
    }
    guard let pin = try pin() else { return CustodyAuthorization(owner: Self.owner) }
    return CustodyAuthorization(owner: Self.owner, guard: try custody.openGuard(pin: pin.secret))
  }

  // MARK: Keys

  func wrap(_ number: Int, _ key: [UInt8]) throws {
    try custody.wrap(
      SecretBytes(copying: key.span.bytes), .transferableSecretKeyV4,
      PrivateKeyOperation.fingerprint(number), authorization())
  }

  func importKeys(_ numbers: ClosedRange<Int>, edition: UInt8) throws {
    let keys = numbers.map { number in
      let key = PrivateKeyOperation.key(number, edition: edition)
      return (
        secret: SharedSecretBytes(SecretBytes(copying: key.span.bytes)),
        payload: PrivateKeyPayload.transferableSecretKeyV4,
        fingerprint: PrivateKeyOperation.fingerprint(number)
      )
    }
    try custody.importKeys(keys, authorization())
  }

  /// Every private key by its number, opened by all that the mode takes.
  func keys() throws -> [Int: [UInt8]] {
    let ways = try ways(custody.mode())
    var keys: [Int: [UInt8]] = [:]
    for fingerprint in try custody.fingerprints() {
      let found = try ways.map { way in
        try custody.withPrivateKey(fingerprint, way) { secret, _ in [UInt8](copying: secret) }
      }
      guard Set(found).count == 1 else { throw CrashFinding.mixed("a key is another by a finger") }
      keys[Int(fingerprint.bytes[0]) - 1] = found[0]
    }
    return keys
  }

  /// Nothing is left of an interrupted change, and all that is noted of the mode agrees.
  func checkOrder() throws {
    let control = try domains.control()
    guard try custody.examine() == 0 else { throw CrashFinding.lost("an envelope is missing") }
    guard control.recoveryJournal == nil, control.authMode == (try custody.mode()) else {
      throw CrashFinding.mixed("the journal does not agree with the manifest")
    }
    guard try !opened.keychain.accounts().contains(where: { $0.contains("pending") }) else {
      throw CrashFinding.mixed("there are pending envelopes of no change")
    }
    let hasRecord = try opened.keychain.accounts().contains("com.cypherair.v1.guard")
    guard hasRecord == (try custody.mode() == .highSecurityWithGuard) else {
      throw CrashFinding.mixed("the guard record does not agree with the manifest")
    }
  }
}
