// SPDX-License-Identifier: Apache-2.0

/// Whether this terminal was told of sessions.
public struct GivenHint: Sendable {
  private let file: SessionFile

  /// - Parameters:
  ///   - home: the directory of the coffer.
  ///   - runtime: replaces `$XDG_RUNTIME_DIR`.
  ///   - variables: of the environment.
  /// - Returns: nil where that cannot be noted: no folder for it, or no session.
  public init?(home: String, runtime: String? = nil, variables: AgentVariables = .ofProcess) {
    guard let file = SessionFile("hint", home: home, runtime: runtime, variables: variables) else {
      return nil
    }
    self.init(file: file)
  }

  init(file: SessionFile) { self.file = file }

  /// Notes that it is told now.
  /// - Returns: whether it is the first time.
  public func isFirst() -> Bool {
    guard file.lines() == nil else { return false }
    file.replace(by: [])
    return file.lines() != nil
  }
}
