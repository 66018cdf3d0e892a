// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// A way to ask the person at the machine: the terminal, a pinentry program, or a script in tests.
///
/// Answers come back as bytes in locked memory, exactly as they were typed. Whether they make a
/// passphrase is for `Passphrase` to say.
public protocol PassphrasePrompt: Sendable {
  /// Asks for one line. An empty answer is an answer.
  /// - Throws: ``PromptError``; `.cancelled` when the person gave up.
  func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes

  /// Asks a question that is answered with yes or no; only a clear yes is true.
  /// - Throws: ``PromptError``; `.cancelled` when the person gave up.
  func confirm(_ question: String) throws(PromptError) -> Bool
}

extension PassphrasePrompt {
  /// Asks for one line, shown while it is typed unless `isHidden`: for the words of a recovery phrase.
  public func askLine(_ prompt: String, isHidden: Bool = false) throws(PromptError) -> SecretBytes {
    try ask(PromptRequest(prompt, isShown: !isHidden))
  }
}
