// SPDX-License-Identifier: Apache-2.0
//
// The decoders without the cipher: whatever the bytes are, they answer or throw.

import Extents
import MessageFormats
import Primitives
import Storage
import SeededGenerators
import Testing

@testable import SearchIndex

@Suite("Decoders of a segment")
struct DecoderTests {
  private let description = SegmentDescription(
    id: SegmentSeed().id, keyVersion: 1, numbers: 1...2_000, documentCount: 1_000, blockCount: 9,
    rootBlockCount: 1)

  @Test("lists come back as they were written")
  func lists() throws {
    var random = SeededGenerator(run: 41)
    var encoder = ListEncoder()
    for round in 0..<300 {
      var occurrences: [Occurrence] = []
      let density = Int.random(in: 1...500, using: &random)
      for ordinal in 0..<UInt32(1_000) where Int.random(in: 0..<density, using: &random) == 0 {
        var position: UInt32 = 0
        let count =
          round % 10 == 0 ? Int.random(in: 1...200, using: &random) : Int.random(in: 1...3, using: &random)
        for _ in 0..<count {
          position += UInt32.random(in: 1...(round % 3 == 0 ? 5_000 : 5), using: &random)
          occurrences.append(Occurrence(ordinal, position))
        }
      }
      guard !occurrences.isEmpty else { continue }
      var measure = ListMeasure()
      measure.add(occurrences, count: occurrences.count)
      encoder.begin(measure)
      encoder.add(occurrences, count: occurrences.count)
      encoder.finish()
      let count = measure.documentCount
      var decoded = ErasedArray<Occurrence>(capacity: 16)
      var decoder = ListDecoder(documentCount: 1_000)
      try decoder.decode(
        documents: encoder.documents.bytes.array, count: count, positions: encoder.positions.bytes.array,
        into: &decoded)
      #expect(decoded.array == occurrences)
      // A byte more or less is damage.
      let (documents, positions) = (encoder.documents.bytes.array, encoder.positions.bytes.array)
      let wrongs: [([UInt8], [UInt8])] = [
        (documents.dropLast(), positions), (documents + [0], positions), (documents, positions.dropLast()),
        (documents, positions + [0]),
      ]
      for wrong in wrongs {
        decoded.removeAll()
        #expect(throws: SegmentError.damaged) {
          try decoder.decode(documents: wrong.0, count: count, positions: wrong.1, into: &decoded)
        }
      }
    }
  }

  @Test("lists of random bytes give ordinals and positions in order, or damage")
  func randomLists() {
    var decoder = ListDecoder(documentCount: 1_000)
    var decoded = ErasedArray<Occurrence>(capacity: 16)
    for var random in Shares("random lists", count: 4).generators(full: 4) {
      for _ in 0..<5_000 {
        decoded.removeAll()
        let (documents, positions) = (bytes(&random), bytes(&random))
        do {
          try decoder.decode(
            documents: documents, count: .random(in: 0...1_200, using: &random), positions: positions,
            into: &decoded)
          let all = decoded.array
          #expect(all.allSatisfy { $0.ordinal < 1_000 && $0.position < 1 << 20 })
          #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
        } catch { #expect(error == .damaged) }
      }
    }
  }

  /// Mostly small numbers, which go further than others.
  private func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    let limit = [2, 16, 255].randomElement(using: &random)!
    return (0..<Int.random(in: 0...200, using: &random)).map { _ in
      UInt8.random(in: 0...UInt8(limit), using: &random)
    }
  }

  @Test("rows and roots of random bytes are damage, or what they say")
  func randomRoots() {
    var rows = RowsReader()
    let head: [UInt8] = [1, 0, 1, 0, 0, 3, 232, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7, 208]
    for var random in Shares("random roots", count: 4).generators(full: 4) {
      for _ in 0..<5_000 {
        let group = RowGroup(
          bytes: 0..<1, ordinals: 0..<Int.random(in: 1...4, using: &random), numbers: 1...9)
        do { try rows.open(group, parsing: bytes(&random)) } catch { #expect(error == .damaged) }
        do {
          _ = try SegmentRoot(parsing: head + bytes(&random), description) { _, _, _ in }
        } catch { #expect(error == .damaged) }
      }
    }
  }

  @Test("the root of a segment with any byte changed is damage, or another root that is whole")
  func changedRoots() throws {
    var random = SeededGenerator(run: 44)
    let folder = try SegmentFolder()
    let messages = Corpus.messages(40, &random)
    let description = try folder.build(messages)
    let root = try folder.open(description).root.bytes.array
    for offset in root.indices {
      for _ in 0..<8 {
        var changed = root
        changed[offset] = .random(in: 0...255, using: &random)
        do {
          _ = try SegmentRoot(parsing: changed, description) { _, _, _ in }
        } catch SegmentError.otherAnalyser(let found) {
          #expect((1...2).contains(offset) && found != 1)
        } catch { #expect(error == .damaged) }
      }
      #expect(throws: SegmentError.damaged) {
        _ = try SegmentRoot(parsing: Array(root[..<offset]), description) { _, _, _ in }
      }
    }
  }

  @Test("numbers are read in their shortest form alone")
  func numbers() throws {
    for number: UInt64 in [0, 1, 127, 128, 16_383, 16_384, 1 << 40, 1 << 63 - 1] {
      var bytes = ErasedArray<UInt8>(capacity: 16)
      bytes.append(varint: number)
      var place = SegmentCursor(0..<bytes.count)
      #expect(try bytes.withBytes { bytes throws(SegmentError) in try place.varint(bytes) } == number)
      #expect(place.isAtEnd)
    }
    for number: Int64 in [0, -1, 1, -2, 1 << 61, -1 << 61] {
      var bytes = ErasedArray<UInt8>(capacity: 16)
      bytes.append(zigzag: number)
      var place = SegmentCursor(0..<bytes.count)
      #expect(try bytes.withBytes { bytes throws(SegmentError) in try place.zigzag(bytes) } == number)
    }
    for wrong: [UInt8] in [[], [0x80], [0x80, 0], [0xFF, 0x80, 0], Array(repeating: 0xFF, count: 9) + [1]] {
      var place = SegmentCursor(0..<wrong.count)
      #expect(throws: SegmentError.damaged) { _ = try place.varint(wrong.span.bytes) }
    }
  }
}

extension ErasedArray {
  var array: [Element] { (0..<count).map { self[$0] } }
}
