// SPDX-License-Identifier: Apache-2.0
//
// The table of Specs/git.md: from a grade to the lines that git reads, and the exit code that agrees with them. Every
// signature begins with NEWSIG, since git overlooks a GOODSIG in the first line, and has a line TRUST_, without which
// some versions of git abort.

internal import Correspondence
internal import Foundation
internal import OpenPGP
internal import Texts

/// What is said about one signature.
struct SignatureStatus: Equatable {
  let lines: [StatusLine]
  let exit: GitExit

  private init(_ lines: [StatusLine], trust: String = "UNDEFINED", _ exit: GitExit) {
    self.lines = [StatusLine("NEWSIG")] + lines + [StatusLine("TRUST_\(trust)", "0", "pgp")]
    self.exit = exit
  }

  /// No signature could be read.
  static let unreadable = SignatureStatus(
    [
      StatusLine(
        "ERRSIG", String(repeating: "0", count: 16), "0", "0", "00", "0", "\(ErrorCode.general)", "-")
    ], .failed)

  /// A signature whose signer cannot be looked up: the coffer is locked.
  static func notJudged(_ signature: Signature) -> SignatureStatus {
    let named = signature.issuerFingerprints.first
    return SignatureStatus(
      [error(signature, keyID(signature, named), .general, named)], .failed)
  }

  /// A signature that was judged.
  init(_ signature: Signature, _ finding: SignatureFinding) {
    let key = finding.signingKey
    let id = Self.keyID(signature, key)
    let name = StatusLine.escaped(finding.names.first ?? "")
    let valid = Self.valid(signature, finding)
    switch finding.grade {
    case .verified, .unverified:
      let isExpired = finding.notes.contains { if case .expiredSince = $0 { true } else { false } }
      self.init(
        [StatusLine(isExpired ? "EXPKEYSIG" : "GOODSIG", id, name)] + valid, trust: Self.trust(finding), .done
      )
    case .unknown:
      self.init([Self.error(signature, id, .noPublicKey, key), StatusLine("NO_PUBKEY", id)], .failed)
    case .invalid:
      switch finding.reason {
      case .revoked: self.init([StatusLine("REVKEYSIG", id, name)] + valid, .bad)
      case .changed: self.init([StatusLine("BADSIG", id, name)], .bad)
      default: self.init([Self.error(signature, id, .refused, key)], .failed)
      }
    case .none: self = .unreadable
    }
  }

  /// The last field of ERRSIG but one, as gpg numbers it.
  private enum ErrorCode: Int, CustomStringConvertible {
    case general = 1
    /// An algorithm that must not be used.
    case refused = 5
    case noPublicKey = 9

    var description: String { "\(rawValue)" }
  }

  private static func trust(_ finding: SignatureFinding) -> String {
    guard finding.grade == .verified else { return "UNDEFINED" }
    if case .identity = finding.signer { return "ULTIMATE" }
    return "FULLY"
  }

  /// 16 digits.
  private static func keyID(_ signature: Signature, _ key: Fingerprint?) -> String {
    let bytes = (key?.keyID ?? signature.issuerKeyIDs.first)?.bytes ?? [UInt8](repeating: 0, count: 8)
    return bytes.map { String(format: "%02X", $0) }.joined()
  }

  private static func error(
    _ signature: Signature, _ id: String, _ code: ErrorCode, _ key: Fingerprint?
  ) -> StatusLine {
    StatusLine(
      "ERRSIG", id, signature.algorithmField, signature.hashField, signature.classField, signature.timeField,
      "\(code)", key?.hexadecimal ?? "-")
  }

  /// Fingerprint, day, seconds, end of the signature or 0, version, reserved, algorithm of the key, hash, class, and the
  /// fingerprint of the primary key.
  private static func valid(_ signature: Signature, _ finding: SignatureFinding) -> [StatusLine] {
    guard let key = finding.signingKey else { return [] }
    let day = RFC3339.format(Int64(signature.creationTime?.secondsSince1970 ?? 0)).prefix(10)
    return [
      StatusLine(
        "VALIDSIG", key.hexadecimal, String(day), signature.timeField,
        "\(signature.expirationTime?.secondsSince1970 ?? 0)", "\(signature.version)", "0",
        signature.algorithmField, signature.hashField, signature.classField,
        (finding.primaryKey ?? key).hexadecimal)
    ]
  }
}
