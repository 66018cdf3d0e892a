// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why a remote did not carry out a request, sorted by what the user can do about it.
@nonexhaustive
public enum RemoteError: Error, Equatable, Sendable {
  /// The folder is not there, as on a stick that is not mounted. Later it may be.
  case unreachable
  /// The service does not answer. Later it may.
  case serviceUnreachable
  /// The remote is there and does not let us.
  case refused(Refusal)
  /// The disk or the quota is full. What was acknowledged is safe.
  case full
  /// The device or the file system failed; `code` is the system's `errno`.
  case inputOutput(code: Int32)
  /// The server is not the one that it should be: its key is not the pinned one, or no authority vouches for it.
  case untrusted
  /// Something answers that is not such a service: the page of a network's login, say.
  case invalidAnswer
  /// The program that carries requests over the network does not do so.
  case courier(CourierFailure)

  /// Why a remote does not let us.
  @nonexhaustive
  public enum Refusal: Sendable {
    /// This user may not.
    case permission
    /// Nobody may: the medium is mounted read-only.
    case readOnly
    /// The name is not a ``RemoteName``.
    case name
    /// The object has more than ``RemoteObject/byteCountLimit`` bytes.
    case tooLarge
    /// Something that is not ours has the name of the object or of a folder: a link, say, or a file in place of a
    /// folder. It was not touched.
    case occupied
    /// The clock of this machine and the server's differ by so much that it takes no signature.
    case clock
    /// What the place names is at another address, or in another region.
    case address
    /// There is no such bucket.
    case bucket
    /// There is no such database, or it has no table for our objects, or no role with the account's name.
    case unprepared
  }

  /// What became of the program that carries requests over the network.
  @nonexhaustive
  public enum CourierFailure: Equatable, Sendable {
    /// It is not where it should be, so it was not installed.
    case missing
    /// The system did not start it.
    case cannotStart
    /// The system refused `step` of what takes its rights away; `code` is the reason. It was given no request.
    case notConfined(step: Int32, code: Int32)
    /// It ended before it had answered.
    case ended
    /// It answered what cannot be, and was not heard further.
    case invalid
  }
}

extension RemoteError {
  init(systemError code: Int32) {
    switch code {
    // ENOENT: the folder was removed, or unmounted, while we were in it. The others come from sticks that were pulled
    // out, and from file systems of the network.
    case ENOENT, ENODEV, ENXIO, ENOMEDIUM, ESTALE, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH,
      ENETDOWN, ENETUNREACH:
      self = .unreachable
    case EACCES, EPERM: self = .refused(.permission)
    case EROFS: self = .refused(.readOnly)
    // EFBIG: a limit of the process. EMLINK: too many folders in one.
    case ENOSPC, EDQUOT, EFBIG, EMLINK: self = .full
    default: self = .inputOutput(code: code)
    }
  }
}
