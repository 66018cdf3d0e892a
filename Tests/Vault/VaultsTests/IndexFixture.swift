// SPDX-License-Identifier: Apache-2.0
//
// A vault whose index is small: a few messages make segments, and a few segments are merged.

import Foundation
import MessageFormats
import Primitives
import Secrets
import SeededGenerators
import Storage
import Testing

@testable import Vaults

extension IndexLimits {
  /// Everything that happens at thousands of messages happens at tens.
  static var small: IndexLimits {
    var limits = IndexLimits()
    limits.tailCount = 3
    limits.documentCount = 6
    limits.tiers = [6, 20]
    limits.mergedDocumentCount = 40
    limits.fanIn = 3
    limits.instantPurgeCount = 8
    limits.markShare = 4
    return limits
  }
}

extension VaultFixture {
  /// The same vault with a small index, as another command would open it.
  func indexed(_ limits: IndexLimits = .small) -> Vault {
    Vault(
      file: file, keychain: service, clock: time.clock, batch: BatchLimits(messageCount: 4), index: limits)
  }

  /// The files of segments.
  func segmentFiles() throws -> [String] {
    let folder = home.path + "/" + BlobFiles.searchFolderName
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
  }
}

/// What a list or a search gives.
struct Found: Equatable {
  var ids: [MessageID] = []
  var titles: [String] = []
  var count = 0
  var unreadable: [MessageID] = []
}

extension Vault {
  /// What is found, and whether damage was told.
  func found(_ search: Search) throws -> (found: Found, isDamaged: Bool) {
    var found = Found()
    var noticed: IndexTrouble?
    let findings = try find(search, noticed: { noticed = $0 }) { id, metadata, _ in
      found.ids.append(id)
      found.titles.append(metadata.title)
      return true
    }
    found.count = findings.count
    found.unreadable = findings.unreadable.sorted { "\($0)" < "\($1)" }
    #expect(noticed == findings.indexTrouble)
    return (found, findings.indexTrouble != nil)
  }

  /// Compares lists and searches with those that open every message.
  /// - Parameter turn: of the searches, only every fourth; which ones, depends on it.
  func expectAsScanned(
    _ what: String = "", isDamaged: Bool = false, turn: Int? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for (index, search) in try Search.samples.enumerated() {
      if let turn, index % 4 != turn % 4 { continue }
      var scan = search
      scan.isScan = true
      let indexed = try found(search)
      let expected = try found(scan).found
      #expect(
        indexed.found == expected, "\(what): \(String(describing: search.expression))",
        sourceLocation: sourceLocation)
      #expect(indexed.isDamaged == isDamaged, "\(what)", sourceLocation: sourceLocation)
    }
    let state = try read { _, state, _ in state }
    #expect(state.shown.count == state.messageCount, sourceLocation: sourceLocation)
  }
}

extension Vault.Search {
  static var samples: [Vault.Search] {
    get throws {
      func search(_ words: String..., isAny: Bool = false) throws -> SearchExpression {
        try SearchExpression(words, isAny: isAny)
      }
      return [
        .init(), .init(nil, .init(order: .stored, isReversed: true)), .init(nil, .init(order: .title)),
        .init(nil, .init(order: .size)), .init(nil, .init(limit: 5)), .init(nil, .init(tag: "home")),
        .init(nil, .init(limit: .max)), .init(nil, .init(limit: 4, isReversed: true)),
        .init(nil, .init(limit: 3, order: .stored)), .init(nil, .init(limit: 3, order: .title)),
        .init(nil, .init(limit: 3, order: .size, isReversed: true)),
        .init(try search("garden"), .init(limit: 2, isReversed: true)),
        .init(nil, .init(tag: "home", limit: 2, isReversed: true)), .init(try search("garden")),
        .init(try search("gard", "shed")), .init(try search("garden", "shed", isAny: true)),
        .init(try search("\"the garden\"")), .init(try search("shed", "-garden"), .init(limit: 3)),
        .init(try search("tag:home")), .init(try search("title:lease"), .init(isReversed: true)),
        .init(try search("the"), isCounted: true), .init(try search("nowhere")),
        .init(try search("after:2020", "garden")), .init(try search("from:ann")),
      ]
    }
  }
}

/// Messages made of a few words.
struct MessageMaker {
  var random: SeededGenerator
  private var count = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private static let words = [
    "garden", "shed", "lease", "the", "key", "rent", "ivy", "Straße", "日本語", "naïve", "gardens", "hinge",
  ]

  mutating func next() -> (metadata: MessageMetadata, content: [UInt8]) {
    count += 1
    let title = words(Int.random(in: 1...3, using: &random)) + " \(count)"
    let tags = ["home", "work", "old"].filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    let date = Int64.random(in: 1_500_000_000...1_700_000_000, using: &random) / 40_000_000 * 40_000_000
    guard Int.random(in: 0..<4, using: &random) > 0 else {
      let sender = ["ann", "ben"].randomElement(using: &random) ?? ""
      let mail =
        "From: \(sender)@example.org\r\nTo: me@example.org\r\nSubject: \(title)\r\n\r\n"
        + words(Int.random(in: 0...8, using: &random)) + "\r\n"
      return (
        MessageMetadata(title: title, tags: tags, contentType: MessageMetadata.mailType, date: date),
        Array(mail.utf8)
      )
    }
    return (
      MessageMetadata(title: title, tags: tags, contentType: "text/plain", date: date),
      Array(words(Int.random(in: 0...9, using: &random)).utf8)
    )
  }

  private mutating func words(_ count: Int) -> String {
    var words: [String] = []
    for _ in 0..<count { words.append(Self.words.randomElement(using: &random) ?? "") }
    return words.joined(separator: " ")
  }
}
