// SPDX-License-Identifier: Apache-2.0

internal import Captures
internal import Texts

extension Failure {
  init(capture error: CaptureError) {
    switch error {
    case .encryptionKeyNotFound:
      self.init(
        .corrupt, "capture_key_missing", "there are sealed captures here, but the coffer has no key for them",
        hint:
          "coffer.db may be older than the captures: restore the newer one, or move the folder 'blobs' elsewhere and keep it"
      )
    case .locked:
      self.init(.locked, "locked", "the coffer is locked", hint: "'coffer unlock' opens it")
    case .notFound:
      self.init(
        .missing, "capture_not_found", "no such capture", hint: "'coffer capture list' shows what there is")
    case .elsewhere:
      self.init(
        .missing, "capture_elsewhere", "a part of the capture is not on this device",
        hint: "'coffer capture keep ID' gets it")
    case .corrupt(let part):
      let what = part.map { "the capture's \($0.name)" } ?? "the capture data"
      self.init(
        .corrupt, "capture_corrupt", "\(what) is corrupt or was tampered with", hint: Self.corruptHint)
    case .badSignature:
      self.init(
        .corrupt, "bad_signature", "the signature does not match this capture", hint: Self.corruptHint)
    case .duplicate(let id):
      self.init(
        .inUse, "duplicate_capture", "this photo is already stored, as \(id)",
        hint: "add --allow-duplicate to store it again")
    case .tooLarge(let part, let limit):
      self.init(.refused, "capture_too_large", "the \(part.name) may be at most \(ByteCount.text(limit))")
    case .labelTooLarge(let limit):
      self.init(
        .refused, "metadata_out_of_bounds",
        "title, note and tags may be at most \(ByteCount.text(limit)) together",
        hint: "a title at most \(ByteCount.text(CaptureLabel.titleByteCountLimit)), a tag "
          + "\(ByteCount.text(CaptureLabel.tagByteCountLimit))")
    case .malformedMetadata:
      self.init(.refused, "malformed", "the metadata is not a JSON object")
    case .cannotRead(let part):
      self.init(
        .missing, "no_such_file",
        "the file with the \(part.name) cannot be read, or changed while it was read")
    case .alreadyExists:
      self.init(
        .inUse, "already_exists",
        "the directory already exists and is not empty; nothing is overwritten")
    case .cannotWrite where error.isOutOfSpace:
      self.init(.noRoom, "full", "the disk is full", hint: Self.fullExportHint)
    case .noFolder: self.init(.missing, "no_such_file", "there is no folder there to export to")
    case .uploadNotDue(let upload):
      let isEarly = upload.state == .pending
      self.init(
        .inUse, "upload_not_due", Self.sentence(upload),
        hint: isEarly ? nil : "'coffer capture mark ID pending' lets it wait again")
    case .interrupted: self = .interrupted("nothing was changed")
    case .cannotWrite: self.init(.missing, "not_permitted", "the files cannot be written there")
    }
  }

  private static func sentence(_ upload: UploadStatus) -> String {
    let next = upload.nextAttempt.map(RFC3339.format) ?? ""
    return switch upload.state {
    case .pending: "the next try of this upload is due at \(next)"
    case .uploading: "this upload has begun and was not reported yet; it counts as cut off at \(next)"
    case .uploaded: "this capture is uploaded"
    case .failed: "this upload has failed \(UploadStatus.attemptLimit) times"
    }
  }
}
