// SPDX-License-Identifier: Apache-2.0
//
// The recovery phrase: twelve English words as BIP-39 has them (bitcoin/bips, bip-0039), which encode 128
// random bits and a checksum. They are kept in locked memory, shown once, and never stored.

internal import CUtf8proc
internal import Primitives
public import Secrets

/// Twelve words that open a coffer when the passphrase is lost.
public struct RecoveryPhrase: ~Copyable, Sendable {
  /// Words in a recovery phrase.
  public static let wordCount = 12
  /// Bytes of randomness that they encode.
  public static let entropyByteCount = 16
  /// Bytes of ``seed()``.
  public static let seedByteCount = 64

  /// The words in lower case with one space between any two.
  private let mnemonic: SecretBytes
  /// How many there are: 12, except in the tests of BIP-39's longer phrases.
  private let count: Int

  /// The phrase for 16 random bytes.
  public init(entropy: consuming SecretBytes) {
    precondition(entropy.count == Self.entropyByteCount, "a recovery phrase has 128 bits of entropy")
    self.init(ofAnyLength: entropy)
  }

  /// Reads a typed phrase: any case, any white space, whole words or their first four letters.
  /// - Throws: ``RecoveryPhraseError``, which names places and never words.
  public init(words utf8: RawSpan) throws(RecoveryPhraseError) {
    try self.init(words: utf8, wordCount: Self.wordCount)
  }

  /// Entropy of 16, 20, 24, 28 or 32 bytes.
  init(ofAnyLength entropy: consuming SecretBytes) {
    let byteCount = entropy.count
    precondition(byteCount % 4 == 0 && 16...32 ~= byteCount, "BIP-39 knows 128 to 256 bits")
    var bits = SecretBytes(zeroed: byteCount + 1)
    entropy.withBytes { source in
      for offset in 0..<byteCount { Self.set(Self.byte(source, offset), at: offset, of: &bits) }
    }
    Self.set(Self.checksum(of: bits, byteCount: byteCount), at: byteCount, of: &bits)
    count = byteCount * 3 / 4
    mnemonic = Self.spelled(bits, wordCount: byteCount * 3 / 4)
  }

  init(words utf8: RawSpan, wordCount: Int) throws(RecoveryPhraseError) {
    precondition(wordCount % 3 == 0 && 12...24 ~= wordCount, "BIP-39 knows 12 to 24 words")
    var words = WordCursor()
    var found = 0
    while words.next(in: utf8) != nil { found += 1 }
    guard found == wordCount else { throw .wrongWordCount(expected: wordCount, found: found) }

    let byteCount = wordCount * 4 / 3
    var bits = SecretBytes(zeroed: byteCount + 1)
    words = WordCursor()
    var position = 0
    while let word = words.next(in: utf8) {
      guard let spelling = word.spelling, let index = BIP39EnglishWords.index(of: spelling) else {
        throw .unknownWord(position: position + 1)
      }
      Self.setIndex(index, at: position, of: &bits)
      position += 1
    }
    let written = bits.withBytes { Self.byte($0, byteCount) }
    guard written == Self.checksum(of: bits, byteCount: byteCount) else { throw .checksumMismatch }
    count = wordCount
    mnemonic = Self.spelled(bits, wordCount: wordCount)
  }

  /// Lends the words to `body`: lower case, one space between any two.
  public borrowing func withWords<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try mnemonic.withBytes(body)
  }

  /// A copy of one word, to show it or to compare it with what somebody typed.
  /// - Parameter position: 0 to 11.
  public borrowing func word(at position: Int) -> SecretBytes {
    precondition(position >= 0 && position < count, "no such word")
    return withWords { text in
      var words = WordCursor()
      for _ in 0..<position { _ = words.next(in: text) }
      guard let word = words.next(in: text) else { preconditionFailure("the words were counted") }
      return SecretBytes(copying: text.extracting(word.range))
    }
  }

  /// BIP-39's 64-byte seed, with an empty passphrase: the key material of the recovery slot.
  public borrowing func seed() -> SecretBytes {
    seed(salt: "mnemonic")
  }

  /// - Parameter salt: "mnemonic" and, in other wallets, a passphrase.
  borrowing func seed(salt: StaticString) -> SecretBytes {
    // English words are ASCII, so the mnemonic is its own NFKD.
    mnemonic.withBytes { password in
      salt.withRawSpan { salt in
        SecretBytes(byteCount: Self.seedByteCount) { output in
          do throws(CryptoError) {
            try PBKDF2.hmacSHA512(
              password: password, salt: salt, rounds: Self.seedRoundCount, into: &output)
          } catch {
            preconditionFailure("PBKDF2 refuses only lengths, and these are fixed")
          }
        }
      }
    }
  }

  /// Fixed by BIP-39. Few, but the phrase has 128 bits of its own.
  private static let seedRoundCount = 2048

  // MARK: Bits and words

  /// Bits that one word encodes.
  private static let wordBitCount = 11

  /// The first bits of the entropy's SHA-256, one for every four bytes, at the top of a byte.
  private static func checksum(of bits: borrowing SecretBytes, byteCount: Int) -> UInt8 {
    var digest = SecretBytes(zeroed: SHA256.byteCount)
    bits.withBytes { bits in
      digest.withMutableBytes { SHA256.hash(bits.extracting(first: byteCount), into: &$0) }
    }
    return digest.withBytes { byte($0, 0) } & ~(0xFF >> UInt8(byteCount / 4))
  }

  private static func spelled(_ bits: borrowing SecretBytes, wordCount: Int) -> SecretBytes {
    var text = SecretBytes(zeroed: wordCount * (BIP39EnglishWords.longestWordByteCount + 1))
    var end = 0
    for position in 0..<wordCount {
      let index = bits.withBytes { Self.index(at: position, in: $0) }
      text.withMutableBytes { target in
        if position > 0 {
          target.storeBytes(of: UInt8(ascii: " "), toByteOffset: end, as: UInt8.self)
          end += 1
        }
        end = BIP39EnglishWords.write(index, into: &target, at: end)
      }
    }
    text.shorten(to: end)
    return text
  }

  private static func index(at position: Int, in bits: RawSpan) -> Int {
    var index = 0
    for bit in position * wordBitCount..<(position + 1) * wordBitCount {
      index = index << 1 | Int(byte(bits, bit / 8) >> UInt8(7 - bit % 8) & 1)
    }
    return index
  }

  private static func setIndex(_ index: Int, at position: Int, of bits: inout SecretBytes) {
    for offset in 0..<wordBitCount where index >> (wordBitCount - 1 - offset) & 1 == 1 {
      let bit = position * wordBitCount + offset
      let before = bits.withBytes { byte($0, bit / 8) }
      set(before | 1 << UInt8(7 - bit % 8), at: bit / 8, of: &bits)
    }
  }

  private static func set(_ value: UInt8, at offset: Int, of bytes: inout SecretBytes) {
    bytes.withMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: UInt8.self) }
  }

  private static func byte(_ span: RawSpan, _ offset: Int) -> UInt8 {
    unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

/// Why words are not a valid recovery phrase. Positions count from 1.
@nonexhaustive
public enum RecoveryPhraseError: Error, Equatable, Sendable {
  /// More or fewer words than a recovery phrase has.
  case wrongWordCount(expected: Int, found: Int)
  /// The word at this place is not in the list.
  case unknownWord(position: Int)
  /// All words are in the list, but one is wrong or two have changed places.
  case checksumMismatch
}
