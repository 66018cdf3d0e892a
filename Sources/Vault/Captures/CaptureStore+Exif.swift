// SPDX-License-Identifier: Apache-2.0

extension CaptureStore {
  /// What the camera wrote into the photo, read from its first chunk each time: the photo is signed, so
  /// nothing is gained by keeping a second copy of it.
  ///
  /// - Returns: nil when the photo is not a JPEG file.
  /// - Throws: `CaptureError.notFound`, `.corrupt`.
  public func exifFields(of id: CaptureID) throws -> ExifFields? {
    var fields: ExifFields?
    try withPart(.photo, of: id) { chunk in
      fields = ExifFields(photo: chunk)
      return false
    }
    return fields
  }
}
