// SPDX-License-Identifier: Apache-2.0
//
// The identifiers that a terminal showed last, so that "@3" can mean the third line of a list. They are not secret:
// the file of the coffer has them in the clear too. Each is a line of a `SessionFile`.

/// The last list that was shown on this terminal.
public struct LastList: Sendable {
  /// What is listed. The numbers of one kind stay when a list of the other is shown.
  public enum Kind: String, Sendable {
    case messages = "list"
    case captures
  }

  private let file: SessionFile

  /// - Parameters:
  ///   - kind: what the list is of.
  ///   - home: the directory of the coffer.
  ///   - runtime: replaces `$XDG_RUNTIME_DIR`.
  ///   - variables: of the environment.
  /// - Returns: nil where such a list has no place: no folder for it, or no session.
  public init?(_ kind: Kind, home: String, runtime: String? = nil, variables: AgentVariables = .ofProcess) {
    guard let file = SessionFile(kind.rawValue, home: home, runtime: runtime, variables: variables) else {
      return nil
    }
    self.file = file
  }

  /// Most identifiers that are kept.
  public static let countLimit = 10_000

  /// Replaces the list. The command that showed it does not fail if this cannot be written.
  public func replace(by identifiers: [String]) { file.replace(by: identifiers.prefix(Self.countLimit)) }

  /// The identifiers; none without a list, or when another session of the same number left it.
  public func identifiers() -> [String] { file.lines() ?? [] }
}
