// SPDX-License-Identifier: Apache-2.0
//
// The coffer whose bytes are flipped, the places that are flipped, and what each command has to say.

import CofferKit
import Foundation
import MessageFormats
import SeededGenerators
import Vaults

struct FlipSample: Sendable {
  struct Flip: Sendable, CustomStringConvertible {
    let number: Int
    let offset: Int
    let mask: UInt8
    var description: String { "byte \(offset) (page \(offset / 4096 + 1), \(offset % 4096)) ^ \(mask)" }
  }

  struct Command: Sendable {
    let name: String
    let words: [String]
    static func show(_ id: String) -> Command {
      Command(name: "show", words: ["message", "show", id, "--raw"])
    }
  }

  enum Verdict: CaseIterable { case harmless, refused, wrong }

  struct Outcome: Sendable {
    let command: String
    let verdict: Verdict
    let detail: String
  }

  let file: Data
  let ids: [String]
  let listed: [String]
  let list = Command(name: "list", words: ["message", "list", "--json"])
  private let missing = Command(
    name: "show (missing)", words: ["message", "show", "019aa5f2-6c1e-7d2a-9d0c-0d6a3b1f5e77"])
  /// One of these is run on each flip, in turn.
  let commands: [Command]
  /// What each command printed before the damage; the home is left out of it.
  private let expected: [[String]: String]

  /// 150 messages of mixed sizes, some removed; two slots, a drill, a rotation.
  init() throws {
    let fixture = try CofferFixture()
    let coffer = try fixture.makeCoffer()
    var random = SeededGenerator(seed: 7)
    var made: [MessageID] = []
    for number in 0..<150 {
      let byteCount =
        number == 75
        ? 100 << 10
        : number % 9 == 0
          ? Int.random(in: 4_100...14_000, using: &random)
          : Int.random(in: 0...900, using: &random)
      let content = String(repeating: "\(number) ", count: byteCount / 3 + 1)
      made.append(
        try coffer.vault.add(
          CofferFixture.secret(content),
          metadata: MessageMetadata(
            title: "message \(number)", tags: number % 3 == 0 ? ["third"] : [],
            contentType: MessageMetadata.noteType, date: 1_700_000_000 + Int64(number))))
    }
    _ = try coffer.vault.rotate { _ in true }
    for number in stride(from: 4, to: 150, by: 6) { try coffer.vault.remove(made[number]) }
    try coffer.noteRecoveryDrill()
    coffer.close()
    file = try Data(contentsOf: URL(filePath: fixture.database))
    ids = made.enumerated().filter { $0.offset % 6 != 4 }.map(\.element.description)

    commands = [
      missing,
      Command(name: "doctor --deep", words: ["doctor", "--deep", "--json"]),
      Command(name: "status", words: ["status", "--json"]),
      Command(name: "vault status", words: ["vault", "status", "--json"]),
      Command(name: "slot list", words: ["slot", "list", "--json"]),
      Command(name: "audit", words: ["audit", "--json"]),
    ]
    var expected: [[String]: String] = [:]
    for command in commands + [list] + ids.map(Command.show) {
      try fixture.put(file)
      let run = try fixture.runWithin(command.words)
      precondition(run.end == .exited(command.name == missing.name ? 6 : 0), "\(run)")
      expected[command.words] = Self.text(run)
      if command.name == list.name { precondition(run.lines.count == ids.count) }
    }
    self.expected = expected
    listed = expected[list.words]?.split(separator: "\n").map(String.init) ?? []
  }

  // MARK: Flips

  /// Every byte of the header and of the slots; four bytes of the head of each page; every sixteenth byte of
  /// the pages of the keychain and of the vault's state; and 600 spread over the whole file.
  func flips() -> [Flip] {
    var places = Set(0..<100)
    for page in stride(from: 0, to: file.count, by: 4096) {
      // Kind, first free block, count of cells, start of the cells.
      places.formUnion([page, page + 2, page + 4, page + 6])
    }
    if let slots = file.range(of: Data("COFBAG01".utf8)) {
      places.formUnion(slots.lowerBound - 12..<slots.lowerBound + 472)
    }
    for page in 2...3 { places.formUnion(stride(from: page * 4096, to: (page + 1) * 4096, by: 16)) }
    for number in 0..<600 { places.insert(number * file.count / 600 + number % 5) }
    let stride = ProcessInfo.processInfo.environment["COFFER_FLIP_STRIDE"].flatMap { Int($0) }
    if let stride { places.formUnion(Swift.stride(from: 0, to: file.count, by: stride)) }
    var random = SeededGenerator(seed: 11)
    return places.filter { $0 < file.count }.sorted().enumerated().map { number, offset in
      // One bit, or several.
      let mask = number % 2 == 0 ? UInt8(1) << (number / 2 % 8) : UInt8.random(in: 1...255, using: &random)
      return Flip(number: number, offset: offset, mask: mask)
    }
  }

  /// Bytes that a writer goes by: the list of free pages, in the header and in its first page (SQLite file
  /// format, section 1.5).
  func freePageFlips() -> [Flip] {
    let first = file[32..<36].reduce(0) { $0 << 8 | Int($1) }
    let list = first == 0 ? [] : Array((first - 1) * 4096..<(first - 1) * 4096 + 56)
    return (Array(32..<40) + list).enumerated().map { number, offset in
      Flip(number: number, offset: offset, mask: UInt8(1) << (number % 7))
    }
  }

  func file(with flip: Flip) -> Data {
    var damaged = file
    damaged[flip.offset] ^= flip.mask
    return damaged
  }

  // MARK: Judgement

  /// The answer is the one from before the damage, or exit code 5.
  func judge(_ command: Command, _ run: CofferRun, _ flip: Flip) -> Outcome {
    let undamaged: Int32 = command.name == missing.name ? 6 : 0
    let verdict: Verdict =
      switch run.end {
      case .exited(5): .refused
      case .exited(undamaged) where Self.text(run) == expected[command.words]: .harmless
      default: .wrong
      }
    return Outcome(
      command: command.name, verdict: verdict, detail: verdict == .wrong ? "\(flip): \(run)" : "")
  }

  private static func text(_ run: CofferRun) -> String {
    let home = run.arguments.firstIndex(of: "--home").map { run.arguments[$0 + 1] } ?? ""
    return String(decoding: run.output, as: UTF8.self)
      .replacing(home, with: "HOME").replacing(home.replacing("/", with: "\\/"), with: "HOME")
  }
}
