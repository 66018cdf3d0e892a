// SPDX-License-Identifier: Apache-2.0

public import Primitives

/// Names a capture.
public typealias CaptureID = RecordID

/// What a capture consists of. The numbers are stored.
public enum CapturePart: UInt8, Sendable, CaseIterable {
  case photo = 1
  case depth = 2
  /// A JSON object, as it was given.
  case metadata = 3
  /// A small JPEG.
  case thumbnail = 4
  /// The hashes of the parts above, and who vouches for them.
  case manifest = 5
  /// The public key and the signature over the manifest.
  case assertion = 6

  /// As the manifest and the command line name it.
  public var name: String {
    switch self {
    case .photo: "photo"
    case .depth: "depth"
    case .metadata: "metadata"
    case .thumbnail: "thumbnail"
    case .manifest: "manifest"
    case .assertion: "assertion"
    }
  }

  /// More would not be what the part is for; it bounds what a changed record can ask of a reader.
  public var byteCountLimit: Int {
    switch self {
    case .photo, .depth: 4 << 30
    case .metadata: 1 << 20
    case .thumbnail: 64 << 10
    case .manifest, .assertion: 64 << 10
    }
  }

  /// What the manifest lists, and the signature covers.
  static let signed: [CapturePart] = [.photo, .depth, .metadata, .thumbnail]
}
