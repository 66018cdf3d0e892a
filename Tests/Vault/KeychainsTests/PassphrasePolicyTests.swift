// SPDX-License-Identifier: Apache-2.0

import Keychains
import Secrets
import Testing

@Suite("Passphrase policies")
struct PassphrasePolicyTests {
  @Test(
    "Good passphrases are accepted",
    arguments: [
      (PassphrasePolicy.standard, "Vw7kpq2LmZr9"), (.standard, "Velvet orbit maple 7"),
      (.standard, "Bl\u{E5}b\u{E4}rsgr\u{F6}t7kanna"), (.strict, "Vw7kpq2LmZr!"),
      (.long, "velvet orbit maple tunnel"),
      (
        .long,
        "\u{7D2B}\u{8272}\u{7684}\u{5C71}\u{8DEF}\u{4E0A}\u{6709}"
          + "\u{4E00}\u{5339}\u{9A6C}\u{5728}\u{5403}\u{7EFF}\u{8272}\u{8349}"
      ),
    ])
  func accepts(policy: PassphrasePolicy, text: String) throws {
    #expect(try problems(policy, text) == [])
  }

  @Test("The usual policy asks for length and strength alone")
  func usual() throws {
    #expect(try problems(.usual, "correct horse battery staple") == [])
    #expect(try problems(.usual, "velvet orbit 7") == [.tooShort(minimum: 15, found: 14)])
    let easy = try problems(.usual, "Password1234567890")
    #expect(easy.count == 1 && easy.first?.description.contains("easy to guess") == true, "\(easy)")
  }

  @Test("Each missing kind of character is named")
  func kinds() throws {
    #expect(try problems(.standard, "vw7kpq2lmzr9") == [.noUppercaseLetter])
    #expect(try problems(.standard, "VW7KPQ2LMZR9") == [.noLowercaseLetter])
    #expect(try problems(.standard, "VwxkpqyLmZrt") == [.noDigit])
    #expect(try problems(.strict, "Vw7kpq2LmZr9") == [.noSymbol])
    #expect(try problems(.strict, "Vw7kpq2LmZr 9") == [.noSymbol], "a space is not a symbol")
    #expect(try problems(.long, "Vw7kpq2LmZr9") == [.tooShort(minimum: 15, found: 12)])
  }

  @Test("Letters and digits of other scripts count as what they are")
  func otherScripts() throws {
    #expect(
      try problems(
        .standard,
        "\u{416}\u{443}\u{43A}\u{438}\u{43B}\u{438}\u{431}\u{44B}\u{43B}\u{438}\u{442}\u{440}\u{664}") == [])
  }

  @Test("Length counts characters, however they were typed")
  func length() throws {
    #expect(try problems(.standard, "Aa1\u{E4}\u{F6}\u{FC}xqz") == [.tooShort(minimum: 12, found: 9)])
    #expect(try problems(.standard, "Aa1a\u{308}o\u{308}u\u{308}xqz") == [.tooShort(minimum: 12, found: 9)])
  }

  @Test(
    "Well-known passwords are refused although they keep the rules for characters",
    arguments: [
      "Password1234", "P@ssw0rd1234", "Qwertyuiop12", "1Qaz2wsx3edc", "Iloveyou1234", "Administrator1",
      "Passw0rdPassw0rd", "Sunshine2024!", "TestPass123!", "Q1w2e3r4t5y6", "1Qaz2wsx3edc4rfv",
      "Chickenwing101", "Mailcreated5240", "Polniypizdec0211", "Ghhh47hj7649", "Zxcasdqwe123",
    ])
  func refusesWellKnown(text: String) throws {
    let found = try PassphrasePolicy.standard.check(passphrase(text))
    #expect(!found.isAccepted)
    #expect(found.strength == .weak)
    let rules = Set(found.problems.map(\.description))
    #expect(rules.allSatisfy { $0.contains("common") || $0.contains("guess") }, "\(rules)")
  }

  @Test(
    "A whole passphrase that is one entry of a dictionary is common",
    arguments: [
      "password", "Password", "P@ssword", "christopher", "unbelievable", "q1w2e3r4t5y6", "gfhjkmgfhjkm",
    ])
  func common(text: String) throws {
    let found = try PassphrasePolicy.long.check(passphrase(text))
    #expect(found.problems.contains(.common))
    #expect(found.strength == .weak)
  }

  @Test(
    "The score counts the thresholds of guesses",
    arguments: [
      ("password", 0), ("Liverpool123", 1), ("qwertyuiop12", 2), ("4815162342", 3), ("Vw7kpq2LmZr9", 4),
    ])
  func score(text: String, score: Int) throws {
    let found = try PassphrasePolicy.standard.check(passphrase(text))
    #expect(found.score == score)
  }

  @Test("The meter takes any bytes, and says weak, medium and strong")
  func meter() {
    #expect(strength("") == .weak)
    #expect(strength("passw") == .weak)
    #expect(strength("4815162342") == .medium)
    #expect(strength("Vw7kpq2LmZr9") == .strong)
    let half: [UInt8] = [0x61, 0xC3]
    #expect(PassphrasePolicy.standard.check(typed: half.span.bytes).strength == .weak)
  }

  @Test("Problems are said in plain sentences")
  func wording() {
    #expect(
      PassphraseAssessment.Problem.tooShort(minimum: 12, found: 9).description
        == "needs at least 12 characters; this has 9")
  }

  @Test("The longest passphrase is judged too")
  func longest() throws {
    #expect(
      try problems(.long, String(repeating: "z", count: 4096)).contains(
        .tooGuessable(minimumScore: 3, score: 2)))
  }

  private func passphrase(_ text: String) throws -> Passphrase {
    try Passphrase(utf8: SecretBytes(copying: Array(text.utf8).span.bytes))
  }

  private func problems(_ policy: PassphrasePolicy, _ text: String) throws -> [PassphraseAssessment.Problem] {
    try policy.check(passphrase(text)).problems
  }

  private func strength(_ text: String) -> PassphraseStrength {
    PassphrasePolicy.standard.check(typed: Array(text.utf8).span.bytes).strength
  }
}

@Suite("Generated passphrases")
struct PassphraseGeneratorTests {
  @Test("Every policy accepts what is generated")
  func accepted() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let text = PassphraseGenerator.generate { span in
        for offset in 0..<span.byteCount {
          span.storeBytes(
            of: UInt8.random(in: 0...255, using: &generator), toByteOffset: offset, as: UInt8.self)
        }
      }
      let passphrase = try Passphrase(utf8: text)
      for policy in PassphrasePolicy.allCases {
        let problems = policy.check(passphrase).problems
        #expect(problems == [])
      }
    }
  }

  @Test("The words and the digit come from the random source alone")
  func deterministic() {
    var counter: UInt8 = 0
    let text = PassphraseGenerator.generate { span in
      for offset in 0..<span.byteCount {
        // Words 0x0201, 0x0403, …; then 255 for the digit, which is drawn again, and 17.
        counter += 1
        let value: UInt8 = counter == 13 ? 255 : counter == 14 ? 17 : counter
        span.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
      }
    }
    #expect(counter == 14)
    let written = text.withBytes { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    #expect(written == "Dizzy-lesson-scheme-abstract-donkey-lift7")
  }
}
