// SPDX-License-Identifier: Apache-2.0

public import Primitives

/// Names a capture.
public typealias CaptureID = RecordID

/// A part of a capture. The numbers are stored.
public enum CapturePart: UInt8, Sendable, CaseIterable {
  /// The photo or film.
  case photo = 1
  /// The depth map.
  case depth = 2
  /// A JSON object, as it was given.
  case metadata = 3
  /// A small JPEG.
  case thumbnail = 4
  /// The hashes of the parts above, and the device that signed them.
  case manifest = 5
  /// The public key and the signature over the manifest.
  case assertion = 6

  /// Its name in the manifest and on the command line.
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

  /// The most bytes the part can have. Also limits how much memory or time a manipulated record can cost.
  public var byteCountLimit: Int {
    switch self {
    case .photo, .depth: 4 << 30
    case .metadata: 1 << 20
    case .thumbnail: 64 << 10
    case .manifest, .assertion: 64 << 10
    }
  }

  /// The parts that the manifest lists and the signature covers.
  static let signed: [CapturePart] = [.photo, .depth, .metadata, .thumbnail]
}
