// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why a remote did not carry out a request, sorted by what the user can do about it.
@nonexhaustive
public enum RemoteError: Error, Equatable, Sendable {
  /// The remote does not answer, or its folder is not there, as on a stick that is not mounted. Later it may be.
  case unreachable
  /// The remote is there and does not let us.
  case refused(Refusal)
  /// The disk or the quota is full. What was acknowledged is safe.
  case full
  /// The device or the file system failed; `code` is the system's `errno`.
  case inputOutput(code: Int32)

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
