// SPDX-License-Identifier: Apache-2.0
//
// Identities and contacts out of a real gpg, of every kind that people have.

import Foundation
import PseudoTerminals
import Testing

@Suite("gpg-import")
struct GPGImportTests {
  private struct Answer: Decodable {
    struct Own: Decodable {
      let fingerprint: String
      let name: String?
      let state: String
      let reason: String?
    }
    struct Failed: Decodable {
      let fingerprint: String
      let reason: String
    }
    let identities: [Own]
    let contacts: [String: Int]
    let failed: [Failed]
  }

  private func answer(_ outcome: Place.Outcome) throws -> Answer {
    try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
  }

  /// A place where passphrases cost little.
  private func place() throws -> GitPlace {
    let git = try GitPlace()
    try git.must(
      """
      echo 's2k-count 1024' >$GNUPGHOME/gpg-agent.conf
      cat >$PLACE/functions <<'END'
      make() { # NAME ADDRESS PASSPHRASE
        set -- "$1 <$2>" $2 --batch --quiet --pinentry-mode loopback --passphrase "$3"
        gpg "${@:3}" --quick-gen-key "$1" ed25519 cert,sign never
        gpg "${@:3}" --quick-add-key $(key $2) cv25519 encr never
      }
      key() { gpg --batch --with-colons --list-keys "$1" | awk -F: '$1 == "fpr" { print $10; exit }'; }
      grip() { gpg --with-colons --with-keygrip -K "$1" | awk -F: '$1 == "grp" { print $10 }' | sed -n "$2p"; }
      public() { # makes a key elsewhere, and keeps its public part
        GNUPGHOME=$(mktemp -d $XDG_RUNTIME_DIR/other.XXXX)
        gpg --batch --quiet --passphrase '' $PAST --quick-gen-key "$@" 2>/dev/null
        gpg --export >$PLACE/other.pgp; gpgconf --kill all
        rm -rf $GNUPGHOME # its agent removes its sockets at the same time
        GNUPGHOME=$XDG_RUNTIME_DIR/gnupg; gpg --batch --quiet --import $PLACE/other.pgp
      }
      END
      """)
    return git
  }

  private func must(_ git: GitPlace, _ script: String) throws -> String {
    try git.must(". $PLACE/functions\n\(script)")
  }

  @Test(
    "With and without a passphrase, offline, on a card; expired, weak, flooded, with escapes: each is named")
  func everything() throws {
    let git = try place()
    let keys = try must(
      git,
      #"""
      make Ada ada@example.org 'five herons'; make Open open@example.org ''
      make Old old@example.org 'five herons'; make Work work@example.org ''
      old=$(grip old@example.org 1) card="$(grip work@example.org 1) $(grip work@example.org 2)"
      gpgconf --kill all
      rm $GNUPGHOME/private-keys-v1.d/$old.key
      for grip in $card; do
        perl -0pi -e 's/\(private-key/(shadowed-private-key/; s/\(d\s+#[0-9A-F]+#\)\s*\)\)/(shadowed t1-v1 (#D2760001240103040006000000010000# OPENPGP.1))))/' \
          $GNUPGHOME/private-keys-v1.d/$grip.key
      done
      public 'Bob Baker <bob@example.org>' future-default default never
      public "$(printf 'Eve \033[2J\n<eve@example.org>')" future-default default never
      public 'Weak <weak@example.org>' rsa1024 default never
      PAST='--faked-system-time 20200101T000000!'
      public 'Late <late@example.org>' future-default default 2020-01-02
      PAST=
      # Thousands of signatures of a stranger, no two the same.
      public 'Flooded <flood@example.org>' ed25519 sign never
      gpg --batch --quiet --yes -u open@example.org --quick-sign-key $(key flood@example.org) >/dev/null
      gpg --export $(key flood@example.org) >$PLACE/signed
      at=$(gpg --list-packets $PLACE/signed 2>/dev/null | sed -n 's/^# off=\([0-9]*\) .*/\1/p' | tail -n 1)
      perl -0777 -ne '
        BEGIN { $at = shift } print substr($_, 0, $at); $last = substr($_, $at);
        for $n (1 .. 5000) { $one = $last; substr($one, -12, 4) = pack("N", $n); print $one }
        ' $at $PLACE/signed >$PLACE/flood
      gpg --batch --quiet --yes --delete-keys $(key flood@example.org); gpg --batch --quiet --import $PLACE/flood
      for who in ada open old work bob eve weak flood late; do key $who@example.org; done
      """#
    ).split(separator: "\n").map { $0.lowercased() }
    try #require(keys.count == 9, "\(keys)")
    try git.place.write("five herons\n", to: "gpg-pass")
    let run = try git.shell("coffer gpg-import --yes --json $P --key-passphrase-file $PLACE/gpg-pass")
    #expect(run.status == 0, "\(run)")
    let found = try answer(run)
    #expect(found.identities.map(\.fingerprint) == Array(keys[..<4]))
    #expect(found.identities.map(\.state) == ["imported", "imported", "offline_primary", "on_card"])
    #expect(found.contacts == ["new": 5, "updated": 0, "unchanged": 0, "waiting": 0, "refused": 0])
    #expect(found.failed.isEmpty)

    // What gpg encrypts, the coffer reads; nobody is verified, and the flood stayed outside.
    for who in ["ada", "open", "old"] {
      let text = try must(
        git,
        """
        echo 'To \(who)' | gpg --batch --quiet --trust-model always --encrypt -r \(who)@example.org |
          coffer decrypt --quiet $P
        """)
      #expect(text == "To \(who)")
    }
    let contacts = try git.must("coffer contact list --json $P").split(separator: "\n")
    #expect(contacts.count == found.contacts["new"] && !contacts.contains { $0.contains(#""verified""#) })
    #expect(contacts.contains { $0.contains("bob@example.org") && $0.contains(keys[4]) })
    let shown = try git.shell("coffer contact list $P")
    #expect(!shown.output.contains("\u{1B}"))
    #expect(try git.must("coffer contact export flood $P | wc -c | tr -d ' '").count < 5)
    #expect(try must(git, "gpg --export $(key flood@example.org) | wc -c | tr -d ' '").count > 5)
    #expect(
      try git.shell("coffer identity revoke old --reason retired --yes $P").error.contains("primary key"))

    // A second time there is nothing to take.
    let again = try git.shell("coffer gpg-import --yes --json $P")
    #expect(again.status == 0, "\(again)")
    let states = try answer(again).identities.map(\.state)
    #expect(states == ["already_here", "already_here", "already_here", "on_card"])
    #expect(try answer(again).contacts["unchanged"] == found.contacts["new"])
    let audit = try git.must("coffer audit $P")
    #expect(audit.contains("identities imported: 3") && audit.contains("contact stored: "))
  }

  @Test("On a terminal: one question, three tries for a passphrase, and what is left out is named")
  func terminal() throws {
    let git = try place()
    let key = try must(git, "make Ada ada@example.org 'five herons'; key ada@example.org")
    _ = try must(git, "public 'Bob <bob@example.org>' future-default default never")
    func begin() throws -> CommandOnTerminal {
      try CommandOnTerminal(
        ["gpg-import", "--passphrase-file", git.place.folder.path() + "/pass"], in: git.place,
        environment: git.environment)
    }
    let prompt = "passphrase of \"Ada <ada@example.org>\" in GnuPG: "
    var command = try begin()
    var shown = try command.answer("Take 1 identity and 1 contact? [Y/n]: ", "n")
    #expect(shown.contains("GnuPG 2.") && shown.contains("yours:   \"Ada <ada@example.org>\""))
    #expect(shown.contains("others:  1 public part") && shown.contains("GnuPG's trust is not taken over"))
    #expect(command.end().status == 7)
    #expect(try git.must("coffer contact list $P").isEmpty)

    command = try begin()
    try command.answer("Take 1 identity and 1 contact? [Y/n]: ", "")
    for problem in ["", "wrong passphrase; 2 tries left", "wrong passphrase; 1 try left"] {
      shown = try command.answer(prompt, "six herons")
      #expect(problem.isEmpty || shown.contains(problem), "\(shown)")
    }
    var end = command.end()
    #expect(end.status == 7)
    #expect(end.shown.contains("\"Ada <ada@example.org>\" stays where it is: wrong passphrase"))
    #expect(end.shown.contains("1 contact taken over.") && end.shown.contains("1 key of GnuPG was left out"))

    command = try begin()
    try command.answer("Take 1 identity? [Y/n]: ", "y")
    try command.answer(prompt, "six herons")
    try command.answer(prompt, "five herons")
    end = command.end()
    #expect(end.status == 0 && end.shown.contains("1 identity taken over."), "\(end)")
    #expect(end.shown.contains("gpg --delete-secret-keys \(key)"))
  }

  @Test(
    "With nobody to ask: --yes is wanted, a passphrase is wanted, and a wrong one leaves the key where it is")
  func nobody() throws {
    let git = try place()
    _ = try must(
      git,
      "make Ada ada@example.org 'five herons'; public 'Bob <bob@example.org>' future-default default never")
    let unasked = try git.shell("coffer gpg-import --json $P")
    #expect(unasked.status == 7 && unasked.error.contains(#""code":"not_confirmed""#))
    let silent = try git.shell("coffer gpg-import --yes --json $P")
    #expect(silent.status == 3 && silent.error.contains(#""code":"no_prompt""#), "\(silent)")
    #expect(try git.must("coffer contact list $P").isEmpty)
    let wrong = try git.shell("coffer gpg-import --yes --json $P --key-passphrase-file $PLACE/pass")
    #expect(wrong.status == 7 && wrong.error.contains(#""code":"entries_skipped""#), "\(wrong)")
    let found = try answer(wrong)
    #expect(found.identities.map(\.state) == ["skipped"])
    #expect(found.identities.map(\.reason) == ["wrong_passphrase"] && found.contacts["new"] == 1)
    #expect(try git.must("coffer identity list $P").isEmpty)
  }

  @Test("Where gpg may not be given a passphrase, its own prompt asks, and one passphrase still serves both")
  func loopback() throws {
    let git = try place()
    let pinentry = try git.pinentry()["COFFER_PINENTRY"] ?? ""
    let key = try must(git, "make Ada ada@example.org '\(Place.passphrase)'; key ada@example.org")
    let forbid = """
      gpgconf --kill all; cd $GNUPGHOME
      printf 'no-allow-loopback-pinentry\\npinentry-program \(pinentry)\\n' >>gpg-agent.conf
      """
    try git.must(forbid)
    let run = try git.shell("coffer gpg-import --yes --json $P --key-passphrase-file $PLACE/pass")
    #expect(run.status == 0, "\(run)")
    #expect(try answer(run).identities.map(\.state) == ["imported"])
    #expect(git.told.contains("GETPIN"))
    #expect(try git.must("coffer identity list --json $P").contains(key.lowercased()))
    // Without a way for it to ask, the key stays where it is.
    try git.must("coffer identity delete ada --yes --no-backup $P --quiet")
    try git.must(
      """
      gpgconf --kill all
      sed -i 's|^pinentry-program.*|pinentry-program /bin/false|' $GNUPGHOME/gpg-agent.conf
      """)
    let left = try git.shell("coffer gpg-import --yes --json $P --key-passphrase-file $PLACE/pass")
    #expect(left.status == 7, "\(left)")
    #expect(try answer(left).identities.map(\.reason) == ["loopback_forbidden"])
  }

  @Test("A contact's new key waits, and one public part that cannot be read spoils nothing")
  func contacts() throws {
    let git = try place()
    _ = try must(
      git,
      """
      public 'Bob <bob@example.org>' future-default default never; gpg --export bob@example.org >$PLACE/bob
      public 'Carol <carol@example.org>' future-default default never
      coffer contact import --yes --quiet $PLACE/bob $P
      gpg --batch --yes --quiet --delete-keys $(key bob@example.org)
      public 'Bob again <bob@example.org>' future-default default never
      """)
    let broken = try must(
      git, "public 'Dan <dan@example.org>' future-default default never; key dan@example.org")
    let wrapper = try git.place.write(
      """
      #!/bin/bash
      case "$*" in *--export*\(broken.lowercased())*) exec cat /dev/zero ;; *) exec gpg "$@" ;; esac
      """, to: "wrapper.text")
    try git.must("install -m 700 \(wrapper) $PLACE/wrapper")
    let run = try git.shell("coffer gpg-import --gpg $PLACE/wrapper --homedir $GNUPGHOME --yes --json $P")
    #expect(run.status == 7 && run.error.contains(#""code":"entries_skipped""#), "\(run)")
    let found = try answer(run)
    #expect(found.contacts == ["new": 1, "updated": 0, "unchanged": 0, "waiting": 1, "refused": 0])
    #expect(found.failed.map(\.fingerprint) == [broken.lowercased()])
    #expect(found.failed.map(\.reason) == ["certificate_too_large"])
    let bob = try git.must("coffer contact show bob --json $P")
    #expect(bob.contains(#""state":"in_use""#) && bob.contains(#""state":"waiting""#))
  }

  @Test("No gpg, one that is too old, no folder, one that answers nonsense: each its code")
  func absent() throws {
    let git = try place()
    func code(_ options: String) throws -> String {
      let run = try git.shell("coffer gpg-import \(options) --yes --json $P")
      #expect(run.output.isEmpty)
      let code = run.error.firstMatch(of: /"code":"([a-z_]+)"/).map { String($0.1) }
      return "\(run.status) \(code ?? run.error)"
    }
    #expect(try code("--gpg /nonexistent") == "10 no_gpg")
    let old = try git.place.write("#!/bin/bash\necho 'gpg (GnuPG) 2.0.31'\n", to: "old.text")
    try git.must("install -m 700 \(old) $PLACE/old")
    #expect(try code("--gpg $PLACE/old") == "10 no_gpg")
    let nonsense = "#!/bin/bash\ncase $1 in --version) echo 'gpg (GnuPG) 2.4.1' ;; *) echo sec:u ;; esac\n"
    try git.must("install -m 700 \(git.place.write(nonsense, to: "nonsense.text")) $PLACE/nonsense")
    #expect(try code("--gpg $PLACE/nonsense") == "10 gpg_failed")
    #expect(try code("--homedir $PLACE/nowhere") == "6 no_such_file")
    #expect(try git.shell("ls $PLACE/nowhere").status != 0)
    let empty = try git.shell("coffer gpg-import --yes $P")
    #expect(empty.status == 0 && empty.error.contains("There is nothing to take."), "\(empty)")
  }
}
