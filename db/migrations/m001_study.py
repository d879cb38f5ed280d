"""Migration 001: everything that a study file holds. Never edited once released; a change is a new migration.

Units of measure: ``utc`` is ISO 8601 with milliseconds and Z, ``active_ms`` milliseconds, ``pi`` a probability in
(0, 1], ``u`` the first 16 hexadecimal digits of a SHA-256, ``confidence`` an integer on ``confidence_grid``.
Columns of JSON are checked by their brackets only: with ``trusted_schema`` off, SQLite 3.40 refuses json_valid() in a
CHECK. ``annotate verify`` parses them.
"""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    # --- the study and where it came from -----------------------------------------------------------
    """CREATE TABLE study (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        uid TEXT NOT NULL,
        title TEXT NOT NULL,
        created_utc TEXT NOT NULL,
        tool_version TEXT NOT NULL,
        place TEXT NOT NULL,
        secret BLOB NOT NULL,
        settings TEXT NOT NULL DEFAULT '{}' CHECK (settings GLOB '{*}')
    ) STRICT""",
    """CREATE TABLE migrations (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        applied_utc TEXT NOT NULL,
        tool_version TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE protocols (
        version INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        digest TEXT NOT NULL UNIQUE,
        toml TEXT NOT NULL,
        change TEXT NOT NULL CHECK (change IN ('initial', 'editorial', 'substantive')),
        touches TEXT NOT NULL DEFAULT '{}' CHECK (touches GLOB '{*}'),
        created_utc TEXT NOT NULL
    ) STRICT""",
    """CREATE TRIGGER protocols_no_update BEFORE UPDATE ON protocols
        BEGIN SELECT RAISE(ABORT, 'a protocol version is never changed: add another one'); END""",
    """CREATE TRIGGER protocols_no_delete BEFORE DELETE ON protocols
        BEGIN SELECT RAISE(ABORT, 'a protocol version is never deleted'); END""",
    """CREATE TABLE imports (
        id INTEGER PRIMARY KEY,
        batch TEXT NOT NULL UNIQUE,
        format TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        mapping TEXT NOT NULL CHECK (mapping GLOB '{*}'),
        counts TEXT NOT NULL CHECK (counts GLOB '{*}'),
        created_utc TEXT NOT NULL,
        tool_version TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE sources (
        id INTEGER PRIMARY KEY,
        import_id INTEGER NOT NULL REFERENCES imports (id),
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        rows INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX sources_sha256 ON sources (sha256)",
    """CREATE TABLE rejects (
        id INTEGER PRIMARY KEY,
        import_id INTEGER NOT NULL REFERENCES imports (id),
        source TEXT NOT NULL,
        row INTEGER NOT NULL,
        reason TEXT NOT NULL
    ) STRICT""",
    # --- what is judged -----------------------------------------------------------------------------
    """CREATE TABLE items (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE CHECK (instr(key, char(31)) = 0),
        question TEXT NOT NULL,
        context TEXT,
        gold TEXT NOT NULL DEFAULT '[]' CHECK (gold GLOB '[[]*]'),
        rationale TEXT,
        options TEXT NOT NULL DEFAULT '[]' CHECK (options GLOB '[[]*]'),
        answer_key TEXT,
        strata TEXT NOT NULL DEFAULT '{}' CHECK (strata GLOB '{*}'),
        extra TEXT NOT NULL DEFAULT '{}' CHECK (extra GLOB '{*}'),
        digest TEXT NOT NULL,
        import_id INTEGER NOT NULL REFERENCES imports (id),
        source_id INTEGER REFERENCES sources (id),
        source_row INTEGER NOT NULL,
        redacted_utc TEXT
    ) STRICT""",
    """CREATE TABLE responses (
        id INTEGER PRIMARY KEY,
        item_id INTEGER NOT NULL REFERENCES items (id),
        model TEXT NOT NULL CHECK (instr(model, char(31)) = 0),
        condition TEXT NOT NULL CHECK (instr(condition, char(31)) = 0),
        repeat INTEGER NOT NULL,
        text TEXT NOT NULL,
        text_b TEXT,
        model_b TEXT,
        reason TEXT,
        choice TEXT,
        confidence INTEGER,
        confidence_grid INTEGER CHECK (confidence_grid > 0),
        confidence_usable INTEGER NOT NULL DEFAULT 1 CHECK (confidence_usable IN (0, 1)),
        searched INTEGER CHECK (searched IN (0, 1)),
        failure TEXT,
        extra TEXT NOT NULL DEFAULT '{}' CHECK (extra GLOB '{*}'),
        digest TEXT NOT NULL,
        import_id INTEGER NOT NULL REFERENCES imports (id),
        source_id INTEGER REFERENCES sources (id),
        source_row INTEGER NOT NULL,
        redacted_utc TEXT,
        UNIQUE (item_id, model, condition, repeat),
        CHECK ((confidence IS NULL) = (confidence_grid IS NULL)),
        CHECK (confidence IS NULL OR confidence BETWEEN 0 AND confidence_grid)
    ) STRICT""",
    """CREATE TABLE judges (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        version TEXT NOT NULL DEFAULT '',
        origin TEXT NOT NULL DEFAULT '{}' CHECK (origin GLOB '{*}'),
        created_utc TEXT NOT NULL
    ) STRICT""",
    # raw_key is the stripped raw text: what the mapping is looked up by.
    """CREATE TABLE judge_labels (
        id INTEGER PRIMARY KEY,
        judge_id INTEGER NOT NULL REFERENCES judges (id),
        response_id INTEGER NOT NULL REFERENCES responses (id),
        repeat INTEGER NOT NULL DEFAULT 1,
        raw TEXT,
        raw_key TEXT,
        score REAL,
        rationale TEXT,
        reply TEXT,
        failure TEXT,
        prompt_hash TEXT,
        prompt_tokens INTEGER,
        completion_tokens INTEGER,
        cost REAL,
        extra TEXT NOT NULL DEFAULT '{}' CHECK (extra GLOB '{*}'),
        created_utc TEXT,
        import_id INTEGER REFERENCES imports (id),
        source_id INTEGER REFERENCES sources (id),
        source_row INTEGER,
        UNIQUE (judge_id, response_id, repeat)
    ) STRICT""",
    # The mapping in force, one row a raw text; every mapping that was ever in force stays in judge_mappings.
    """CREATE TABLE judge_mappings (
        id INTEGER PRIMARY KEY,
        judge_id INTEGER NOT NULL REFERENCES judges (id),
        digest TEXT NOT NULL,
        mapping TEXT NOT NULL CHECK (mapping GLOB '{*}'),
        protocol_version INTEGER REFERENCES protocols (version),
        created_utc TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE judge_map_entries (
        judge_id INTEGER NOT NULL REFERENCES judges (id),
        raw_key TEXT NOT NULL,
        label TEXT NOT NULL,
        PRIMARY KEY (judge_id, raw_key)
    ) STRICT, WITHOUT ROWID""",
    """CREATE VIEW mapped_labels AS
        SELECT jl.id, jl.judge_id, jl.response_id, jl.repeat, jl.raw, jl.score,
               CASE WHEN jl.raw_key IS NULL OR jl.raw_key = '' THEN '(missing)'
                    ELSE coalesce(m.label, '(not a label)') END AS label
        FROM judge_labels jl
        LEFT JOIN judge_map_entries m ON m.judge_id = jl.judge_id AND m.raw_key = jl.raw_key""",
    # --- the design ---------------------------------------------------------------------------------
    # A unit is a response in a study; public_id is random and is all that a coder ever sees of it.
    """CREATE TABLE units (
        id INTEGER PRIMARY KEY,
        response_id INTEGER NOT NULL UNIQUE REFERENCES responses (id),
        public_id TEXT NOT NULL UNIQUE
    ) STRICT""",
    # The sample in force is the one that no other supersedes. A draw that is enlarged or combined is a new row whose
    # units include the old ones; parameters holds every elementary draw with its strata, so that pi can be made anew.
    """CREATE TABLE samples (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('draw', 'census', 'imported')),
        seed TEXT NOT NULL,
        unit TEXT NOT NULL CHECK (unit IN ('response', 'item')),
        strata_by TEXT NOT NULL CHECK (strata_by GLOB '[[]*]'),
        allocation TEXT NOT NULL,
        judge_id INTEGER REFERENCES judges (id),
        n INTEGER NOT NULL,
        population INTEGER NOT NULL,
        supersedes INTEGER REFERENCES samples (id),
        combined INTEGER NOT NULL DEFAULT 0 CHECK (combined IN (0, 1)),
        parameters TEXT NOT NULL DEFAULT '{}' CHECK (parameters GLOB '{*}'),
        created_utc TEXT NOT NULL,
        tool_version TEXT NOT NULL
    ) STRICT""",
    # drawn and population count sampling units (responses, or items where samples.unit = 'item').
    """CREATE TABLE sample_strata (
        id INTEGER PRIMARY KEY,
        sample_id INTEGER NOT NULL REFERENCES samples (id),
        stratum TEXT NOT NULL CHECK (stratum GLOB '{*}'),
        population INTEGER NOT NULL,
        drawn INTEGER NOT NULL,
        UNIQUE (sample_id, stratum),
        CHECK (drawn BETWEEN 0 AND population)
    ) STRICT""",
    """CREATE TABLE sample_units (
        sample_id INTEGER NOT NULL REFERENCES samples (id),
        unit_id INTEGER NOT NULL REFERENCES units (id),
        stratum_id INTEGER NOT NULL REFERENCES sample_strata (id),
        u TEXT NOT NULL,
        pi REAL NOT NULL CHECK (pi > 0 AND pi <= 1),
        PRIMARY KEY (sample_id, unit_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX sample_units_unit ON sample_units (unit_id)",
    """CREATE TRIGGER sample_units_no_update BEFORE UPDATE ON sample_units
        BEGIN SELECT RAISE(ABORT, 'a draw is never changed: another sample supersedes it'); END""",
    """CREATE TRIGGER sample_units_no_delete BEFORE DELETE ON sample_units
        BEGIN SELECT RAISE(ABORT, 'a draw is never changed: another sample supersedes it'); END""",
    # --- who codes what -----------------------------------------------------------------------------
    # queue_version counts the lead's acts that change a coder's queue, so that an open session notices them.
    """CREATE TABLE coders (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        pseudonym TEXT NOT NULL UNIQUE,
        name TEXT UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('person', 'imported', 'simulated', 'lead')),
        queue_version INTEGER NOT NULL DEFAULT 0,
        created_utc TEXT NOT NULL,
        forgotten_utc TEXT
    ) STRICT""",
    """CREATE TABLE rounds (
        name TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('training', 'main', 'check', 'repeat', 'adjudication')),
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
        settings TEXT NOT NULL DEFAULT '{}' CHECK (settings GLOB '{*}')
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE batches (
        id INTEGER PRIMARY KEY,
        round TEXT NOT NULL REFERENCES rounds (name),
        sample_id INTEGER REFERENCES samples (id),
        seed TEXT NOT NULL,
        order_kind TEXT NOT NULL CHECK (order_kind IN ('spread', 'item', 'file')),
        overlap REAL NOT NULL CHECK (overlap BETWEEN 0 AND 1),
        parameters TEXT NOT NULL DEFAULT '{}' CHECK (parameters GLOB '{*}'),
        due_utc TEXT,
        released_utc TEXT,
        created_utc TEXT NOT NULL
    ) STRICT""",
    # pi2: the chance that a unit of the batch is coded by every coder of it, by the design. coders: how many labels the
    # batch means the unit to get, whoever gives them in the end.
    """CREATE TABLE batch_units (
        batch_id INTEGER NOT NULL REFERENCES batches (id),
        unit_id INTEGER NOT NULL REFERENCES units (id),
        overlap INTEGER NOT NULL CHECK (overlap IN (0, 1)),
        pi2 REAL NOT NULL CHECK (pi2 >= 0 AND pi2 <= 1),
        coders INTEGER NOT NULL CHECK (coders >= 0),
        PRIMARY KEY (batch_id, unit_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX batch_units_unit ON batch_units (unit_id)",
    # state is part of the fold (0 to do, 1 skipped once, 2 done, 3 skipped for good), here so that the next unit is
    # found at once in a queue of any length; in_queue is 0 while withdrawn, not yet released, or leased to a pack.
    """CREATE TABLE assignments (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        unit_id INTEGER NOT NULL REFERENCES units (id),
        coder_id INTEGER NOT NULL REFERENCES coders (id),
        round TEXT NOT NULL REFERENCES rounds (name),
        occurrence INTEGER NOT NULL DEFAULT 1 CHECK (occurrence >= 1),
        role TEXT NOT NULL DEFAULT 'coder' CHECK (role IN ('coder', 'tiebreak', 'adjudicator')),
        batch_id INTEGER NOT NULL REFERENCES batches (id),
        position INTEGER NOT NULL,
        sides_swapped INTEGER NOT NULL DEFAULT 0 CHECK (sides_swapped IN (0, 1)),
        state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),
        in_queue INTEGER NOT NULL DEFAULT 1 CHECK (in_queue IN (0, 1)),
        withdrawn_utc TEXT,
        UNIQUE (unit_id, coder_id, round, occurrence)
    ) STRICT""",
    "CREATE INDEX assignments_queue ON assignments (coder_id, position) WHERE in_queue = 1",
    "CREATE INDEX assignments_next ON assignments (coder_id, state, position) WHERE in_queue = 1",
    # --- the record ---------------------------------------------------------------------------------
    # fence: the number of the session that may write; confirmed_version: the codebook that the coder last confirmed.
    """CREATE TABLE logs (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        coder_id INTEGER NOT NULL REFERENCES coders (id),
        place TEXT NOT NULL,
        protocol_digest TEXT NOT NULL,
        genesis TEXT NOT NULL,
        fence INTEGER NOT NULL DEFAULT 0,
        confirmed_version INTEGER NOT NULL REFERENCES protocols (version),
        sealed_head TEXT,
        created_utc TEXT NOT NULL,
        UNIQUE (coder_id, place)
    ) STRICT""",
    """CREATE TRIGGER logs_identity BEFORE UPDATE OF id, uid, coder_id, place, protocol_digest, genesis ON logs
        BEGIN SELECT RAISE(ABORT, 'the identity of a log is never changed'); END""",
    """CREATE TRIGGER logs_no_delete BEFORE DELETE ON logs
        BEGIN SELECT RAISE(ABORT, 'a log is never deleted'); END""",
    # An assignment is writable in one log at a time: the one that holds its open lease, else its coder's log here.
    # home_seq is the last event of the coder's log here at that time: it orders the two logs without a clock.
    """CREATE TABLE leases (
        id INTEGER PRIMARY KEY,
        assignment_id INTEGER NOT NULL REFERENCES assignments (id),
        log_id INTEGER NOT NULL REFERENCES logs (id),
        home_seq INTEGER NOT NULL,
        leased_utc TEXT NOT NULL,
        ended_utc TEXT,
        ended_by TEXT CHECK (ended_by IN ('merge', 'recall')),
        CHECK ((ended_utc IS NULL) = (ended_by IS NULL))
    ) STRICT""",
    "CREATE UNIQUE INDEX leases_open ON leases (assignment_id) WHERE ended_utc IS NULL",
    # Notes and other words of people stand apart from the chain, so that they can be erased without breaking it.
    """CREATE TABLE texts (
        digest TEXT PRIMARY KEY,
        salt TEXT NOT NULL,
        text TEXT
    ) STRICT, WITHOUT ROWID""",
    """CREATE TRIGGER texts_erase_only BEFORE UPDATE ON texts WHEN NEW.text IS NOT NULL OR NEW.digest <> OLD.digest
        BEGIN SELECT RAISE(ABORT, 'a note is never changed: it is kept or erased'); END""",
    """CREATE TRIGGER texts_no_delete BEFORE DELETE ON texts
        BEGIN SELECT RAISE(ABORT, 'the digest of a note stays when it is erased'); END""",
    """CREATE TABLE events (
        log_id INTEGER NOT NULL REFERENCES logs (id),
        seq INTEGER NOT NULL CHECK (seq >= 1),
        kind TEXT NOT NULL CHECK (length(kind) > 0),
        assignment_id INTEGER REFERENCES assignments (id),
        unit TEXT,
        body TEXT NOT NULL CHECK (body GLOB '{*}'),
        protocol_version INTEGER NOT NULL REFERENCES protocols (version),
        tool_version TEXT NOT NULL,
        utc TEXT,
        active_ms INTEGER CHECK (active_ms >= 0),
        fence INTEGER NOT NULL,
        origin TEXT NOT NULL,
        blindness TEXT NOT NULL CHECK (blindness IN ('sealed', 'masked', 'open', 'unknown')),
        hash TEXT NOT NULL CHECK (length(hash) = 64),
        PRIMARY KEY (log_id, seq)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX events_assignment ON events (assignment_id, log_id, seq)",
    """CREATE TRIGGER events_no_update BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'events are append-only: no row is ever changed'); END""",
    """CREATE TRIGGER events_no_delete BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'events are append-only: no row is ever deleted'); END""",
    """CREATE TRIGGER events_in_sequence BEFORE INSERT ON events
        WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM events WHERE log_id = NEW.log_id)
        BEGIN SELECT RAISE(ABORT, 'events are append-only: the next row of a log follows its last'); END""",
    """CREATE TRIGGER events_leased BEFORE INSERT ON events
        WHEN NEW.assignment_id IS NOT NULL AND EXISTS (
            SELECT 1 FROM leases WHERE assignment_id = NEW.assignment_id AND ended_utc IS NULL AND log_id <> NEW.log_id)
        BEGIN SELECT RAISE(ABORT, 'this assignment is leased to a pack: recall it first'); END""",
    """CREATE TRIGGER events_own BEFORE INSERT ON events
        WHEN NEW.assignment_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM assignments a JOIN logs l ON l.coder_id = a.coder_id
            WHERE a.id = NEW.assignment_id AND l.id = NEW.log_id)
        BEGIN SELECT RAISE(ABORT, 'an assignment is coded in a log of its own coder'); END""",
    # The fold of the events: a cache that the transaction of each event updates and that can be made anew from them.
    """CREATE TABLE annotations (
        assignment_id INTEGER PRIMARY KEY REFERENCES assignments (id),
        label TEXT,
        rating INTEGER,
        note TEXT REFERENCES texts (digest),
        flags TEXT NOT NULL DEFAULT '[]' CHECK (flags GLOB '[[]*]'),
        skip_reason TEXT,
        skip_words TEXT REFERENCES texts (digest),
        skip_count INTEGER NOT NULL DEFAULT 0,
        detail TEXT NOT NULL DEFAULT '{}' CHECK (detail GLOB '{*}'),
        protocol_version INTEGER REFERENCES protocols (version),
        blindness TEXT CHECK (blindness IN ('sealed', 'masked', 'open', 'unknown')),
        origin TEXT,
        active_ms INTEGER NOT NULL DEFAULT 0,
        stale INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
        log_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        utc TEXT,
        FOREIGN KEY (log_id, seq) REFERENCES events (log_id, seq)
    ) STRICT""",
    # Who has seen what judges or others said, as the events tell it: one unit, or all (unit_id NULL); by coder, or by
    # account (a keyed digest) where a lead's command showed it. Labels given afterwards are open.
    """CREATE TABLE unmaskings (
        id INTEGER PRIMARY KEY,
        coder_id INTEGER REFERENCES coders (id),
        account TEXT,
        unit_id INTEGER REFERENCES units (id),
        log_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        FOREIGN KEY (log_id, seq) REFERENCES events (log_id, seq),
        CHECK (coder_id IS NOT NULL OR account IS NOT NULL)
    ) STRICT""",
    "CREATE INDEX unmaskings_coder ON unmaskings (coder_id, unit_id)",
    "CREATE INDEX unmaskings_account ON unmaskings (account) WHERE account IS NOT NULL",
    # An adjudicated unit is closed to its coders until the lead reopens it: adjudicated_seq is the last event of the
    # adjudication that the reopening sets aside, so that a later one closes the unit again.
    """CREATE TABLE reopenings (
        id INTEGER PRIMARY KEY,
        unit_id INTEGER NOT NULL REFERENCES units (id),
        assignment_id INTEGER NOT NULL REFERENCES assignments (id),
        adjudicated_log INTEGER NOT NULL,
        adjudicated_seq INTEGER NOT NULL,
        log_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        FOREIGN KEY (log_id, seq) REFERENCES events (log_id, seq)
    ) STRICT""",
    "CREATE INDEX reopenings_assignment ON reopenings (assignment_id)",
    # What the lead answered to a coder who asked about an item: shown on that item from then on.
    """CREATE TABLE answers (
        id INTEGER PRIMARY KEY,
        assignment_id INTEGER NOT NULL REFERENCES assignments (id),
        text TEXT NOT NULL REFERENCES texts (digest),
        log_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        FOREIGN KEY (log_id, seq) REFERENCES events (log_id, seq)
    ) STRICT""",
    "CREATE INDEX answers_assignment ON answers (assignment_id)",
)
