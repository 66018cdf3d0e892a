// SPDX-License-Identifier: Apache-2.0
//
// The client's side of the Assuan protocol ("Developing with Assuan", section 2): one command, then lines
// until OK or ERR. The content of a `D` line is secret and never leaves locked memory.

internal import CSystem
internal import Glibc
internal import Secrets

/// The conversation with a running pinentry program.
struct AssuanConversation: ~Copyable {
  private var program: PromptProgram
  /// The line read last, without its LF.
  private var line = SecretBytes(zeroed: AssuanConversation.lineByteCountLimit)
  private var lineCount = 0

  private let patience: PinentryPatience

  private init(with program: consuming PromptProgram, _ patience: PinentryPatience) {
    self.program = program
    self.patience = patience
  }

  /// Starts `program` with these variables and waits for its greeting.
  static func begin(
    program: String, _ variables: [String: String], patience: PinentryPatience
  ) throws(PromptError) -> AssuanConversation {
    var conversation = AssuanConversation(with: try PromptProgram(program, variables), patience)
    guard try conversation.reply() == .ok else { throw .promptProgramFailed }
    return conversation
  }

  /// Sends `name` with `text` percent-escaped; it must succeed.
  mutating func command(_ name: String, _ text: String) throws(PromptError) {
    try send("\(name) \(Self.escaped(text))\n")
    guard try reply() == .ok else { throw .promptProgramFailed }
  }

  /// Sets an option; a program that does not know it may refuse.
  mutating func option(_ name: String, _ value: String) throws(PromptError) {
    try send("OPTION \(name)=\(Self.escaped(value))\n")
    _ = try reply()
  }

  /// Asks for the secret.
  mutating func getPIN(byteCountLimit: Int) throws(PromptError) -> SecretBytes {
    var answer = SecretBytes(zeroed: byteCountLimit)
    var count = 0
    try send("GETPIN\n")
    let end = patience.endForAnswer
    while true {
      switch try nextLine(until: end) {
      case .ok: return answer.withBytes { SecretBytes(copying: $0.extracting(first: count)) }
      case .error(let code): throw Self.sorted(code)
      case .data: count = try appendDecoded(to: &answer, at: count)
      case .comment: continue
      case .other: throw .promptProgramFailed
      }
    }
  }

  /// Asks for one of two buttons.
  mutating func confirm() throws(PromptError) -> Bool {
    try send("CONFIRM\n")
    switch try reply(until: patience.endForAnswer) {
    case .ok: return true
    case .error(let code) where code & 0xFFFF == ErrorCode.notConfirmed: return false
    case .error(let code): throw Self.sorted(code)
    default: throw .promptProgramFailed
    }
  }

  /// Says goodbye; the program ends by itself.
  mutating func end() {
    guard (try? send("BYE\n")) != nil else { return }
    program.endsByItself = true
  }

  // MARK: Lines

  private enum Line: Equatable {
    case ok
    case error(UInt32)
    /// The secret is in `line`, from offset 2.
    case data
    case comment
    case other
  }

  /// Answers that the program gives by itself, without the user.
  private mutating func reply() throws(PromptError) -> Line { try reply(until: patience.endForProgram) }

  private mutating func reply(until end: ContinuousClock.Instant) throws(PromptError) -> Line {
    while true {
      let line = try nextLine(until: end)
      if line != .comment { return line }
    }
  }

  private mutating func nextLine(until end: ContinuousClock.Instant) throws(PromptError) -> Line {
    try readLine(until: end)
    return line.withBytes { all in
      let text = all.extracting(first: lineCount)
      if Self.starts(text, "D ") { return .data }
      if Self.starts(text, "OK") { return .ok }
      if Self.starts(text, "ERR ") { return .error(Self.number(in: text, from: 4)) }
      if Self.starts(text, "#") || Self.starts(text, "S ") { return .comment }
      return .other
    }
  }

  /// Reads up to the next LF, a byte at a time: nothing secret is left in a second buffer.
  private mutating func readLine(until end: ContinuousClock.Instant) throws(PromptError) {
    lineCount = 0
    while true {
      guard lineCount < line.count else { throw .promptProgramFailed }
      try waitForByte(until: end)
      let offset = lineCount
      let socket = program.socket
      let got = line.withMutableBytes { span in
        unsafe span.withUnsafeMutableBytes {
          unsafe read(socket, $0.baseAddress.map { unsafe $0 + offset }, 1)
        }
      }
      if got < 0 && errno == EINTR { continue }
      guard got == 1 else { throw .promptProgramFailed }
      if line.withBytes({ unsafe $0.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }) == 0x0A { return }
      lineCount += 1
    }
  }

  private borrowing func waitForByte(until end: ContinuousClock.Instant) throws(PromptError) {
    while true {
      var polled = pollfd(fd: program.socket, events: Int16(POLLIN), revents: 0)
      let count = unsafe poll(&polled, 1, (end - ContinuousClock.now).pollMilliseconds)
      if count > 0 { return }
      guard count == 0 || errno == EINTR else { throw .promptProgramFailed }
      guard ContinuousClock.now < end else { throw .timedOut }
    }
  }

  /// Decodes `%XX` of the current `D` line into `answer`; returns the new end.
  private borrowing func appendDecoded(to answer: inout SecretBytes, at start: Int) throws(PromptError) -> Int
  {
    let limit = answer.count
    let last = lineCount
    return try line.withBytes { (text) throws(PromptError) -> Int in
      try answer.withMutableBytes { (target) throws(PromptError) -> Int in
        var end = start
        var offset = Self.dataOffset
        while offset < last {
          guard end < limit else { throw .tooLong(byteCountLimit: limit) }
          var byte = Self.byte(text, offset)
          offset += 1
          if byte == UInt8(ascii: "%") {
            guard offset + 2 <= last, let high = Self.digit(Self.byte(text, offset)),
              let low = Self.digit(Self.byte(text, offset + 1))
            else { throw .promptProgramFailed }
            byte = high << 4 | low
            offset += 2
          }
          target.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
          end += 1
        }
        return end
      }
    }
  }

  private borrowing func send(_ text: String) throws(PromptError) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let sent = unsafe bytes.withUnsafeBytes { raw in
        unsafe Glibc.send(program.socket, raw.baseAddress, raw.count, Int32(MSG_NOSIGNAL))
      }
      if sent > 0 {
        bytes = bytes.dropFirst(sent)
      } else if errno != EINTR {
        throw .promptProgramFailed
      }
    }
  }

  // MARK: Encoding

  /// `text` with `%` and control characters percent-escaped, and cut so that the line stays legal.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      var piece = ""
      for scalar in character.unicodeScalars {
        if scalar.value < 0x20 || scalar == "%" || scalar.value == 0x7F {
          let digits = String(scalar.value, radix: 16, uppercase: true)
          piece += "%" + (digits.count < 2 ? "0" : "") + digits
        } else {
          piece.unicodeScalars.append(scalar)
        }
      }
      if result.utf8.count + piece.utf8.count > textByteCountLimit { break }
      result += piece
    }
    return result
  }

  private static func starts(_ text: RawSpan, _ prefix: StaticString) -> Bool {
    guard text.byteCount >= prefix.utf8CodeUnitCount else { return false }
    for offset in 0..<prefix.utf8CodeUnitCount {
      guard unsafe byte(text, offset) == prefix.utf8Start[offset] else { return false }
    }
    return true
  }

  private static func number(in text: RawSpan, from start: Int) -> UInt32 {
    var value: UInt32 = 0
    for offset in start..<text.byteCount {
      let digit = byte(text, offset) &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value &* 10 &+ UInt32(digit)
    }
    return value
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  private static func byte(_ text: RawSpan, _ offset: Int) -> UInt8 {
    unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  private static func sorted(_ code: UInt32) -> PromptError {
    switch code & 0xFFFF {
    case ErrorCode.canceled, ErrorCode.fullyCanceled: .cancelled
    case ErrorCode.timeout: .timedOut
    default: .promptProgramFailed
    }
  }

  /// The low 16 bits of a libgpg-error number; the high ones name the part that failed, so that
  /// pinentry's own "cancelled" is 83886179.
  private enum ErrorCode {
    static let timeout: UInt32 = 62
    static let canceled: UInt32 = 99
    static let notConfirmed: UInt32 = 114
    static let fullyCanceled: UInt32 = 198
  }

  /// Assuan allows 1,000 bytes a line and its LF; twice that is patience with a long comment.
  private static let lineByteCountLimit = 2048
  /// 1,000 less the longest command word and its space.
  private static let textByteCountLimit = 980
  private static let dataOffset = 2
}
