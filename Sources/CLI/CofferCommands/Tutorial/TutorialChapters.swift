// SPDX-License-Identifier: Apache-2.0
//
// The words of the tutorial. Each chapter says what to do, what has happened, and what that means.

extension TutorialChapter {
  /// Chapter 0: read, not typed.
  static let sandbox: [ShownLine] = [
    "You will make an identity, write to Bella, read her answers, and lose your",
    "machine. Nothing here is real and nothing stays: everything is in memory, and",
    "ends with the tutorial. You type real commands, with 'coffer' before them or",
    "without.",
    "The passphrase here is always  \(TutorialSurroundings.passphrase)  : never type one of your own.",
    "Four words help: hint, again (repeats the task), skip (does the rest of a",
    "chapter), quit.",
  ]

  /// What is said after the last chapter.
  static let farewell: [ShownLine] = [
    "You know the way now. Nothing of this stays. For a coffer of your own:",
    "  coffer init",
    "  coffer identity generate --user-id 'NAME <ADDRESS>'",
    "'coffer' alone has the next steps; every command has --help.",
  ]

  static let all = [
    identity, friend, encrypting, replies, verifying, changedKey, codes, loss, highSecurity, machine,
  ]

  private static let identity = TutorialChapter(
    title: "your identity",
    words: [
      "An identity is an OpenPGP key with your name and address. It has a public part,",
      "which you give to everybody, and a private part, which reads and signs, and",
      "stays in custody.",
    ],
    steps: [
      TutorialStep(
        words: ["Make one, with this name or another:"],
        line: "identity generate --user-id '\(TutorialWorld.userID)'", command: "identity generate",
        end: { _ in
          [
            "The last line is the fingerprint: forty characters that name this key and no",
            "other. The private part was sealed before the command ended, and was never in a",
            "file. With --post-quantum, messages to an identity stand up to quantum",
            "computers.",
          ]
        }),
      TutorialStep(
        words: ["Look at your public part ('me' is your own identity):"],
        line: "identity export me", command: "identity export", isNeeded: false,
        end: { _ in
          [
            "All of this you may give away. There is no command that writes the private part",
            "like that. On your machine you would write it to a file:",
            "  coffer identity export me > ada.asc",
          ]
        }),
    ])

  private static let friend = TutorialChapter(
    title: "a friend",
    words: ["Bella has sent you her public part. It is in the file bella.asc."],
    steps: [
      TutorialStep(
        words: ["Store it:"],
        line: "contact import bella.asc", command: "contact import", mentions: "bella.asc",
        begin: { try $0.bringBella() },
        end: { _ in
          [
            "Bella is a contact now, and you can write to her.",
            "'Not verified' says what Coffer does not know: whether this key is hers, or",
            "somebody on the way has put in another one. Chapter 5 finds out.",
          ]
        })
    ])

  private static let encrypting = TutorialChapter(
    title: "a letter",
    words: [
      "The file letter.txt has one line:", "    Dear Bella, shall we meet on Friday at four?",
    ],
    steps: [
      TutorialStep(
        words: ["Encrypt it to her:"],
        line: "encrypt --to bella letter.txt", command: "encrypt", mentions: "bella", isNeeded: false,
        begin: { $0.bringLetter() },
        end: { world in
          ["This is how letter.txt.pgp begins:"] + world.beginning(of: "letter.txt.pgp") + [
            "Bella's private part opens it, and yours, so that you can read what you have",
            "sent. Nothing else does. It is also signed with your private part.",
          ]
        })
    ])

  private static let replies = TutorialChapter(
    title: "four answers",
    words: ["Four messages have come, all in the name of Bella."],
    steps: [
      TutorialStep(
        words: ["Open the first:"],
        line: "decrypt reply.asc", command: "decrypt", mentions: "reply.asc", isNeeded: false,
        begin: { try $0.bringReplies() },
        end: { _ in
          [
            "The lines with ── are Coffer's, and say what the message is worth; what follows",
            "the bar is the sender's. It was signed with the key that you have for Bella, not",
            "verified yet.",
          ]
        }),
      TutorialStep(
        words: ["changed.asc is the same message, but one bit was changed on its way:"],
        line: "decrypt changed.asc", command: "decrypt", mentions: "changed.asc", exit: .corrupt,
        isNeeded: false,
        end: { _ in ["Nothing of a changed message is ever shown: half a message can lie."] }),
      TutorialStep(
        words: ["other.asc is encrypted to somebody else:"],
        line: "decrypt other.asc", command: "decrypt", mentions: "other.asc", exit: .missing,
        isNeeded: false,
        end: { _ in
          [
            "Coffer sees that before it asks for anything: what is not for you costs",
            "nothing.",
          ]
        }),
      TutorialStep(
        words: ["stranger.asc says that it is from Bella:"],
        line: "decrypt stranger.asc", command: "decrypt", mentions: "stranger.asc", isNeeded: false,
        end: { _ in
          [
            "It opens, because everybody may write to you. But the key that signed it is",
            "unknown: the name in a text is only text. Believe the line above the bar.",
          ]
        }),
    ])

  private static let verifying = TutorialChapter(
    title: "is it Bella?",
    words: [
      "Whose key is it? Ask her, with her voice: she reads her fingerprint, and you",
      "type what you hear. She is on the telephone now, and the line is bad. If Coffer",
      "does not believe a group, listen again.",
    ],
    steps: [
      TutorialStep(
        words: ["Compare, typing what she reads:"],
        line: "contact verify bella", command: "contact verify", hasTelephone: true,
        end: { _ in
          [
            "One group came wrong, and Coffer noticed: typing finds what looking overlooks.",
            "After a second wrong one it would have stopped. Coffer will say 'verified' with",
            "her messages now.",
          ]
        }),
      TutorialStep(
        words: ["See the difference:"],
        line: "decrypt reply.asc", command: "decrypt", mentions: "reply.asc", isNeeded: false,
        end: { _ in ["Verified: it is from her, for you, and unchanged."] }),
    ])

  private static let changedKey = TutorialChapter(
    title: "a new key",
    words: [
      "A mail says: 'My machine was stolen, here is my new key. Bella.' The file is",
      "bella-new.asc. It may be true. It is also what somebody would write who wants to",
      "read your letters.",
    ],
    steps: [
      TutorialStep(
        words: ["Import it, and choose 1 when you are asked:"],
        line: "contact import bella-new.asc", command: "contact import", mentions: "bella-new.asc",
        choices: ["1"], isNeeded: false, begin: { try $0.bringNewBella() },
        end: { _ in ["The old key is kept, and the new one waits for you to ask."] }),
      TutorialStep(
        words: ["Try to write to her meanwhile:"],
        line: "encrypt --to bella --output again.pgp letter.txt", command: "encrypt", mentions: "bella",
        exit: .refused, isNeeded: false, begin: { $0.bringLetter() },
        end: { _ in
          ["One of the keys is wrong, so Coffer writes to neither before you have decided."]
        }),
      TutorialStep(
        words: ["You call her. It is true. Import the file again, and choose 2:"],
        line: "contact import bella-new.asc", command: "contact import", mentions: "bella-new.asc",
        choices: ["2"],
        end: { _ in
          [
            "The new key is used from now on, and not verified: comparing belongs to a key,",
            "not to a name. The next chapter does it.",
          ]
        }),
    ])

  private static let codes = TutorialChapter(
    title: "face to face",
    words: [
      "You meet Bella. A QR code says all of a public part, and a telephone with a",
      "camera reads it.",
    ],
    steps: [
      TutorialStep(
        words: ["Make the code of your own public part, as a picture for her:"],
        line: "identity qr me --png ada.png", command: "identity qr", isNeeded: false,
        end: { _ in
          [
            "Without --png, a terminal that is wide enough shows the code itself.",
            "Bella takes it from your screen: she has your key, and knows that it is yours.",
          ]
        }),
      TutorialStep(
        words: [
          "Bella shows you her code, and you take a picture of her screen, screen.png.",
          "Compare it with the key that came by mail:",
        ],
        line: "contact verify bella --qr screen.png", command: "contact verify", mentions: "screen.png",
        begin: { try $0.bringCode() },
        end: { _ in
          [
            "That is worth as much as her voice, because you took the picture yourself.",
            "A picture that was sent to you would prove nothing.",
          ]
        }),
      TutorialStep(
        words: ["You can say so to others. Certify her names:"],
        line: "identity certify bella --output bella-certified.asc", command: "identity certify",
        mentions: "bella", isNeeded: false,
        end: { _ in
          [
            "It is Bella's public part with your signature on her names. Give it to her:",
            "those who believe you may then believe that it is hers. Coffer itself believes",
            "nobody's.",
          ]
        }),
    ])

  private static let loss = TutorialChapter(
    title: "backup, loss, return",
    words: [
      "Your private part is on this machine alone. If the machine is lost, so is every",
      "letter to you.",
    ],
    steps: [
      TutorialStep(
        words: [
          "Write a backup; let us say that backup.asc is on a stick. It gets a passphrase",
          "of its own: take \(TutorialSurroundings.passphrase) here as well.",
        ],
        line: "identity backup me backup.asc", command: "identity backup",
        end: { _ in
          [
            "It was read back and opened before Coffer said so.",
            "Now the machine is gone. This is another one, with an empty coffer. You have the",
            "stick, and Bella's reply is still in your mailbox.",
          ]
        }),
      TutorialStep(
        words: ["Bring your identity back:"],
        line: "identity import backup.asc", command: "identity import", mentions: "backup.asc",
        begin: { try $0.loseMachine() },
        end: { _ in
          [
            "It is the same identity, with the same fingerprint. Nobody else has to do",
            "anything.",
          ]
        }),
      TutorialStep(
        words: ["Does it still read?"],
        line: "decrypt reply.asc", command: "decrypt", mentions: "reply.asc", isNeeded: false,
        end: { _ in
          [
            "It does. Bella is unknown here: this file is one identity and no contacts.",
            "'coffer backup FILE' copies everything that a coffer has.",
          ]
        }),
    ])

  private static let highSecurity = TutorialChapter(
    title: "high security",
    words: [
      "Until now the passphrase was enough. In mode high-security each use of your",
      "private part needs a guard as well. Yours is a security key that you touch; here",
      "it is a pretended one.",
    ],
    steps: [
      TutorialStep(
        words: [
          "If the only security key is lost, only a backup helps; so without one Coffer",
          "refuses. This new coffer has not written any yet:",
        ],
        line: "identity backup me second.asc", command: "identity backup",
        end: { _ in ["Two backups in two places are better than one anyway."] }),
      TutorialStep(
        words: ["Switch it on; say no to a second key:"],
        line: "mode high-security --guard security-key", command: "mode", mentions: "high-security",
        end: { _ in ["Every private part was sealed again. The passphrase alone opens none of them."] }),
      TutorialStep(
        words: ["Now the security key is at home and you are not:"],
        line: "decrypt reply.asc", command: "decrypt", mentions: "reply.asc", exit: .noHardware,
        isNeeded: false, begin: { $0.surroundings.key.plug(false) },
        end: { _ in ["Nothing is lost: the message waits. It waits for a thief as well."] }),
      TutorialStep(
        words: ["You are back, and the key is in the machine:"],
        line: "decrypt reply.asc", command: "decrypt", mentions: "reply.asc", isNeeded: false,
        begin: { $0.surroundings.key.plug(true) },
        end: { _ in
          [
            "If the only key is lost, only the backups of your identities help:",
            "have two keys, or a backup where this machine is not.",
          ]
        }),
    ])

  private static let machine = TutorialChapter(
    title: "this machine",
    words: ["All this is worth as much as the machine that does it."],
    steps: [
      TutorialStep(
        words: ["Let Coffer try itself out; it takes some seconds:"],
        line: "self-test", command: "self-test", isNeeded: false,
        end: { _ in
          [
            "Each row is real work of this machine: keys that nobody keeps, messages,",
            "signatures, and changes that must be noticed. The line about the machine is of",
            "the pretended one; in your own shell 'coffer self-test' looks at the real one.",
          ]
        })
    ])
}
