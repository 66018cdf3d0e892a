// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Histories

@Suite("Bytes of segments")
struct SegmentFormatTests {
  private var samples = Samples()
  private let signature = [UInt8](repeating: 0x5A, count: 64)

  @Test("a segment comes back as it was sealed")
  func roundTrip() throws {
    var samples = samples
    for segment in [samples.segment(), samples.firstSegment()] {
      let object = seal(segment)
      #expect(object.count == segment.sealedByteCount)
      #expect(try SegmentSeal.epoch(of: object) == samples.keys.name)
      let opened = try SegmentSeal.open(
        object, account: samples.account, device: samples.device, number: segment.number, keys: samples.keys)
      #expect(opened.segment == segment)
      #expect(opened.signedBytes == segment.body())
      #expect(opened.signature == signature)
      #expect(opened.segment.body() == segment.body())
      #expect(seal(segment) == object)
    }
  }

  @Test("a body with its signature has a Padmé size")
  func padding() {
    var samples = samples
    var segment = samples.segment()
    for _ in 0..<40 {
      let count = segment.body().count + 64
      #expect(Padme.size(count) == count)
      segment.operations.append(.add(samples.addition()))
    }
  }

  @Test("the example keeps its bytes")
  func example() {
    var samples = samples
    let object = seal(samples.segment())
    #expect(object.count == 896)
    #expect(digest(object) == "7af3eabdc3dae092426b22675da8fe4a58b56176efb5ba17a87301b0fc0aa7c2")
  }

  @Test("each changed byte is refused, and each other length")
  func changedBytes() {
    var samples = samples
    let object = seal(samples.segment())
    let open = { (object: [UInt8]) throws in
      _ = try SegmentSeal.open(
        object, account: samples.account, device: samples.device, number: 5, keys: samples.keys)
    }
    expectEachByteGuards(object, open)
    expectNoOtherLength(object, open)
  }

  @Test("other keys, another account, device and number are refused")
  func otherPlaces() {
    var samples = samples
    let object = seal(samples.segment())
    let (account, device, keys) = (samples.account, samples.device, samples.keys)
    #expect(throws: FormatError.otherEpoch) {
      try SegmentSeal.open(object, account: account, device: device, number: 5, keys: samples.otherKeys)
    }
    #expect(throws: FormatError.notAuthentic) {
      try SegmentSeal.open(object, account: samples.otherAccount, device: device, number: 5, keys: keys)
    }
    #expect(throws: FormatError.notAuthentic) {
      try SegmentSeal.open(object, account: account, device: samples.otherDevice, number: 5, keys: keys)
    }
    #expect(throws: FormatError.notAuthentic) {
      try SegmentSeal.open(object, account: account, device: device, number: 6, keys: keys)
    }
  }

  @Test("a segment that is sealed for one place and names another is refused")
  func misplaced() {
    var samples = samples
    var segment = samples.segment()
    let body = segment.body()
    segment.number = 6
    let object = SegmentSeal.seal(
      signedBytes: body, signature: signature, segment: segment, keys: samples.keys)
    #expect(throws: FormatError.misplaced) {
      try SegmentSeal.open(
        object, account: samples.account, device: samples.device, number: 6, keys: samples.keys)
    }
  }

  @Test("a second form of one segment, with a salt of its own, is refused")
  func otherSalt() {
    var samples = samples
    var context = samples.account.bytes + samples.device.bytes
    context.append(bigEndian: UInt64(5))
    let seal = DeterministicSeal(key: samples.keys.segment, label: "coffer segment v1", context: context)
    let salt = [UInt8](repeating: 1, count: 32)
    let object = seal.seal(
      samples.segment().body() + signature,
      after: ObjectHead.bytes(magic: "COFSEG01", epoch: samples.keys.name, salt: salt), salt: salt)
    #expect(throws: FormatError.malformed) {
      try SegmentSeal.open(
        object, account: samples.account, device: samples.device, number: 5, keys: samples.keys)
    }
  }

  @Test("another version of the object or the body is told from damage")
  func versions() {
    var samples = samples
    var object = seal(samples.segment())
    object[7] = UInt8(ascii: "2")
    #expect(throws: FormatError.unknownVersion) { try SegmentSeal.epoch(of: object) }
    object[0] = 0
    #expect(throws: FormatError.malformed) { try SegmentSeal.epoch(of: object) }
    expect(.unknownVersion, samples.segment()) { $0[0] = 2 }
  }

  @Test("bodies that are not in the one form are refused")
  func otherForms() {
    var samples = samples
    let segment = samples.segment()
    // number, then the hash before
    expect(.malformed, segment) { $0.replaceSubrange(33..<41, with: [0, 0, 0, 0, 0, 0, 0, 0]) }
    expect(.malformed, segment) { $0.replaceSubrange(33..<41, with: [0, 0, 0, 0, 0, 0, 0, 1]) }
    expect(.malformed, segment) { $0.replaceSubrange(41..<73, with: [UInt8](repeating: 0, count: 32)) }
    // highest format, holds
    expect(.malformed, segment) { $0.replaceSubrange(89..<91, with: [0, 0]) }
    expect(.malformed, segment) { $0[91] = 2 }
    // The frontier: two entries exchanged, one twice, and number 0.
    expect(.malformed, segment) { $0.replaceSubrange(94..<206, with: Array($0[150..<206] + $0[94..<150])) }
    expect(.malformed, segment) { $0.replaceSubrange(150..<206, with: Array($0[94..<150])) }
    expect(.malformed, segment) { $0.replaceSubrange(110..<118, with: [0, 0, 0, 0, 0, 0, 0, 0]) }
    // Control heads exchanged.
    expect(.malformed, segment) { $0.replaceSubrange(263..<327, with: Array($0[295..<327] + $0[263..<295])) }
    // One pack twice, an empty pack, a pack above the limit.
    expect(.malformed, segment) { $0.replaceSubrange(397..<429, with: Array($0[361..<393])) }
    expect(.malformed, segment) { $0.replaceSubrange(429..<433, with: [0, 0, 0, 0]) }
    expect(.tooLarge, segment) { $0.replaceSubrange(429..<433, with: [1, 0, 0, 1]) }
    // The first operation: flags, length, pack, entry, and versions exchanged.
    expect(.malformed, segment) { $0[436] = 0 }
    expect(.malformed, segment) { $0[436] = 3 }
    expect(.malformed, segment) { $0[440] -= 1 }
    expect(.malformed, segment) { $0.replaceSubrange(491..<539, with: Array($0[515..<539] + $0[491..<515])) }
    expect(.malformed, segment) { $0[540] = 2 }
    expect(.malformed, segment) { $0.replaceSubrange(541..<545, with: [0, 0, 0, 0]) }
    expect(.malformed, segment) { $0.replaceSubrange(541..<545, with: [0, 1, 0, 1]) }
    // Padding: not zero, and a size too much.
    expect(.malformed, segment) { $0[$0.count - 65] = 1 }
    expect(.malformed, segment) { $0 = $0.dropLast(64) + [UInt8](repeating: 0, count: 64) + $0.suffix(64) }
    expect(.malformed, segment) { $0 = Array($0.suffix(64)) }
  }

  @Test("an unknown operation is kept, unless it must be understood")
  func unknownOperations() throws {
    var samples = samples
    var segment = samples.firstSegment()
    segment.operations = [.unknown(kind: 9, body: [7])]
    #expect(try Segment.parse(segment.body() + signature).segment.operations == segment.operations)
    let start = 1 + 16 + 16 + 8 + 32 + 8 + 8 + 2 + 1 + 2 + 1 + 32 + 32 + 2 + 2
    expect(.unknownOperation, segment) { $0[start + 1] = 1 }
    expect(.malformed, segment) { $0[start + 1] = 2 }
  }

  @Test("limits are refused by the reader, and said to the writer")
  func limits() {
    var samples = samples
    var segment = samples.firstSegment()
    segment.operations = Array(repeating: .unknown(kind: 9, body: []), count: Segment.operationCountLimit)
    #expect(segment.sealedByteCount != nil)
    expect(.tooLarge, segment) { $0.replaceSubrange(161..<163, with: [0x0F, 0xA1]) }
    segment.operations.append(.unknown(kind: 9, body: []))
    #expect(segment.sealedByteCount == nil)
    segment.operations = [.unknown(kind: 9, body: [UInt8](repeating: 0, count: 1_031_000))]
    #expect(segment.sealedByteCount == (1 << 20) - 16_384 + 64)
    segment.operations = [.unknown(kind: 9, body: [UInt8](repeating: 0, count: 1_033_000))]
    #expect(segment.sealedByteCount == nil)
    #expect(throws: FormatError.tooLarge) {
      try SegmentSeal.open(
        [UInt8](repeating: 0, count: Segment.byteCountLimit + 1), account: samples.account,
        device: samples.device, number: 1, keys: samples.keys)
    }
  }

  @Test("a version depends on everything but the place")
  func versionNumbers() {
    var samples = samples
    let addition = samples.addition()
    #expect(addition.hasItsVersion(device: samples.device))
    #expect(!addition.hasItsVersion(device: samples.otherDevice))
    func changed(
      record: RecordID? = nil, storedAt: UInt64? = nil, lamport: UInt64? = nil, replaces: [Version]? = nil,
      frameHash: FrameHash? = nil, place: Place? = nil
    ) -> Addition {
      Addition(
        record: record ?? addition.record, storedAt: storedAt ?? addition.storedAt,
        version: Version(lamport: lamport ?? addition.version.lamport, tag: addition.version.tag),
        replaces: replaces ?? addition.replaces, frameHash: frameHash ?? addition.frameHash,
        place: place ?? addition.place)
    }
    #expect(changed(place: Place(pack: 9, entry: 9)).hasItsVersion(device: samples.device))
    let others = [
      changed(record: samples.record()), changed(storedAt: 1), changed(lamport: 10), changed(replaces: []),
      changed(frameHash: samples.hash()),
    ]
    for other in others { #expect(!other.hasItsVersion(device: samples.device)) }
  }

  private func seal(_ segment: Segment) -> [UInt8] {
    SegmentSeal.seal(
      signedBytes: segment.body(), signature: signature, segment: segment, keys: samples.keys)
  }

  private func expect(
    _ error: FormatError, _ segment: Segment, sourceLocation: SourceLocation = #_sourceLocation,
    after change: (inout [UInt8]) -> Void
  ) {
    var body = segment.body() + signature
    change(&body)
    #expect(throws: error, sourceLocation: sourceLocation) { _ = try Segment.parse(body) }
  }
}
