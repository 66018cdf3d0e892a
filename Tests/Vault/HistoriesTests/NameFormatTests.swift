// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import SeededGenerators
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Names, sizes and keys")
struct NameFormatTests {
  private let device = String(repeating: "0a", count: 16)
  private let hash = String(repeating: "bc", count: 32)

  @Test("each object has one path, and each folder the beginning of its objects' paths")
  func paths() throws {
    let id = try #require(DeviceID([UInt8](repeating: 0x0A, count: 16)))
    let object = try #require(ObjectHash([UInt8](repeating: 0xBC, count: 32)))
    let request = try #require(Identifier<RequestKind>([UInt8](repeating: 0x0A, count: 16)))
    let segment = SegmentName(device: id, number: 513, hash: object)
    let names: [(ObjectName, String, Folder?)] = [
      (.format, "format", nil), (.slot(object), "slots/\(hash)", .slots),
      (.control(number: 255, object), "control/00000000000000ff-\(hash)", .control),
      (.control(number: 0, object), "control/0000000000000000-\(hash)", .control),
      (.segment(segment), "chain/\(device)/0000000000000001/0000000000000201-\(hash)", .block(id, 1)),
      (.pack(id, object), "pack/\(device)/bc/\(hash)", .packs(id)),
      (.request(request), "request/\(device)", .requests),
    ]
    for (name, path, folder) in names {
      #expect(name.path == path)
      #expect(ObjectName(path: path) == name)
      if let folder { #expect(path.hasPrefix(folder.path + "/")) }
    }
  }

  @Test("whatever else is written is no name")
  func otherPaths() {
    let number = "0000000000000201"
    let wrongs = [
      "", "/", "format/", "/format", "Format", "format ", "slots", "slots/", "slots/\(hash)/",
      "slots//\(hash)",
      "slots/\(hash.uppercased())", "slots/\(hash.dropLast())", "slots/\(hash)0", "slots/\(hash.dropLast())g",
      "control/\(hash)", "control/0-\(hash)", "control/\(number)-\(hash)-", "control/\(number)\(hash)",
      "control/\(number.uppercased())F-\(hash)", "control/-\(number)-\(hash)",
      "control/+0000000000000201-\(hash)",
      "chain/\(device)/0000000000000000/\(number)-\(hash)", "chain/\(device)/\(number)-\(hash)",
      "chain/\(device)/0000000000000000/0000000000000000-\(hash)", "chain/\(device)/1/\(number)-\(hash)",
      "chain/\(device)00/0000000000000001/\(number)-\(hash)", "pack/\(device)/bd/\(hash)",
      "pack/\(device)/BC/\(hash)", "pack/\(device)/\(hash)", "pack/\(device)/bc/\(hash)/x", "request/\(hash)",
      "request/\(device)~", "slots/.stversions", "slots/\(hash).sync-conflict-1", "slots/../format",
      "slots/\(hash)\u{301}", "other/\(hash)",
    ]
    for wrong in wrongs { #expect(ObjectName(path: wrong) == nil, "\(wrong)") }
  }

  @Test("Padmé sizes are those of the paper, and add at most 12 %")
  func padme() {
    let known = [
      (0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (7, 7), (8, 8), (9, 10), (15, 16), (17, 18), (33, 36),
      (100, 104),
      (1_000, 1_024), (1_025, 1_088), (1 << 20, 1 << 20), ((1 << 20) + 1, (1 << 20) + (1 << 15)),
      ((1 << 24) - 1, 1 << 24),
    ]
    for (count, size) in known { #expect(Padme.size(count) == size, "\(count)") }
    var generator = SeededGenerator(run: 5)
    for _ in 0..<2_000 {
      let count = Int.random(in: 1...1 << 25, using: &generator)
      let size = Padme.size(count)
      #expect(size >= count && Padme.size(size) == size)
      #expect(Double(size - count) <= 0.12 * Double(count))
    }
  }

  @Test("the keys of an epoch keep their bytes")
  func epochKeys() {
    let keys = EpochKeys(number: 3, key: SharedSecretBytes(testing: Array(0..<32)))
    let derived = [keys.commitment, keys.pack.testBytes, keys.segment.testBytes, keys.control.testBytes]
    #expect(
      derived.map { Hexadecimal.text($0) } == [
        "3fb2010ee518e060f2c86d8da4228d6c058f56c70d8565e4f7e0b064ca53a1c4",
        "9ccf7d291ea0ac59b1cf32e18a2315df50d3097ddd0698684c9ce9ac1296d39e",
        "bb1de30b99713a382a0316f9dac0875fbcc0de168e9701cee0812818268bdf43",
        "38799a08a01eeacb4323e91e9fbf8421c3dbcd6add51e95fe4244ffab007962b",
      ])
    #expect(keys.name.number == 3)
    var check: [UInt8] = []
    check.append(bigEndian: keys.name.check)
    #expect(check == Array(keys.commitment.prefix(4)))
  }

  @Test("both machines' signatures hold for their message and key alone")
  func machines() {
    let table = KeyTable()
    check(SeededMachine(run: 1), SeededMachine(run: 2, firstPair: 3).signing.publicKey)
    check(KeyedHashMachine(run: 1, table: table), KeyedHashMachine(run: 2, table: table).signing.publicKey)
    func check(_ start: some Machine, _ other: [UInt8]) {
      var machine = start
      let pair = machine.makeKeyPair()
      for number in 0..<20 {
        let signature = machine.signature(of: [1, UInt8(number)], by: .memory(pair))
        #expect(signature.count == 64)
        #expect(machine.isSignature(signature, of: [1, UInt8(number)], by: pair.publicKey))
        #expect(!machine.isSignature(signature, of: [2, UInt8(number)], by: pair.publicKey))
        #expect(!machine.isSignature(signature, of: [1, UInt8(number)], by: other))
      }
      let second = machine.makeKeyPair()
      let one = machine.sharedSecret(with: second.publicKey, by: .memory(pair))
      #expect(one?.testBytes == machine.sharedSecret(with: pair.publicKey, by: .memory(second))?.testBytes)
      #expect(one?.count == 32)
      #expect(machine.sharedSecret(with: [4] + [UInt8](repeating: 1, count: 64), by: .memory(pair)) == nil)
    }
  }
}
