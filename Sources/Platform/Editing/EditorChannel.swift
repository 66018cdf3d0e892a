// SPDX-License-Identifier: Apache-2.0
//
// What the two processes say to each other over one socket: the editor's process that it is isolated, then the
// command the text, then the editor's process how it ended, with the text if that can be had.

internal import CSystem
internal import Glibc
internal import Secrets

/// One message, apart from the text that may follow it.
struct EditorMessage: Equatable {
  enum Kind: UInt8 {
    /// A step of the isolation was refused: `detail` is the step, `code` the system's reason.
    case refused = 1
    /// Isolated: the text may come.
    case ready
    /// The text follows. From the command: `detail` is how many bytes it may have after editing. To the command:
    /// `detail` is not 0 if the editor seems not to have waited for its user.
    case text
    /// The editor ended with the status `detail`.
    case failed
    /// There is no file where it was.
    case missing
    /// The file has more bytes than it may have.
    case tooLarge
  }

  static let byteCount = 16

  var kind: Kind
  var detail: UInt32 = 0
  var code: UInt32 = 0
  /// The bytes of the text that follows.
  var textByteCount: UInt32 = 0

  init(_ kind: Kind, detail: UInt32 = 0, code: UInt32 = 0, textByteCount: UInt32 = 0) {
    self.kind = kind
    self.detail = detail
    self.code = code
    self.textByteCount = textByteCount
  }

  init?(_ bytes: [UInt8]) {
    func number(_ place: Int) -> UInt32 {
      bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    guard bytes.count == Self.byteCount, let kind = UInt8(exactly: number(0)).flatMap(Kind.init) else {
      return nil
    }
    self.init(kind, detail: number(4), code: number(8), textByteCount: number(12))
  }

  var bytes: [UInt8] {
    [UInt32(kind.rawValue), detail, code, textByteCount].flatMap { number in
      (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
  }
}

/// One end of the socket. It waits as long as the user edits.
struct EditorChannel {
  let socket: Int32

  /// Two ends, which no other process inherits; nil when the system has none.
  static func pair() -> (EditorChannel, EditorChannel)? {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    return (EditorChannel(socket: ends[0]), EditorChannel(socket: ends[1]))
  }

  /// False when the other process is gone.
  func send(_ message: EditorMessage) -> Bool { send(message.bytes.rawSpan) }

  func send(_ bytes: RawSpan) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = unsafe Glibc.send(
          socket, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count > 0 { sent += count } else if errno != EINTR { return false }
      }
      return true
    }
  }

  /// The next message; nil when the other process is gone, or says what cannot be.
  func receive() -> EditorMessage? {
    var bytes = [UInt8](repeating: 0, count: EditorMessage.byteCount)
    guard bytes.withMutableRawSpan({ receive(&$0) }) else { return nil }
    return EditorMessage(bytes)
  }

  /// The text that follows a message, in locked memory; nil when the other process is gone.
  func receiveText(_ byteCount: UInt32) -> SecretBytes? {
    var text = SecretBytes(zeroed: Int(byteCount))
    guard text.withMutableBytes({ receive(&$0) }) else { return nil }
    return text
  }

  private func receive(_ bytes: inout MutableRawSpan) -> Bool {
    unsafe bytes.withUnsafeMutableBytes { bytes in
      var received = 0
      while received < bytes.count {
        let count = unsafe recv(socket, bytes.baseAddress! + received, bytes.count - received, 0)
        if count > 0 { received += count } else if count == 0 || errno != EINTR { return false }
      }
      return true
    }
  }
}
