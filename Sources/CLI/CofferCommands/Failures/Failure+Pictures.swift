// SPDX-License-Identifier: Apache-2.0
//
// Why a depth map was not drawn, a code was not made, and none was found.

internal import Contacts
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
    case .noLibrary:
      self.init(
        .noHardware, "no_picture_library",
        "depth maps are drawn with the library libpng, which is not installed here",
        hint: "\(saved); on Debian and Ubuntu, libpng is in libpng16-16")
    case .crashed, .timedOut, .encodingFailed, .cannotStart, .noSandbox, .notBuilt, .noCodeLibrary,
      .tooManyCodes:
      self.init(
        .noHardware, "decoder_failed",
        "the process that draws pictures failed, or could not be started safely",
        hint: saved)
    }
  }
}

extension Failure {
  /// Our own text fits, so this is the library's failure.
  init(makingCode error: PictureError) {
    switch error {
    case .noLibrary:
      self.init(
        .noHardware, "no_picture_library",
        "QR codes are made with the libraries libqrencode and libpng, and one of them is not installed here",
        hint: "on Debian and Ubuntu, they are in libqrencode4 and libpng16-16")
    case .notBuilt: self.init(.noHardware, "decoder_failed", "this build cannot make QR codes")
    default: self.init(.noHardware, "decoder_failed", "the QR code could not be made")
    }
  }

  init(findingCodes error: PictureError) {
    let another = "ask for the public part as a file"
    switch error {
    case .notAPicture, .unknownFormat, .invalidSize:
      self.init(
        .refused, "not_a_picture", "this is not a picture of a kind that is read here",
        hint: "PNG and JPEG in grey or colour are")
    case .tooLarge:
      self.init(
        .refused, "picture_too_large", "this picture has more than 40 million pixels",
        hint: "cut out the code")
    case .tooManyCodes:
      self.init(
        .refused, "several_qr_codes", "this picture has more than \(PictureLimits.codeCount) QR codes",
        hint: "cut out the one that you mean")
    case .corrupt:
      self.init(.corrupt, "picture_damaged", "this picture is damaged, or was cut off", hint: "take it again")
    case .noLibrary:
      self.init(
        .noHardware, "no_picture_library",
        "pictures are decoded with the libraries libjpeg-turbo and libpng, and one of them is not installed here",
        hint: "install it (on Debian and Ubuntu: libturbojpeg0, libpng16-16), or \(another)")
    case .noCodeLibrary:
      self.init(
        .noHardware, "no_code_library",
        "pictures are read with the library libzbar, which is not installed here",
        hint: "install it (on Debian and Ubuntu: libzbar0), or \(another)")
    case .timedOut:
      self.init(
        .noHardware, "decoder_failed", "looking for codes in this picture took too long, and was stopped",
        hint: "cut out the code, or \(another)")
    case .notBuilt: self.init(.noHardware, "decoder_failed", "this build cannot read pictures", hint: another)
    case .crashed, .encodingFailed, .cannotStart, .noSandbox:
      self.init(
        .noHardware, "decoder_failed",
        "the process that looks for codes failed on this picture, or could not be started safely",
        hint: another)
    }
  }

  init(code problem: MeantCode.Problem) {
    switch problem {
    case .noCode:
      self.init(
        .missing, "no_qr_code", "no QR code can be read in this picture",
        hint: "take it again: sharp, with the whole code and some light around it")
    case .foreign(let kinds):
      self.init(
        .refused, "foreign_qr_code",
        "this picture has no code of a public part or a fingerprint, only of something else: \(Self.counted(kinds))",
        hint: "nothing of that was opened; the code to ask for is that of 'coffer identity qr'")
    case .several(let kinds):
      self.init(
        .refused, "several_qr_codes", "this picture has several codes: \(Self.counted(kinds))",
        hint: "cut out the one that you mean")
    }
  }

  /// "2 public parts, 1 web address".
  private static func counted(_ kinds: [CodeKind]) -> String {
    CodeKind.allCases.compactMap { kind in
      let count = kinds.count { $0 == kind }
      guard count > 0 else { return nil }
      return switch kind {
      case .publicPart: count.counted("public part")
      case .fingerprint: count.counted("fingerprint")
      case .webAddress: count.counted("web address", "web addresses")
      case .other: count.counted("other text", "other texts")
      }
    }.joined(separator: ", ")
  }
}
