// SPDX-License-Identifier: Apache-2.0
//
// The zxcvbn estimate, from the C library of that name.
//
// Which common passwords it knows: its dictionaries hold a list of the most frequent passwords beside
// English words, film words, names and surnames. As Debian builds it (2.5+dfsg) that list is Mark
// Burnett's top 10,000; upstream's own has 47,023. Every entry of the top 10,000 scores at most 1 of 4
// there, so the estimate alone refuses the whole list. In other case or with digits for letters an entry
// costs a few bits more; if that made it pass, the match would still cover the whole passphrase and set
// `isCommon`. `furtherCommonPasswords` adds what upstream's longer list has and Debian's has not.
//
// The traces that it leaves in memory (read in zxcvbn.c, 2.5): nodes on the heap hold positions, lengths and
// entropies only. One heap buffer takes the first 100 bytes in reverse; the same call clears it with memset
// and uses it again before it is freed, so the compiler cannot drop the clearing. Its stack frames may keep
// single characters of a dictionary search.

internal import CZxcvbn
internal import Glibc
internal import Secrets

/// The guesses that an attacker needs who knows how passphrases are chosen.
struct StrengthEstimate {
  /// The logarithm to base 2 of the guesses.
  let bits: Double
  /// Whether the whole text is one entry of a dictionary.
  let isCommon: Bool

  /// 0 to 4: how many of the thresholds 10^3, 10^6, 10^8 and 10^10 the guesses reach.
  var score: Int {
    let guessesLog10 = bits * log10(2)
    return Self.thresholdsLog10.count { guessesLog10 >= $0 }
  }

  /// - Parameter text: without NUL; any bytes will do, and those beyond ASCII count as unknown letters.
  init(of text: RawSpan) {
    let count = text.byteCount
    // The library wants a NUL at the end, so it gets a locked copy that has one.
    var terminated = SecretBytes(zeroed: count + 1)
    terminated.withMutableBytes { target in
      unsafe target.withUnsafeMutableBytes { target in
        unsafe text.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      }
    }
    var bits = 0.0
    var isCommon = false
    terminated.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { raw in
        var words = unsafe furtherCommonPasswords.map {
          unsafe UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self) as UnsafePointer?
        }
        unsafe words.append(nil)
        var parts: UnsafeMutablePointer<ZxcMatch>?
        bits = unsafe ZxcvbnMatch(raw.baseAddress?.assumingMemoryBound(to: CChar.self), &words, &parts)
        if let only = unsafe parts?.pointee, unsafe only.Next == nil, unsafe Int(only.Length) == count {
          isCommon = unsafe Self.isDictionary(only.Type)
        }
        unsafe ZxcvbnFreeInfo(parts)
      }
    }
    self.bits = bits
    self.isCommon = isCommon
  }

  private static func isDictionary(_ type: ZxcTypeMatch_t) -> Bool {
    switch type {
    case DICTIONARY_MATCH, DICT_LEET_MATCH, USER_MATCH, USER_LEET_MATCH: true
    default: false
    }
  }

  private static let thresholdsLog10: [Double] = [3, 6, 8, 10]
}

/// Keyboard patterns and other frequent passwords of 12 or more characters that would otherwise be rated as
/// strong.
private let furtherCommonPasswords: [StaticString] = [
  "q1w2e3r4t5y6", "q1w2e3r4t5y6u7i8", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv", "1qazxsw23edcvfr4",
  "zxcasdqwe123", "qwaszxerdfcv", "qawsedrftgyh", "1qa2ws3ed4rf5tg", "12qw34er56ty", "z1x2c3v4b5n6m7",
  "a1s2d3f4g5h6", "1a2s3d4f5g6h", "qazxswedcvfr", "qazwsxedcrfvtgb", "qwertasdfgzxcvb",
  "gfhjkmgfhjkm", "ghjcnjgfhjkm", "ghbdtnghbdtn", "ghbdtnrfrltkf", "flvbybcnhfnjh", "chickenwing101",
  "mailcreated5240", "polniypizdec0211", "sojdlg123aljg", "ghhh47hj7649",
]
