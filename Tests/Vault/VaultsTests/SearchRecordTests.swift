// SPDX-License-Identifier: Apache-2.0
//
// The record that says which segments count: its bytes, and what is refused.

import Foundation
import Primitives
import SearchIndex
import SpecExamples
import Storage
import Testing

@testable import Vaults

@Suite("The record of the search index")
struct SearchRecordTests {
  private static func example() throws -> SearchRecord {
    var record = SearchRecord()
    record.revision = 5
    record.indexedThrough = 300
    record.indexed = SetDigest(count: 9, sum: Array(0x20..<0x40))
    record.segments = [
      .init(
        description: SegmentDescription(
          id: try #require(BlobName(bytes: Array(0xA0..<0xB0))), keyVersion: 1, numbers: 1...7,
          documentCount: 6, blockCount: 9, rootBlockCount: 1)),
      .init(
        description: SegmentDescription(
          id: try #require(BlobName(bytes: Array(0xC0..<0xD0))), keyVersion: 2, numbers: 8...300,
          documentCount: 5, blockCount: 10, rootBlockCount: 1), marks: [8, 208],
        firstMarked: 1_759_536_000),
    ]
    return record
  }

  private func read(_ bytes: [UInt8]) -> SearchRecord? { SearchRecord(bytes: bytes.span.bytes) }

  private static func state() -> VaultState {
    var state = VaultState(currentVersion: 2, keys: [])
    state.searchRevision = 5
    state.highestNumber = 310
    state.shown.count = 12
    return state
  }

  @Test("The bytes are those of the page, and give the record again")
  func example() throws {
    let expected = try SpecExample(page: "search-index.md").bytes("record")
    let record = try Self.example()
    #expect(record.bytes == expected)
    #expect(read(expected) == record)
    #expect(record.fits(Self.state()))
  }

  @Test("Bytes that are changed, missing or too many are another record or none")
  func changed() throws {
    let record = try Self.example()
    let bytes = record.bytes
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 0x01
      #expect(read(changed) != record)
      #expect(read(Array(bytes[..<place])) == nil)
    }
    #expect(read(bytes + [0]) == nil)
    // The last mark, not in its shortest form.
    #expect(read(bytes.dropLast() + [0x81, 0x00]) == nil)
  }

  @Test("A record belongs to one state alone")
  func fits() throws {
    let (record, state) = (try Self.example(), Self.state())
    func fits(_ change: (inout SearchRecord, inout VaultState) -> Void) -> Bool {
      var (record, state) = (record, state)
      change(&record, &state)
      return record.fits(state)
    }
    #expect(fits { _, _ in })
    #expect(
      !fits {
        $0.revision = 4; $1.searchRevision = 5
      })
    #expect(!fits { $1.searchRevision = 6 })
    #expect(!fits { $1.highestNumber = 299 })
    #expect(!fits { $1.shown.count = 8 })
    #expect(!fits { record, _ in record.segments[1].marks = [8] })
    #expect(!fits { record, _ in record.indexedThrough = 299 })
    #expect(!fits { record, _ in record.segments.reverse() })
    #expect(!fits { record, _ in record.segments[0].description.numbers = 1...8 })
  }

  @Test("A row is marked once, and only where a segment answers for it")
  func marks() throws {
    var record = try Self.example()
    #expect(record.mark(100, at: 7) && record.segments[1].marks == [8, 100, 208])
    #expect(record.segments[1].firstMarked == 1_759_536_000)
    #expect(!record.mark(100, at: 7) && !record.mark(301, at: 7))
    #expect(record.mark(3, at: 7) && record.segments[0].marks == [3] && record.segments[0].firstMarked == 7)
  }

  @Test("Eight neighbours of a tier are merged, and none grows beyond the last")
  func merging() throws {
    let limits = IndexLimits.standard
    func segments(_ counts: [Int], blockCount: Int = 9) throws -> [SearchRecord.Segment] {
      var first: Int64 = 1
      return try counts.enumerated().map { index, count in
        defer { first += Int64(count) }
        return .init(
          description: SegmentDescription(
            id: try #require(BlobName(bytes: [UInt8](repeating: UInt8(index), count: 16))), keyVersion: 1,
            numbers: first...first + Int64(count) - 1, documentCount: count, blockCount: blockCount,
            rootBlockCount: 1))
      }
    }
    let eight = Array(repeating: 8_192, count: 8)
    #expect(limits.nextMerge(try segments(Array(eight.dropLast()))) == nil)
    #expect(limits.nextMerge(try segments([65_536] + eight)) == 1..<9)
    #expect(limits.nextMerge(try segments([8_192, 65_536] + eight.dropLast())) == nil)
    #expect(limits.nextMerge(try segments(Array(repeating: 65_536, count: 8))) == nil)
    #expect(limits.nextMerge(try segments(Array(repeating: 9_000, count: 8))) == 0..<8)
    #expect(limits.nextFullMerge(try segments([131_072, 8_192, 100])) == 1..<3)
    #expect(limits.nextFullMerge(try segments([100_000, 31_072, 1])) == 0..<2)
    #expect(limits.nextFullMerge(try segments([100_000, 100_000])) == nil)
    #expect(limits.largest(segmentCount: 128) == 262_144)
    // Without those that failed, and never to a file that is too large.
    let failed = Set(try segments(Array(repeating: 8_192, count: 3))[2...].map(\.description.id))
    #expect(limits.nextMerge(try segments(eight), except: failed) == nil)
    #expect(limits.nextMerge(try segments(eight + eight), except: failed) == 3..<11)
    #expect(limits.nextFullMerge(try segments([100, 100, 100, 100, 100]), except: failed) == 0..<2)
    #expect(limits.nextFullMerge(try segments([100, 131_072, 100, 100, 100]), except: failed) == 3..<5)
    #expect(limits.nextMerge(try segments(eight, blockCount: 1 << 16)) == 0..<8)
    #expect(limits.nextMerge(try segments(eight, blockCount: 1 << 16 + 1)) == nil)
    #expect(limits.nextFullMerge(try segments([1, 1, 1], blockCount: 1 << 18)) == 0..<2)
  }
}
