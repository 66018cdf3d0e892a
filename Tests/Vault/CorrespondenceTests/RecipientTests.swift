// SPDX-License-Identifier: Apache-2.0
//
// Every row of the table of recipients: who can be written to, and all problems at once.

import Contacts
import Correspondence
import Identities
import OpenPGP
import ProtectedData
import Secrets
import Testing

@Suite("Recipients")
struct RecipientTests {
  let fixture: LettersFixture

  init() throws { fixture = try LettersFixture() }

  private func message(
    _ whos: String..., signer: Identity? = nil, own: Identity? = nil, at time: Timestamp = LettersFixture.now
  ) throws -> OutgoingMessage {
    let book = try fixture.book(at: time)
    return try OutgoingMessage(
      to: whos.map { ($0, try book.find($0)) }, signer: signer, own: own, at: time)
  }

  private func problems(_ body: () throws -> OutgoingMessage) -> [RecipientProblem] {
    do {
      _ = try body()
      return []
    } catch { return (error as? RecipientProblems)?.problems ?? [] }
  }

  @Test("a contact that is not verified is written to, and so is a verified one")
  func usable() throws {
    try fixture.store(Correspondee("Bob <bob@example.org>").certificate)
    let before = try message("bob")
    #expect(before.recipients.map(\.correspondent.isVerified) == [false])
    try fixture.verify("bob")
    let after = try message("bob", "bob@example.org")
    #expect(after.recipients.map(\.correspondent.isVerified) == [true])
    #expect(!after.isForSelf)
  }

  @Test("a contact is said to be replaced when both keys say it, and the message does not go to the new one")
  func replaced() throws {
    let (bob, new) = (
      try Correspondee("Bob <bob@example.org>"), try Correspondee("Bobby <bobby@example.org>")
    )
    func stating(_ person: Correspondee, _ replacement: KeyReplacement, daysAgo: UInt32) throws -> Certificate
    {
      let time = LettersFixture.before(days: daysAgo)
      return try ValidCertificate(person.certificate, at: time, now: time, policy: .standard)
        .stating(replacement, by: person.primary())
    }
    func message(_ whos: String...) throws -> OutgoingMessage {
      let book = try fixture.book()
      return try OutgoingMessage(
        to: whos.map { ($0, try book.find($0)) }, signer: nil, own: nil, at: book.time, in: book)
    }
    try fixture.store(
      try stating(bob, .successor(KeyReplacement.Target(new.certificate.primaryKey)), daysAgo: 9))
    #expect(try message("bob").replaced.isEmpty)
    // The new key is here, and does not say so.
    try fixture.store(new.certificate)
    #expect(try message("bob@example.org").replaced.isEmpty)
    let other = try Correspondee("Other")
    try fixture.store(
      try stating(new, .predecessors([KeyReplacement.Target(other.certificate.primaryKey)]), daysAgo: 9))
    #expect(try message("bob@example.org").replaced.isEmpty)
    // It says so.
    try fixture.store(
      try stating(new, .predecessors([KeyReplacement.Target(bob.certificate.primaryKey)]), daysAgo: 8))
    let found = try message("bob@example.org").replaced
    #expect(found.map(\.correspondent.name) == ["Bob"])
    #expect(found.map { $0.successor?.name } == ["Bobby"])
    #expect(try message("bob@example.org", "bobby").replaced.isEmpty)
    #expect(try message("bobby").replaced.isEmpty)
  }

  @Test("all problems are reported at once, each with its reason")
  func allAtOnce() throws {
    let replaced = try Correspondee("Rae <rae@example.org>")
    try fixture.store(try Correspondee("Dan <dan@example.org>", days: 50).certificate)
    try fixture.store(try replaced.revoked(.superseded, at: LettersFixture.before(days: 5)))
    try fixture.store(Correspondee("Bob <bob@example.org>").certificate)
    let found = problems { try message("dan", "bob", "rae") }
    #expect(found.map(\.who) == ["dan", "rae"])
    #expect(
      found.map(\.reason) == [
        .expired(
          since: LettersFixture.before(days: 50).secondsSince1970,
          storedSince: LettersFixture.now.secondsSince1970),
        .revoked(
          RevocationReason(.superseded), since: LettersFixture.before(days: 5).secondsSince1970),
      ])
  }

  @Test("a key without a part for encryption cannot receive")
  func cannotReceive() throws {
    var certificate = try Correspondee("Ed <ed@example.org>").certificate
    certificate.subkeys.removeAll()
    try fixture.store(certificate)
    #expect(problems { try message("ed") }.map(\.reason) == [.cannotReceive])
  }

  /// RSA with 2,048 bits, whose self-signatures GnuPG has made in 2024 with SHA-1, as it was told to.
  private static let signedWithSHA1 = """
    -----BEGIN PGP PUBLIC KEY BLOCK-----

    mQENBGWSAIABCACqzQwYsa6eKwQ6eCpKD4bXnIrGaj5Jv0viGDJMviuGyYiuP10I
    pV68D/21aEDfNCP5f8TRkhBHW5vWLLxC6lb9K9iOxCArR6oQXzNrGqaRkvFsx8ZJ
    r6j4mSzfKkz0V6wMDDhkI07qi5uFftdpggScURgtmPNITSTS7yrvAraNLWA0MSdQ
    NTyGJljMxquyhvUy/RhbZxtyWokPig5lgcUzXsQx1R8M9s/Fr2Ydmf9L+ywCQQ3q
    idnXU03YR9GZ5+dpd02A2xTJuvSxPbm+UN6cFBPXWr/xEcL0ut6RS40CMQ6JJ+JS
    /W5envXulR9Kc5svNkBIXU5hGeIwymuNPf0zABEBAAG0E0VkIDxlZEBleGFtcGxl
    Lm9yZz6JAU4EEwECADgWIQQm0yjZ2apDEaXUd/Fw+QueICX/SQUCZZIAgAIbAwUL
    CQgHAgYVCgkICwIEFgIDAQIeAQIXgAAKCRBw+QueICX/SRbzB/9x/UBpSL50OVwS
    BMCt2mOvjyw6nznn34QrAfe57u9GGmxZKyAA4/heFgjCOkzCtwXPaKgVL/hmXshI
    eXLZKBkziQk69ceFtuSZ3oOroNYWL9fkOk7r6fFprKDE1sic7fpLbALfaJ+Wy61N
    24UEhTG8pdCfo9r6g+LOQHMVOpMh5//5HTr7xoaVqa7HGVmsga0xfJpYpON8GbQJ
    1h+PL0XXdlTi2W7LuX2HmDG1lUtCGmMkKPweXM2YqGeE6oFxstuNCFtQFLwHHyXZ
    pzm6vNjQZSGD6dMhb4MuUiS2kEcD8t9PzyiRDgd1jH6Y7wy3eB5HN7j9u78jSqSz
    JnlpEF9XuQENBGWSAIABCADXTKhpiU+7HCknRzduwa78la2rskeaGDgeivEuPzkX
    ksijfTDH36WNq+e/W0bPFPnXqPwwZhRYEkyl/p2qkX5Yxi5srM2XDh/K/PY0+CsO
    bt+oxNJlS7zwPvVKzAoA9N7NXnBU2QUUTywOHlHU0k6DiwMhbtblmoFpwewG3tqC
    nUWAsVtxaDvNp5pQb+v2rF8yUss6z+Z2iVbNZbYUS8YZrgaKI/FPLVYVc0OkOfiS
    TBsNPngmbx8UFWpmhV/+Bv31oNTmd56bIMp1gYfA3wE9aa3QrAIjXh3cgjNHeASf
    arQ3zlt2orLKcgDfk/DtKvZoYc9b+wb4neloV/6OMjwPABEBAAGJATYEGAECACAW
    IQQm0yjZ2apDEaXUd/Fw+QueICX/SQUCZZIAgAIbDAAKCRBw+QueICX/Sd3qB/9+
    2C0+Wf59c/YA392a5xJJhvzK8uTlOMHhbyu0JruNomLGpRSvzpBakPoqo0XQLQZW
    ZvKThBf+Y+zTWyRTsrtzmG+cAP65CucwJhbmqsI7pQK591Cm3UO3IlAEAkvZwMsP
    rzzy8Fn1a+ZpyNKaYJ8fKM6gASoAEkFXDFxaYgrgW72VWcWZ59WNunTJlJUepb9/
    Vv8nxO/0Hd+3iyU6h46O0DC1RJvVnjpYLdLW+YMKsRzTqKqZIIOrDGAqfnWS/BGP
    g8RHa4ltQGpZF4Nnu9Dvk/sMdoP0GVbSCPJOWeSxAPu17zOfoA50l2RGEDznBHKs
    QK66vk4zidmSclI8/QBY
    =ndUN
    -----END PGP PUBLIC KEY BLOCK-----
    """

  @Test("a key whose holder's statements can be forged today is refused, with the rule")
  func tooWeak() throws {
    let armored = MemorySource(Array(Self.signedWithSHA1.utf8))
    try fixture.store(try #require(try Certificate.readAll(ArmorReader(armored)).first))
    let found = problems { try message("26D328D9D9AA4311A5D477F170F90B9E2025FF49") }
    #expect(found.map(\.reason) == [.refused(.hashAlgorithm(.sha1))])
  }

  @Test("a contact with a key that waits is refused until somebody has decided")
  func pending() throws {
    try fixture.store(Correspondee("Eve <eve@example.org>").certificate)
    let newer = try Correspondee("Eve <eve@example.org>").certificate
    try fixture.store(newer)
    #expect(problems { try message("eve") }.map(\.reason) == [.keyChangePending])
    try fixture.store(newer, decision: .use)
    #expect(problems { try message("eve") }.isEmpty)
  }

  @Test("the user's own identity is judged first, and the others are not looked at")
  func ownFirst() throws {
    let ada = try fixture.identity("Ada <ada@example.org>", expiry: .years(1))
    try fixture.store(try Correspondee("Dan <dan@example.org>", days: 50).certificate)
    let later = LettersFixture.after(days: 400)
    let found = problems { try message("dan", signer: ada, own: ada, at: later) }
    #expect(found.count == 1)
    #expect(found.first?.isOwn == true)
    guard case .expired = found.first?.reason else {
      Issue.record("\(found)")
      return
    }
    #expect(problems { try message("dan", signer: ada, at: later) }.map(\.isOwn) == [true])
    #expect(problems { try message("dan", at: later) }.map(\.who) == ["dan"])
  }

  @Test("a newer copy from a file is used, merged, and not stored")
  func newerCopy() throws {
    let dan = try Correspondee("Dan <dan@example.org>", days: 50)
    try fixture.store(dan.certificate)
    let valid = ValidCertificate(
      dan.certificate, at: LettersFixture.before(days: 60), now: LettersFixture.now, policy: .standard)
    let updated = try valid.settingExpiration(to: LettersFixture.after(days: 3650), by: dan.primary())
    let book = try fixture.book()
    let named = try book.merging(LettersFixture.parts(updated))
    let message = try OutgoingMessage(
      to: named.map { ("dan.asc", $0) }, signer: nil, own: nil, at: book.time)
    #expect(message.recipients.map(\.correspondent.name) == ["Dan"])
    #expect(problems { try self.message("dan") }.count == 1)
    // Beside the stored copy it counts too, whichever is named first; and so do two copies of a stranger's.
    let (stored, newer) = (("dan", try book.find("dan")), ("dan.asc", named[0]))
    for both in [[stored, newer], [newer, stored]] {
      let message = try OutgoingMessage(to: both, signer: nil, own: nil, at: book.time)
      #expect(message.recipients.count == 1)
    }
    let old = try Correspondee("Old <old@example.org>", days: 50)
    let oldValid = ValidCertificate(
      old.certificate, at: LettersFixture.before(days: 60), now: LettersFixture.now, policy: .standard)
    let renewed = try oldValid.settingExpiration(to: LettersFixture.after(days: 3650), by: old.primary())
    let strangers = try [old.certificate, renewed].flatMap { try book.merging(LettersFixture.parts($0)) }
      .map { ("old.asc", $0) }
    #expect(try OutgoingMessage(to: strangers, signer: nil, own: nil, at: book.time).recipients.count == 1)
  }

  @Test("the format is the best that all read, and says because of whom it is the older one")
  func format() throws {
    try fixture.store(Correspondee("Uma <uma@example.org>").certificate)
    try fixture.store(Correspondee("Vic <vic@example.org>", isAdvanced: true).certificate)
    try fixture.store(Correspondee("Wim <wim@example.org>", isAdvanced: true).certificate)
    func check(_ whos: [String], _ version: Int, downgradedFor: [String]) throws {
      let book = try fixture.book()
      let message = try OutgoingMessage(
        to: whos.map { ($0, try book.find($0)) }, signer: nil, own: nil, at: book.time)
      let format = try message.encryption(passwords: []).format
      if case .version2 = format { #expect(version == 2) } else { #expect(version == 1) }
      #expect(message.downgradedFor.map(\.correspondent.name) == downgradedFor)
    }
    try check(["vic", "wim"], 2, downgradedFor: [])
    try check(["uma"], 1, downgradedFor: [])
    try check(["vic", "uma"], 1, downgradedFor: ["Uma"])
  }

  @Test("the user's own copy comes last and is said to be one; a named identity is not doubled")
  func ownCopy() throws {
    let ada = try fixture.identity("Ada <ada@example.org>")
    try fixture.store(Correspondee("Bob <bob@example.org>").certificate)
    let message = try message("bob", signer: ada, own: ada)
    #expect(message.recipients.map(\.isSelf) == [false, true])
    #expect(message.isForSelf)
    #expect(try self.message("me", own: ada).recipients.map(\.isSelf) == [false])
  }
}
