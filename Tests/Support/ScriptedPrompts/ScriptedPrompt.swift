// SPDX-License-Identifier: Apache-2.0

public import Secrets
import Synchronization
public import UserAuthentication

/// A prompt with scripted answers: for tests of code that asks.
public final class ScriptedPrompt: PassphrasePrompt {
  private struct Script {
    var replies: [SharedSecretBytes]
    var confirmations: [Bool]
    var requests: [PromptRequest] = []
    var questions: [String] = []
  }

  private let script: Mutex<Script>

  /// A prompt that gives `replies` to ``ask(_:)`` and `confirmations` to ``confirm(_:)``, each in order.
  public init(replies: [SharedSecretBytes] = [], confirmations: [Bool] = []) {
    script = Mutex(Script(replies: replies, confirmations: confirmations))
  }

  /// Adds an answer after the others.
  public func append(_ reply: consuming SecretBytes) {
    let shared = SharedSecretBytes(reply)
    script.withLock { $0.replies.append(shared) }
  }

  /// The requests so far.
  public var requests: [PromptRequest] { script.withLock { $0.requests } }

  /// The yes-or-no questions so far.
  public var questions: [String] { script.withLock { $0.questions } }

  /// - Throws: `PromptError.noTerminal` when they are used up, and `.tooLong` as a real prompt does.
  public func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes {
    let reply: SharedSecretBytes? = script.withLock { script in
      script.requests.append(request)
      return script.replies.isEmpty ? nil : script.replies.removeFirst()
    }
    guard let reply else { throw .noTerminal }
    guard reply.count <= request.byteCountLimit else {
      throw .tooLong(byteCountLimit: request.byteCountLimit)
    }
    return reply.withBytes { bytes in
      _ = request.meter?(bytes)
      return SecretBytes(copying: bytes)
    }
  }

  /// - Throws: `PromptError.noTerminal` when they are used up.
  public func confirm(_ question: String) throws(PromptError) -> Bool {
    let answer: Bool? = script.withLock { script in
      script.questions.append(question)
      return script.confirmations.isEmpty ? nil : script.confirmations.removeFirst()
    }
    guard let answer else { throw .noTerminal }
    return answer
  }
}
