// SPDX-License-Identifier: Apache-2.0
//
// Passphrases and recovery phrases before they open anything: read, normalised, judged, generated.

import Foundation
import Glibc
import Keychains
import Primitives
import ScriptedPrompts
import Secrets
import UserAuthentication

extension Operation {
  static let phrases = [
    Operation("read a passphrase from a pipe") { workspace in
      let text = workspace.text("passphrase", byteCount: 24)
      var ends: (Int32, Int32) = (0, 0)
      let made = withUnsafeMutablePointer(to: &ends) {
        $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
      }
      try expect(made == 0, "a pipe")
      text.withBytes { $0.withUnsafeBytes { _ = write(ends.1, $0.baseAddress, $0.count) } }
      close(ends.1)
      let read = try Passphrase.read(descriptor: ends.0)
      close(ends.0)
      try expect(read.byteCount == text.count, "all of it was read")
    },
    Operation("read a passphrase from a file") { workspace in
      let text = workspace.text("passphrase", byteCount: 24)
      let path = workspace.given + "/passphrase"
      try text.withBytes { try workspace.write($0, to: path) }
      try expect(try Passphrase.read(path: path).byteCount == text.count, "all of it was read")
    },
    Operation("normalise and judge a passphrase") { workspace in
      // An "a" and a combining diaeresis behind it, which become one letter.
      let text = workspace.text("passphrase", byteCount: 24)
      let passphrase = try Passphrase(utf8: Workspace.joined(text, [0x61, 0xCC, 0x88]))
      for policy in PassphrasePolicy.allCases where policy != .strict {
        try expect(policy.check(passphrase).isAccepted, "a strong passphrase is accepted")
      }
      try expect(passphrase.byteCount == text.count + 2, "it was composed")
    },
    Operation("generate a passphrase") { workspace in
      let words = PassphraseGenerator.generate(random: SystemRandom.fill)
      SecretReport.tell("generated passphrase", words)
      let passphrase = try Passphrase(utf8: words)
      try expect(PassphrasePolicy.long.check(passphrase).isAccepted, "what is generated is accepted")
    },
    Operation("generate a recovery phrase and compare what is typed") { workspace in
      let phrase = workspace.phrase()
      for position in 0..<RecoveryPhrase.wordCount {
        try expect(phrase.word(at: position).count >= 3, "a word has three letters")
      }
      let typed = try phrase.withWords { try RecoveryPhrase(words: $0) }
      let isSame = phrase.withWords { words in typed.withWords { constantTimeEqual(words, $0) } }
      try expect(isSame, "typed words are the words")
    },
    Operation("ask for a passphrase") { workspace in
      let prompt = ScriptedPrompt()
      prompt.append(workspace.text("passphrase", byteCount: 24))
      let answer = try prompt.ask(PromptRequest("Passphrase"))
      try expect(try Passphrase(utf8: answer).byteCount == 24, "the answer is what was typed")
    },
  ]
}

extension Workspace {
  /// Writes a file straight from where the bytes are.
  func write(_ bytes: RawSpan, to path: String) throws {
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Unexpected("a file could not be made") }
    defer { close(descriptor) }
    var written = 0
    try bytes.withUnsafeBytes { bytes in
      while let start = bytes.baseAddress, written < bytes.count {
        let count = Glibc.write(descriptor, start + written, bytes.count - written)
        guard count > 0 else { throw Unexpected("a file could not be written") }
        written += count
      }
    }
  }

  /// The secret with public bytes behind it.
  static func joined(_ secret: borrowing SecretBytes, _ suffix: [UInt8], prefix: [UInt8] = []) -> SecretBytes
  {
    SecretBytes(byteCount: prefix.count + secret.count + suffix.count) { target in
      secret.withBytes { source in
        target.withUnsafeMutableBytes { target in
          for (offset, byte) in prefix.enumerated() { target[offset] = byte }
          source.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: target[prefix.count...]).copyMemory(from: source)
          }
          for (offset, byte) in suffix.enumerated() {
            target[prefix.count + source.byteCount + offset] = byte
          }
        }
      }
    }
  }
}
