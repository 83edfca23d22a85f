/** Tables of the hub. Each step brings the format of the number before to its own; steps are never changed. */
export const steps: readonly string[] = [
  `
  CREATE TABLE vehicles (
    id INTEGER PRIMARY KEY,
    vin TEXT NOT NULL UNIQUE,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL
  ) STRICT;
  -- As they came; the key makes a repetition harmless.
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    vehicle INTEGER NOT NULL REFERENCES vehicles,
    class INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    boot INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    clock TEXT NOT NULL,
    received INTEGER NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (vehicle, class, seq, boot)
  ) STRICT;
  -- The message that has the present form of a record; at is corrected where the car learnt the time later.
  CREATE TABLE records (
    vehicle INTEGER NOT NULL REFERENCES vehicles,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    boot INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    message INTEGER NOT NULL REFERENCES messages,
    PRIMARY KEY (vehicle, collection, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX records_by_time ON records (vehicle, collection, at, id);
  -- Runs of numbers as JSON: [[first, last], ...].
  CREATE TABLE numbers (
    vehicle INTEGER NOT NULL REFERENCES vehicles,
    class INTEGER NOT NULL,
    arrived TEXT NOT NULL,
    given_up TEXT NOT NULL,
    PRIMARY KEY (vehicle, class)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE status (
    vehicle INTEGER PRIMARY KEY REFERENCES vehicles,
    document TEXT NOT NULL
  ) STRICT;
  -- What hello says to add to the moments of a start of the agent that did not know the time, ms.
  CREATE TABLE corrections (
    vehicle INTEGER NOT NULL REFERENCES vehicles,
    boot INTEGER NOT NULL,
    behind INTEGER NOT NULL,
    PRIMARY KEY (vehicle, boot)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE refused (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    reason TEXT NOT NULL,
    received INTEGER NOT NULL,
    payload BLOB NOT NULL
  ) STRICT;
  `,
  `
  -- Counters of the signing keys, per car: a car refuses one that it has seen.
  CREATE TABLE counters (
    key TEXT NOT NULL,
    vehicle INTEGER NOT NULL REFERENCES vehicles,
    last INTEGER NOT NULL,
    PRIMARY KEY (key, vehicle)
  ) STRICT, WITHOUT ROWID;
  -- The audit trail.
  CREATE TABLE commands (
    id TEXT PRIMARY KEY,
    vehicle INTEGER NOT NULL REFERENCES vehicles,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    caller TEXT NOT NULL,
    requested INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    key TEXT NOT NULL,
    counter INTEGER NOT NULL,
    signed BLOB NOT NULL,
    final INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX commands_by_time ON commands (vehicle, requested, id);
  CREATE INDEX pending_commands ON commands (vehicle, expires, counter, id) WHERE NOT final;
  CREATE TABLE command_states (
    command TEXT NOT NULL REFERENCES commands,
    boot INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    cause TEXT,
    detail TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (command, boot, seq)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What is listed and found across cars; series are read by car.
  CREATE INDEX records_across_cars ON records (collection, at, id, vehicle)
    WHERE collection NOT IN ('telemetry', 'waypoint');
  CREATE INDEX records_by_id ON records (collection, id) WHERE collection NOT IN ('telemetry', 'waypoint');
  `,
  `
  -- How many numbers are missing (of a row of before: known with its next message), when the car is to be asked for them
  -- (UTC ms), how often that time had come, and how many were missing when it was asked last.
  ALTER TABLE numbers ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE numbers ADD COLUMN due INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE numbers ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE numbers ADD COLUMN requested INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX due_numbers ON numbers (due) WHERE missing > 0;
  CREATE INDEX missing_numbers ON numbers (class, missing) WHERE missing > 0;
  `,
  `
  -- The registry. Fleets and users ('fleet', 'user'): with the first of them only registered cars may send.
  CREATE TABLE owners (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE cars (
    vin TEXT PRIMARY KEY,
    added INTEGER NOT NULL,
    removed INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE owned_cars (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    vin TEXT NOT NULL REFERENCES cars,
    PRIMARY KEY (kind, owner, vin),
    FOREIGN KEY (kind, owner) REFERENCES owners
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX owners_of_car ON owned_cars (vin);
  -- Grows with every change of the registry, so that hubs see that there was one.
  CREATE TABLE registry_version (version INTEGER NOT NULL) STRICT;
  INSERT INTO registry_version VALUES (0);
  `,
  `
  -- Digests of the password of MQTT, of the one-time token of enrolment, and of the key that the token was used for.
  ALTER TABLE cars ADD COLUMN password TEXT;
  ALTER TABLE cars ADD COLUMN token TEXT;
  ALTER TABLE cars ADD COLUMN token_expires INTEGER;
  ALTER TABLE cars ADD COLUMN token_key TEXT;
  -- Without a VIN once the car was forgotten: a revoked certificate stays revoked.
  CREATE TABLE certificates (
    serial TEXT PRIMARY KEY,
    vin TEXT REFERENCES cars,
    issued INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    revoked INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX certificates_of_car ON certificates (vin);
  `,
  `
  -- The name of the car in addresses; absent until somebody asks for it.
  ALTER TABLE vehicles ADD COLUMN public_id TEXT;
  CREATE INDEX vehicles_by_public_id ON vehicles (public_id);
  `,
  `
  -- Monitors and callbacks of fleets and users ('fleet', 'user') as JSON. vin: the only car that a monitor is for;
  -- callback: of the user side, the one under which it was given.
  CREATE TABLE callbacks (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    created INTEGER NOT NULL,
    document TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX callbacks_of_owner ON callbacks (kind, owner, created, id);
  CREATE TABLE monitors (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    vin TEXT,
    callback TEXT,
    created INTEGER NOT NULL,
    document TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX monitors_of_owner ON monitors (kind, owner, created, id);
  CREATE INDEX monitors_of_callback ON monitors (callback) WHERE callback IS NOT NULL;
  CREATE INDEX monitors_of_car ON monitors (vin) WHERE vin IS NOT NULL;
  `,
  `
  -- The newest starts of the agent as JSON: [[boot, first number, arrived, given up], ...]. arrived and given_up are of
  -- the starts before these.
  ALTER TABLE numbers ADD COLUMN starts TEXT NOT NULL DEFAULT '[]';
  `,
  `
  -- What lists are filtered by: the moment that counts, the trip, its length in km and s, its state or the kind of an alarm.
  ALTER TABLE records ADD COLUMN began INTEGER;
  ALTER TABLE records ADD COLUMN trip TEXT;
  ALTER TABLE records ADD COLUMN distance REAL;
  ALTER TABLE records ADD COLUMN duration REAL;
  ALTER TABLE records ADD COLUMN state TEXT;
  CREATE INDEX records_by_begin ON records (vehicle, collection, began) WHERE began IS NOT NULL;
  CREATE INDEX records_across_cars_by_begin ON records (collection, began, vehicle) WHERE began IS NOT NULL;
  CREATE INDEX records_of_trip ON records (vehicle, collection, trip) WHERE trip IS NOT NULL;
  -- Those of before, until their messages have been read.
  CREATE INDEX records_without_facts ON records (collection, vehicle, id)
    WHERE began IS NULL AND collection NOT IN ('telemetry', 'waypoint');
  `,
  `
  -- Messages that may tell of an event; narrower than the table, which has an order by id too.
  CREATE INDEX events ON messages (id, vehicle, kind)
    WHERE kind IN ('trip', 'alert', 'collision', 'maintenance', 'alarm', 'stolen', 'event', 'remote', 'gap', 'fault');
  CREATE INDEX events_of_car ON messages (vehicle, id)
    WHERE kind IN ('trip', 'alert', 'collision', 'maintenance', 'alarm', 'stolen', 'event', 'remote', 'gap', 'fault');
  `,
  `
  -- What each car reported last of the configuration that is in effect.
  CREATE TABLE configurations (
    vehicle INTEGER PRIMARY KEY REFERENCES vehicles,
    generation INTEGER NOT NULL,
    state TEXT NOT NULL,
    digest TEXT,
    detail TEXT,
    boot INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  -- Configurations for the cars of a fleet; the body is that of the command.
  CREATE TABLE rollouts (
    id TEXT PRIMARY KEY,
    fleet TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    caller TEXT NOT NULL,
    created INTEGER NOT NULL,
    first_cars INTEGER NOT NULL,
    tolerated INTEGER NOT NULL,
    stage TEXT NOT NULL,
    reason TEXT,
    body BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Boot and seq are those of the hello that reported the state.
  CREATE TABLE rollout_cars (
    rollout TEXT NOT NULL REFERENCES rollouts,
    vin TEXT NOT NULL,
    is_first INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    detail TEXT,
    at INTEGER,
    command TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL DEFAULT 0,
    boot INTEGER NOT NULL DEFAULT -1,
    seq INTEGER NOT NULL DEFAULT -1,
    PRIMARY KEY (rollout, vin)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX rollouts_of_car ON rollout_cars (vin);
  CREATE INDEX rollout_states ON rollout_cars (rollout, state, due, vin);
  `,
  `
  -- When the monitors of a car are to be compared with those that it should have (UTC ms; NULL: when something changes),
  -- and how often it was sent something since it had all.
  CREATE TABLE car_monitors (
    vehicle INTEGER PRIMARY KEY REFERENCES vehicles,
    due INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX due_monitors ON car_monitors (due) WHERE due IS NOT NULL;
  INSERT INTO car_monitors (vehicle, due) SELECT id, 0 FROM vehicles;
  -- The list of its monitors that a car sent last, as JSON.
  CREATE TABLE reported_monitors (
    vehicle INTEGER PRIMARY KEY REFERENCES vehicles,
    boot INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    received INTEGER NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- Whom events of monitors go to: the webhook of a monitor, a callback, or a device of one. held, tries, due: the request
  -- that was tried; look: when to look at it next (UTC ms; NULL: when something changes); proven: it accepted the last
  -- request at once; lease, leased_until: the hub that sends to it, until when (UTC ms of the database).
  CREATE TABLE receivers (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    monitor TEXT,
    callback TEXT,
    delivery TEXT,
    next_seq INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    dropped INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    due INTEGER,
    look INTEGER,
    proven INTEGER NOT NULL DEFAULT 0,
    lease TEXT,
    leased_until INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX due_receivers ON receivers (proven, look) WHERE look IS NOT NULL;
  CREATE INDEX receivers_of_callback ON receivers (callback, key) WHERE callback IS NOT NULL;
  -- Events that wait, numbered for each receiver; contents: what the monitor adds, as JSON.
  CREATE TABLE deliveries (
    receiver TEXT NOT NULL,
    seq INTEGER NOT NULL,
    vehicle INTEGER NOT NULL,
    message INTEGER NOT NULL,
    at INTEGER NOT NULL,
    contents TEXT NOT NULL,
    PRIMARY KEY (receiver, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX deliveries_of_vehicle ON deliveries (vehicle, receiver);
  `,
  '-- Status has slots by their ids; what was written before is read as it is (hub/vehicle-status.ts).',
  `
  CREATE INDEX revoked_certificates ON certificates (expires) WHERE revoked IS NOT NULL;
  `,
  `
  -- Messages of a kind that were kept long enough. The class comes first so that no search for events takes this index.
  CREATE INDEX messages_by_arrival ON messages (class, kind, received);
  `,
  `
  -- Tokens of people and programs; fleets: JSON, or NULL of one for the user that is its name.
  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    fleets TEXT,
    scopes TEXT NOT NULL,
    issued INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    withdrawn INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tokens_by_end ON tokens (expires);
  `,
];

/** Number of the format that this program writes. */
export const FORMAT = steps.length;
