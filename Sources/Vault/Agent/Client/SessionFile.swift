// SPDX-License-Identifier: Apache-2.0
//
// Lines that one session of terminals has left for its next commands. They are in the folder of the home's agent, which
// is closed to others, in a file of one name for each session:
//
//   the moment when the session's first process began, in clock ticks since the machine's start ‖ LF
//   a line ‖ LF, for each

internal import Foundation
internal import Glibc

/// A small file of this session of terminals.
struct SessionFile: Sendable {
  private let path: String
  private let beginning: String

  /// - Parameters:
  ///   - name: the first part of the file's name.
  ///   - home: the directory of the coffer.
  ///   - runtime: replaces `$XDG_RUNTIME_DIR`.
  ///   - variables: of the environment.
  ///   - session: the number of the session's first process. It is 0 where that process is outside of our namespace.
  /// - Returns: nil where such a file has no place: no folder for it, or no session whose first process still runs.
  init?(
    _ name: String, home: String, runtime: String?, variables: AgentVariables = .ofProcess,
    session: pid_t = getsid(0)
  ) {
    guard session > 0,
      let place = try? AgentPlace(home: home, runtime: runtime, variables: variables),
      let status = try? String(contentsOfFile: "/proc/\(session)/stat", encoding: .utf8),
      // Field 22; the name before field 3 may have blanks and brackets.
      let fields = status.split(separator: ")").last?.split(separator: " "), fields.count > 19
    else { return nil }
    path = "\(place.folder)/\(name)-\(session)"
    beginning = String(fields[19])
  }

  /// Replaces the lines. Nothing fails if they cannot be written.
  func replace(by lines: some Sequence<String>) {
    let lines = [beginning] + lines
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    try? FileHandle(fileDescriptor: file, closeOnDealloc: true)
      .write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  /// The lines; nil without a file, or when another session of the same number left it.
  func lines() -> [String]? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    let lines = text.split(separator: "\n").map(String.init)
    return lines.first == beginning ? Array(lines.dropFirst()) : nil
  }
}
