// SPDX-License-Identifier: Apache-2.0
//
// The grammar of a search (Specs/search.md, "Arguments"). The shell has split the line already, so each argument is one
// part, whatever spaces it has. Signs are compared as code points, because a mark may follow one.

/// Why a search is not understood. The values are the user's own words.
@nonexhaustive
public enum SearchSyntaxError: Error, Equatable, Sendable {
  /// No argument has a word, a date or a fact.
  case empty
  /// Every part is excluded.
  case onlyExcluded
  /// More parts than there may be.
  case tooMany(limit: Int)
  /// There is no field of this name.
  case unknownField(String)
  /// A field without a value.
  case noValue(field: String)
  /// What a field does not take.
  case badValue(field: String, String)
  /// Not a date, a month, a year, or a range of them.
  case badDate(String)
  /// A range that ends before it begins.
  case reversedDates(String)
}

extension SearchExpression {
  /// The names before a colon.
  public static let fieldNames = [
    "from", "to", "title", "tag", "date", "after", "before", "has", "is", "type",
  ]

  /// Understands the arguments of a search. Those without any word in them, such as punctuation, are left out.
  /// - Parameters:
  ///   - isAny: whether one of the words and fields is enough. Dates and facts always hold.
  ///   - day: the seconds of a day.
  public init(
    _ arguments: [String], isAny: Bool = false, day: DaySeconds = SearchDates.utc
  ) throws(SearchSyntaxError) {
    var parts: [Part] = []
    for argument in arguments {
      let text = Self.trimmed(argument[...].unicodeScalars)
      let isExcluded = text.first == "-"
      let part = Self.trimmed(text.dropFirst(isExcluded ? 1 : 0))
      guard let condition = try Self.condition(part, day) else { continue }
      let role: Role = isExcluded ? .excluded : isAny && condition.isText ? .alternative : .required
      parts.append(Part(condition: condition, role: role))
    }
    guard !parts.isEmpty else { throw .empty }
    guard parts.contains(where: { $0.role != .excluded }) else { throw .onlyExcluded }
    guard parts.count <= MessageLimits.searchPartCount else {
      throw .tooMany(limit: MessageLimits.searchPartCount)
    }
    self.init(parts: parts)
  }

  private typealias Text = Substring.UnicodeScalarView

  /// Nil without a word.
  private static func condition(
    _ text: Text, _ day: DaySeconds
  ) throws(SearchSyntaxError) -> Condition? {
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex,
      text[..<colon].allSatisfy({ $0.isASCII && $0.properties.isAlphabetic })
    else { return phrase(text).map { .phrase($0, in: .anywhere) } }
    let name = String(text[..<colon]).lowercased()
    let value = text[text.index(after: colon)...]
    guard fieldNames.contains(name) else {
      // Neither "https://" nor "Re: lease" is a field.
      guard let first = value.first, first != "/", first != ":", !first.properties.isWhitespace else {
        return phrase(text).map { .phrase($0, in: .anywhere) }
      }
      throw .unknownField(String(text[..<colon]))
    }
    let trimmed = trimmed(value)
    guard !trimmed.isEmpty else { throw .noValue(field: name) }
    switch name {
    case "date", "after", "before": return .date(try SearchDates.range(name, Substring(trimmed), day))
    case "has", "is", "type": return .fact(try fact(name, String(trimmed)))
    case "tag":
      let isWhole = trimmed.last != "*"
      let words = SearchPhrase.analysed(String(trimmed))
      guard !words.isEmpty else { throw .noValue(field: name) }
      return .tag(words.joined(separator: " "), isWhole: isWhole)
    default:
      guard let phrase = phrase(trimmed) else { throw .noValue(field: name) }
      return .phrase(phrase, in: name == "from" ? .sender : name == "to" ? .recipients : .title)
    }
  }

  /// `=whole`, `"whole words"`, `beginning*`, or words of which the first may be the end of one and the last a
  /// beginning.
  private static func phrase(_ text: Text) -> SearchPhrase? {
    if text.first == "=" { return SearchPhrase(String(text.dropFirst()), beginsWord: true, endsWord: true) }
    if text.count > 1, text.first == "\"", text.last == "\"" {
      return SearchPhrase(String(text.dropFirst().dropLast()), beginsWord: true, endsWord: true)
    }
    return SearchPhrase(String(text), beginsWord: text.last == "*")
  }

  private static func trimmed(_ text: Text) -> Text {
    let start = text.drop(while: \.properties.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.properties.isWhitespace }) else { return start }
    return start[...last]
  }

  // MARK: Facts

  private static func fact(_ field: String, _ value: String) throws(SearchSyntaxError) -> Fact {
    let word = value.lowercased()
    switch (field, word) {
    case ("has", "attachment"): return .hasAttachment
    case ("is", "mail"): return .isMail
    case ("type", _):
      let halves = word.split(separator: "/", omittingEmptySubsequences: false)
      guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }) else { break }
      return word.hasSuffix("*") ? .type(String(word.dropLast()), isWhole: false) : .type(word, isWhole: true)
    default: break
    }
    throw .badValue(field: field, value)
  }
}

extension SearchExpression.Condition {
  /// Whether it is about words, which `--any` makes alternatives.
  fileprivate var isText: Bool {
    switch self {
    case .phrase, .tag: true
    case .date, .fact: false
    }
  }
}
