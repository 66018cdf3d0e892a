// SPDX-License-Identifier: Apache-2.0
//
// The search over a message against two others that are slow and plain: one compares lists of words, one the tokens
// that an index would have.

import Extents
import SeededGenerators
import Testing

@testable import MessageFormats

@Suite("Search comparison")
struct SearchComparisonTests {
  @Test("random searches of random messages find what plain implementations find")
  func random() throws {
    var counts = (found: 0, missed: 0)
    let generators = Shares("random searches of messages", count: 4).generators(full: 4)
    for var random in generators {
      for _ in 0..<750 {
        let message = PlainMessage.random(&random)
        for _ in 0..<4 {
          let arguments = message.arguments(&random)
          let isAny = Bool.random(using: &random)
          guard let expression = try? SearchExpression(arguments, isAny: isAny) else { continue }
          var query = SearchQuery(expression)
          let isFound = query.matches(message.metadata, Array(message.content.utf8).span.bytes)
          if isFound { counts.found += 1 } else { counts.missed += 1 }
          let byWords = message.holds(expression) { message.hasWords($0, in: $1) }
          let byTokens = message.holds(expression) { message.hasTokens($0, in: $1) }
          #expect(isFound == byWords, "\(arguments) \(isAny) in \(message)")
          #expect(isFound == byTokens, "\(arguments) \(isAny) in \(message)")
        }
      }
    }
    // Of 3,000 searches a generator, each way.
    #expect(min(counts.found, counts.missed) > 400 * generators.count, "\(counts)")
  }

  @Test("beginnings, ends and whole words are found wherever the pieces of a long text are cut")
  func cuts() throws {
    let metadata = MessageMetadata(contentType: MessageMetadata.noteType)
    for shift in Shares("cuts of a long text", count: 4).of(Array(stride(from: 0, to: 40, by: 3))) {
      for filler in ["ab ", "ж", "漢"] {
        let count = ((64 << 10) - 20) / filler.utf8.count
        let start = String(repeating: filler, count: count) + String(repeating: "x", count: shift)
        let text = Array((start + " Nädel im heu " + String(repeating: filler, count: 100)).utf8)
        func finds(_ argument: String) -> Bool {
          var query = query([argument])
          return query.matches(metadata, text.span.bytes)
        }
        for argument in ["=nädel", "nade*", "\"nädel im heu\"", "=im", "=heu", "adel im he"] {
          #expect(finds(argument), "\(argument) after \(shift) and \(filler)")
        }
        for argument in ["=nade", "adel*", "\"adel im heu\"", "=he", "m heu*"] {
          #expect(!finds(argument), "\(argument) after \(shift) and \(filler)")
        }
      }
    }
  }

  @Test("a text is not taken for that of another field, however long the texts are")
  func fields() {
    // 90,000 bytes, letters and separators.
    let letters = "=?iso-8859-1?B?\(String(repeating: "/Pz8", count: 15_000))?="
    let others = "=?iso-8859-1?B?\(String(repeating: "oaGh", count: 15_000))?="
    let metadata = MessageMetadata(title: "lease", contentType: MessageMetadata.mailType)
    func finds(_ argument: String, from: String, to: String) -> Bool {
      // For the sake of the second argument more of each piece is kept.
      var query = query([argument, "-" + String(repeating: "z", count: 200)])
      return query.matches(metadata, Array("From: \(from)\nTo: \(to)\n\nlease".utf8).span.bytes)
    }
    #expect(finds("to:lease", from: "x", to: letters + " lease"))
    #expect(finds("to:lease", from: "x", to: others + " lease"))
    #expect(finds("from:lease", from: "lease " + others, to: "x"))
    #expect(!finds("to:lease", from: "lease", to: others))
    #expect(!finds("to:lease", from: "lease", to: letters))
    #expect(!finds("from:lease", from: others, to: "lease"))
  }
}

/// A message with its texts.
private struct PlainMessage: CustomStringConvertible {
  var texts: [(field: SearchExpression.Field, text: String)]
  var metadata: MessageMetadata
  var content: String

  var description: String { "\(metadata) \(content)" }

  static func random(_ random: inout SeededGenerator) -> PlainMessage {
    let title = AnalyserTests.text(&random)
    let tags = (0..<Int.random(in: 0...2, using: &random)).map { _ in AnalyserTests.text(&random) }
    let body = AnalyserTests.text(&random) + AnalyserTests.text(&random)
    var metadata = MessageMetadata(
      title: title, tags: tags, contentType: "text/markdown; charset=utf-8",
      date: .random(in: 0...2_000_000_000, using: &random))
    var texts = tags.map { (SearchExpression.Field.anywhere, $0) } + [(.title, title), (.anywhere, body)]
    guard Bool.random(using: &random) else {
      return PlainMessage(texts: texts, metadata: metadata, content: body)
    }
    metadata.contentType = MessageMetadata.mailType
    let (from, to) = (line(&random), line(&random))
    texts += [(.sender, from), (.recipients, to)]
    let type = "Content-Type: text/plain; charset=utf-8"
    return PlainMessage(
      texts: texts, metadata: metadata, content: "From: \(from)\nCc: \(to)\n\(type)\n\n\(body)")
  }

  private static func line(_ random: inout SeededGenerator) -> String {
    AnalyserTests.text(&random).replacing("\n", with: " ")
  }

  // MARK: Searches

  func arguments(_ random: inout SeededGenerator) -> [String] {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in
      (Int.random(in: 0..<4, using: &random) == 0 ? "-" : "") + argument(&random)
    }
  }

  /// Mostly of what is in the message.
  private func argument(_ random: inout SeededGenerator) -> String {
    let (field, text) = texts.randomElement(using: &random)!
    let scalars = Array(text.unicodeScalars)
    let start = Int.random(in: 0...scalars.count, using: &random)
    let end = Int.random(in: start...min(scalars.count, start + 6), using: &random)
    let piece = String(String.UnicodeScalarView(scalars[start..<end]))
    let words =
      Bool.random(using: &random) ? piece : SearchPhrase.analysed(text).randomElement(using: &random)
    let word = words ?? "a"
    let term = [word, word, word + "*", "=" + word, "\"\(word)\""].randomElement(using: &random)!
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return "tag:" + (metadata.tags.randomElement(using: &random) ?? term)
    case 1: return "tag:\(word)*"
    case 2: return ["date:..2001", "after:2001", "is:mail", "type:text/*"].randomElement(using: &random)!
    case 3...6: return ([.sender: "from:", .recipients: "to:", .title: "title:"][field] ?? "to:") + term
    default: return term
    }
  }

  // MARK: Plain implementations

  func holds(
    _ expression: SearchExpression, _ has: (SearchPhrase, SearchExpression.Field) -> Bool
  ) -> Bool {
    func isTrue(_ part: SearchExpression.Part) -> Bool {
      switch part.condition {
      case .phrase(let phrase, let field): return has(phrase, field)
      case .tag(let words, let isWhole):
        let tags = metadata.tags.map { Array(SearchPhrase.analysed($0).joined(separator: " ").utf8) }
        return tags.contains { isWhole ? $0 == Array(words.utf8) : $0.starts(with: words.utf8) }
      case .date(let range): return range.contains(metadata.date)
      case .fact(.isMail): return metadata.isMail
      case .fact(.type(let type, _)): return !metadata.isMail && type == "text/"
      case .fact(.hasAttachment): return false
      }
    }
    let alternatives = expression.parts.filter { $0.role == .alternative }
    return expression.parts.allSatisfy { $0.role != .required || isTrue($0) }
      && expression.parts.allSatisfy { $0.role != .excluded || !isTrue($0) }
      && (alternatives.isEmpty || alternatives.contains(where: isTrue))
  }

  private func texts(of field: SearchExpression.Field) -> [String] {
    texts.filter { field == .anywhere || $0.field == field }.map(\.text)
  }

  func hasWords(_ phrase: SearchPhrase, in field: SearchExpression.Field) -> Bool {
    texts(of: field).contains { text in
      let words = SearchPhrase.analysed(text)
      return words.indices.contains { start in
        guard start + phrase.words.count <= words.count else { return false }
        return phrase.words.indices.allSatisfy { index in
          let (word, wanted) = (Array(words[start + index].utf8), Array(phrase.words[index].utf8))
          let isDense = WordClass(of: phrase.words[index].unicodeScalars.first!.value) == .dense
          let beginsHere = index > 0 || phrase.beginsWord && !isDense
          let endsHere = index < phrase.words.count - 1 || phrase.endsWord && !isDense
          return (0...word.count).contains { offset in
            word[offset...].starts(with: wanted) && (!beginsHere || offset == 0)
              && (!endsHere || offset + wanted.count == word.count)
          }
        }
      }
    }
  }

  func hasTokens(_ phrase: SearchPhrase, in field: SearchExpression.Field) -> Bool {
    let wanted = phrase.tokens
    return texts(of: field).contains { text in
      let tokens = Self.tokens(text)
      return tokens.indices.contains { start in
        wanted.allSatisfy { token in
          let place = start + token.position
          guard place < tokens.count else { return false }
          let (there, text) = (tokens[place].unicodeScalars, token.text.unicodeScalars)
          switch token.extent {
          case .whole: return there.elementsEqual(text)
          case .beginning: return there.starts(with: text)
          case .ending: return there.reversed().starts(with: text.reversed())
          case .inside: return there.indices.contains { there[$0...].starts(with: text) }
          }
        }
      }
    }
  }

  /// What an index would have of a text, one position after the other.
  private static func tokens(_ text: String) -> [String] {
    SearchPhrase.analysed(text).flatMap { word -> [String] in
      guard WordClass(of: word.unicodeScalars.first!.value) == .dense else { return [word] }
      var characters: [String] = []
      for scalar in word.unicodeScalars {
        if AnalyserTests.isMark(scalar), !characters.isEmpty {
          characters[characters.count - 1].unicodeScalars.append(scalar)
        } else {
          characters.append(String(scalar))
        }
      }
      return characters.indices.map { characters[$0...].prefix(2).joined() }
    }
  }
}
