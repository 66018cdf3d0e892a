// SPDX-License-Identifier: Apache-2.0
//
// Security keys on the command line: which one is meant, how it verifies its user, and the wait for a touch.

internal import CofferKit
internal import KeyCustody
internal import Keychains
internal import Secrets
internal import SecurityKeys
internal import UserAuthentication

extension CommandContext {
  /// The one security key that can be used now.
  /// - Throws: ``Failure`` in a build without security keys; `SecurityKeyError`.
  func onlySecurityKey() throws -> (key: any SecurityKey, facts: SecurityKeyFacts) {
    guard let finder = machine.securityKeys else {
      throw Failure.noSecurityKeysBuilt
    }
    return try finder.onlyKey()
  }

  /// Asks the plugged key for the secret of whichever of these credentials it has.
  ///
  /// - Parameters:
  ///   - pin: the key's PIN, if options gave it.
  ///   - option: the common beginning of the options that give it, for the hint.
  ///   - otherWay: what an empty line instead of the PIN asks for; nil if there is no other way.
  /// - Throws: ``OtherWayChosen``; ``Failure``; `SecurityKeyError`.
  func securityKeyAnswer(
    _ credentials: [SecurityKeyCredential], salt: [UInt8], pin: SharedSecretBytes?, option: String,
    otherWay: String? = nil
  ) throws -> SecurityKeyAnswer {
    let (key, facts) = try onlySecurityKey()
    return try verified(facts, pin, option, otherWay) { verification in
      try touching(finger: verification.isFinger) {
        (attempt) throws(SecurityKeyError) in
        try key.secret(of: credentials, salt: salt, verification, attempt)
      }
    }
  }

  /// Enrols the plugged key.
  func enrolledSecurityKey(
    besides others: [SecurityKeyCredential], salt: [UInt8], pin: SharedSecretBytes?, option: String
  ) throws -> EnrolledSecurityKey {
    let (key, facts) = try onlySecurityKey()
    return try verified(facts, pin, option) { verification in
      try touching(finger: verification.isFinger, times: 3) {
        (attempt) throws(SecurityKeyError) in
        try key.enrol(verification, besides: others, salt: salt, attempt)
      }
    }
  }

  /// Uses a key with the PIN that was given, else with a finger if it has a reader, else with its PIN.
  private func verified<R>(
    _ facts: SecurityKeyFacts, _ given: SharedSecretBytes?, _ option: String, _ otherWay: String? = nil,
    _ use: (SecurityKeyVerification) throws -> R
  ) throws -> R {
    if let given { return try use(.pin(given)) }
    if facts.hasFinger {
      do { return try use(.finger) } catch SecurityKeyError.fingerBlocked where facts.hasPIN {
        remark("The security key takes no finger now: use its PIN.")
      }
    }
    let prompt = try prompt(
      for: "the security key's PIN", hint: "use \(option)-fd, \(option)-file, or COFFER_PINENTRY")
    let words = "PIN of the security key" + (otherWay.map { " (nothing: use \($0))" } ?? "")
    var problem: String?
    var failure = SecurityKeyError.wrongPIN(triesLeft: nil)
    for _ in 1...Self.promptTries {
      var request = request(words, problem: problem)
      request.byteCountLimit = PINPolicy.longest
      let typed = try prompt.ask(request)
      if otherWay != nil, typed.count == 0 { throw OtherWayChosen() }
      do { return try use(.pin(SharedSecretBytes(Passphrase(utf8: typed)))) } catch let error
        as SecurityKeyError
      {
        guard case .wrongPIN = error else { throw error }
        failure = error
        problem = Failure(error).message
      } catch let error as PassphraseError {
        problem = Failure(error).message
      }
    }
    throw failure
  }

  /// Says on the terminal that the key waits; Control-C ends the wait.
  private func touching<R>(
    finger: Bool, times: Int = 1, _ work: (SecurityKeyAttempt) throws(SecurityKeyError) -> R
  ) throws(SecurityKeyError) -> R {
    let attempt = SecurityKeyAttempt()
    let what = finger ? "put your finger on the security key" : "touch the security key"
    let often = times == 1 ? "" : ", each time that it blinks (\(times) times)"
    let notice = CommandSurroundings.current.touchNotice(what + often + (purpose.map { ", \($0)" } ?? "")) {
      attempt.cancel()
    }
    defer { notice?.end() }
    return try work(attempt)
  }

  /// Has the user plug in another key, and uses it; a key that is not the right one is asked for again.
  func withNextSecurityKey<R>(_ words: String, _ use: () throws -> R) throws -> R {
    var failure: any Error = SecurityKeyError.noKey
    for _ in 1...Self.promptTries {
      _ = try terminal().askLine("\(words), then press Return")
      do { return try use() } catch let error as SecurityKeyError where error.isAboutPlugging {
        failure = error
        remark("\(Failure(error).message)")
      }
    }
    throw failure
  }
}

/// The user would rather open the coffer in another way.
struct OtherWayChosen: Error {}

extension SecurityKeyVerification {
  fileprivate var isFinger: Bool { if case .finger = self { true } else { false } }
}

extension SecurityKeyError {
  /// Whether another key, or fewer of them, may help.
  fileprivate var isAboutPlugging: Bool {
    switch self {
    case .noKey, .several, .unsuitable, .otherKey, .alreadyEnrolled, .gone: true
    default: false
    }
  }
}
