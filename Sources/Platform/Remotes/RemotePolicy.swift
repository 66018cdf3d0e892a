// SPDX-License-Identifier: Apache-2.0
//
// What the administrator of a service sets up, so that a device reads and adds and does not delete.
// scripts/engines takes the SQL from between the marks of this file, and tests use it.

/// What makes a place for objects at a service, as text for its own tools.
public enum RemotePolicy {
  /// SQL for an administrator, in the database that the URL names. It may be run again.
  ///
  /// - Every row belongs to the role in `account`: that role and its members see it, and nobody else does.
  /// - The server compares a body with its hash, and the hash with a name that ends with one. So `UPDATE
  ///   (body)` can put back what rotted, and nothing else.
  /// - `created` is set by the server alone. Of several rows with one name, that with the highest `number`
  ///   counts.
  public static let postgreSQL = """
    -- A place for the sealed objects of Coffer, in PostgreSQL 11 or later.
    DO $$ BEGIN CREATE ROLE coffer_writer; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
    DO $$ BEGIN CREATE ROLE coffer_sweeper; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
    CREATE SCHEMA IF NOT EXISTS coffer;
    CREATE TABLE IF NOT EXISTS coffer.object (
      account regrole NOT NULL,
      name text COLLATE "C" NOT NULL,
      hash bytea NOT NULL,
      body bytea NOT NULL,
      created timestamptz NOT NULL,
      number bigint GENERATED ALWAYS AS IDENTITY,
      PRIMARY KEY (account, name, hash),
      CONSTRAINT name_is_ours CHECK (name ~ '^[a-z0-9-]+(/[a-z0-9-]+)*$'),
      CONSTRAINT body_has_hash CHECK (sha256(body) = hash),
      CONSTRAINT name_has_hash CHECK (
        name !~ '/([0-9a-f]{16}-)?[0-9a-f]{64}$' OR right(name, 64) = encode(hash, 'hex')),
      CONSTRAINT body_is_short CHECK (octet_length(body) <= 67108864)
    );
    -- Not now(): that is when the transaction began, which a device chooses.
    ALTER TABLE coffer.object ALTER COLUMN created SET DEFAULT clock_timestamp();
    ALTER TABLE coffer.object ALTER COLUMN body SET STORAGE EXTERNAL;
    ALTER TABLE coffer.object ENABLE ROW LEVEL SECURITY;
    DROP POLICY IF EXISTS account ON coffer.object;
    CREATE POLICY account ON coffer.object USING (pg_has_role(account, 'MEMBER'));
    GRANT USAGE ON SCHEMA coffer TO coffer_writer;
    GRANT SELECT, INSERT (account, name, hash, body), UPDATE (body, number) ON coffer.object TO coffer_writer;
    GRANT coffer_writer TO coffer_sweeper;
    GRANT DELETE ON coffer.object TO coffer_sweeper;
    -- Then a role for each user. A place without another role's name has the rows of the role that logs in:
    --   CREATE ROLE ada LOGIN PASSWORD '...' IN ROLE coffer_writer;
    --   postgresql://ada:PASSWORD@HOST/DATABASE
    -- A further role for the same rows, to be withdrawn alone; also IN ROLE coffer_sweeper, it may delete:
    --   CREATE ROLE ada_desktop LOGIN PASSWORD '...' IN ROLE ada;
    --   postgresql://ada_desktop:PASSWORD@HOST/DATABASE/ada
    """

  /// A policy for a user of a service that speaks S3, in JSON: listing, reading and writing, and no deleting.
  /// - Parameters:
  ///   - bucket: as in the URL.
  ///   - prefix: as in the URL; empty for the whole bucket.
  /// - Throws: ``RemotePlaceError``: `.bucket`, `.prefix`.
  public static func s3(bucket: String, prefix: String) throws(RemotePlaceError) -> String {
    guard S3Place.isBucket(bucket) else { throw .bucket }
    // What JSON and the patterns of policies would read as something else.
    guard S3Place.isPrefix(prefix), !prefix.contains(where: { "\"\\*?$".contains($0) }) else { throw .prefix }
    let root = prefix.isEmpty ? "" : prefix + "/"
    return """
      {
        "Version": "2012-10-17",
        "Statement": [
          {
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": "arn:aws:s3:::\(bucket)"
          },
          {
            "Effect": "Allow",
            "Action": ["s3:GetObject", "s3:PutObject"],
            "Resource": "arn:aws:s3:::\(bucket)/\(root)*"
          }
        ]
      }
      """
  }
}
