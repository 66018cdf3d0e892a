// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the URL of a public part, such as a web page or a QR code brings: what is accepted has one spelling,
// so that writing what was read gives the same text.

import Contacts
import Secrets

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: data, count: count))
  let octets: [UInt8]
  do throws(PublicPartURLProblem) {
    octets = try PublicPartURL.octets(of: text).withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
  } catch {
    guard (try? PublicParts(url: text)) == nil else { fatalError("a URL that was refused has public parts") }
    return 0
  }
  guard PublicPartURL.isMeant(by: text) else { fatalError("a URL was read that is not meant as one") }
  let isSame = PublicPartURL.Scheme.allCases.contains { scheme in
    guard let again = try? PublicPartURL.text(of: octets, scheme: scheme) else { return false }
    return text.withUnsafeBytes { $0.elementsEqual(again.utf8) }
  }
  guard isSame else { fatalError("a URL was read that is written differently") }
  guard let parts = try? PublicParts(url: text) else { return 0 }
  guard parts.count == 1 else { fatalError("a URL has several public parts") }
  return 0
}
