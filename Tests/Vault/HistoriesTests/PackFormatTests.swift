// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Bytes of packs")
struct PackFormatTests {
  private let samples = Samples()
  private let frames: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 300)]

  @Test("frames come back as they were sealed")
  func roundTrip() throws {
    var samples = samples
    let many = (0..<100).map { _ in samples.machine.random(1_000) }
    // Large ones are not copied into the buffer in which small ones wait.
    let mixed = [500, 3 << 20, 70_000, 1 << 20, (1 << 20) - 1, 9].map { samples.machine.random($0) }
    for frames in [frames, [[]], many, mixed] {
      let object = samples.pack(frames)
      #expect(Padme.size(object.count) == object.count)
      #expect(
        object.count
          == Pack.byteCount(frameCount: frames.count, frameByteCount: frames.reduce(0) { $0 + $1.count }))
      #expect(try Pack.epoch(of: object) == samples.keys.name)
      let directory = try Pack.directory(of: object, keys: samples.keys, account: samples.account)
      #expect(directory.entries.map(\.kind) == frames.map { _ in .frame } + [.padding])
      #expect(directory.entries.dropLast().map(\.hash) == frames.map { SHA256.hash($0.rawSpan) })
      for (index, frame) in frames.enumerated() {
        #expect(try samples.entry(UInt32(index + 1), of: object) == frame)
        #expect(
          try Pack.entry(
            UInt32(index + 1), of: object, directory: directory, keys: samples.keys, account: samples.account
          ).testBytes == frame)
      }
      #expect(try samples.entry(UInt32(frames.count + 1), of: object).allSatisfy { $0 == 0 })
    }
  }

  @Test("the example keeps its bytes")
  func example() {
    let object = samples.pack(frames)
    #expect(object.count == 1_472)
    #expect(digest(object) == "9b2fcfe69867038521c18ffc1c6f49b17040c9e154eaba93fd08b0ecdee4925c")
  }

  @Test("the salt depends on the random bytes and on the frames")
  func salts() {
    let salts = [
      samples.pack(frames), samples.pack(frames, random: [UInt8](repeating: 2, count: 32)),
      samples.pack([[1, 2, 4]] + frames.dropFirst()), samples.pack(frames.dropLast()),
    ].map { Array($0[16..<48]) }
    #expect(Set(salts).count == salts.count)
    #expect(samples.pack(frames) == samples.pack(frames))
  }

  @Test("each changed byte is refused, by the directory or by the entry, and each other length")
  func changedBytes() {
    let object = samples.pack(frames)
    let open = { (object: [UInt8]) throws in
      for number in 1...4 { _ = try samples.entry(UInt32(number), of: object) }
    }
    expectEachByteGuards(object, open)
    expectNoOtherLength(object) {
      _ = try Pack.directory(of: $0, keys: samples.keys, account: samples.account)
    }
  }

  @Test("other keys, another account and entries that are not there are refused")
  func otherPlaces() {
    let object = samples.pack(frames)
    #expect(throws: FormatError.otherEpoch) {
      try Pack.entry(1, of: object, keys: samples.otherKeys, account: samples.account)
    }
    #expect(throws: FormatError.notAuthentic) {
      try Pack.entry(1, of: object, keys: samples.keys, account: samples.otherAccount)
    }
    for number: UInt32 in [0, 5, .max] {
      #expect(throws: FormatError.malformed) { try samples.entry(number, of: object) }
    }
  }

  @Test("entries do not open in one another's place, nor with another pack's directory")
  func exchanged() throws {
    let frames = [[1, 2, 3], [4, 5, 6]] as [[UInt8]]
    var object = samples.pack(frames)
    let entries = try Pack.directory(of: object, keys: samples.keys, account: samples.account).entries
    let (first, second) = (entries[0].offset..<entries[1].offset, entries[1].offset..<entries[2].offset)
    #expect(try samples.entry(2, of: object) == [4, 5, 6])
    object.replaceSubrange(first.lowerBound..<second.upperBound, with: Array(object[second] + object[first]))
    for number: UInt32 in [1, 2] {
      #expect(throws: FormatError.notAuthentic) { try samples.entry(number, of: object) }
    }
    let directory = try Pack.directory(
      of: samples.pack([[1, 2, 3], [4, 5, 7]]), keys: samples.keys, account: samples.account)
    #expect(throws: FormatError.malformed) {
      try Pack.entry(
        2, of: samples.pack(frames), directory: directory, keys: samples.keys, account: samples.account)
    }
  }

  @Test("directories that are not in the one form are refused")
  func otherForms() throws {
    let entries = try Pack.directory(of: samples.pack(frames), keys: samples.keys, account: samples.account)
      .entries
    let start = entries[0].offset
    let end = entries[3].offset + entries[3].sealedByteCount
    let right = Pack.Directory.bytes(entries)
    func read(_ bytes: [UInt8], start: Int = start, end: Int = end) throws {
      _ = try Pack.Directory(bytes, entriesAt: start, objectByteCount: end)
    }
    try read(right)
    func change(_ offset: Int, _ value: UInt8) -> [UInt8] {
      var bytes = right
      bytes[offset] = value
      return bytes
    }
    // Count, kind, padding that is not the last, offset, length, zeros, and a size of another count.
    let wrongs = [
      change(3, 0), change(3, 1), change(3, 3), change(3, 5), change(4, 0), change(4, 5), change(4, 4),
      change(8, right[8] ^ 1), change(12, right[12] ^ 1), change(right.count - 1, 1), right + right,
      Array(right.dropLast()),
    ]
    for wrong in wrongs { #expect(throws: FormatError.malformed) { try read(wrong) } }
    #expect(throws: FormatError.tooLarge) { try read(change(1, 2)) }
    #expect(throws: FormatError.malformed) { try read(right, end: end + 1) }
    #expect(throws: FormatError.malformed) { try read(right, start: start + 1) }
    // The last entry brings the object to its size, and not beyond it.
    var longer = entries
    longer[3] = Pack.Directory.Entry(
      kind: .padding, offset: entries[3].offset, sealedByteCount: entries[3].sealedByteCount + 64,
      hash: entries[3].hash)
    #expect(throws: FormatError.malformed) { try read(Pack.Directory.bytes(longer), end: end + 64) }
  }

  @Test("limits are kept by writer and reader")
  func limits() throws {
    #expect(Pack.byteCount(frameCount: 0, frameByteCount: 0) == nil)
    #expect(Pack.byteCount(frameCount: 65_536, frameByteCount: 0) == nil)
    #expect(Pack.byteCount(frameCount: 1, frameByteCount: Pack.byteCountLimit) == nil)
    let most = Pack.byteCountLimit - 52 - 1_024 - 16 - 32
    #expect(Pack.frameByteCountLimit == most)
    #expect(Pack.byteCount(frameCount: 1, frameByteCount: most) == Pack.byteCountLimit)
    #expect(Pack.byteCount(frameCount: 1, frameByteCount: most + 1) == nil)
    let object = samples.pack([[UInt8](repeating: 3, count: most)])
    #expect(object.count == Pack.byteCountLimit)
    #expect(try samples.entry(1, of: object).count == most)
    #expect(throws: FormatError.tooLarge) {
      try Pack.directory(of: object + [0], keys: samples.keys, account: samples.account)
    }
    let many = samples.pack([[UInt8]](repeating: [1], count: 65_535))
    let directory = try Pack.directory(of: many, keys: samples.keys, account: samples.account)
    #expect(directory.entries.count == Pack.entryCountLimit)
    #expect(
      try Pack.entry(65_535, of: many, directory: directory, keys: samples.keys, account: samples.account)
        .testBytes == [1])
  }
}

extension Samples {
  fileprivate func pack(
    _ frames: some Sequence<[UInt8]>, random: [UInt8] = [UInt8](repeating: 1, count: 32)
  ) -> [UInt8] {
    Pack.seal(
      frames.map { SharedSecretBytes(testing: $0) }, random: random, keys: keys, account: account)
  }

  fileprivate func entry(_ number: UInt32, of object: [UInt8]) throws -> [UInt8] {
    try Pack.entry(number, of: object, keys: keys, account: account).testBytes
  }
}
