// SPDX-License-Identifier: Apache-2.0

internal import ChildProcesses
internal import Glibc
internal import Secrets

/// What the editor's process answers when its editor ended with the status 0.
struct EditorAnswer: ~Copyable {
  let text: SecretBytes
  let didNotWait: Bool

  consuming func consumeText() -> SecretBytes { text }
}

/// The process that runs the editor, as the command sees it.
struct EditorProcess {
  private let channel: EditorChannel
  private let process: pid_t

  /// nil when it cannot be started.
  init?(_ executable: String, _ arguments: [String], _ environment: [String]) {
    guard let (ours, theirs) = EditorChannel.pair() else { return nil }
    defer { close(theirs.socket) }
    let process = ChildProcess.start(
      executable, [executable] + arguments, environment: environment, passing: theirs.socket,
      ignoring: [SIGINT, SIGQUIT])
    guard let process else {
      close(ours.socket)
      return nil
    }
    channel = ours
    self.process = process
  }

  /// Hands the text over once the process is isolated, and waits for the answer.
  func edit(_ text: RawSpan, byteCountLimit: Int) throws(EditorError) -> EditorAnswer {
    guard let begin = channel.receive() else { throw .interrupted }
    guard begin.kind == .ready else {
      guard begin.kind == .refused, let step = EditorIsolationStep(rawValue: Int32(begin.detail)) else {
        throw .interrupted
      }
      throw .notIsolated(step, errno: Int32(begin.code))
    }
    let message = EditorMessage(
      .text, detail: UInt32(byteCountLimit), textByteCount: UInt32(text.byteCount))
    guard channel.send(message), channel.send(text), let end = channel.receive() else { throw .interrupted }
    switch end.kind {
    case .failed: throw .failed(status: Int32(end.detail))
    case .missing: throw .fileMissing
    case .tooLarge: throw .tooLarge(limit: byteCountLimit)
    case .refused, .ready: throw .interrupted
    case .text: break
    }
    guard end.textByteCount <= byteCountLimit, let edited = channel.receiveText(end.textByteCount) else {
      throw .interrupted
    }
    return EditorAnswer(text: edited, didNotWait: end.detail != 0)
  }

  /// Waits until the process and all below it are gone.
  /// - Parameter killing: whether it may go on otherwise. After an answer it ends by itself.
  func end(killing: Bool) {
    close(channel.socket)
    if killing { kill(process, SIGKILL) }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }
}
