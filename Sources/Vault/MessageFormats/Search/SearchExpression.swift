// SPDX-License-Identifier: Apache-2.0
//
// What a search asks for, as it was understood (Specs/search.md). Words are folded and split by analyser 1 already, so
// that whoever evaluates an expression, on a decrypted message or otherwise, compares bytes.

/// The parts of a search.
///
/// A message is found if it has every required part, one of the alternatives if there are any, and none of the
/// excluded parts.
public struct SearchExpression: Sendable, Equatable {
  /// One argument.
  public struct Part: Sendable, Equatable {
    /// What is looked at.
    public let condition: Condition
    /// What follows when it is true.
    public let role: Role
  }

  /// What a part does to a message that it is true of.
  public enum Role: Sendable {
    /// Without it a message is not found.
    case required
    /// One part of this role is enough.
    case alternative
    /// With it a message is not found.
    case excluded
  }

  /// What may be true of a message.
  public enum Condition: Sendable, Equatable {
    /// Words that occur next to each other in one text of the message.
    case phrase(SearchPhrase, in: Field)
    /// A tag, folded, its words with one space between; all of it, or its beginning.
    case tag(String, isWhole: Bool)
    /// The date of the message, in seconds since 1970.
    case date(ClosedRange<Int64>)
    /// Something else that is true or not.
    case fact(Fact)
  }

  /// The texts in which a phrase is looked for.
  public enum Field: Sendable {
    /// All texts of the message: title, tags, headers for people, text parts, names of attachments.
    case anywhere
    /// The title as lists show it.
    case title
    /// The From header of a mail.
    case sender
    /// The To and Cc headers of a mail.
    case recipients
  }

  /// What a message is or has.
  public enum Fact: Sendable, Equatable {
    /// A part that is a file or not text; of what is not a mail, content that is not text.
    case hasAttachment
    /// A mail with its headers.
    case isMail
    /// The media type without parameters, in lower case; all of it, or its beginning, such as `text/`.
    case type(String, isWhole: Bool)
  }

  /// In the order of the arguments; at least one is not excluded, and there are at most 64.
  public let parts: [Part]

  /// - Parameter parts: what the parser has checked.
  init(parts: [Part]) { self.parts = parts }
}
