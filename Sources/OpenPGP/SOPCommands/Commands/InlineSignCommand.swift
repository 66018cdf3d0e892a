// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OpenPGP
internal import Secrets

enum InlineSignCommand: Subcommand {
  static let name = "inline-sign"
  static let operandNames = ["KEYS"]
  static let operandCounts = 1...any
  static let options: [OptionRule] = [.flag("no-armor"), .values("with-key-password"), .value("as")]
  static let page = """
    coffer-sop inline-sign: signs data and keeps them with the signatures

    usage: coffer-sop inline-sign [OPTIONS] KEYS ... < DATA > INLINESIGNED

      --as=binary|text|clearsigned
                                  text: UTF-8, whatever its line ends; clearsigned: so that it can be read as it
                                  is, which costs it the blanks at the ends of its lines
      --with-key-password=FILE    opens the keys; can be given several times
      --no-armor                  binary output

    example: coffer-sop inline-sign --as=clearsigned alice.key < letter.txt > letter.asc
    """

  private enum Mode: String {
    case binary, text, clearsigned
  }

  static func run(_ call: Call) throws(Failure) {
    let mode = try call.choice("as", Mode.binary)
    guard mode != .clearsigned || !call.has("no-armor") else {
      throw Failure(.incompatibleOptions, "--as=clearsigned is text, and --no-armor is not")
    }
    let now = CalendarTime.now()
    let signers = try SigningKeys(call, at: now).signers(at: call.operands)
    if mode == .clearsigned { return try signCleartext(signers, now) }
    var signing = InlineSigning(signers, time: now)
    signing.isText = mode == .text
    let message = signing
    try StandardStreams.write(call.has("no-armor") ? nil : .message, .document) {
      (sink) throws(OpenPGPError) in
      try message.sign(from: StandardStreams.input(), to: sink)
    }
  }

  private static func signCleartext(_ signers: [any Signer], _ time: Timestamp) throws(Failure) {
    let document = try readText()
    try StandardStreams.write(nil, .document) { (sink) throws(OpenPGPError) in
      try document.withBytes { (bytes) throws(OpenPGPError) in
        try CleartextSigner(signers, time: time).sign(bytes, writingTo: sink)
      }
    }
  }

  private static func readText() throws(Failure) -> SecretBytes {
    do {
      return try SecretBytes.read(
        fromDescriptor: STDIN_FILENO, byteCountLimit: Limits.cleartextByteCount)
    } catch .tooLong {
      throw Failure(
        .badData, "the text is too long to be signed readably", hint: "--as=text takes any length")
    } catch {
      throw Failure(.missingInput, "standard input cannot be read")
    }
  }
}
