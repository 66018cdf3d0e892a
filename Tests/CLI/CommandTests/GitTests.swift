// SPDX-License-Identifier: Apache-2.0
//
// coffer-gpg under a real git, beside a real gpg: what one signs the other verifies.

import Foundation
import Testing

@Suite("git signs and verifies with coffer-gpg")
struct GitTests {
  /// Everything that git can show of a commit's signature, apart from its text.
  private static let format = "--format='%G?|%GS|%GK|%GF|%GP|%GT'"

  private func fields(_ git: GitPlace, _ what: String = "-1", config: String = "") throws -> [String] {
    let line = try git.must("git \(config) log \(what) \(Self.format)")
    return line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
  }

  @Test(
    "Commits, merges and tags are good, with the key's own fingerprint, for version 4 and 6",
    arguments: ["universal", "advanced"])
  func own(profile: String) throws {
    let git = try GitPlace()
    let fingerprint = try git.identity("Ada Lovelace <ada@example.org>", profile: profile).uppercased()
    try git.must("coffer unlock $P --quiet")
    // The committer's name and address find the identity; nothing else is configured.
    try git.must("git commit -q -S --allow-empty -m First")
    let keyID = profile == "universal" ? fingerprint.suffix(16) : fingerprint.prefix(16)
    let expected = [
      "G", "Ada Lovelace <ada@example.org>", String(keyID), fingerprint, fingerprint, "ultimate",
    ]
    #expect(try fields(git) == expected)
    #expect(try git.shell("git verify-commit HEAD").status == 0)
    try git.must(
      """
      git config user.signingkey \(fingerprint)
      git checkout -q -b side && git commit -q -S --allow-empty -m Side
      git checkout -q main && git commit -q -S --allow-empty -m Main
      git merge -q -S --no-edit --verify-signatures side
      """)
    #expect(try fields(git) == expected)
    #expect(try git.must("git log -1 --format=%P").split(separator: " ").count == 2)
    try git.must("git tag -s -m 'The first' v1")
    let tag = try git.shell("git verify-tag v1")
    #expect(tag.status == 0)
    #expect(tag.error.contains("coffer-gpg: signed by you, as \"Ada Lovelace <ada@example.org>\""))
    let shown = try git.must("git log --show-signature")
    #expect(shown.components(separatedBy: "coffer-gpg: signed by you").count == 5, "\(shown)")

    // Another text under the same signature.
    try git.must(
      "git cat-file commit HEAD | sed 's/Merge/Forge/' | git hash-object -t commit -w --stdin >$PLACE/forged")
    #expect(try fields(git, "-1 $(cat $PLACE/forged)").first == "B")
    #expect(try git.shell("git verify-commit $(cat $PLACE/forged)").status == 1)

    // gpg of Debian 12 reads version 4 alone.
    guard profile == "universal" else { return }
    try git.must("coffer identity export ada | gpg --batch --quiet --import 2>/dev/null")
    #expect(try Array(fields(git, config: "-c gpg.program=gpg")[..<5]) == ["U"] + expected[1..<5])
    #expect(try git.shell("git -c gpg.program=gpg verify-tag v1").status == 0)
  }

  @Test("A signature of gpg: unknown, then of a contact, then of a verified contact")
  func contact() throws {
    let git = try GitPlace()
    let bob = try git.gpgKey("Bob Baker <bob@example.org>")
    try git.must(
      "git -c gpg.program=gpg commit -q -S\(bob) --allow-empty -m 'By Bob'; coffer unlock $P --quiet")
    #expect(try fields(git) == ["E", "", String(bob.suffix(16)), "", "", "undefined"])
    #expect(try git.shell("git verify-commit HEAD").status == 1)
    try git.must("gpg --export \(bob) | coffer contact import --yes --quiet")
    let known = ["Bob Baker <bob@example.org>", String(bob.suffix(16)), bob, bob]
    #expect(try fields(git) == ["U"] + known + ["undefined"])
    #expect(try git.shell("git verify-commit HEAD").status == 0)
    #expect(try git.shell("git -c gpg.minTrustLevel=marginal verify-commit HEAD").status == 1)
    try git.must("coffer contact verify bob --fingerprint \(bob) --quiet")
    #expect(try fields(git) == ["G"] + known + ["fully"])
    #expect(try git.shell("git -c gpg.minTrustLevel=fully verify-commit HEAD").status == 0)
    // Only identities sign, whatever the key is called.
    let refused = try git.shell("git -c user.signingkey=bob@example.org commit -S --allow-empty -m No")
    #expect(refused.status != 0)
    #expect(try git.must("git log -1 --format=%s") == "By Bob")
  }

  @Test("Keys that have expired since, keys that were revoked, and hashes that can be forged")
  func grades() throws {
    let git = try GitPlace()
    try git.must("coffer unlock $P --quiet; echo text >$PLACE/text")
    /// A signature over the text by a key of gpg that is a contact.
    func sign(
      _ userID: String, generating: String = "", until: String = "never", signing: String = "",
      then: String = ""
    ) throws -> Place.Outcome {
      let key = try git.gpgKey(userID, generating, until: until)
      try git.must(
        """
        gpg --batch --quiet \(signing) --local-user \(key) --output "$PLACE/\(key).sig" --detach-sign $PLACE/text
        \(then.replacing("KEY", with: key))
        gpg --export \(key) | coffer contact import --yes --quiet
        """)
      return try git.shell(
        "coffer-gpg --keyid-format=long --status-fd=1 --verify $PLACE/\(key).sig - <$PLACE/text")
    }
    func words(_ outcome: Place.Outcome) -> [String] {
      outcome.output.split(separator: "\n").map { String($0.split(separator: " ")[1]) }
    }

    let past = "--faked-system-time 20200101T000000!"
    let expired = try sign(
      "Old <old@example.org>", generating: past, until: "1y", signing: past)
    #expect(words(expired) == ["NEWSIG", "EXPKEYSIG", "VALIDSIG", "TRUST_UNDEFINED"], "\(expired)")
    #expect(expired.status == 0 && expired.error.contains("the key has expired since"))

    let revoked = try sign(
      "Gone <gone@example.org>",
      then: "sed 's/^:---/---/' $GNUPGHOME/openpgp-revocs.d/KEY.rev | gpg --batch --quiet --import")
    #expect(words(revoked) == ["NEWSIG", "REVKEYSIG", "VALIDSIG", "TRUST_UNDEFINED"], "\(revoked)")
    #expect(revoked.status == 1)

    let weak = try sign(
      "Weak <weak@example.org>", signing: "--digest-algo SHA1")
    #expect(words(weak) == ["NEWSIG", "ERRSIG", "TRUST_UNDEFINED"], "\(weak)")
    #expect(weak.status == 2 && weak.output.contains(" 22 2 00 "))

    // Not a signature at all, and two in one file.
    let nothing = try git.shell("coffer-gpg --status-fd=1 --verify $PLACE/text - <$PLACE/text")
    #expect(words(nothing) == ["NEWSIG", "ERRSIG", "TRUST_UNDEFINED"] && nothing.status == 2, "\(nothing)")
    let both = try git.shell(
      "cat $PLACE/*.sig >$PLACE/all; coffer-gpg --status-fd=1 --verify $PLACE/all - <$PLACE/text")
    #expect(words(both).count { $0 == "NEWSIG" } == 3 && both.status == 2, "\(both)")
  }

  @Test("A user ID with line ends and a verdict in it stays in its field")
  func forgedName() throws {
    let git = try GitPlace()
    try git.must(
      """
      printf 'Eve 100%%\\n[GNUPG:] TRUST_ULTIMATE 0 pgp\\n\\302\\205\\342\\200\\256 ' >$PLACE/name
      printf '<eve@example.org>' >>$PLACE/name
      gpg --batch --quiet --passphrase '' --quick-gen-key "$(cat $PLACE/name)" ed25519 sign never 2>/dev/null
      coffer unlock $P --quiet
      gpg --export | coffer contact import --yes --quiet
      git -c gpg.program=gpg commit -q -Seve@example.org --allow-empty -m 'By Eve'
      """)
    let all = try fields(git)
    #expect(all.count == 6 && all[0] == "U" && all[5] == "undefined", "\(all)")
    #expect(all[1] == "Eve 100%25%0A[GNUPG:] TRUST_ULTIMATE 0 pgp%0A%C2%85%E2%80%AE <eve@example.org>")
    let verified = try git.shell("git verify-commit --raw HEAD").error.split(separator: "\n")
    #expect(verified.count { $0.hasPrefix("[GNUPG:]") } == 4, "\(verified)")
  }

  @Test("A rebase of 30 commits asks once within the grace period, and is told what is signed")
  func rebase() throws {
    let git = try GitPlace()
    _ = try git.identity("Ada Lovelace <ada@example.org>")
    let asking = try git.pinentry()
    try git.must(
      """
      git commit -q --allow-empty -m Base && git branch base
      for n in $(seq 30); do echo $n >file-$n; git add file-$n; git commit -q -m "Commit $n"; done
      git checkout -q base && git commit -q --allow-empty -m Other && git checkout -q main
      coffer unlock $P --quiet
      coffer settings grace-period 600 $P --quiet
      """)
    try git.must("git rebase -q -S base", environment: asking)
    let signed = try git.must("git log --format=%G? base..main").split(separator: "\n")
    #expect(signed.count == 30 && signed.allSatisfy { $0 == "G" })
    #expect(git.told.filter { $0 == "GETPIN" }.count == 1)
    let prompt = "SETPROMPT passphrase, to sign a commit in 'work' as Ada Lovelace <ada@example.org>"
    #expect(git.told.contains(prompt))
    #expect(git.told.contains { $0.hasSuffix("%0ACommit 1") }, "\(git.told)")
    // Without a grace period each one asks.
    try git.must("coffer settings grace-period 0 $P --quiet")
    try git.must("for n in 1 2; do git commit -q -S --allow-empty -m $n; done", environment: asking)
    #expect(git.told.filter { $0 == "GETPIN" }.count == 3)
    #expect(try git.must("coffer audit").components(separatedBy: "signature made for git").count == 33)
  }

  @Test("With nobody to ask nothing is signed, and the reason is said; a locked coffer judges nothing")
  func nobody() throws {
    let git = try GitPlace()
    let fingerprint = try git.identity("Ada Lovelace <ada@example.org>").uppercased()
    try git.must(
      "coffer unlock $P --quiet; git commit -q -S --allow-empty -m First; coffer lock --all --quiet")
    let alone = try git.shell("git commit -S --allow-empty -m Second")
    #expect(alone.status != 0)
    #expect(try git.must("git log --format=%s") == "First")
    let signing = "coffer-gpg --status-fd=2 -bsau \(fingerprint) <$PLACE/pass"
    let said = try git.shell(signing)
    #expect(said.status == 2 && said.output.isEmpty)
    #expect(said.error.hasPrefix("coffer-gpg: ") && said.error.contains("there is no terminal to ask on"))
    #expect(!said.error.contains("SIG_CREATED"))
    #expect(try fields(git) == ["E", "", String(fingerprint.suffix(16)), "", "", "undefined"])
    let verified = try git.shell("git verify-commit HEAD")
    #expect(verified.status == 1 && verified.error.contains("coffer-gpg: the coffer is locked"))
    #expect(verified.error.contains("hint: coffer unlock"))

    // A signature that git is not told of is not made.
    try git.must("coffer unlock $P --quiet")
    for closed in ["2>&-", ">&-", "2>/dev/full", ">/dev/full"] {
      #expect(try git.shell("\(signing) \(closed)").status == 2, "\(closed)")
    }
    #expect(try git.shell(signing).status == 0)
  }

  @Test("Which identity signs: an address, a fingerprint, a name with an exclamation mark; never a guess")
  func who() throws {
    let git = try GitPlace()
    let ada = try git.identity("Ada Lovelace <ada@example.org>").uppercased()
    let work = try git.identity("Ada at work <work@example.org>").uppercased()
    try git.must("coffer unlock $P --quiet")
    func signer(_ key: String) throws -> String {
      let outcome = try git.shell(
        "coffer-gpg --status-fd=2 -bsau \"$KEY\" <$PLACE/pass", environment: ["KEY": key])
      guard outcome.status == 0 else { return "\(outcome.status)" }
      #expect(outcome.output.hasPrefix("-----BEGIN PGP SIGNATURE-----\n"))
      let lines = outcome.error.split(separator: "\n")
      #expect(lines.count == 2 && lines[0] == "[GNUPG:] BEGIN_SIGNING H10")
      #expect(lines.last?.hasPrefix("[GNUPG:] SIG_CREATED D 22 10 00 ") == true)
      return String(lines.last?.split(separator: " ").last ?? "")
    }
    #expect(try signer("Somebody Else <ada@example.org>") == ada)
    #expect(try signer("\(work)!") == work)
    #expect(try signer("0x\(work.suffix(16))") == work)
    #expect(try signer("Ada at work") == work)
    #expect(try signer("ada") == "2")
    #expect(try signer("eve@example.org") == "2")
    #expect(try signer(String(ada.suffix(8))) == "2")
    try git.must("coffer identity revoke \(work.lowercased()) --reason retired --yes --quiet $P")
    #expect(try signer(work) == "2")
  }
}
