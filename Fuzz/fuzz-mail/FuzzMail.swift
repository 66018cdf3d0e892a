// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a mail: parts lie inside of the parts around them, what a signature covers has the line ends of mail, and
// with these it is read as the same tree. The form of the mail, its heading and its keys are asked for as well.

import Correspondence
import MessageFormats
import Secrets

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let mail = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: data, count: count))
  _ = MailTree.isMail(mail)
  checkBlocks(mail)
  guard MailTree.legacyDisplayByteCount(mail) <= count else { fatalError("a copy of headers is too long") }
  guard let tree = try? MailTree(mail) else { return 0 }
  checkPlaces(tree, mail)
  checkLineEnds(tree, mail)
  look(at: tree, mail)
  return 0
}

/// Each part is in its parent, behind its sibling; each is the child of one.
private func checkPlaces(_ tree: MailTree, _ mail: RawSpan) {
  guard tree.parts[0].entity == 0..<mail.byteCount else { fatalError("a mail has other bytes around it") }
  var childCount = 0
  for (index, part) in tree.parts.enumerated() {
    guard part.entity.lowerBound <= part.body.lowerBound, part.body.upperBound == part.entity.upperBound
    else {
      fatalError("a body is not at the end of its part")
    }
    guard part.isMultipart != part.children.isEmpty else { fatalError("a multipart without parts") }
    var end = part.body.lowerBound
    for child in part.children {
      let entity = tree.parts[child].entity
      guard child > index, entity.lowerBound >= end, entity.upperBound <= part.body.upperBound else {
        fatalError("a part is not inside of another")
      }
      end = entity.upperBound
      childCount += 1
    }
    for field in part.fields {
      guard part.entity.contains(field.line.lowerBound), field.line.upperBound <= part.body.lowerBound,
        field.value.lowerBound > field.line.lowerBound, field.value.upperBound <= field.line.upperBound
      else { fatalError("a header is not in its line") }
    }
  }
  guard childCount == tree.parts.count - 1 else { fatalError("a part has no parent, or several") }
  for leaf in tree.leaves() { tree.content(of: leaf, in: mail).withBytes { checkBlocks($0) } }
}

/// With CR LF everywhere the mail is the same tree, unless that makes it longer than a mail may be.
private func checkLineEnds(_ tree: MailTree, _ mail: RawSpan) {
  tree.signedBytes(of: 0, in: mail).withBytes { signed in
    signed.withUnsafeBytes { bytes in
      for (index, byte) in bytes.enumerated() where byte == 0x0A {
        guard index > 0, bytes[index - 1] == 0x0D else { fatalError("a line ends with LF alone") }
      }
    }
    let again: MailTree
    do throws(MailTreeError) { again = try MailTree(signed) } catch {
      guard error == .overLimit else { fatalError("with CR LF a mail is refused") }
      return
    }
    guard again.parts.map(\.type) == tree.parts.map(\.type),
      again.parts.map(\.children) == tree.parts.map(\.children),
      again.parts.map(\.encoding) == tree.parts.map(\.encoding)
    else { fatalError("with CR LF a mail is read as another") }
    let hasChanged = again.signedBytes(of: 0, in: signed).withBytes { twice in
      twice.withUnsafeBytes { twice in signed.withUnsafeBytes { !$0.elementsEqual(twice) } }
    }
    guard !hasChanged else { fatalError("what a signature covers changed again") }
  }
}

/// Asks what reading and importing ask. What they open is one of the mail's parts.
private func look(at tree: MailTree, _ mail: RawSpan) {
  let parts: [Int]
  var content = 0
  switch MailShape(tree, mail) {
  case .encrypted(let part, _): parts = [part]
  case .signed(let signed, let signature, let footer):
    content = signed
    parts = [signed, signature] + (footer.map { [$0] } ?? [])
  case .text(let block, _): parts = block.range.isEmpty ? [-1] : []
  case .severalTexts(let blocks): parts = blocks.count > 1 ? [] : [-1]
  case .plain(let ciphertexts): parts = ciphertexts.map { $0 <= tree.leaves().count ? 0 : -1 }
  }
  guard parts.allSatisfy({ tree.parts.indices.contains($0) }) else {
    fatalError("a part is opened that the mail does not have")
  }
  for isEncrypted in [false, true] {
    let heading = MailHeading(tree, mail, content: tree, part: content, mail, isEncrypted: isEncrypted)
    // Inside and outside are the same headers here, unless the signature covers one part of the mail.
    guard content > 0 || heading.changed.isEmpty else { fatalError("a header is not as it is itself") }
  }
  let heading = MailHeading(tree, mail)
  guard heading.lines.allSatisfy({ !$0.isProtected }) else { fatalError("nothing protects a header") }
  for part in tree.parts.indices {
    let found = tree.autocrypt(of: part, in: mail)
    guard found.count == 1 || found.only == nil else { fatalError("one of several keys was chosen") }
  }
}

/// Blocks follow each other inside of a text.
private func checkBlocks(_ text: RawSpan) {
  var end = 0
  for block in ArmoredBlock.all(in: text) {
    guard block.range.lowerBound >= end, block.range.upperBound <= text.byteCount, !block.range.isEmpty else {
      fatalError("a block is not behind the one before it")
    }
    _ = block.isAlone(in: text)
    end = block.range.upperBound
  }
}
