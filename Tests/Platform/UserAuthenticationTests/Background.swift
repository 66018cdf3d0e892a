// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import PseudoTerminals
import Secrets

@testable import UserAuthentication

/// Something that waits for a person, run beside the test that plays the person.
final class Background<Value: Sendable>: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  private var result: Result<Value, PromptError>?

  init(_ body: @escaping @Sendable () throws(PromptError) -> Value) {
    Thread {
      self.result = Result { () throws(PromptError) in try body() }
      self.done.signal()
    }.start()
  }

  /// The result, once it is there.
  func value() throws -> Result<Value, PromptError> {
    guard done.wait(timeout: .now() + Patience.seconds) == .success, let result else {
      throw PseudoTerminal.Failure("the prompt did not come back")
    }
    return result
  }
}

/// What was answered, as text, for comparing.
func answer(_ prompt: some PassphrasePrompt, _ request: PromptRequest) throws(PromptError) -> String {
  try prompt.ask(request).withBytes { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

func shared(_ text: String) -> SharedSecretBytes {
  SharedSecretBytes(SecretBytes(copying: Array(text.utf8).span.bytes))
}
