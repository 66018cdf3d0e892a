// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Remotes

extension Failure {
  init(remote error: RemoteError) {
    switch error {
    case .unreachable:
      self.init(
        .remote, "remote_unreachable", "the folder of the place is not there",
        hint: "plug in or mount the disk; do not make the folder where a disk belongs")
    // Nobody waited for an answer.
    case .serviceUnreachable where Interruption.isRequested:
      self = .interrupted("the service of the place was not waited for", hint: "run the same again")
    case .serviceUnreachable:
      self.init(
        .remote, "remote_unreachable", "the service of the place does not answer",
        hint:
          "connect to the network, and run the same again: nothing is lost; if it never answered, check host and "
          + "port in the URL")
    case .refused(let refusal): self.init(refusal: refusal)
    case .full:
      self.init(
        .remote, "remote_full", "the place is full",
        hint: "what was acknowledged is safe; make room there and go on")
    case .inputOutput:
      self.init(
        .remote, "remote_unreachable", "the place reports an error of its disk",
        hint: "check that disk; what was acknowledged is safe")
    case .untrusted:
      self.init(
        .remote, "remote_refused", "the server is not the one that it should be, so nothing was sent",
        hint: "check the network, and the pin in the URL")
    case .invalidAnswer:
      self.init(
        .remote, "remote_unreachable", "what answers there is not such a service",
        hint: "log in to the network, or check host and port in the URL: it must be such a service, with TLS")
    case .courier(.missing):
      self.init(
        .remote, "remote_unreachable", "the program coffer-courier, which has the network, is not installed",
        hint: "install it beside coffer")
    case .courier(.notConfined):
      self.init(
        .remote, "remote_unreachable",
        "this system cannot confine coffer-courier, so it was given no request",
        hint: "a place on the network needs a kernel with Landlock and seccomp; a folder needs neither")
    case .courier:
      self.init(
        .remote, "remote_unreachable", "the program coffer-courier, which has the network, failed",
        hint: "try again; what was acknowledged is safe")
    }
  }

  private init(refusal: RemoteError.Refusal) {
    switch refusal {
    case .permission:
      self.init(
        .remote, "remote_refused", "the place does not let this user",
        hint:
          "a folder: its owner and mode; a service: the key or role and its secret in the URL, and their rights"
      )
    case .readOnly:
      self.init(
        .remote, "remote_refused", "the place can only be read", hint: "mount it so that it can be written")
    case .occupied:
      self.init(
        .remote, "remote_refused",
        "something that is not ours is in the way at the place; it was not touched",
        hint: "use a folder for this alone")
    case .clock:
      self.init(
        .remote, "remote_refused", "the clocks of this machine and of the server differ too much",
        hint: "set this machine's clock")
    case .address:
      self.init(
        .remote, "remote_refused", "the bucket is at another address, or in another region",
        hint: "check host and region= in the URL")
    case .bucket:
      self.init(
        .remote, "remote_refused", "the service has no such bucket",
        hint: "make it with the service's own tools; check its name in the URL")
    case .unprepared:
      self.init(
        .remote, "remote_refused",
        "there is no such database, or it has no table 'coffer.object', or no role of that name",
        hint: "'coffer remote policy postgresql' prints the SQL that makes them; check the names in the URL")
    case .name, .tooLarge: self.init(unsorted: "RemoteError.Refusal")
    }
  }

  init(place error: RemotePlaceError) {
    let problem =
      switch error {
      case .tooLong: "it is too long"
      case .characters: "it has a blank, a '#', or a character that must be encoded"
      case .scheme: "it begins with none of 'folder://', 's3://' and 'postgresql://'"
      case .encoding: "a '%' is not followed by two hexadecimal digits"
      case .path: "the path of a folder begins with '/': folder:///media/stick/coffer"
      case .credentials: "the name and its secret are missing, or '/', ':' or '@' in them is not encoded"
      case .host: "the host is not a name or an address"
      case .port: "the port is not a number from 1 to 65535"
      case .bucket: "the bucket is missing, or not the name of one"
      case .database: "the database is missing, or a name has more than 63 bytes"
      case .prefix: "the prefix has an empty part, '.' or '..', or is too long"
      case .region: "the region is not made of letters, digits and hyphens"
      case .pin: "the pin is not 'sha256//' and 32 bytes in base64"
      case .parameter: "a parameter is unknown, repeated, or has an impossible value"
      case .unencrypted: "without encryption only this machine itself may be reached"
      }
    self.init(
      .refused, "malformed_url", "this is not the URL of a place: \(problem)",
      hint:
        "folder:///PATH, s3://KEY:SECRET@HOST/BUCKET/PREFIX, or postgresql://USER:PASSWORD@HOST/DATABASE")
  }
}
