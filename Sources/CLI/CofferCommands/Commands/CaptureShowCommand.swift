// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Foundation
internal import Keychains
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Texts
internal import Vaults

struct CaptureShowCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a capture.")
  static let page = """
    coffer capture show: show a capture's parts and metadata

    usage: coffer capture show WHICH [--no-picture]
                               \(OpeningOptions.usage)

    Includes the fields that the camera wrote into the photo, and a small picture on terminals that can show
    one (kitty, sixel, or 256 colours). Metadata is shown as it was captured, on one line. To get the photo
    itself, use 'coffer capture export'.

    example: coffer capture show 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture: its id, the end of it, @N or its title.", completion: Completions.captures)
  var which: String
  @Flag(help: "Show no picture.") var noPicture = false

  struct Answer: Encodable {
    struct Part: Encodable {
      let part: String
      let byteCount: Int
      let sha256: String
    }
    let id: String
    let created: String
    let parts: [Part]
    let exif: [String: String]?
    /// A placeholder for the document itself, which does not go through the encoder.
    let metadata: String?
    let level: String
    let deviceId: String
    let keyId: String
    /// Absent, with the tags, if the label may be an earlier one.
    let title: String?
    let tags: [String]?
    /// Absent without one.
    let note: String?
  }

  func execute(_ context: CommandContext) throws {
    let store = try context.captures(opening).store
    let id = try CaptureChoice.id(which, store, context)
    let info = try store.info(id)
    let exif = try Self.ifHere { try store.exifFields(of: id) }
    let metadata = try Self.ifHere { try Self.metadata(of: id, store) }
    let label = info.isLabelCurrent ? info.summary.label : nil
    let placeholder = UUID().uuidString
    let answer = Answer(
      id: id.description, created: RFC3339.format(info.summary.created),
      parts: info.parts.map { Answer.Part(part: $0.part.name, byteCount: $0.byteCount, sha256: $0.sha256) },
      exif: exif.map { Dictionary($0.list.map { ($0.name, $0.text) }) { first, _ in first } },
      metadata: metadata.map { _ in placeholder }, level: info.manifest.level.rawValue,
      deviceId: info.manifest.deviceID, keyId: info.manifest.keyID, title: label?.title, tags: label?.tags,
      note: label.flatMap { $0.note.isEmpty ? nil : $0.note })
    if context.isJSON {
      return Terminal.print("\(JSON.text(answer, with: metadata ?? "", for: placeholder))")
    }
    if !noPicture { try CapturePicture.show(id, store) }
    let exifLines = (exif?.list ?? []).map { (name: Self.words($0.name), text: $0.text) }
    let width = exifLines.reduce(10) { max($0, $1.name.count) }
    func show(_ name: String, _ text: String) {
      Terminal.print("\(name.padded(to: width)) \(text)", textAt: width + 1)
    }
    if let label {
      if !label.title.isEmpty { show("title", label.title) }
      if !label.tags.isEmpty { show("tags", label.tags.joined(separator: " ")) }
    } else {
      context.remark("Title, note and tags are not shown: captures were changed or removed: coffer doctor")
    }
    show("captured", LocalTime.shown(info.summary.created))
    show("size", ByteCount.text(info.summary.byteCount))
    for part in answer.parts where part.part != "manifest" && part.part != "assertion" {
      show(part.part, "\(ByteCount.text(part.byteCount))  \(part.sha256)")
    }
    for line in exifLines { show(line.name, line.text) }
    if let metadata { show("metadata", metadata) }
    let note = label?.note ?? ""
    for (index, line) in note.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where !note.isEmpty { show(index == 0 ? "note" : "", String(line)) }
    let place = info.manifest.level == .unverified ? "software (unverified)" : "hardware"
    show("signed", "in \(place), key \(answer.keyId.prefix(16))…")
  }

  /// A name of EXIF for people: `pixel height` for `pixelHeight`, and when the picture was taken.
  private static func words(_ name: String) -> String {
    if name == "time" { return "taken" }
    return name.reduce(into: "") { words, letter in
      words += letter.isUppercase && letter.isASCII ? " \(letter.lowercased())" : String(letter)
    }
  }

  /// What `read` gives; nil also when the part that it reads is on other devices only. Everything else is shown.
  private static func ifHere<R>(_ read: () throws -> R?) throws -> R? {
    do { return try read() } catch CaptureError.elsewhere { return nil }
  }

  /// The metadata as it was captured, on one line; nil when there is none. It is not parsed and written again, so that
  /// numbers keep their digits.
  private static func metadata(of id: CaptureID, _ store: CaptureStore) throws -> String? {
    guard let bytes = try CapturePicture.part(.metadata, of: id, store) else { return nil }
    guard bytes.withBytes({ JSONObject.isWellFormed($0) }) else { throw CaptureError.corrupt(.metadata) }
    return bytes.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { JSON.oneLine(unsafe String(decoding: $0, as: UTF8.self)) }
    }
  }
}
