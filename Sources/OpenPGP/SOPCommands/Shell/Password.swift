// SPDX-License-Identifier: Apache-2.0
//
// Passwords are UTF-8 text. People put them into files whose last line has an end: so one is tried without the
// white space behind it, and as it is. A new one is used without it, and must be something that a person can read
// and type.

internal import OpenPGP
internal import Secrets

/// A password that was handed in.
struct Password {
  private let bytes: SharedSecretBytes
  private let trimmedCount: Int

  /// - Parameter designator: of the input that holds it.
  init(_ designator: String) throws(Failure) {
    bytes = SharedSecretBytes(try InputDesignator(designator).readSecret(byteCountLimit: Self.byteCountLimit))
    trimmedCount = bytes.withBytes { PasswordText.byteCountWithoutTrailingSpace($0) }
  }

  /// What to try, in this order: the end of a file's last line is seldom meant, and a try may take a second.
  var candidates: [SharedSecretBytes] { trimmedCount == bytes.count ? [bytes] : [trimmed, bytes] }

  /// What to protect something new with.
  /// - Throws: 31 when it is empty, not UTF-8, or has control characters.
  func new() throws(Failure) -> SharedSecretBytes {
    let password = trimmed
    guard password.count > 0, password.withBytes({ PasswordText.isHumanReadable($0) }) else {
      throw Failure(
        .passwordNotHumanReadable, "a new password is empty, is not UTF-8, or has control characters",
        hint: "use text that can be read and typed")
    }
    return password
  }

  private var trimmed: SharedSecretBytes {
    guard trimmedCount < bytes.count else { return bytes }
    return SharedSecretBytes(bytes.withBytes { SecretBytes(copying: $0.extracting(0..<trimmedCount)) })
  }

  /// Nobody types more; a whole file in its place is a mistake.
  private static let byteCountLimit = 64 << 10
}

extension [Password] {
  /// Those of several options.
  init(_ designators: [String]) throws(Failure) {
    self = []
    for designator in designators { append(try Password(designator)) }
  }

  /// What to try, all of them.
  var candidates: [SharedSecretBytes] { flatMap(\.candidates) }
}
