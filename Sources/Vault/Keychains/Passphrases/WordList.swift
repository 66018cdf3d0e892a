// SPDX-License-Identifier: Apache-2.0

/// Digests as words that can be compared over the telephone. They are not secret.
public enum WordList {
  /// The first bits of a digest as words of BIP-39's English list, 11 bits each.
  public static func words(of digest: [UInt8], count: Int) -> [String] {
    precondition(8 * digest.count >= 11 * count, "the digest is long enough")
    return (0..<count).map { position in
      let index = (0..<11).reduce(0) { value, bit in
        let place = 11 * position + bit
        return value << 1 | Int(digest[place / 8] >> (7 - UInt8(place % 8)) & 1)
      }
      return BIP39EnglishWords.text(of: index)
    }
  }
}
