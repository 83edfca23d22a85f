/**
 * Tables of the hub on PostgreSQL: those of SQLite (../format.ts), with texts in the order of their code points. Each step
 * brings the format of the number before to its own; steps are never changed.
 */
export const steps: readonly string[] = [
  `
  CREATE TABLE vehicles (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    vin text COLLATE "C" NOT NULL UNIQUE,
    first_seen bigint NOT NULL,
    last_seen bigint NOT NULL
  );
  -- As they came; the unique key makes a repetition harmless.
  CREATE TABLE messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    vehicle bigint NOT NULL REFERENCES vehicles,
    class smallint NOT NULL,
    seq bigint NOT NULL,
    boot bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    clock text COLLATE "C" NOT NULL,
    received bigint NOT NULL,
    payload bytea NOT NULL,
    UNIQUE (vehicle, class, seq, boot)
  );
  -- Messages are compressed already.
  ALTER TABLE messages ALTER COLUMN payload SET STORAGE EXTERNAL;
  -- The message that has the present form of a record; at is corrected where the car learnt the time later.
  CREATE TABLE records (
    vehicle bigint NOT NULL REFERENCES vehicles,
    collection text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    boot bigint NOT NULL,
    seq bigint NOT NULL,
    message bigint NOT NULL REFERENCES messages,
    PRIMARY KEY (vehicle, collection, id)
  );
  CREATE INDEX records_by_time ON records (vehicle, collection, at, id);
  CREATE INDEX records_across_cars ON records (collection, at, id, vehicle)
    WHERE collection NOT IN ('telemetry', 'waypoint');
  CREATE INDEX records_by_id ON records (collection, id) WHERE collection NOT IN ('telemetry', 'waypoint');
  -- Runs of numbers as JSON: [[first, last], ...].
  CREATE TABLE numbers (
    vehicle bigint NOT NULL REFERENCES vehicles,
    class smallint NOT NULL,
    arrived text NOT NULL,
    given_up text NOT NULL,
    PRIMARY KEY (vehicle, class)
  );
  CREATE TABLE status (
    vehicle bigint PRIMARY KEY REFERENCES vehicles,
    document text NOT NULL
  );
  -- What hello says to add to the moments of a start of the agent that did not know the time, ms.
  CREATE TABLE corrections (
    vehicle bigint NOT NULL REFERENCES vehicles,
    boot bigint NOT NULL,
    behind bigint NOT NULL,
    PRIMARY KEY (vehicle, boot)
  );
  CREATE TABLE refused (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic text NOT NULL,
    reason text NOT NULL,
    received bigint NOT NULL,
    payload bytea NOT NULL
  );
  -- Counters of the signing keys, per car: a car refuses one that it has seen.
  CREATE TABLE counters (
    key text COLLATE "C" NOT NULL,
    vehicle bigint NOT NULL REFERENCES vehicles,
    last bigint NOT NULL,
    PRIMARY KEY (key, vehicle)
  );
  -- The audit trail.
  CREATE TABLE commands (
    id text COLLATE "C" PRIMARY KEY,
    vehicle bigint NOT NULL REFERENCES vehicles,
    type text NOT NULL,
    body text NOT NULL,
    caller text NOT NULL,
    requested bigint NOT NULL,
    expires bigint NOT NULL,
    key text NOT NULL,
    counter bigint NOT NULL,
    signed bytea NOT NULL,
    final boolean NOT NULL DEFAULT false
  );
  CREATE INDEX commands_by_time ON commands (vehicle, requested, id);
  CREATE INDEX pending_commands ON commands (vehicle, expires, counter, id) WHERE NOT final;
  CREATE TABLE command_states (
    command text COLLATE "C" NOT NULL REFERENCES commands,
    boot bigint NOT NULL,
    seq bigint NOT NULL,
    status text NOT NULL,
    cause text,
    detail text,
    at bigint NOT NULL,
    PRIMARY KEY (command, boot, seq)
  );
  `,
  `
  -- How many numbers are missing (of a row of before: known with its next message), when the car is to be asked for them
  -- (UTC ms), how often that time had come, and how many were missing when it was asked last.
  ALTER TABLE numbers ADD COLUMN missing bigint NOT NULL DEFAULT 0, ADD COLUMN due bigint NOT NULL DEFAULT 0,
    ADD COLUMN attempts int NOT NULL DEFAULT 0, ADD COLUMN requested bigint NOT NULL DEFAULT 0;
  CREATE INDEX due_numbers ON numbers (due) WHERE missing > 0;
  CREATE INDEX missing_numbers ON numbers (class, missing) WHERE missing > 0;
  `,
  `
  CREATE TABLE owners (
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE TABLE cars (
    vin text COLLATE "C" PRIMARY KEY,
    added bigint NOT NULL,
    removed bigint
  );
  CREATE TABLE owned_cars (
    kind text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    vin text COLLATE "C" NOT NULL REFERENCES cars,
    PRIMARY KEY (kind, owner, vin),
    FOREIGN KEY (kind, owner) REFERENCES owners
  );
  CREATE INDEX owners_of_car ON owned_cars (vin);
  CREATE TABLE registry_version (version bigint NOT NULL);
  INSERT INTO registry_version VALUES (0);
  -- Without an index on it, each message that is deleted would be looked for in all records.
  ALTER TABLE records DROP CONSTRAINT records_message_fkey;
  -- No sample of what cars sent in the statistics of the planner, from which a forgotten car would not vanish.
  ALTER TABLE vehicles ALTER vin SET STATISTICS 0;
  ALTER TABLE cars ALTER vin SET STATISTICS 0;
  ALTER TABLE owned_cars ALTER vin SET STATISTICS 0;
  ALTER TABLE messages ALTER payload SET STATISTICS 0;
  ALTER TABLE status ALTER document SET STATISTICS 0;
  ALTER TABLE numbers ALTER arrived SET STATISTICS 0, ALTER given_up SET STATISTICS 0;
  ALTER TABLE refused ALTER topic SET STATISTICS 0, ALTER reason SET STATISTICS 0, ALTER payload SET STATISTICS 0;
  ALTER TABLE commands ALTER body SET STATISTICS 0, ALTER caller SET STATISTICS 0, ALTER signed SET STATISTICS 0;
  ALTER TABLE command_states ALTER detail SET STATISTICS 0;
  `,
  `
  ALTER TABLE cars ADD COLUMN password text, ADD COLUMN token text, ADD COLUMN token_expires bigint,
    ADD COLUMN token_key text;
  CREATE TABLE certificates (
    serial text COLLATE "C" PRIMARY KEY,
    vin text COLLATE "C" REFERENCES cars,
    issued bigint NOT NULL,
    expires bigint NOT NULL,
    revoked bigint
  );
  CREATE INDEX certificates_of_car ON certificates (vin);
  ALTER TABLE certificates ALTER vin SET STATISTICS 0;
  `,
  `
  -- The name of the car in addresses; absent until somebody asks for it.
  ALTER TABLE vehicles ADD COLUMN public_id text COLLATE "C";
  CREATE INDEX vehicles_by_public_id ON vehicles (public_id);
  ALTER TABLE vehicles ALTER public_id SET STATISTICS 0;
  `,
  `
  CREATE TABLE callbacks (
    id text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    document text NOT NULL
  );
  CREATE INDEX callbacks_of_owner ON callbacks (kind, owner, created, id);
  CREATE TABLE monitors (
    id text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    vin text COLLATE "C",
    callback text COLLATE "C",
    created bigint NOT NULL,
    document text NOT NULL
  );
  CREATE INDEX monitors_of_owner ON monitors (kind, owner, created, id);
  CREATE INDEX monitors_of_callback ON monitors (callback) WHERE callback IS NOT NULL;
  CREATE INDEX monitors_of_car ON monitors (vin) WHERE vin IS NOT NULL;
  ALTER TABLE monitors ALTER vin SET STATISTICS 0, ALTER document SET STATISTICS 0;
  ALTER TABLE callbacks ALTER document SET STATISTICS 0;
  `,
  `
  -- The newest starts of the agent as JSON: [[boot, first number, arrived, given up], ...]. arrived and given_up are of
  -- the starts before these.
  ALTER TABLE numbers ADD COLUMN starts text NOT NULL DEFAULT '[]';
  ALTER TABLE numbers ALTER starts SET STATISTICS 0;
  `,
  `
  -- What lists are filtered by: the moment that counts, the trip, its length in km and s, its state or the kind of an alarm.
  ALTER TABLE records ADD COLUMN began bigint, ADD COLUMN trip text COLLATE "C", ADD COLUMN distance float8, ADD COLUMN duration float8, ADD COLUMN state text COLLATE "C";
  CREATE INDEX records_by_begin ON records (vehicle, collection, began) WHERE began IS NOT NULL;
  CREATE INDEX records_across_cars_by_begin ON records (collection, began, vehicle) WHERE began IS NOT NULL;
  CREATE INDEX records_of_trip ON records (vehicle, collection, trip) WHERE trip IS NOT NULL;
  -- Those of before, until their messages have been read.
  CREATE INDEX records_without_facts ON records (collection, vehicle, id)
    WHERE began IS NULL AND collection NOT IN ('telemetry', 'waypoint');
  ALTER TABLE records ALTER trip SET STATISTICS 0;
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
    vehicle bigint PRIMARY KEY REFERENCES vehicles,
    generation bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    digest text COLLATE "C",
    detail text COLLATE "C",
    boot bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL
  );
  -- Configurations for the cars of a fleet; the body is that of the command.
  CREATE TABLE rollouts (
    id text COLLATE "C" PRIMARY KEY,
    fleet text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    first_cars int NOT NULL,
    tolerated int NOT NULL,
    stage text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    body bytea NOT NULL
  );
  -- Boot and seq are those of the hello that reported the state.
  CREATE TABLE rollout_cars (
    rollout text COLLATE "C" NOT NULL REFERENCES rollouts,
    vin text COLLATE "C" NOT NULL,
    is_first int NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'waiting',
    detail text COLLATE "C",
    at bigint,
    command text COLLATE "C",
    attempts int NOT NULL DEFAULT 0,
    due bigint NOT NULL DEFAULT 0,
    boot bigint NOT NULL DEFAULT -1,
    seq bigint NOT NULL DEFAULT -1,
    PRIMARY KEY (rollout, vin)
  );
  CREATE INDEX rollouts_of_car ON rollout_cars (vin);
  CREATE INDEX rollout_states ON rollout_cars (rollout, state, due, vin);
  ALTER TABLE rollout_cars ALTER vin SET STATISTICS 0, ALTER detail SET STATISTICS 0;
  ALTER TABLE configurations ALTER detail SET STATISTICS 0;
  `,
  `
  CREATE TABLE car_monitors (
    vehicle bigint PRIMARY KEY REFERENCES vehicles,
    due bigint,
    attempts int NOT NULL DEFAULT 0
  );
  CREATE INDEX due_monitors ON car_monitors (due) WHERE due IS NOT NULL;
  INSERT INTO car_monitors (vehicle, due) SELECT id, 0 FROM vehicles;
  CREATE TABLE reported_monitors (
    vehicle bigint PRIMARY KEY REFERENCES vehicles,
    boot bigint NOT NULL,
    seq bigint NOT NULL,
    received bigint NOT NULL,
    document text NOT NULL
  );
  ALTER TABLE reported_monitors ALTER document SET STATISTICS 0;
  `,
  `
  CREATE TABLE receivers (
    key text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    monitor text COLLATE "C",
    callback text COLLATE "C",
    delivery text,
    next_seq bigint NOT NULL,
    waiting bigint NOT NULL,
    dropped bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    tries int NOT NULL DEFAULT 0,
    due bigint,
    look bigint,
    proven int NOT NULL DEFAULT 0,
    lease text COLLATE "C",
    leased_until bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX due_receivers ON receivers (proven, look) WHERE look IS NOT NULL;
  CREATE INDEX receivers_of_callback ON receivers (callback, key) WHERE callback IS NOT NULL;
  CREATE TABLE deliveries (
    receiver text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    vehicle bigint NOT NULL,
    message bigint NOT NULL,
    at bigint NOT NULL,
    contents text NOT NULL,
    PRIMARY KEY (receiver, seq)
  );
  CREATE INDEX deliveries_of_vehicle ON deliveries (vehicle, receiver);
  ALTER TABLE receivers ALTER delivery SET STATISTICS 0;
  ALTER TABLE deliveries ALTER contents SET STATISTICS 0;
  `,
  '-- Status has slots by their ids; what was written before is read as it is (hub/vehicle-status.ts).',
  `
  CREATE INDEX revoked_certificates ON certificates (expires) WHERE revoked IS NOT NULL;
  `,
  `
  -- These rows change with every message of a car. The new version finds room on the page of the old one, where it needs
  -- no entry in an index (heap-only tuples) and the next change clears the old one away.
  ALTER TABLE status SET (fillfactor = 50, toast_tuple_target = 4080);
  ALTER TABLE numbers SET (fillfactor = 80);
  ALTER TABLE vehicles SET (fillfactor = 50);
  `,
  `
  -- Messages of a kind that were kept long enough. The class comes first so that no search for events takes this index.
  CREATE INDEX messages_by_arrival ON messages (class, kind, received);
  `,
  `
  -- Tokens of people and programs; fleets: JSON, or NULL of one for the user that is its name.
  CREATE TABLE tokens (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    fleets text,
    scopes text NOT NULL,
    issued bigint NOT NULL,
    expires bigint NOT NULL,
    withdrawn bigint
  );
  CREATE INDEX tokens_by_end ON tokens (expires);
  `,
];

/** Number of the format that this program writes, in the table hub_format. */
export const FORMAT = steps.length;
