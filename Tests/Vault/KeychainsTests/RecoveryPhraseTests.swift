// SPDX-License-Identifier: Apache-2.0

import Foundation
import Secrets
import TestVectors
import Testing

@testable import Keychains

@Suite("Recovery phrases")
struct RecoveryPhraseTests {
  @Test("Trezor's English vectors hold")
  func trezorVectors() throws {
    let rows = try VectorTable("bip39/english").rows
    for row in rows {
      let (mnemonic, expected) = (try row.text("phrase"), try row.bytes("seed"))
      let phrase = RecoveryPhrase(ofAnyLength: secret(try row.bytes("entropy")))
      let spelled = words(phrase)
      #expect(spelled == mnemonic)
      let seed = bytes(phrase.seed(salt: "mnemonicTREZOR"))
      #expect(seed == expected)
      let count = mnemonic.split(separator: " ").count
      let typed = Array(mnemonic.utf8)
      let reread = try RecoveryPhrase(words: typed.span.bytes, wordCount: count)
      let respelled = words(reread)
      #expect(respelled == mnemonic)
    }
    #expect(rows.count == 24)
  }

  @Test("The word list is BIP-39's")
  func wordList() throws {
    let list = try VectorTable("bip39/words").rows.map { try $0.text("word") }
    #expect(list.count == BIP39EnglishWords.count)
    for (index, word) in list.enumerated() {
      #expect(BIP39EnglishWords.byteCount(at: index) == word.utf8.count)
      #expect(BIP39EnglishWords.index(of: spelling(word)) == index)
      if word.utf8.count > 4 { #expect(BIP39EnglishWords.index(of: spelling(word.prefix(4))) == index) }
      // Five letters of a longer word are neither the word nor its short form.
      if word.utf8.count > 5 { #expect(BIP39EnglishWords.index(of: spelling(word.prefix(5))) == nil) }
    }
    for wrong in ["", "a", "ab", "zzzz", "zoological", "aband", "able x"] {
      #expect(BIP39EnglishWords.index(of: spelling(wrong)) == nil)
    }
  }

  @Test("The seed has no passphrase behind \"mnemonic\"")
  func seed() {
    // From the phrase of sixteen zero bytes, by an independent implementation.
    let expected =
      "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1"
      + "9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4"
    let seed = RecoveryPhrase(entropy: SecretBytes(zeroed: 16)).seed()
    let written = bytes(seed).map { String(format: "%02x", $0) }.joined()
    #expect(written == expected)
  }

  @Test(
    "Case, white space and short forms do not matter",
    arguments: [
      "legal winner thank year wave sausage worth useful legal winner thank yellow",
      "  LEGAL Winner\tthank\r\nyear wave\u{A0}sausage\u{3000}worth useful legal winner thank yellow\n",
      "lega winn than year wave saus wort usef lega winn than yell",
    ])
  func lenient(typed: String) throws {
    let phrase = try parse(typed)
    let canonical = words(phrase)
    #expect(canonical == "legal winner thank year wave sausage worth useful legal winner thank yellow")
    let shown = [word(phrase, 0), word(phrase, 5), word(phrase, 11)]
    #expect(shown == ["legal", "sausage", "yellow"])
  }

  @Test(
    "A wrong number of words is counted",
    arguments: [
      ("", 0), ("abandon", 1), (String(repeating: "abandon ", count: 11), 11),
      (String(repeating: "abandon ", count: 13), 13), (String(repeating: "abandon ", count: 23) + "art", 24),
    ])
  func wrongCount(typed: String, found: Int) {
    #expect(failure(typed) == .wrongWordCount(expected: 12, found: found))
  }

  @Test(
    "An unknown word is named by its place",
    arguments: ["abandons", "aba", "zzz", "aband0n", "\u{E4}bandon", "abandonabandon"])
  func unknownWord(wrong: String) {
    var list = Array(repeating: "abandon", count: 11) + ["about"]
    list[6] = wrong
    #expect(failure(list.joined(separator: " ")) == .unknownWord(position: 7))
  }

  @Test("Bytes that are not UTF-8 are an unknown word")
  func notUTF8() {
    let typed = Array("abandon ".utf8) + [0xFF, 0xC3] + Array(String(repeating: " abandon", count: 10).utf8)
    #expect(throws: RecoveryPhraseError.unknownWord(position: 2)) {
      _ = words(try RecoveryPhrase(words: typed.span.bytes))
    }
  }

  @Test(
    "A wrong last word, and words that changed places, fail the checksum",
    arguments: [
      "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon",
      "winner legal thank year wave sausage worth useful legal winner thank yellow",
    ])
  func checksum(typed: String) {
    #expect(failure(typed) == .checksumMismatch)
  }

  @Test("Of 2,048 last words, 128 make a phrase")
  func checksumRate() throws {
    let start = String(repeating: "zoo ", count: 11)
    var good = 0
    for index in 0..<BIP39EnglishWords.count {
      var word = SecretBytes(zeroed: 8)
      var count = 0
      word.withMutableBytes { count = BIP39EnglishWords.write(index, into: &$0, at: 0) }
      word.shorten(to: count)
      if failure(start + String(decoding: bytes(word), as: UTF8.self)) == nil { good += 1 }
    }
    #expect(good == 128)
  }

  // MARK: Short cuts

  private func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span.bytes) }

  private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { $0.withUnsafeBytes { Array($0) } }
  }

  private func words(_ phrase: borrowing RecoveryPhrase) -> String {
    phrase.withWords { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  private func word(_ phrase: borrowing RecoveryPhrase, _ position: Int) -> String {
    String(decoding: bytes(phrase.word(at: position)), as: UTF8.self)
  }

  private func parse(_ typed: String) throws(RecoveryPhraseError) -> RecoveryPhrase {
    try RecoveryPhrase(words: Array(typed.utf8).span.bytes)
  }

  private func failure(_ typed: String) -> RecoveryPhraseError? {
    do throws(RecoveryPhraseError) {
      _ = try parse(typed)
      return nil
    } catch { return error }
  }

  private func spelling(_ word: some StringProtocol) -> UInt64 {
    var key: UInt64 = 0
    for index in 0..<8 {
      let letters = Array(word.utf8)
      key = key << 8 | UInt64(index < letters.count ? letters[index] : 0x20)
    }
    return key
  }
}
