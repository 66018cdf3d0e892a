// SPDX-License-Identifier: Apache-2.0
//
// What the answers of S3 mean for us. Engines differ in the names of errors, so the status counts where it can.

internal import CourierProtocol
internal import Remotes

/// Why a request was not carried out, once.
enum S3Failure {
  /// Answered with nil: there is no object of that name.
  /// - Parameters:
  ///   - status: of the answer; not 2xx.
  ///   - code: the name of the error; nil where there is none, as in the answer to HEAD.
  ///   - isHead: whether it is the answer to HEAD.
  ///   - isKnown: whether the server has answered as such a service before.
  static func attempt(status: Int, code: String?, isHead: Bool, isKnown: Bool) -> CourierAttempt<HTTPAnswer?>
  {
    switch (status, code) {
    case (_, "RequestTimeTooSkewed"): .lasting(.refused(.clock))
    // Ceph says 403 to it.
    case (_, "QuotaExceeded"), (507, _): .lasting(.full)
    // Services take objects of 5 GiB, and ours have 64 MiB at most: it is a quota. Swift says so.
    case (413, _), (_, "EntityTooLarge"): .lasting(.full)
    case (404, "NoSuchBucket"): .lasting(.refused(.bucket))
    case (404, "NoSuchKey"): .answered(nil)
    case (404, _) where isHead: .answered(nil)
    // A proxy in front of a service that is down, or another kind of server.
    case (404, _): isKnown ? .passing(.invalidAnswer) : .lasting(.invalidAnswer)
    case (_, "AuthorizationHeaderMalformed"), (_, "PermanentRedirect"), (301, _), (307, _), (308, _):
      .lasting(.refused(.address))
    case (401, _), (403, _), (405, _): .lasting(.refused(.permission))
    // The body was cut off, or came too slowly.
    case (_, "BadDigest"), (_, "XAmzContentSHA256Mismatch"), (_, "IncompleteBody"), (_, "RequestTimeout"),
      (408, _), (409, "OperationAborted"):
      .passing(.serviceUnreachable)
    case (429, _), (500, _), (502...504, _): .passing(.serviceUnreachable)
    default: .lasting(.invalidAnswer)
    }
  }

  /// There was no answer.
  /// - Parameter isKnown: whether the server has answered before.
  static func attempt(_ error: HTTPTransportError, isKnown: Bool) -> CourierAttempt<HTTPAnswer?> {
    switch error {
    case .unreachable: isKnown ? .passing(.serviceUnreachable) : .lasting(.serviceUnreachable)
    case .interrupted: .passing(.serviceUnreachable)
    case .untrusted: .lasting(.untrusted)
    case .noHandshake: isKnown ? .passing(.serviceUnreachable) : .lasting(.invalidAnswer)
    case .invalid: .lasting(.invalidAnswer)
    }
  }
}
