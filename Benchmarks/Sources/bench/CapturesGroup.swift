// SPDX-License-Identifier: Apache-2.0
//
// Captures: taking a photo and its depth map in, against copying the same bytes and waiting for the disk;
// verifying, against hashing and reading them; a long film, with the memory that it takes.

import CLibTurboJPEG
import Captures
import CofferKit
import Foundation
import Glibc
import Keychains
import Primitives
import Secrets

enum CapturesGroup {
  private static let runs = 15
  private static let photoByteCount = 5_000_000
  private static let depthByteCount = 1_000_000
  private static let filmByteCount = 500_000_000

  static func run() throws {
    let place = try BenchCoffer()
    defer { place.remove() }
    defer { _ = try? place.plain(["lock", "--all"]) }
    try place.coffer(["unlock"])
    print("load average: \(SessionGroup.load())")
    // First, while this process is small: a command's peak memory is counted from its parent's.
    try film(place)

    let (photo, depth) = (place.directory + "/photo", place.directory + "/depth")
    try writeRandom(photoByteCount, to: photo)
    try writeRandom(depthByteCount, to: depth)
    var table = Table()
    try library(photo, depth, &table)
    try commands(
      "photo and depth", [photo, "--depth", depth], [photo, depth], place, &table, hasTarget: true)
    let jpeg = place.directory + "/photo.jpg"
    try writeJPEG(to: jpeg)
    // The thumbnail is made by a process of its own; no peer of the copy does that.
    try commands(
      "JPEG, its thumbnail, depth", [jpeg, "--depth", depth], [jpeg, depth], place, &table, hasTarget: false)
    table.write()
  }

  // MARK: The library

  private static func library(_ photo: String, _ depth: String, _ table: inout Table) throws {
    let place = try BenchCoffer()
    defer { place.remove() }
    let words = try BenchCoffer.passphrase.utf8Span.span.withUnsafeBytes { bytes in
      try Passphrase(utf8: SecretBytes(copying: bytes.bytes))
    }
    let coffer = try Coffer.open(home: place.home, credential: SlotCredential(words))
    defer { coffer.close() }
    let (store, signer) = (coffer.captures, try coffer.captureAccess.signer())
    let target = place.directory + "/copy"
    var added: CaptureStore.Added?
    let adding = try Harness.compare(
      rounds: runs,
      ours: {
        try time {
          var capture = NewCapture(photo: try PartSource(path: photo, for: .photo))
          capture.depth = try PartSource(path: depth, for: .depth)
          capture.allowsDuplicate = true
          added = try store.add(capture, signer: signer)
        }
      },
      peers: [
        copying([photo, depth], to: target),
        Peer(name: "copy and fsync in this process") {
          try? FileManager.default.removeItem(atPath: target)
          return try time { try copy([photo, depth], to: target) }
        },
      ])
    table.add("library: add photo and depth", adding.ours, peers: adding.peers, target: .timeOfPeer(3))
    guard let id = added?.id else { throw Command.CouldNotStart() }
    let verifying = try Harness.compare(
      rounds: runs, ours: { try time { _ = try store.verify(id) } },
      peers: [
        reading([photo, depth]),
        Peer(name: "SHA-256 in this process") { try time { try hash([photo, depth]) } },
      ])
    table.add("library: verify", verifying.ours, peers: verifying.peers, target: .timeOfPeer(1.5))
  }

  private static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  // MARK: Whole processes

  private static func commands(
    _ what: String, _ arguments: [String], _ files: [String], _ place: BenchCoffer, _ table: inout Table,
    hasTarget: Bool
  ) throws {
    let target = place.directory + "/copy"
    let adding = try Harness.compare(
      rounds: runs, ours: { try place.plain(["capture", "add", "--allow-duplicate"] + arguments).seconds },
      peers: [
        copying(files, to: target),
        Peer(name: "coffer --version") { try Command.time([BenchCoffer.binary, "--version"]) },
      ])
    table.add(
      "capture add: \(what)", adding.ours, peers: adding.peers, target: hasTarget ? .timeOfPeer(3) : .none)
    let id = try place.firstID(["capture", "list", "--limit", "1"])
    let verifying = try Harness.compare(
      rounds: runs, ours: { try place.plain(["capture", "verify", id]).seconds }, peers: [reading(files)])
    table.add("capture verify: \(what)", verifying.ours, peers: verifying.peers, target: .timeOfPeer(1.5))
  }

  /// Copies and waits for the disk, as three programs.
  private static func copying(_ files: [String], to folder: String) -> Peer {
    Peer(name: "cp + sync") {
      try? FileManager.default.removeItem(atPath: folder)
      return try Command.time(
        [
          "sh", "-c", "f=$1; shift; mkdir \"$f\" && cp \"$@\" \"$f\" && sync \"$f\"/* \"$f\"", "sh", folder,
        ] + files)
    }
  }

  private static func reading(_ files: [String]) -> Peer {
    Peer(name: "sha256sum + cat") {
      try Command.time(["sh", "-c", "sha256sum \"$@\" && cat \"$@\" | cat > /dev/null", "sh"] + files)
    }
  }

  // MARK: A long film

  private static func film(_ place: BenchCoffer) throws {
    let film = place.directory + "/film"
    try writeRandom(filmByteCount, to: film)
    let target = place.directory + "/copy"
    var rows = ["500 MB         | time   | peak   | peer   |"]
    func add(_ what: String, _ run: Command.Run, _ peer: Double) {
      let peak = "\(run.peakKiB >> 10) MiB \(run.peakKiB < 40 << 10 ? "ok" : "MISS")"
      rows.append("\(what) | \(Table.time(run.seconds)) | \(peak) | \(Table.time(peer))")
    }
    for _ in 0..<3 {
      add(
        "capture add    ", try place.plain(["capture", "add", "--allow-duplicate", film]),
        try copying([film], to: target).round())
      let id = try place.firstID(["capture", "list", "--limit", "1"])
      add("capture verify ", try place.plain(["capture", "verify", id]), try reading([film]).round())
      try? FileManager.default.removeItem(atPath: target)
      let exported = place.directory + "/exported"
      add(
        "capture export ", try place.plain(["capture", "export", id, exported]),
        try copying([film], to: target).round())
      for path in [target, exported] { try? FileManager.default.removeItem(atPath: path) }
      try place.plain(["capture", "remove", id])
    }
    try FileManager.default.removeItem(atPath: film)
    print((rows + ["target: peak below 40 MiB", ""]).joined(separator: "\n"))
  }

  // MARK: Files

  private static let pieceByteCount = 1 << 18

  private static func writeRandom(_ byteCount: Int, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw Command.CouldNotStart() }
    defer { close(descriptor) }
    var left = byteCount
    while left > 0 {
      let piece = SystemRandom.publicBytes(count: min(left, pieceByteCount))
      guard Glibc.write(descriptor, piece, piece.count) == piece.count else { throw Command.CouldNotStart() }
      left -= piece.count
    }
    guard fsync(descriptor) == 0 else { throw Command.CouldNotStart() }
  }

  private static func copy(_ files: [String], to folder: String) throws {
    guard mkdir(folder, 0o700) == 0 else { throw Command.CouldNotStart() }
    var piece = [UInt8](repeating: 0, count: pieceByteCount)
    for (number, file) in files.enumerated() {
      let (input, output) = (open(file, O_RDONLY), open("\(folder)/\(number)", O_WRONLY | O_CREAT, 0o600))
      guard input >= 0, output >= 0 else { throw Command.CouldNotStart() }
      defer { [input, output].forEach { close($0) } }
      while true {
        let count = read(input, &piece, piece.count)
        guard count >= 0, Glibc.write(output, piece, count) == count else { throw Command.CouldNotStart() }
        if count == 0 { break }
      }
      guard fsync(output) == 0 else { throw Command.CouldNotStart() }
    }
    let directory = open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw Command.CouldNotStart() }
  }

  private static func hash(_ files: [String]) throws {
    var piece = [UInt8](repeating: 0, count: pieceByteCount)
    for file in files {
      let input = open(file, O_RDONLY)
      guard input >= 0 else { throw Command.CouldNotStart() }
      defer { close(input) }
      var hash = Primitives.SHA256()
      while true {
        let count = read(input, &piece, piece.count)
        guard count > 0 else { break }
        hash.update(piece.span.bytes.extracting(first: count))
      }
      Harness.keep(hash.finish())
    }
  }

  /// A photo of 12 megapixels and about 5 MB: waves of light with grain, as a camera's sensor has.
  private static func writeJPEG(to path: String) throws {
    let (width, height) = (4_000, 3_000)
    var pixels = [UInt8](repeating: 0, count: width * height * 3)
    var generator = SystemRandomNumberGenerator()
    for y in 0..<height {
      for x in 0..<width {
        let grain = generator.next()
        for colour in 0..<3 {
          let light = (x * (colour + 1) / 24 + y / 18) & 255
          let value = (light < 128 ? light : 255 - light) + Int(grain >> UInt64(8 * colour) & 15) + 40
          pixels[(y * width + x) * 3 + colour] = UInt8(value)
        }
      }
    }
    guard let handle = tjInitCompress() else { throw Command.CouldNotStart() }
    defer { tjDestroy(handle) }
    for quality in Int32(70)...98 {
      var bytes: UnsafeMutablePointer<UInt8>?
      var count: UInt = 0
      guard
        tjCompress2(
          handle, pixels, Int32(width), 0, Int32(height), Int32(TJPF_RGB.rawValue), &bytes, &count,
          Int32(TJSAMP_420.rawValue), quality, 0) == 0, let bytes
      else { throw Command.CouldNotStart() }
      defer { tjFree(bytes) }
      guard count >= photoByteCount else { continue }
      try Data(bytes: bytes, count: Int(count)).write(to: URL(filePath: path))
      return
    }
    throw Command.CouldNotStart()
  }
}
