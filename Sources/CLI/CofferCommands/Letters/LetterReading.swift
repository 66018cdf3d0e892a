// SPDX-License-Identifier: Apache-2.0
//
// One decryption: the keys that are tried, the verdict, and what its failures mean.

internal import Correspondence
internal import OpenPGP
internal import Secrets

struct LetterReading {
  let plan: ReadingPlan
  let judge: SignatureJudge
  var requirement: DecryptCommand.Requirement?
  var passwords: [SharedSecretBytes] = []

  init(plan: ReadingPlan, judge: SignatureJudge) {
    self.plan = plan
    self.judge = judge
  }

  /// What was found.
  struct Result {
    let message: DecryptedMessage
    let verdict: Verdict
    /// The certificate whose key opened it; nil for a password.
    let identity: Fingerprint?
  }

  /// Decrypts, and writes the content if the verdict allows it.
  /// - Parameter tell: is called with the verdict, before the content.
  func read(
    _ source: any RewindableSource, to sink: any ByteSink, _ lend: @escaping PrivatePartLender,
    telling tell: (Verdict) -> Void
  ) throws -> Result {
    let keys = passwords.isEmpty ? plan.keys(lend) : []
    var decryption = MessageDecryption()
    decryption.keys = keys.map { MessageDecryption.Key($0, certificate: $0.identity) }
    decryption.passwords = passwords
    decryption.verifier = judge.verifier
    var verdict: Verdict?
    var refusal: Failure?
    let message: DecryptedMessage
    do throws(OpenPGPError) {
      message = try decryption.decrypt(from: source, to: sink) { found in
        let judged = judge.verdict(
          found.verifications, unreadable: found.unreadableSignatureCount, isEncrypted: true,
          hadPassword: !passwords.isEmpty)
        verdict = judged
        refusal = requirement.flatMap {
          VerdictWords.failure(judged, wantsVerified: $0 == .verified, "the message")
        }
        if refusal == nil { tell(judged) }
        return refusal == nil
      }
    } catch {
      throw failure(error, keys)
    }
    if let refusal { throw refusal }
    guard let verdict else { throw Failure(unsorted: "Verdict") }
    return Result(message: message, verdict: verdict, identity: keys.last { $0.hasOpened }?.identity)
  }

  /// Everything after the session key is one answer.
  private func failure(_ error: OpenPGPError, _ keys: [BorrowedKey]) -> any Error {
    if let failure = keys.compactMap(\.failure).first { return failure }
    switch error {
    case .inputOutput, .inputChanged, .notEnoughMemory, .internalFailure: return Failure(openPGP: error)
    case .noKeyFits where !passwords.isEmpty:
      return Failure(.wrongSecret, "wrong_secret", "wrong password of the message")
    case .noKeyFits where plan.named.isEmpty: return Failure.notForYouAfterTrying()
    default: return Failure.decryptionFailed
    }
  }
}
