// SPDX-License-Identifier: Apache-2.0
//
// Which key of a file signs or certifies, unlocked.

internal import OpenPGP
internal import Secrets

/// The keys of the files that a call names, ready for use.
struct SigningKeys {
  let passwords: [SharedSecretBytes]
  let time: Timestamp

  /// - Parameter call: with its `--with-key-password`.
  init(_ call: Call, at time: Timestamp) throws(Failure) {
    passwords = try [Password](call.all("with-key-password")).candidates
    self.time = time
  }

  /// One key of each secret key at `designators` that may sign now.
  /// - Throws: 79 when one has none, 67 when one is protected.
  func signers(at designators: [String]) throws(Failure) -> [any Signer] {
    var signers: [any Signer] = []
    let files = try designators.map { (name) throws(Failure) in (name, try KeyFiles.keys(at: [name])) }
    for (name, keys) in files {
      for key in keys { signers.append(try signer(of: key, from: name)) }
    }
    return signers
  }

  /// The primary key, to certify with.
  /// - Throws: 109 when it may not, 67 when it is protected.
  func certifier(of key: TransferableSecretKey) throws(Failure) -> any Signer {
    do {
      let fingerprint = try valid(of: key).certificationKey().fingerprint
      return try key.unlocked(fingerprint, for: .certify, passwords: passwords)
    } catch .refused(let rule) {
      throw Failure(.keyCannotCertify, "refused by policy: \(PolicyWords.text(rule))")
    } catch {
      throw Failure(error, .keys)
    }
  }

  /// - Parameter designator: of the file, for errors.
  private func signer(of key: TransferableSecretKey, from designator: String) throws(Failure) -> any Signer {
    do throws(OpenPGPError) {
      let usable = try valid(of: key).signingKeys().filter { key.secrets[$0.fingerprint] != nil }
      guard let first = usable.first else { throw OpenPGPError.keyCannot(.sign) }
      return try key.unlocked(first.fingerprint, for: .sign, passwords: passwords)
    } catch .keyCannot {
      throw Failure(
        .keyCannotSign,
        "no secret key in «\(designator)» may sign now: expired, revoked, for something else, or not here"
      )
    } catch .refused(let rule) {
      throw Failure(.keyCannotSign, "«\(designator)» is refused by policy: \(PolicyWords.text(rule))")
    } catch .keyIsLocked, .wrongPassword {
      throw Failure(
        .keyIsProtected,
        "the secret key in «\(designator)» is protected, and no password that was given opens it",
        hint: "--with-key-password=FILE")
    } catch {
      throw Failure(error, .keys)
    }
  }

  private func valid(of key: TransferableSecretKey) -> ValidCertificate {
    ValidCertificate(key.certificate, at: time, now: time, policy: .standard)
  }
}
