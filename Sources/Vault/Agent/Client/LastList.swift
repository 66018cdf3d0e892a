// SPDX-License-Identifier: Apache-2.0
//
// The identifiers that a terminal showed last, so that "@3" can mean the third line. They are not secret: the file of
// the coffer has them in the clear too. They are in the folder of the home's agent, which is closed to others, in one
// file for each session of terminals:
//
//   the moment when the session's first process began, in clock ticks since the machine's start ‖ LF
//   an identifier ‖ LF, for each line

internal import Foundation
internal import Glibc

/// The last list that was shown on this terminal.
public struct LastList: Sendable {
  private let path: String
  private let beginning: String

  /// - Parameters:
  ///   - home: the directory of the coffer.
  ///   - runtime: replaces `$XDG_RUNTIME_DIR`.
  /// - Returns: nil where such a list has no place: no folder for it, or no session.
  public init?(home: String, runtime: String? = nil) {
    let session = getsid(0)
    guard session > 0, let place = try? AgentPlace(home: home, runtime: runtime),
      let status = try? String(contentsOfFile: "/proc/\(session)/stat", encoding: .utf8),
      // Field 22; the name before field 3 may have blanks and brackets.
      let fields = status.split(separator: ")").last?.split(separator: " "), fields.count > 19
    else { return nil }
    path = "\(place.folder)/list-\(session)"
    beginning = String(fields[19])
  }

  /// Most identifiers that are kept.
  public static let countLimit = 10_000

  /// Replaces the list. The command that showed it does not fail if this cannot be written.
  public func replace(by identifiers: [String]) {
    let lines = [beginning] + identifiers.prefix(Self.countLimit)
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    try? FileHandle(fileDescriptor: file, closeOnDealloc: true)
      .write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  /// The identifiers; none without a list, or when another session of the same number left it.
  public func identifiers() -> [String] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    let lines = text.split(separator: "\n").map(String.init)
    return lines.first == beginning ? Array(lines.dropFirst()) : []
  }
}
