// SPDX-License-Identifier: Apache-2.0

/// What counts as an attachment of a mail, for search.
enum MailAttachment {
  /// The name of the file that a part is, empty if it has none; nil if the part is not an attachment.
  ///
  /// A part is one if it is named, or is to be one (RFC 2183), or is neither text nor made of parts. A signature that
  /// is a part of its own is not.
  static func name(
    _ bytes: RawSpan, _ headers: MailContentHeaders, _ type: MediaType?, depth: Int
  ) -> String? {
    let isText = type.map { $0.subtype.isEmpty || bytes.equals("text", in: $0.type) } ?? true
    let isNamed = type?.hasName == true
    // Most parts are such.
    if isText, !isNamed, headers.disposition == nil { return nil }
    if let type, !isText, holdsNoFile(bytes, type, depth: depth) { return nil }
    let disposition = headers.disposition.map {
      MailParameters(bytes, $0) ?? MailParameters(tolerant: bytes, $0)
    }
    if let name = disposition?.text("filename") { return name }
    if isNamed, let value = headers.contentType {
      let parameters = MailParameters(bytes, value) ?? MailParameters(tolerant: bytes, value)
      if let name = parameters.text("name") { return name }
    }
    return disposition?.word == "attachment" || !isText ? "" : nil
  }

  private static func holdsNoFile(_ bytes: RawSpan, _ type: MediaType, depth: Int) -> Bool {
    if bytes.equals("multipart", in: type.type) { return true }
    if depth == 0, bytes.equals("message", in: type.type) { return true }
    return bytes.equals("pgp-signature", in: type.subtype)
      || bytes.equals("pkcs7-signature", in: type.subtype)
      || bytes.equals("x-pkcs7-signature", in: type.subtype)
  }
}
