// SPDX-License-Identifier: Apache-2.0
//
// Title, note and tags: given while the coffer is locked, changed, kept whole, and never in the files as they are. All
// of it with the class *after first unlock* alone, as the fixture has it.

import Foundation
import Keychains
import MemorySearch
import Primitives
import Secrets
import SeededGenerators
import Storage
import Testing

@testable import Captures

@Suite("Titles, notes and tags of captures", .serialized)
struct CaptureLabelTests {
  private static let label = CaptureLabel(
    title: "Water meter", note: "1204 m³\nread by Ann", tags: ["home", "spring 2025"])

  private func add(_ fixture: CaptureFixture, _ label: CaptureLabel, seed: UInt64 = 1) throws -> CaptureID {
    var capture = NewCapture(photo: source(bytes(600, seed: seed)))
    capture.label = label
    return try fixture.store.add(capture, signer: fixture.signer).id
  }

  @Test("A label is stored with a new capture and changed later; the signed parts stay")
  func works() throws {
    let fixture = try CaptureFixture()
    let id = try add(fixture, Self.label)
    let other = try add(fixture, CaptureLabel(), seed: 2)
    let before = try fixture.store.info(id)
    #expect(before.summary.label == Self.label && before.isLabelCurrent)
    #expect(
      try fixture.store.changeLabel(of: id) {
        $0.title = "Gas meter"
        $0.tags.removeFirst()
      })
    // What the next command sees.
    let store = try fixture.store(at: fixture.home.path)
    let after = try store.info(id)
    #expect(
      after.summary.label == CaptureLabel(title: "Gas meter", note: Self.label.note, tags: ["spring 2025"]))
    #expect(after.parts == before.parts && after.manifest == before.manifest && after.isLabelCurrent)
    #expect(try store.info(other).summary.label == CaptureLabel())
    #expect(try store.verify(id).signer == .thisDevice)
    #expect(try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 2))
  }

  @Test("A change to the same label writes nothing; one that fails changes nothing")
  func unchanged() throws {
    let fixture = try CaptureFixture()
    let id = try add(fixture, Self.label)
    let state = try fixture.value("SELECT sealed FROM captureState")
    let record = try fixture.value("SELECT record FROM captures")
    #expect(try !fixture.store.changeLabel(of: id) { $0.title = Self.label.title })
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      try fixture.store.changeLabel(of: id, { $0.title = "x" }, alongside: { _ in throw Refused() })
    }
    #expect(throws: CaptureError.notFound) {
      try fixture.store.changeLabel(of: CaptureID()) { $0.title = "x" }
    }
    #expect(try fixture.value("SELECT sealed FROM captureState") == state)
    #expect(try fixture.value("SELECT record FROM captures") == record)
    #expect(try fixture.store.list().map(\.label) == [Self.label])
  }

  @Test("What is too long is refused, and nothing is stored")
  func limits() throws {
    let fixture = try CaptureFixture()
    let id = try add(fixture, Self.label)
    let tooLarge: [CaptureLabel] = [
      CaptureLabel(title: String(repeating: "t", count: 16_385)),
      CaptureLabel(tags: [String(repeating: "t", count: 1_025)]),
      CaptureLabel(tags: (0..<256).map { "\($0)" }),
      CaptureLabel(note: String(repeating: "n", count: 65_536)),
    ]
    for label in tooLarge {
      #expect(throws: CaptureError.labelTooLarge(byteCountLimit: 65_536)) { try add(fixture, label, seed: 3) }
      #expect(throws: CaptureError.labelTooLarge(byteCountLimit: 65_536)) {
        try fixture.store.changeLabel(of: id) { $0 = label }
      }
    }
    #expect(try fixture.store.list().map(\.label) == [Self.label])
    // The largest that there may be.
    let largest = CaptureLabel(
      title: String(repeating: "t", count: 16_384), note: String(repeating: "é", count: 24_572))
    #expect(largest.bytes.count == 65_535)
    #expect(try fixture.store.changeLabel(of: id) { $0 = largest })
    #expect(try fixture.store.list().map(\.label) == [largest])
  }

  @Test("Any label comes back as it was", arguments: 0..<40)
  func roundTrip(seed: Int) throws {
    var random = SeededGenerator(run: UInt64(seed))
    let letters = Array("aé漢🙂 \n\u{0}\u{202E}\t\"").map(String.init)
    func text(_ count: Int) -> String {
      (0..<Int.random(in: 0...count, using: &random)).map { _ in letters.randomElement(using: &random)! }
        .joined()
    }
    let label = CaptureLabel(title: text(30), note: text(300), tags: (0..<seed % 5).map { _ in text(12) })
    let record = CaptureRecord(
      created: 5,
      parts: [.photo, .manifest, .assertion].map {
        PartEntry(part: $0, byteCount: 1, hash: [UInt8](repeating: 7, count: 32), place: .row)
      }, label: label)
    let key = SharedSecretBytes(SecretBytes(zeroed: 32))
    let id = CaptureID()
    let mark = [UInt8](repeating: 1, count: 32)
    let sealed = record.sealed(id, mark: mark, key: key)
    #expect(try CaptureRecord(sealed: sealed.span.bytes, id, mark: mark, key: key) == record)
    // Of another capture, with another mark, under another key: never.
    let other = SharedSecretBytes(SecretBytes(copying: [UInt8](repeating: 9, count: 32).span.bytes))
    #expect(throws: CaptureError.corrupt(nil)) {
      try CaptureRecord(sealed: sealed.span.bytes, CaptureID(), mark: mark, key: key)
    }
    #expect(throws: CaptureError.corrupt(nil)) {
      try CaptureRecord(sealed: sealed.span.bytes, id, mark: [UInt8](repeating: 2, count: 32), key: key)
    }
    #expect(throws: CaptureError.corrupt(nil)) {
      try CaptureRecord(sealed: sealed.span.bytes, id, mark: mark, key: other)
    }
  }

  @Test("A label that was cut off, or has lengths beyond its end or bytes that are not UTF-8, is none")
  func malformed() throws {
    let whole = Self.label.bytes
    func read(_ bytes: [UInt8]) -> CaptureLabel? { CaptureLabel(bytes.span.bytes) }
    #expect(read(whole) == Self.label)
    for end in 0..<whole.count { #expect(read(Array(whole[..<end])) == nil, "\(end)") }
    #expect(read(whole + [0]) == nil)
    var foreign = whole
    foreign[2] = 0xFF
    #expect(read(foreign) == nil)
  }

  @Test(
    "An earlier label that is put back is noticed: lists end with damage, and it is not taken for the present one"
  )
  func putBack() throws {
    let fixture = try CaptureFixture()
    let id = try add(fixture, Self.label)
    let other = try add(fixture, CaptureLabel(title: "other"), seed: 2)
    let earlier = try #require(try fixture.value("SELECT record FROM captures WHERE number = 1"))
    _ = try fixture.store.changeLabel(of: id) { $0.title = "Gas meter" }
    let present = try #require(try fixture.value("SELECT record FROM captures WHERE number = 1"))
    try fixture.change("UPDATE captures SET record = ? WHERE number = 1", .bytes(earlier))
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
    #expect(try !fixture.store.listing().isComplete)
    #expect(try !fixture.store.info(id).isLabelCurrent)
    #expect(try !fixture.store.info(other).isLabelCurrent)
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.examine(isDeep: false) }
    // A later change does not hide it.
    _ = try fixture.store.changeLabel(of: id) { $0.title = "Heat meter" }
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
    try fixture.change("UPDATE captures SET record = ? WHERE number = 1", .bytes(present))
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
  }

  @Test("Killed at any moment before the transaction ends, the former label is there; after it, the new one")
  func crash() throws {
    let fixture = try CaptureFixture()
    let id = try add(fixture, Self.label)
    var within: String?
    _ = try fixture.store.changeLabel(
      of: id, { $0.title = "Gas meter" }, alongside: { _ in within = try fixture.snapshot() })
    let after = try fixture.snapshot()
    let expected = [(try #require(within), Self.label.title), (after, "Gas meter")]
    for (copy, title) in expected {
      defer { try? FileManager.default.removeItem(atPath: copy) }
      let store = try fixture.store(at: copy)
      #expect(try store.list().map(\.label.title) == [title])
      #expect(try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 1))
      #expect(try store.changeLabel(of: id) { $0.title = "later" })
      #expect(try store.list().map(\.label.title) == ["later"])
    }
  }

  @Test("No byte of a title, a note or a tag is in the files, before and after a change")
  func files() throws {
    let fixture = try CaptureFixture()
    let words = ["title", "note", "tag", "later"].map { "\($0)-\(UUID().uuidString)" }
    let id = try add(fixture, CaptureLabel(title: words[0], note: words[1], tags: [words[2]]))
    func check() throws {
      let names = try FileManager.default.subpathsOfDirectory(atPath: fixture.home.path)
      #expect(names.contains("coffer.db"))
      for name in names {
        let content = (try? Data(contentsOf: URL(filePath: "\(fixture.home.path)/\(name)"))) ?? Data()
        for word in words { #expect(content.range(of: Data(word.utf8)) == nil, "\(name)") }
      }
    }
    try check()
    #expect(try fixture.store.changeLabel(of: id) { $0.title = words[3] })
    try check()
  }

  @Test("After a change the keys that sealed it are nowhere in memory")
  func memory() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (tests, fixture) = (CaptureLabelTests(), try CaptureFixture())
        let id = try tests.add(fixture, CaptureLabelTests.label)
        let needles = try tests.needles(fixture)
        try tests.change(fixture, id)
        fixture.store.clearCache()
        for needle in needles { try ProcessMemory.expectGone(needle) }
      }
    }
  }

  @inline(never)
  private func needles(_ fixture: CaptureFixture) throws -> [Needle] {
    let key = try fixture.keychain.loadSecret(
      forKey: KeychainService.Account.captureKey, in: .afterFirstUnlockThisDeviceOnly)
    guard let key else { throw CaptureError.encryptionKeyNotFound }
    let record = try fixture.store.keys().record.withBytes { Needle($0) }
    return [key.withBytes { Needle($0) }, record]
  }

  @inline(never)
  private func change(_ fixture: CaptureFixture, _ id: CaptureID) throws {
    _ = try fixture.store.changeLabel(of: id) { $0.note = "changed" }
    _ = try fixture.store.listing()
  }
}
