// SPDX-License-Identifier: Apache-2.0
//
// The QR code in a picture that somebody gave. The picture is decoded by a process that holds no keys; only the text of
// its codes comes back, and is as little trusted as the picture.

internal import Contacts
internal import Pictures
internal import Secrets

enum PictureCode {
  /// The one code of a picture that is a public part or a fingerprint; nil for a file that is not a picture.
  /// - Parameter path: the picture's name for messages; `-` for none.
  static func meant(in file: RawSpan, path: String) throws -> MeantCode? {
    do {
      if PictureKind.isForeign(file) { throw PictureError.unknownFormat }
      guard CodeReader.recognises(file) else { return nil }
      return try MeantCode(of: CommandSurroundings.current.codeTexts(in: file))
    } catch let error as PictureError {
      throw named(Failure(findingCodes: error), path)
    } catch let problem as MeantCode.Problem {
      throw named(Failure(code: problem), path)
    }
  }

  /// The same of a file that has to be a picture.
  static func meant(inPicture path: String) throws -> MeantCode {
    let code = try PublicPartInput.whole(path).withBytes { try meant(in: $0, path: path) }
    guard let code else { throw named(Failure(findingCodes: .notAPicture), path) }
    return code
  }

  /// The public part of a file that is a picture; nil for another file.
  static func publicPart(in file: RawSpan, path: String) throws -> PublicParts? {
    guard let code = try meant(in: file, path: path) else { return nil }
    if code.kind == .fingerprint {
      var failure = Failure(ContactError.url(.fingerprintAlone))
      failure.hint = "'coffer contact verify WHO --qr PICTURE' compares it with that of a contact"
      throw named(failure, path)
    }
    return try code.publicParts()
  }

  static func named(_ failure: Failure, _ path: String) -> Failure {
    guard path != "-" else { return failure }
    var failure = failure
    failure.message = "'\(path)': \(failure.message)"
    return failure
  }
}
