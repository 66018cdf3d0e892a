// SPDX-License-Identifier: Apache-2.0
//
// The security key of the tutorial: a random secret in memory, and a question in the place of the finger. The guard that
// is made with it is a real one.

internal import Primitives
internal import Secrets
internal import SecurityKeys
internal import Synchronization
internal import UserAuthentication

/// A security key with a reader for fingers, in memory.
final class PretendedSecurityKey: SecurityKey, SecurityKeyFinder {
  let product = "pretended security key"
  private let device = SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount))
  private let credential: SecurityKeyCredential
  private let isPlugged = Mutex(true)

  init?() {
    let pair = P256PrivateKey()
    let id = SystemRandom.publicBytes(count: SymmetricKey.byteCount)
    let model = [UInt8](repeating: 0, count: SecurityKeyCredential.modelByteCount)
    guard let made = SecurityKeyCredential(id: id, publicKey: pair.publicKey, model: model) else {
      return nil
    }
    credential = made
  }

  /// Takes it out, or puts it in again.
  func plug(_ isIn: Bool) { isPlugged.withLock { $0 = isIn } }

  func keys() throws(SecurityKeyError) -> [any SecurityKey] { isPlugged.withLock { $0 } ? [self] : [] }

  func facts() throws(SecurityKeyError) -> SecurityKeyFacts {
    SecurityKeyFacts(hasSecrets: true, hasPIN: false, hasFinger: true)
  }

  func enrol(
    _ verification: SecurityKeyVerification, besides others: [SecurityKeyCredential], salt: [UInt8],
    _ attempt: SecurityKeyAttempt
  ) throws(SecurityKeyError) -> EnrolledSecurityKey {
    guard !others.contains(credential) else { throw .alreadyEnrolled }
    try touch()
    return EnrolledSecurityKey(credential: credential, secret: secret(salt))
  }

  func secret(
    of credentials: [SecurityKeyCredential], salt: [UInt8], _ verification: SecurityKeyVerification,
    _ attempt: SecurityKeyAttempt
  ) throws(SecurityKeyError) -> SecurityKeyAnswer {
    guard credentials.contains(credential) else { throw .otherKey }
    try touch()
    return SecurityKeyAnswer(credential: credential, secret: secret(salt))
  }

  /// Return is the finger.
  private func touch() throws(SecurityKeyError) {
    guard let terminal = CommandSurroundings.current.terminal else { throw .gone }
    do throws(PromptError) {
      _ = try terminal.askLine("the pretended key blinks: press Return for your finger")
    } catch { throw .cancelled }
  }

  private func secret(_ salt: [UInt8]) -> SharedSecretBytes {
    var hkdf = HKDF()
    let secret = SecretBytes(byteCount: SymmetricKey.byteCount) { output in
      device.withBytes { device in
        ("coffer tutorial v1 security key" as StaticString).withRawSpan {
          hkdf.derive(ikm: device, salt: salt.rawSpan, info: $0, into: &output)
        }
      }
    }
    return SharedSecretBytes(secret)
  }
}
