// SPDX-License-Identifier: Apache-2.0
//
// What verify, inline-verify and decrypt have in common: certificates, bounds of time, and the lines that say
// what was good.

internal import OpenPGP

/// Certificates to verify with, and the lines about good signatures.
struct Verification {
  let verifier: SignatureVerifier
  /// The designators of the certificates' files, in the order of ``verifier``'s certificates.
  private let names: [String]

  /// - Parameters:
  ///   - designators: of certificates.
  ///   - notBefore: the value of that option; nil means no limit.
  ///   - notAfter: the value of that option; nil means no limit. Signatures from the future are refused
  ///     anyway, by the policy.
  init(with designators: [String], notBefore: String?, notAfter: String?) throws(Failure) {
    let now = CalendarTime.now()
    let bounds = try (CalendarTime.bound(notBefore ?? "-"), CalendarTime.bound(notAfter ?? "-"))
    var certificates: [Certificate] = []
    var names: [String] = []
    for designator in designators {
      let more = try KeyFiles.certificates(at: designator)
      certificates += more
      names += Array(repeating: designator, count: more.count)
    }
    var verifier = SignatureVerifier(certificates: certificates, policy: .standard, time: now)
    (verifier.notBefore, verifier.notAfter) = bounds
    self.verifier = verifier
    self.names = names
  }

  /// A line for each signature that verifies: time, key, primary key, mode, and in JSON whose file it was.
  func lines(_ verifications: [SignatureVerification]) -> String {
    verifications.compactMap(\.verified).map(line).joined()
  }

  private func line(_ signature: VerifiedSignature) -> String {
    let certificates = verifier.certificates
    var signers: [String] = []
    for (certificate, name) in zip(certificates, names)
    where certificate.fingerprint == signature.primaryKey && !signers.contains(name) {
      signers.append(name)
    }
    return [
      CalendarTime.text(signature.creationTime), signature.signingKey.hexadecimal,
      signature.primaryKey.hexadecimal, signature.isOverText ? "mode:text" : "mode:binary",
      "{\"signers\": [\(signers.map(Self.quoted).joined(separator: ", "))]}\n",
    ].joined(separator: " ")
  }

  /// A string of JSON; a name may hold anything.
  private static func quoted(_ text: String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": output += "\\\(scalar)"
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output + "\""
  }

  /// The failure of subcommands that need a signature; `--debug` says why each one did not count.
  static func noSignature(_ verifications: [SignatureVerification]) -> Failure {
    let reasons = verifications.map { words($0.result) }
    return Failure(
      .noSignature, reasons.isEmpty ? "there is no signature" : "no signature verifies: \(reasons[0])",
      hint: "do not rely on the data", detail: reasons.joined(separator: "; "))
  }

  private static func words(_ result: SignatureVerification.Result) -> String {
    switch result {
    case .good, .goodButExpired: "good"
    case .revoked: "the key was revoked"
    case .unknownKey: "none of the certificates has its key"
    case .bad: "it is not over this data"
    case .refused(let rule): PolicyWords.text(rule)
    }
  }
}
