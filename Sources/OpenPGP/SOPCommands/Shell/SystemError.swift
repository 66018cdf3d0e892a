// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Errors of the system in words.
enum SystemError {
  /// The system's sentence for a number, in lower case.
  static func text(_ number: Int32) -> String {
    guard let sentence = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: sentence).lowercased()
  }
}
