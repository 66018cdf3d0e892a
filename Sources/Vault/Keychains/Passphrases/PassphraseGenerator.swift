// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// Makes passphrases that can be remembered: six words and a digit, as in
/// `Velvet-orbit-maple-tunnel-frost-cargo4`.
///
/// Six of 2,048 words are 66 bits, the digit is 3 more. The capital, the digit and the hyphens are there
/// so that every ``PassphrasePolicy`` accepts the result.
public enum PassphraseGenerator {
  /// Fills the span with random bytes that nobody can predict.
  public typealias RandomSource = (inout MutableRawSpan) -> Void

  /// A new passphrase, every one equally likely.
  public static func generate(random: RandomSource) -> SecretBytes {
    let longest = wordCount * (BIP39EnglishWords.longestWordByteCount + 1) + 1
    var text = SecretBytes(zeroed: longest)
    var end = 0
    for position in 0..<wordCount {
      // 2,048 divides 65,536, so the low eleven bits are as uniform as the source.
      let index = draw(UInt16.self, random) { Int($0 & 0x7FF) }
      text.withMutableBytes { target in
        end = BIP39EnglishWords.write(index, into: &target, at: end)
        if position < wordCount - 1 {
          target.storeBytes(of: UInt8(ascii: "-"), toByteOffset: end, as: UInt8.self)
          end += 1
        }
      }
    }
    var digit: Int?
    while digit == nil {
      // 250 is the largest multiple of ten in a byte; larger values would favour small digits.
      digit = draw(UInt8.self, random) { $0 < 250 ? Int($0 % 10) : nil }
    }
    let last = UInt8(ascii: "0") + UInt8(digit ?? 0)
    text.withMutableBytes { target in
      target.storeBytes(of: last, toByteOffset: end, as: UInt8.self)
      let first = unsafe target.withUnsafeBytes { unsafe $0[0] }
      target.storeBytes(of: first & ~0x20, toByteOffset: 0, as: UInt8.self)
    }
    return text.withBytes { SecretBytes(copying: $0.extracting(first: end + 1)) }
  }

  /// Six words, as Diceware recommends.
  public static let wordCount = 6

  private static func draw<Number: FixedWidthInteger & BitwiseCopyable, Result>(
    _: Number.Type, _ random: RandomSource, _ choose: (Number) -> Result
  ) -> Result {
    var bytes = SecretBytes(zeroed: MemoryLayout<Number>.size)
    bytes.withMutableBytes { random(&$0) }
    return bytes.withBytes { choose(unsafe $0.unsafeLoad(as: Number.self)) }
  }
}
