// SPDX-License-Identifier: Apache-2.0
//
// Names of charsets: those of the WHATWG's Encoding Standard (section 4.2) and what they mean there, the other names that
// IANA has for them, and those of old mailers. Mail names a small charset and uses its superset, which is why the standard
// has one meaning for both. What is not in this list never reaches iconv.

/// A charset, as far as conversion is concerned.
enum CharsetName: Equatable {
  /// UTF-8 or a part of it.
  case utf8
  /// The name that iconv has for it.
  case converter(String)

  /// Nil for a name that is not known.
  init?(_ label: RawSpan) {
    guard label.byteCount <= Self.byteCountLimit else { return nil }
    var key = Self.key(label.string(label.whole))
    while true {
      if let name = Self.table[key] ?? Self.numbered(key) {
        self = name.isEmpty ? .utf8 : .converter(name)
        return
      }
      // Names that are private, and the short ones of IANA.
      if key.hasPrefix("cs") {
        key.removeFirst(2)
      } else if key.hasPrefix("x") {
        key.removeFirst()
      } else {
        return nil
      }
    }
  }

  /// Letters in lower case and digits, without a year after a colon: mailers agree in these alone.
  private static func key(_ label: String) -> String {
    label.prefix { $0 != ":" }.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
  }

  /// Families whose members are told apart by a number.
  private static func numbered(_ key: String) -> String? {
    for (prefix, numbers, target) in families where key.hasPrefix(prefix) {
      guard let number = Int(key.dropFirst(prefix.count)), numbers.contains(number) else { continue }
      return target + "\(number)"
    }
    return nil
  }

  private static let isoNumbers: Set<Int> = [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16]
  private static let windowsNumbers = Set(1250...1258)
  private static let dosNumbers: Set<Int> = [
    437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869,
  ]
  private static let families: [(prefix: String, numbers: Set<Int>, target: String)] = [
    ("iso8859", isoNumbers, "ISO-8859-"), ("8859", isoNumbers, "ISO-8859-"),
    ("windows", windowsNumbers, "CP"), ("cp", windowsNumbers, "CP"), ("win", windowsNumbers, "CP"),
    ("cp", dosNumbers, "CP"), ("ibm", dosNumbers, "CP"), ("dos", dosNumbers, "CP"),
  ]

  /// By their keys; the empty name is UTF-8.
  private static let table: [String: String] = {
    let lists: [(name: String, keys: String)] = [
      // What is said to be ASCII, or is not said, is UTF-8 as often as anything.
      (
        "",
        """
        utf8 unicode11utf8 unicode20utf8 ascii usascii us ansix341968 ansix341986 iso646us iso646irv isoir6 \
        cp367 ibm367 unknown unknown8bit default binary
        """
      ),
      ("CP1252", "cp819 ibm819 isolatin1 iso88591 isoir100 l1 latin1 88591 ansi"),
      ("ISO-8859-2", "isolatin2 isoir101 l2 latin2"), ("ISO-8859-3", "isolatin3 isoir109 l3 latin3"),
      ("ISO-8859-4", "isolatin4 isoir110 l4 latin4"), ("ISO-8859-5", "isolatincyrillic cyrillic isoir144"),
      (
        "ISO-8859-6", "arabic asmo708 iso88596e iso88596i isolatinarabic ecma114 isoir127"
      ),
      ("ISO-8859-7", "isolatingreek ecma118 elot928 greek greek8 isoir126 suneugreek"),
      // The letters of Hebrew mail are the same in each order of writing (RFC 1556).
      ("ISO-8859-8", "iso88598e iso88598i isolatinhebrew hebrew isoir138 visual logical"),
      ("CP1254", "isolatin5 iso88599 isoir148 l5 latin5 88599"),
      ("ISO-8859-10", "isolatin6 isoir157 l6 latin6"), ("ISO-8859-13", "l7 latin7 isoir179"),
      ("ISO-8859-14", "l8 latin8 isoir199 isoceltic"), ("ISO-8859-15", "isolatin9 l9 latin9"),
      ("ISO-8859-16", "l10 latin10 isoir226"),
      ("KOI8-R", "koi8r koi koi8"), ("KOI8-U", "koi8u"), ("KOI8-RU", "koi8ru"),
      ("MACINTOSH", "macintosh mac macroman"), ("MAC-UK", "maccyrillic macukrainian"),
      ("CP874", "dos874 iso885911 885911 tis620 windows874 cp874 ibm874"), ("CP866", "866"),
      (
        "GB18030",
        "gb18030 gbk gb2312 gb231280 chinese iso58gb231280 isoir58 euccn cngb cp936 ms936 windows936"
      ),
      ("CP950", "big5 cnbig5 cp950 ms950 windows950"), ("BIG5-HKSCS", "big5hkscs"),
      ("EUC-JP-MS", "eucpkdfmtjapanese eucjp eucjpms eucjpwin"),
      ("ISO-2022-JP-2", "iso2022jp iso2022jp1 iso2022jp2 iso2022jpms cp50220 cp50221 cp50222"),
      ("CP932", "shiftjis sjis mskanji ms932 cp932 windows932 windows31j"),
      (
        "CP949",
        "euckr korean ksc56011987 ksc56011989 ksc5601 isoir149 windows949 cp949 ms949 uhc"
      ),
      // Of what the standard refuses to browsers, mail in Korean needs this one (RFC 1557).
      ("ISO-2022-KR", "iso2022kr"),
      ("UTF-16", "utf16 unicode iso10646ucs2"), ("UTF-16LE", "utf16le"), ("UTF-16BE", "utf16be"),
      ("UTF-32", "utf32"), ("UTF-32LE", "utf32le"), ("UTF-32BE", "utf32be"),
      ("UTF-7", "utf7 unicode11utf7"),
    ]
    return lists.reduce(into: [:]) { table, list in
      for key in list.keys.split(separator: " ") { table[String(key)] = list.name }
    }
  }()

  /// Longer than any name.
  private static let byteCountLimit = 40
}
