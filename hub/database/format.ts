/** Schema of the hub for SQLite and PostgreSQL. */

import { VigieError } from '../../protocol/errors.ts';
import { seriesKinds } from '../core/message.ts';
import { EVENTS, kindNumber } from './rows.ts';

/** Names that differ between the databases. */
export interface SqlTypes {
  /** Auto-increment column types: for a primary key, and for a plain column. */
  readonly key: string;
  readonly counted: string;
  /** Integer types of 8, 4 and 2 bytes. */
  readonly long: string;
  readonly int: string;
  readonly short: string;
  readonly real: string;
  /** Text type, sorted by code points. */
  readonly text: string;
  readonly bytes: string;
  readonly flag: string;
  readonly no: string;
  /** Suffixes of a table definition: for a normal table, and for one stored in the order of its key. */
  readonly table: string;
  readonly keyed: string;
  /** SQL for the id of a piece of a series, from `boot` and `seq` (`pieceId` of hub/core/message.ts). */
  readonly piece: string;
  /** Returns statements for the table of messages, with these columns, and its indexes. */
  messages(columns: string): string;
}

const SERIES = `kind IN (${seriesKinds.map(kindNumber).join(', ')})`;

/**
 * Version of the schema. Each change raises it. A hub upgrades databases of the previous version (`upgrade.ts` for
 * PostgreSQL) and refuses all others.
 */
export const FORMAT = 7;

/** Returns the error for a database of another format. `instead` says what the user can do instead. */
export function otherFormat(found: number, instead: string, where: string): VigieError {
  const text = `has format ${found}, but this Vigie reads only format ${FORMAT}: install the version that wrote it, or ${instead}`;
  return new VigieError('usage.wrong', text, { where });
}

/**
 * Returns statements for the messages, stored as received. kind and clock are places in the lists of the protocol. at is
 * when a message was made, or when a piece of a series begins, which is corrected when the car learns the time later.
 */
export function messageTables(types: SqlTypes): string {
  const { counted, long, int, short, bytes, piece } = types;
  return `${types.messages(`
    id ${counted},
    at ${long} NOT NULL,
    received ${long} NOT NULL,
    vehicle ${int} NOT NULL,
    seq ${int} NOT NULL,
    boot ${long} NOT NULL,
    class ${short} NOT NULL,
    kind ${short} NOT NULL,
    clock ${short} NOT NULL,
    payload ${bytes} NOT NULL`)}
  CREATE VIEW series AS
    SELECT vehicle, kind, class, at, ${piece} AS id, boot, seq, payload FROM messages WHERE ${SERIES};`;
}

/** Messages by arrival and kind. The class comes first so that no search for events takes this index. */
export const BY_ARRIVAL = 'CREATE INDEX messages_by_arrival ON messages (class, kind, (received / 1000));';

/** Messages that may contain an event, and those that records and deliveries name. */
export const eventIndexes = (table: string): string => `
  CREATE INDEX events ON ${table} (id, vehicle, kind) WHERE ${EVENTS};
  CREATE INDEX events_of_car ON ${table} (vehicle, id) WHERE ${EVENTS};`;

/** Pieces of series, each of which is its own record. */
export const seriesIndex = (name: string, table: string): string =>
  `CREATE INDEX ${name} ON ${table} (vehicle, kind, at) WHERE ${SERIES};`;

/** Chain of digests over the audit trail (`audit.ts`). command and salt are null after the car was forgotten. */
export function auditTable({ long, text, table }: SqlTypes): string {
  return `CREATE TABLE audit (
    seq ${long} PRIMARY KEY,
    command ${text} UNIQUE,
    salt ${text},
    content ${text} NOT NULL,
    digest ${text} NOT NULL
  )${table};`;
}

function trustedKeysTable({ int, long, text, table }: SqlTypes): string {
  return `-- The keys that each car reported last, as JSON: [{ id, kinds }]. A car without a row has not reported any.
  CREATE TABLE trusted_keys (
    vehicle ${int} PRIMARY KEY REFERENCES vehicles,
    boot ${long} NOT NULL,
    seq ${int} NOT NULL,
    document ${text} NOT NULL
  )${table};`;
}

function exitsTable({ long, text, keyed }: SqlTypes): string {
  return `-- next: the first message that the receiver has not confirmed. lost: messages that retention removed before it got them.
  -- refused: messages that it refused for good. error: why it takes none now. succeeded_at: its last confirmation (UTC ms).
  CREATE TABLE exits (
    exit ${text} PRIMARY KEY,
    next ${long} NOT NULL DEFAULT 0,
    lost ${long} NOT NULL DEFAULT 0,
    refused ${long} NOT NULL DEFAULT 0,
    error ${text},
    succeeded_at ${long}
  )${keyed};`;
}

/** Additions to a database of format 6 that both databases need. */
export function addedSince6(types: SqlTypes): string {
  return `${trustedKeysTable(types)}
  ${exitsTable(types)}
  ALTER TABLE records ADD COLUMN trip_class ${types.text};
  ALTER TABLE numbers ADD COLUMN unsure_below ${types.long} NOT NULL DEFAULT 0;`;
}

export function tables(types: SqlTypes): string {
  const { key, counted, long, int, short, real, text, bytes, flag, no, table, keyed } = types;
  return `
  CREATE TABLE vehicles (
    id ${key},
    vin ${text} NOT NULL UNIQUE,
    first_seen ${long} NOT NULL,
    last_seen ${long} NOT NULL,
    -- UTC ms of the hub: the latest message of a car that changed something, retained ones included. last_seen is the latest
    -- new one that came from the car itself.
    changed ${long} NOT NULL DEFAULT 0,
    -- The name of the car in addresses.
    public_id ${text} NOT NULL
  )${table};
  CREATE INDEX vehicles_by_public_id ON vehicles (public_id);
  ${messageTables(types)}
  -- The message that has the present form of a record; at and began are corrected where the car learnt the time later.
  -- began, trip, distance (km), duration (s) and state (or the kind of an alarm, or whether a fault is active) are what lists
  -- are filtered by.
  CREATE TABLE records (
    at ${long} NOT NULL,
    message ${long} NOT NULL,
    began ${long},
    distance ${real},
    duration ${real},
    vehicle ${int} NOT NULL REFERENCES vehicles,
    boot ${long} NOT NULL,
    seq ${int} NOT NULL,
    collection ${text} NOT NULL,
    id ${text} NOT NULL,
    trip ${text},
    state ${text},
    -- Of a trip: the class that its driver chose.
    trip_class ${text},
    PRIMARY KEY (vehicle, collection, id)
  )${keyed};
  CREATE INDEX records_by_time ON records (vehicle, collection, at, id);
  CREATE INDEX records_across_cars ON records (collection, at, id, vehicle);
  CREATE INDEX records_by_id ON records (collection, id);
  CREATE INDEX records_by_begin ON records (vehicle, collection, began) WHERE began IS NOT NULL;
  CREATE INDEX records_across_cars_by_begin ON records (collection, began, vehicle) WHERE began IS NOT NULL;
  CREATE INDEX records_of_trip ON records (vehicle, collection, trip) WHERE trip IS NOT NULL;
  -- Runs of numbers as JSON: [[first, last], ...]. starts: the newest starts of the agent, [[boot, first number, arrived,
  -- given up], ...]; arrived and given_up are of the starts before these. Runs below unsure_below were discarded, because
  -- there were too many. How many numbers are missing, when the car is to be
  -- asked for them (UTC ms), how often that time had come, and how many were missing when it was asked last.
  CREATE TABLE numbers (
    vehicle ${int} NOT NULL REFERENCES vehicles,
    class ${short} NOT NULL,
    arrived ${text} NOT NULL,
    given_up ${text} NOT NULL,
    starts ${text} NOT NULL DEFAULT '[]',
    unsure_below ${long} NOT NULL DEFAULT 0,
    missing ${long} NOT NULL DEFAULT 0,
    due ${long} NOT NULL DEFAULT 0,
    attempts ${int} NOT NULL DEFAULT 0,
    requested ${long} NOT NULL DEFAULT 0,
    PRIMARY KEY (vehicle, class)
  )${keyed};
  CREATE INDEX due_numbers ON numbers (due) WHERE missing > 0;
  CREATE INDEX missing_numbers ON numbers (class, missing) WHERE missing > 0;
  CREATE TABLE status (
    vehicle ${int} PRIMARY KEY REFERENCES vehicles,
    document ${text} NOT NULL
  )${table};
  -- What hello says to add to the moments of a start of the agent that did not know the time, ms.
  CREATE TABLE corrections (
    vehicle ${int} NOT NULL REFERENCES vehicles,
    boot ${long} NOT NULL,
    behind ${long} NOT NULL,
    PRIMARY KEY (vehicle, boot)
  )${keyed};
  CREATE TABLE refused (
    id ${key},
    topic ${text} NOT NULL,
    reason ${text} NOT NULL,
    received ${long} NOT NULL,
    payload ${bytes} NOT NULL
  )${table};
  -- Counters of the signing keys, per car: a car refuses one that it has seen.
  CREATE TABLE counters (
    key ${text} NOT NULL,
    vehicle ${int} NOT NULL REFERENCES vehicles,
    last ${long} NOT NULL,
    PRIMARY KEY (key, vehicle)
  )${keyed};
  -- The audit trail.
  CREATE TABLE commands (
    id ${text} PRIMARY KEY,
    vehicle ${int} NOT NULL REFERENCES vehicles,
    type ${text} NOT NULL,
    body ${text} NOT NULL,
    caller ${text} NOT NULL,
    requested ${long} NOT NULL,
    expires ${long} NOT NULL,
    key ${text} NOT NULL,
    counter ${long} NOT NULL,
    signed ${bytes} NOT NULL,
    final ${flag} NOT NULL DEFAULT ${no}
  )${table};
  CREATE INDEX commands_by_time ON commands (vehicle, requested, id);
  CREATE INDEX pending_commands ON commands (vehicle, expires, counter, id) WHERE NOT final;
  CREATE TABLE command_states (
    command ${text} NOT NULL REFERENCES commands,
    boot ${long} NOT NULL,
    seq ${int} NOT NULL,
    status ${text} NOT NULL,
    cause ${text},
    detail ${text},
    at ${long} NOT NULL,
    PRIMARY KEY (command, boot, seq)
  )${keyed};
  -- The registry. Fleets and users ('fleet', 'user'): with the first of them only registered cars may send.
  CREATE TABLE owners (
    kind ${text} NOT NULL,
    id ${text} NOT NULL,
    created ${long} NOT NULL,
    PRIMARY KEY (kind, id)
  )${keyed};
  CREATE TABLE cars (
    vin ${text} PRIMARY KEY,
    added ${long} NOT NULL,
    removed ${long},
    -- Digests of the password of MQTT, of the one-time token of enrolment, and of the key that the token was used for.
    password ${text},
    token ${text},
    token_expires ${long},
    token_key ${text}
  )${keyed};
  CREATE TABLE owned_cars (
    kind ${text} NOT NULL,
    owner ${text} NOT NULL,
    vin ${text} NOT NULL REFERENCES cars,
    PRIMARY KEY (kind, owner, vin),
    FOREIGN KEY (kind, owner) REFERENCES owners
  )${keyed};
  CREATE INDEX owners_of_car ON owned_cars (vin);
  -- Grows with every change of the registry, so that hubs see that there was one.
  CREATE TABLE registry_version (version ${long} NOT NULL)${table};
  INSERT INTO registry_version VALUES (0);
  -- Without a VIN once the car was forgotten: a revoked certificate stays revoked.
  CREATE TABLE certificates (
    serial ${text} PRIMARY KEY,
    vin ${text} REFERENCES cars,
    issued ${long} NOT NULL,
    expires ${long} NOT NULL,
    revoked ${long}
  )${keyed};
  CREATE INDEX certificates_of_car ON certificates (vin);
  CREATE INDEX revoked_certificates ON certificates (expires) WHERE revoked IS NOT NULL;
  -- Monitors and callbacks of fleets and users ('fleet', 'user') as JSON. vin: the only car that a monitor is for;
  -- callback: of the user side, the one under which it was given.
  CREATE TABLE callbacks (
    id ${text} PRIMARY KEY,
    kind ${text} NOT NULL,
    owner ${text} NOT NULL,
    created ${long} NOT NULL,
    document ${text} NOT NULL
  )${keyed};
  CREATE INDEX callbacks_of_owner ON callbacks (kind, owner, created, id);
  CREATE TABLE monitors (
    id ${text} PRIMARY KEY,
    kind ${text} NOT NULL,
    owner ${text} NOT NULL,
    vin ${text},
    callback ${text},
    created ${long} NOT NULL,
    document ${text} NOT NULL
  )${keyed};
  CREATE INDEX monitors_of_owner ON monitors (kind, owner, created, id);
  CREATE INDEX monitors_of_callback ON monitors (callback) WHERE callback IS NOT NULL;
  CREATE INDEX monitors_of_car ON monitors (vin) WHERE vin IS NOT NULL;
  -- What each car reported last of the configuration that is in effect.
  CREATE TABLE configurations (
    vehicle ${int} PRIMARY KEY REFERENCES vehicles,
    generation ${long} NOT NULL,
    state ${text} NOT NULL,
    digest ${text},
    detail ${text},
    boot ${long} NOT NULL,
    seq ${int} NOT NULL,
    at ${long} NOT NULL
  )${table};
  ${trustedKeysTable(types)}
  -- Configurations for the cars of a fleet; the body is that of the command.
  CREATE TABLE rollouts (
    id ${text} PRIMARY KEY,
    fleet ${text} NOT NULL,
    name ${text} NOT NULL,
    digest ${text} NOT NULL,
    caller ${text} NOT NULL,
    created ${long} NOT NULL,
    first_cars ${int} NOT NULL,
    tolerated ${int} NOT NULL,
    stage ${text} NOT NULL,
    reason ${text},
    body ${bytes} NOT NULL
  )${keyed};
  -- Boot and seq are those of the hello that reported the state.
  CREATE TABLE rollout_cars (
    rollout ${text} NOT NULL REFERENCES rollouts,
    vin ${text} NOT NULL,
    is_first ${int} NOT NULL,
    state ${text} NOT NULL DEFAULT 'waiting',
    detail ${text},
    at ${long},
    command ${text},
    attempts ${int} NOT NULL DEFAULT 0,
    due ${long} NOT NULL DEFAULT 0,
    boot ${long} NOT NULL DEFAULT -1,
    seq ${int} NOT NULL DEFAULT -1,
    PRIMARY KEY (rollout, vin)
  )${keyed};
  CREATE INDEX rollouts_of_car ON rollout_cars (vin);
  CREATE INDEX rollout_states ON rollout_cars (rollout, state, due, vin);
  -- When the monitors of a car are to be compared with those that it should have (UTC ms; NULL: when something changes),
  -- and how often it was sent something since it had all.
  CREATE TABLE car_monitors (
    vehicle ${int} PRIMARY KEY REFERENCES vehicles,
    due ${long},
    attempts ${int} NOT NULL DEFAULT 0
  )${table};
  CREATE INDEX due_monitors ON car_monitors (due) WHERE due IS NOT NULL;
  -- The list of its monitors that a car sent last, as JSON.
  CREATE TABLE reported_monitors (
    vehicle ${int} PRIMARY KEY REFERENCES vehicles,
    boot ${long} NOT NULL,
    seq ${int} NOT NULL,
    received ${long} NOT NULL,
    document ${text} NOT NULL
  )${table};
  -- Whom events of monitors go to: the webhook of a monitor, a callback, or a device of one. held, tries, due: the request
  -- that was tried; look: when to look at it next (UTC ms; NULL: when something changes); proven: it accepted the last
  -- request at once; lease, leased_until: the hub that sends to it, until when (UTC ms of the database).
  CREATE TABLE receivers (
    key ${text} PRIMARY KEY,
    kind ${text} NOT NULL,
    owner ${text} NOT NULL,
    monitor ${text},
    callback ${text},
    delivery ${text},
    next_seq ${long} NOT NULL,
    waiting ${long} NOT NULL,
    dropped ${long} NOT NULL DEFAULT 0,
    held ${long} NOT NULL DEFAULT 0,
    tries ${int} NOT NULL DEFAULT 0,
    due ${long},
    look ${long},
    proven ${int} NOT NULL DEFAULT 0,
    lease ${text},
    leased_until ${long} NOT NULL DEFAULT 0
  )${keyed};
  CREATE INDEX due_receivers ON receivers (proven, look) WHERE look IS NOT NULL;
  CREATE INDEX receivers_of_callback ON receivers (callback, key) WHERE callback IS NOT NULL;
  -- Events that wait, numbered for each receiver; contents: what the monitor adds, as JSON.
  CREATE TABLE deliveries (
    receiver ${text} NOT NULL,
    seq ${long} NOT NULL,
    vehicle ${int} NOT NULL,
    message ${long} NOT NULL,
    at ${long} NOT NULL,
    contents ${text} NOT NULL,
    PRIMARY KEY (receiver, seq)
  )${keyed};
  CREATE INDEX deliveries_of_vehicle ON deliveries (vehicle, receiver);
  -- Tokens of people and programs; fleets: JSON, or NULL of one for the user that is its name.
  CREATE TABLE tokens (
    id ${text} PRIMARY KEY,
    name ${text} NOT NULL,
    fleets ${text},
    scopes ${text} NOT NULL,
    issued ${long} NOT NULL,
    expires ${long} NOT NULL,
    withdrawn ${long}
  )${keyed};
  CREATE INDEX tokens_by_end ON tokens (expires);
  -- Cars whose messages are refused. vin and topics (JSON: names beyond those of every car): until nothing of the car is
  -- retained at the broker; then only the digest is left.
  CREATE TABLE forgotten_cars (
    digest ${text} PRIMARY KEY,
    at ${long} NOT NULL,
    vin ${text},
    topics ${text} NOT NULL DEFAULT '[]'
  )${keyed};
  CREATE INDEX erasures ON forgotten_cars (vin) WHERE vin IS NOT NULL;
  -- first: the boot of the first message of a life of a car's folder that came; since: its receipt, UTC ms of the hub.
  CREATE TABLE lives (
    vehicle ${int} NOT NULL REFERENCES vehicles,
    ordinal ${int} NOT NULL,
    first ${long} NOT NULL,
    since ${long} NOT NULL,
    PRIMARY KEY (vehicle, ordinal)
  )${keyed};
  -- remote: as it was asked for; contents: what the command adds to the notifications of its states; both as JSON.
  CREATE TABLE callback_commands (
    command ${text} PRIMARY KEY REFERENCES commands,
    kind ${text} NOT NULL,
    owner ${text} NOT NULL,
    callback ${text} NOT NULL,
    remote ${text} NOT NULL,
    contents ${text} NOT NULL
  )${keyed};
  CREATE INDEX commands_of_callback ON callback_commands (callback, command);
  -- Cars that are not registered, and their messages, until they are.
  CREATE TABLE unregistered_cars (
    vin ${text} PRIMARY KEY,
    -- UTC ms of the hub.
    first_seen ${long} NOT NULL,
    last_seen ${long} NOT NULL,
    -- Kept messages and the bytes of their payloads, and messages that were dropped since.
    messages ${long} NOT NULL,
    bytes ${long} NOT NULL,
    dropped ${long} NOT NULL DEFAULT 0
  )${keyed};
  CREATE INDEX unregistered_cars_by_time ON unregistered_cars (last_seen, vin);
  -- In the order of arrival by id. kind: place in the list of the protocol, or -1 if the hub cannot read the message.
  CREATE TABLE unregistered_messages (
    id ${counted},
    received ${long} NOT NULL,
    size ${int} NOT NULL,
    kind ${short} NOT NULL,
    retained ${short} NOT NULL,
    vin ${text} NOT NULL,
    topic ${text} NOT NULL,
    payload ${bytes} NOT NULL
  )${table};
  CREATE INDEX unregistered_messages_of_car ON unregistered_messages (vin, id);
  CREATE INDEX unregistered_messages_by_arrival ON unregistered_messages (kind, received);
  -- One row: evidence of the secret that encrypts the keys of all hubs.
  CREATE TABLE group_secret (
    id ${short} PRIMARY KEY,
    salt ${bytes} NOT NULL,
    proof ${bytes} NOT NULL
  )${table};
  -- signs_from: from when on a key signs (UTC ms; NULL: it is only accepted); ends: until when it is used (NULL: until
  -- somebody ends it); sealed: its encrypted secret part; kinds of command as JSON.
  CREATE TABLE group_keys (
    id ${text} PRIMARY KEY,
    purpose ${text} NOT NULL,
    kinds ${text} NOT NULL,
    signs_from ${long},
    ends ${long},
    sealed ${bytes} NOT NULL
  )${keyed};
  ${exitsTable(types)}
  `;
}

export const SQLITE: SqlTypes = {
  key: 'INTEGER PRIMARY KEY',
  counted: 'INTEGER PRIMARY KEY',
  long: 'INTEGER',
  int: 'INTEGER',
  short: 'INTEGER',
  real: 'REAL',
  text: 'TEXT',
  bytes: 'BLOB',
  flag: 'INTEGER',
  no: '0',
  table: ' STRICT',
  keyed: ' STRICT, WITHOUT ROWID',
  piece: "printf('%x-%x', boot, seq)",
  // The unique key makes a repetition harmless.
  messages: (columns) => `CREATE TABLE messages (${columns}, UNIQUE (vehicle, class, seq, boot)) STRICT;
  ${BY_ARRIVAL}${eventIndexes('messages')}
  ${seriesIndex('series_by_time', 'messages')}`,
};
