// SPDX-License-Identifier: Apache-2.0
//
// What the answers of S3 mean for us. Engines differ in the names of errors, so the status counts where it can.

internal import Remotes

/// Why a request was not carried out, once.
enum S3Failure: Equatable {
  /// To be made again later. If that does not help: the error.
  case passing(RemoteError)
  case lasting(RemoteError)
  /// There is no object of that name.
  case absent

  /// - Parameters:
  ///   - status: of the answer; not 2xx.
  ///   - code: the name of the error; nil where there is none, as in the answer to HEAD.
  init(status: Int, code: String?) {
    switch (status, code) {
    case (_, "RequestTimeTooSkewed"): self = .lasting(.refused(.clock))
    // Ceph says 403 to it.
    case (_, "QuotaExceeded"), (507, _): self = .lasting(.full)
    // Services take objects of 5 GiB, and ours have 64 MiB at most: it is a quota. Swift says so.
    case (413, _), (_, "EntityTooLarge"): self = .lasting(.full)
    case (404, "NoSuchBucket"): self = .lasting(.unreachable)
    case (404, _): self = .absent
    case (_, "AuthorizationHeaderMalformed"), (_, "PermanentRedirect"), (301, _), (307, _), (308, _):
      self = .lasting(.refused(.address))
    case (401, _), (403, _), (405, _): self = .lasting(.refused(.permission))
    // The body was cut off, or came too slowly.
    case (_, "BadDigest"), (_, "XAmzContentSHA256Mismatch"), (_, "IncompleteBody"), (_, "RequestTimeout"),
      (408, _), (409, "OperationAborted"):
      self = .passing(.unreachable)
    case (429, _), (500, _), (502...504, _): self = .passing(.unreachable)
    default: self = .lasting(.invalidAnswer)
    }
  }

  init(_ error: HTTPTransportError, isKnown: Bool) {
    switch error {
    case .unreachable: self = isKnown ? .passing(.unreachable) : .lasting(.unreachable)
    case .interrupted: self = .passing(.unreachable)
    case .untrusted: self = .lasting(.untrusted)
    case .invalid: self = .lasting(.invalidAnswer)
    }
  }
}
