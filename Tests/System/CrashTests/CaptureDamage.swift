// SPDX-License-Identifier: Apache-2.0
//
// What somebody can do to captures who has the files and no key: bytes of blobs and of each column changed,
// and things that are whole put in each other's place.

import Foundation
import Storage

/// One deed, and what the command then has to name.
struct CaptureDamage: Sendable, CustomStringConvertible {
  enum Deed: Sendable {
    /// A bit of a blob.
    case blob(name: String, offset: Int)
    /// A bit of a column that holds bytes. `select` has one row; `update` takes the bytes.
    case bytes(select: StaticString, update: StaticString, offset: Int)
    /// Statements that change rows.
    case rows([StaticString])
    /// Two blobs in each other's place.
    case exchangedBlobs(String, String)
  }

  let kind: String
  let deed: Deed
  /// The part that is named when the first capture is verified; nil where more than a part is hit.
  let part: String?

  var description: String {
    switch deed {
    case .blob(let name, let offset): "\(kind): blob \(name), byte \(offset)"
    case .bytes(let select, _, let offset): "\(kind): '\(select)', byte \(offset)"
    case .rows(let statements): "\(kind): '\(statements.map(\.description).joined(separator: "; "))'"
    case .exchangedBlobs(let one, let other): "\(kind): blobs \(one) and \(other)"
    }
  }

  func apply(to fixture: CofferFixture) throws {
    switch deed {
    case .blob(let name, let offset):
      let file = URL(filePath: fixture.home + "/blobs/" + name)
      var content = try Data(contentsOf: file)
      content[offset] ^= UInt8(1) << (offset % 8)
      try content.write(to: file)
    case .exchangedBlobs(let one, let other):
      let files = [one, other].map { URL(filePath: fixture.home + "/blobs/" + $0) }
      let contents = try files.map { try Data(contentsOf: $0) }
      for (file, content) in zip(files, contents.reversed()) { try content.write(to: file) }
    case .bytes(let select, let update, let offset):
      try Self.change(fixture) { transaction in
        guard var content = try transaction.firstRow(select, body: { try $0.bytes(0) }) else { return 0 }
        content[content.startIndex + offset] ^= UInt8(1) << (offset % 8)
        return try transaction.execute(update, .bytes(content))
      }
    case .rows(let statements):
      try Self.change(fixture) { transaction in
        try statements.reduce(0) { $0 + (try transaction.execute($1)) }
      }
    }
  }

  private static func change(_ fixture: CofferFixture, _ body: (borrowing Transaction) throws -> Int) throws {
    let file = try DatabaseFile.open(home: fixture.home)
    defer { file.close() }
    let changed = try file.write(body)
    guard changed > 0 else { throw NothingChanged() }
  }

  struct NothingChanged: Error {}
}

extension CaptureDamage {
  /// Everything that is done to a coffer with two captures of the same make.
  static func all(in fixture: CofferFixture) throws -> [CaptureDamage] {
    let file = try DatabaseFile.open(home: fixture.home)
    defer { file.close() }
    let blobs = try blobDamages(fixture)
    let columns = try columns.flatMap { column in
      let byteCount = try file.read { transaction in
        try transaction.firstRow(column.select) { try $0.bytes(0).count } ?? 0
      }
      return spread(byteCount).map { offset in
        CaptureDamage(
          kind: "flip in \(column.name)",
          deed: .bytes(select: column.select, update: column.update, offset: offset), part: column.part)
      }
    }
    return blobs + columns + numbers + exchanges
  }

  /// The first capture's blobs by size: the depth map, the photo.
  private static func blobDamages(_ fixture: CofferFixture) throws -> [CaptureDamage] {
    let sizes = try fixture.blobs().map { name in
      (name, try Data(contentsOf: URL(filePath: fixture.home + "/blobs/" + name)).count)
    }
    // The names are random; which capture a blob is of shows in what complains.
    let bySize = sizes.sorted { $0.1 < $1.1 }
    let depths = bySize.prefix(2)
    let photos = bySize.suffix(2)
    let flips = (depths.map { ($0, "depth") } + photos.map { ($0, "photo") }).flatMap { blob, part in
      spread(blob.1).map { offset in
        CaptureDamage(kind: "flip in a \(part) blob", deed: .blob(name: blob.0, offset: offset), part: part)
      }
    }
    return flips + [
      CaptureDamage(
        kind: "exchange of blobs", deed: .exchangedBlobs(depths.first!.0, depths.last!.0), part: "depth"),
      CaptureDamage(
        kind: "exchange of blobs", deed: .exchangedBlobs(photos.first!.0, photos.last!.0), part: "photo"),
      // Parts are opened in the order of their numbers.
      CaptureDamage(
        kind: "exchange of blobs", deed: .exchangedBlobs(depths.first!.0, photos.first!.0), part: "photo"),
    ]
  }

  private struct Column {
    let name: String
    let part: String?
    let select: StaticString
    let update: StaticString
  }

  private static let columns = [
    Column(
      name: "captures.id", part: nil, select: "SELECT id FROM captures WHERE number = 1",
      update: "UPDATE captures SET id = ? WHERE number = 1"),
    Column(
      name: "captures.mark", part: nil, select: "SELECT mark FROM captures WHERE number = 1",
      update: "UPDATE captures SET mark = ? WHERE number = 1"),
    Column(
      name: "captures.record", part: nil, select: "SELECT record FROM captures WHERE number = 1",
      update: "UPDATE captures SET record = ? WHERE number = 1"),
    Column(
      name: "captures.queue", part: nil, select: "SELECT queue FROM captures WHERE number = 1",
      update: "UPDATE captures SET queue = ? WHERE number = 1"),
    Column(
      name: "captureState.sealed", part: nil, select: "SELECT sealed FROM captureState",
      update: "UPDATE captureState SET sealed = ?"),
    Column(
      name: "captureParts.sealed", part: "metadata",
      select: "SELECT sealed FROM captureParts WHERE capture = 1 AND part = 3",
      update: "UPDATE captureParts SET sealed = ? WHERE capture = 1 AND part = 3"),
    Column(
      name: "captureParts.sealed", part: "thumbnail",
      select: "SELECT sealed FROM captureParts WHERE capture = 1 AND part = 4",
      update: "UPDATE captureParts SET sealed = ? WHERE capture = 1 AND part = 4"),
    Column(
      name: "captureParts.sealed", part: "manifest",
      select: "SELECT sealed FROM captureParts WHERE capture = 1 AND part = 5",
      update: "UPDATE captureParts SET sealed = ? WHERE capture = 1 AND part = 5"),
    Column(
      name: "captureParts.sealed", part: "assertion",
      select: "SELECT sealed FROM captureParts WHERE capture = 1 AND part = 6",
      update: "UPDATE captureParts SET sealed = ? WHERE capture = 1 AND part = 6"),
  ]

  /// Columns that hold numbers.
  private static let numbers = [
    CaptureDamage(
      kind: "flip in captures.number",
      deed: .rows(["UPDATE captures SET number = number + 64 WHERE number = 1"]), part: "manifest"),
    CaptureDamage(
      kind: "flip in captureParts.capture",
      deed: .rows(["UPDATE captureParts SET capture = capture + 64 WHERE capture = 1 AND part = 4"]),
      part: "thumbnail"),
    CaptureDamage(
      kind: "flip in captureParts.part",
      deed: .rows(["UPDATE captureParts SET part = 11 WHERE capture = 1 AND part = 3"]), part: "metadata"),
    CaptureDamage(
      kind: "row removed", deed: .rows(["DELETE FROM captureParts WHERE capture = 1 AND part = 6"]),
      part: "assertion"),
    CaptureDamage(
      kind: "row removed", deed: .rows(["DELETE FROM captures WHERE number = 1"]), part: nil),
    CaptureDamage(kind: "row removed", deed: .rows(["DELETE FROM captures"]), part: nil),
    CaptureDamage(
      kind: "row removed",
      deed: .rows([
        "DELETE FROM captures", "DELETE FROM captureParts", "DELETE FROM captureState",
      ]), part: nil),
  ]

  /// Things that are whole, in another's place.
  private static let exchanges =
    ["metadata", "thumbnail", "manifest", "assertion"].map(exchangedParts) + [
      CaptureDamage(
        kind: "exchange of part rows",
        deed: .rows([
          "UPDATE captureParts SET part = 100 WHERE capture = 1 AND part = 3",
          "UPDATE captureParts SET part = 3 WHERE capture = 1 AND part = 4",
          "UPDATE captureParts SET part = 4 WHERE capture = 1 AND part = 100",
        ]), part: "metadata"),
      CaptureDamage(
        kind: "exchange of columns",
        deed: .rows([
          """
          UPDATE captures SET record =
            (SELECT other.record FROM captures other WHERE other.number = 3 - captures.number)
          """
        ]), part: nil),
      CaptureDamage(
        kind: "exchange of columns",
        deed: .rows([
          """
          UPDATE captures SET mark =
            (SELECT other.mark FROM captures other WHERE other.number = 3 - captures.number)
          """
        ]), part: nil),
      CaptureDamage(
        kind: "exchange of columns",
        deed: .rows([
          """
          UPDATE captures SET queue =
            (SELECT other.queue FROM captures other WHERE other.number = 3 - captures.number)
          """
        ]), part: nil),
      CaptureDamage(
        kind: "exchange of columns",
        deed: .rows([
          """
          UPDATE captures SET (mark, record, queue) =
            (SELECT mark, record, queue FROM captures other WHERE other.number = 3 - captures.number)
          """
        ]), part: nil),
      // Whole rows but for their numbers, by which parts are found.
      CaptureDamage(
        kind: "exchange of numbers",
        deed: .rows([
          "UPDATE captures SET number = 100 WHERE number = 1",
          "UPDATE captures SET number = 1 WHERE number = 2",
          "UPDATE captures SET number = 2 WHERE number = 100",
        ]), part: "manifest"),
    ]

  private static func exchangedParts(_ name: String) -> CaptureDamage {
    let statements: [StaticString] =
      switch name {
      case "metadata":
        [
          "UPDATE captureParts SET capture = 100 WHERE capture = 1 AND part = 3",
          "UPDATE captureParts SET capture = 1 WHERE capture = 2 AND part = 3",
          "UPDATE captureParts SET capture = 2 WHERE capture = 100",
        ]
      case "thumbnail":
        [
          "UPDATE captureParts SET capture = 100 WHERE capture = 1 AND part = 4",
          "UPDATE captureParts SET capture = 1 WHERE capture = 2 AND part = 4",
          "UPDATE captureParts SET capture = 2 WHERE capture = 100",
        ]
      case "manifest":
        [
          "UPDATE captureParts SET capture = 100 WHERE capture = 1 AND part = 5",
          "UPDATE captureParts SET capture = 1 WHERE capture = 2 AND part = 5",
          "UPDATE captureParts SET capture = 2 WHERE capture = 100",
        ]
      default:
        [
          "UPDATE captureParts SET capture = 100 WHERE capture = 1 AND part = 6",
          "UPDATE captureParts SET capture = 1 WHERE capture = 2 AND part = 6",
          "UPDATE captureParts SET capture = 2 WHERE capture = 100",
        ]
      }
    return CaptureDamage(kind: "exchange of part rows", deed: .rows(statements), part: name)
  }

  /// Places in so many bytes: the ends, both sides of the edges of chunks, and some between.
  private static func spread(_ byteCount: Int) -> [Int] {
    let chunk = 262_144 + 28
    let edges = stride(from: 8, to: byteCount, by: chunk).flatMap { [$0 - 1, $0, $0 + 11, $0 + 12] }
    let between = (0..<4).map { $0 * byteCount / 4 }
    return Set([0, 7, byteCount - 17, byteCount - 16, byteCount - 1] + edges + between)
      .filter { (0..<byteCount).contains($0) }.sorted()
  }
}
