// SPDX-License-Identifier: Apache-2.0
//
// Pictures of captures: decoded by a process that holds no keys, since a photo may come from anywhere.

internal import Captures
internal import Foundation
internal import Glibc
internal import MessageFormats
internal import Pictures
internal import Primitives
internal import Secrets

enum CapturePicture {
  /// A small picture to store with the photo.
  /// - Throws: `PictureError`, also of a file that is not a supported picture.
  static func thumbnail(ofFile path: String) throws(PictureError) -> PartSource {
    guard let photo = read(path) else { throw .notAPicture }
    let orientation = photo.withBytes { ExifFields(photo: $0)?.orientation ?? 1 }
    let small = try photo.withBytes { photo throws(PictureError) in
      try PictureWorker(executable: CommandRun.current.environment.executable).thumbnail(
        of: photo, orientation: PictureOrientation(exif: orientation))
    }
    guard small.count <= CapturePart.thumbnail.byteCountLimit else { throw .tooLarge }
    return PartSource(small)
  }

  /// Shows the stored small picture, if the terminal can show pictures.
  static func show(_ id: CaptureID, _ store: CaptureStore) throws {
    let graphics = TerminalGraphics.detect(environment: CommandRun.current.environment.variables)
    guard Terminal.isOutputTerminal, graphics != .none else { return }
    guard let thumbnail = try part(.thumbnail, of: id, store) else { return }
    let text = try? thumbnail.withBytes { thumbnail throws(PictureError) in
      let raster = try PictureWorker(executable: CommandRun.current.environment.executable).raster(
        of: thumbnail, longestSide: PictureLimits.thumbnailSideLength)
      return try TerminalPicture.text(
        of: raster, graphics, columns: min(Terminal.columns, columnLimit), rows: rowLimit)
    }
    guard let text else { return }
    text.withBytes { Terminal.write($0) }
  }

  /// Writes the depth map in false colours. Returns the file's name.
  static func writeDepth(
    of id: CaptureID, _ store: CaptureStore, to directory: String, record: (any UnfinishedExportRecord)?
  ) throws -> String {
    guard let depth = try part(.depth, of: id, store) else {
      throw Failure(.missing, "no_depth", "this capture has no depth map")
    }
    let picture: SecretBytes
    do {
      picture = try depth.withBytes { depth throws(PictureError) in
        try PictureWorker(executable: CommandRun.current.environment.executable).depthPNG(of: depth)
      }
    } catch {
      throw Failure(drawingDepth: error)
    }
    let name = "depth-colours.png"
    let path = directory + "/" + name
    do throws(MessageFormatError) {
      let file = try UnnamedFile(path: path, record: record)
      try picture.withBytes { (bytes) throws(MessageFormatError) in
        try SystemWrite.all(bytes, to: file.descriptor)
      }
      try file.synchronise()
      try file.claimName()
    } catch { throw Failure(error, naming: path) }
    return name
  }

  /// A part of a capture as a whole; nil when it has none.
  static func part(_ part: CapturePart, of id: CaptureID, _ store: CaptureStore) throws -> SecretBytes? {
    guard let byteCount = try store.info(id).parts.first(where: { $0.part == part })?.byteCount else {
      return nil
    }
    guard byteCount <= PictureLimits.fileByteCount else { return nil }
    var bytes = SecretBytes(zeroed: byteCount)
    var offset = 0
    _ = try bytes.withMutableBytes { bytes in
      try store.withPart(part, of: id) {
        bytes.copy($0, to: offset)
        offset += $0.byteCount
        return true
      }
    }
    return bytes
  }

  /// The whole file of a photo; nil when it cannot be read, is too large, or is of a kind that gets no small picture,
  /// such as a film.
  private static func read(_ path: String) -> SecretBytes? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    var head: [UInt8] = [0, 0, 0]
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= PictureLimits.fileByteCount,
      unsafe pread(descriptor, &head, head.count, 0) == head.count, photoHeads.contains(head)
    else { return nil }
    var photo = SecretBytes(zeroed: Int(status.st_size))
    let count = photo.withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { bytes in
        var count = 0
        while count < bytes.count {
          let found = unsafe Glibc.read(
            descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
          if found < 0, errno == EINTR { continue }
          guard found > 0 else { break }
          count += found
        }
        return count
      }
    }
    guard count == photo.count else { return nil }
    return photo
  }

  /// The first bytes of JPEG and PNG files.
  private static let photoHeads: [[UInt8]] = [[0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E]]

  /// The picture stays small, because the text after it matters more.
  private static let columnLimit = 60
  private static let rowLimit = 20
}
