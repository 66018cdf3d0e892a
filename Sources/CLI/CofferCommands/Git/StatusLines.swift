// SPDX-License-Identifier: Apache-2.0
//
// The lines that git reads. One writer makes them all: what others chose is escaped, so that no user ID can forge a
// line, and whole lines are written at once.

internal import Foundation
internal import OpenPGP
internal import Secrets
internal import Texts

/// One line of status: a word and its fields.
struct StatusLine: Equatable {
  let text: String

  /// - Parameter fields: numbers and fingerprints, or text from ``escaped(_:)``.
  init(_ word: String, _ fields: String...) {
    text = (["[GNUPG:]", word] + fields.filter { !$0.isEmpty }).joined(separator: " ")
  }

  /// A text of others in one line: `%`, and whatever is not fit for a terminal, as `%` and two digits for each byte.
  static func escaped(_ text: String) -> String {
    let marked = String(text.prefix(textLimit)).replacing("%", with: "%25")
    return TerminalText.replacing(marked, keepsLines: false) { scalar in
      String(scalar).utf8.map { String(format: "%%%02X", $0) }.joined()
    }
  }

  /// More characters than a name and an address have.
  private static let textLimit = 255
}

/// Where the status lines go.
struct StatusLines {
  private let descriptor: InheritedDescriptor?

  /// - Parameter descriptor: nil when git wants none.
  init(to descriptor: InheritedDescriptor?) { self.descriptor = descriptor }

  /// Writes lines in one call.
  /// - Throws: `no_output`.
  func write(_ lines: [StatusLine]) throws {
    guard let descriptor else { return }
    Terminal.flush()
    let text = lines.map { $0.text + "\n" }.joined()
    guard Terminal.writeAll(Array(text.utf8).rawSpan, to: descriptor.duplicate) == 0 else {
      throw Self.unwritable(descriptor.number)
    }
  }

  static func unwritable(_ number: Int32) -> Failure {
    Failure(.missing, "no_output", "git cannot be told: descriptor \(number) cannot be written to")
  }
}

extension Signature {
  /// Of the algorithm of the key, as the registry numbers it.
  var algorithmField: String { "\(algorithm.rawValue)" }
  /// Of the hash.
  var hashField: String { "\(hash.rawValue)" }
  /// The signature's type, two hexadecimal digits.
  var classField: String { String(format: "%02x", type.rawValue) }
  /// Seconds since 1970, UTC; 0 if it does not say.
  var timeField: String { "\(creationTime?.secondsSince1970 ?? 0)" }
}
