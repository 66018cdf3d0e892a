// SPDX-License-Identifier: Apache-2.0
//
// Files to capture, and a coffer with captures in it, whose parts stand in rows and in blobs.

import Foundation
import Repository
import SeededGenerators

/// What one capture is made of: a picture and a depth map, both large enough for blobs, and metadata.
struct CaptureFiles: Sendable {
  let photo: String
  let depth: String
  let metadata: String

  /// - Parameter number: makes the files different from those of other numbers.
  init(_ number: Int, in folder: String) throws {
    photo = "\(folder)/photo-\(number).png"
    depth = "\(folder)/depth-\(number)"
    metadata = "\(folder)/metadata-\(number)"
    // A picture with more behind its end: several chunks, and decoders read only the picture.
    try Self.makePicture(photo)
    var random = SeededGenerator(seed: UInt64(number))
    let tail = (0..<100_000).map { _ in random.next() }
    let file = try FileHandle(forWritingTo: URL(filePath: photo))
    try file.seekToEnd()
    try file.write(contentsOf: tail.withUnsafeBytes { Data($0) })
    try file.close()
    try tail.prefix(20_000).withUnsafeBytes { try Data($0).write(to: URL(filePath: depth)) }
    try Data("{\"number\":\(number)}".utf8).write(to: URL(filePath: metadata))
  }

  var add: [String] { ["capture", "add", photo, "--depth", depth, "--metadata", metadata] }

  private static func makePicture(_ path: String) throws {
    let script = Repository.root.appending(path: "scripts/sample-photo")
    let process = Process()
    process.executableURL = script
    process.arguments = [path]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw POSIXError(.EIO) }
  }
}

extension CofferFixture {
  /// Makes a coffer in `home` with a capture of each of these.
  /// - Returns: the captures' ids.
  func coffer(withCaptures files: [CaptureFiles]) throws -> [String] {
    try makeCoffer().close()
    return try files.map { files in
      let added = try start(files.add).wait()
      guard added.isDone, let id = added.lines.first else { throw UnexpectedRun(run: added) }
      return id
    }
  }
}

/// A run that went otherwise, where a test cannot go on.
struct UnexpectedRun: Error {
  let run: CofferRun
}
