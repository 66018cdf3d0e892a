// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Foundation
internal import Keychains
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Vaults

struct CaptureShowCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a capture.")
  static let page = """
    coffer capture show: show what belongs to a capture

    usage: coffer capture show ID [--no-picture]
                               [--passphrase-fd N | --passphrase-file PATH | --pin-fd N | --pin-file PATH]

    With a small picture on terminals that can show one (kitty, sixel, or 256 colours), and the fields that
    the camera wrote into the photo. «coffer capture export» gives the photo itself.

    example: coffer capture show 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture's id.") var id: String
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
    let metadata: JSONValue?
    let level: String
    let deviceId: String
    let keyId: String
    let state: String
  }

  func execute(_ session: Session) throws {
    let id = try CaptureID(capture: id)
    let store = try session.captures(opening).access.store
    let info = try store.info(id)
    let exif = try store.exifFields(of: id)
    var metadata: JSONValue?
    if let bytes = try CapturePicture.part(.metadata, of: id, store) { metadata = JSONValue(bytes: bytes) }
    let answer = Answer(
      id: id.description, created: Timestamp.format(info.summary.created),
      parts: info.parts.map { Answer.Part(part: $0.part.name, byteCount: $0.byteCount, sha256: $0.sha256) },
      exif: exif.map { Dictionary($0.list.map { ($0.name, $0.text) }) { first, _ in first } },
      metadata: metadata, level: info.manifest.level.rawValue, deviceId: info.manifest.deviceID,
      keyId: info.manifest.keyID, state: info.summary.upload.state.name)
    if session.isJSON { return JSON.print(answer) }
    if !noPicture { try CapturePicture.show(id, store) }
    Terminal.print("captured   \(answer.created)")
    for part in answer.parts where part.part != "manifest" && part.part != "assertion" {
      Terminal.print("\(part.part.padded(to: 10)) \(ByteCount.text(part.byteCount))  \(part.sha256)")
    }
    for (name, text) in exif?.list ?? [] {
      Terminal.print("\(name.padded(to: 10)) \(Terminal.sanitized(text))")
    }
    if let metadata { Terminal.print("metadata   \(Terminal.sanitized(JSON.text(metadata)))") }
    Terminal.print("signed     \(answer.level), key \(answer.keyId.prefix(16))…")
    Terminal.print("upload     \(answer.state)")
  }
}

/// A JSON document that is passed on.
struct JSONValue: Encodable {
  private let value: Any

  init(bytes: borrowing SecretBytes) {
    value = bytes.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe (try? JSONSerialization.jsonObject(with: Data($0))) ?? NSNull() }
    }
  }

  private init(_ value: Any) { self.value = value }

  func encode(to encoder: any Encoder) throws {
    switch value {
    case let members as [String: Any]:
      var container = encoder.container(keyedBy: Key.self)
      for (name, member) in members {
        try container.encode(JSONValue(member), forKey: Key(stringValue: name))
      }
    case let elements as [Any]:
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(JSONValue(element)) }
    case let text as String: try text.encode(to: encoder)
    case let number as NSNumber:
      if let whole = Int64(exactly: number), !(value is Bool) {
        try whole.encode(to: encoder)
      } else if let truth = value as? Bool {
        try truth.encode(to: encoder)
      } else {
        try number.doubleValue.encode(to: encoder)
      }
    default:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
