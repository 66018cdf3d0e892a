// SPDX-License-Identifier: Apache-2.0
//
// Why a depth map was not drawn.

internal import Pictures

extension Failure {
  /// The depth map itself was exported when this happens.
  init(drawingDepth error: PictureError) {
    let saved = "the depth map itself was exported"
    switch error {
    case .notAPicture, .unknownFormat, .invalidSize:
      self.init(
        .refused, "unknown_depth", "this kind of depth map cannot be drawn",
        hint: "16-bit PNG and PFM can be; \(saved)")
    case .tooLarge:
      self.init(.refused, "capture_too_large", "the depth map is too large to be drawn", hint: saved)
    case .corrupt: self.init(.corrupt, "corrupt", "the depth map is damaged and was not drawn", hint: saved)
    case .crashed, .timedOut, .encodingFailed, .cannotStart, .noSandbox, .notBuilt:
      self.init(
        .noHardware, "decoder_failed",
        "the process that draws pictures failed, or could not be started safely",
        hint: saved)
    }
  }
}
