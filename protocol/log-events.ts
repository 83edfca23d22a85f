/**
 * Every event that the agent and the hub log: its code, its level, the sentence that says what happened, and the names
 * of the members that it may carry. docs/log-events.md lists them; scripts/log-advice.ts has what an operator does.
 * A new event needs a row here, and nothing else.
 */

/** `error` needs a person, `warn` shows a fault that the program handles, `info` reports events. */
export type LogLevel = 'info' | 'warn' | 'error';

/** Level, sentence, members. */
type LogEventRow = readonly [level: LogLevel, sentence: string, ...members: string[]];

export const logEvents = {
  // The process and its configuration
  'agent.crashedBefore': ['warn', 'Earlier runs crashed; the agent waits before it starts', 'before', 'ms'],
  'agent.defect': ['error', 'A part of the agent has a defect; the other parts go on', 'error'],
  'agent.restarting': ['info', 'The agent restarts', 'why'],
  'agent.stopFailed': ['error', 'A part failed while the agent stopped', 'error'],
  'agent.workFailed': ['error', 'Work in the background failed', 'error'],
  'bench.unlisted': ['error', '`vigie watch` and `vigie send` need --broker: the bench file is not written', 'error'],
  'bench.unsaved': ['warn', 'The state of the simulated car is not written', 'error'],
  'configuration.applied': [
    'info',
    'The agent reached the broker and keeps the configuration from the cloud',
    'generation',
  ],
  'configuration.copyUnwritten': ['error', 'The agent cannot store the last good configuration', 'error'],
  'configuration.fallback': ['error', 'The configuration has errors; the agent uses the last good one', 'error'],
  'configuration.filesMissing': ['error', 'Files are missing or damaged; the parts that need them do not run', 'files'],
  'configuration.numberUnwritten': ['error', 'The agent cannot store the number of its configuration', 'error'],
  'configuration.received': ['info', 'A configuration arrived; the agent restarts with it', 'generation'],
  'configuration.refused': ['error', 'The configuration from the cloud cannot be used', 'error'],
  'configuration.reverted': ['error', 'The agent goes back to the last good configuration', 'why'],
  'configuration.revertFailed': ['error', 'The agent cannot go back to the last good configuration', 'error'],
  'health.unavailable': ['error', 'The agent cannot serve its health at one of the configured places', 'error'],
  'input.doubtful': ['warn', 'The agent can use its inputs, but something about them looks wrong', 'problem', 'fix'],
  'listener.failed': ['error', 'A listener of the program failed', 'listener', 'error'],
  'service.deaf': ['warn', 'The service manager does not accept notifications', 'error'],
  'service.unreachable': ['error', 'The agent cannot reach the service manager', 'error'],
  'start.unrecorded': ['error', 'The agent cannot store the record of this start', 'error'],
  'vin.awaited': ['warn', 'The agent waits for the VIN of the car', 'why', 'fix'],
  'vin.differs': ['error', 'The VIN of the car is not the configured one', 'configured', 'car', 'fix'],
  'vin.read': ['info', 'The agent read the VIN of the car', 'vin'],
  'watchdog.moving': ['info', 'The pipeline moves again'],
  'watchdog.stuck': ['error', 'The pipeline is stuck; the agent no longer feeds the watchdog', 'why'],

  // The link to the broker
  'cloud.handler': ['error', 'A handler of messages failed', 'topic', 'reason'],
  'cloud.subscription': ['warn', 'The broker did not acknowledge a subscription', 'reason'],
  'cloud.unsubscription': ['warn', 'The broker did not acknowledge the end of a subscription', 'filter', 'reason'],
  'link.certificate': ['warn', 'The certificate of the unit expires soon', 'expires', 'todo'],
  'link.certificates.kept': ['warn', 'The new certificates cannot be used; the previous ones stay in use', 'reason'],
  'link.certificates.renewed': ['info', 'The agent uses renewed certificates', 'expires'],
  'link.connected': ['info', 'The broker accepted the connection', 'broker', 'protocol'],
  'link.down': ['warn', 'The link to the broker is down; messages wait', 'reason', 'waiting'],
  'link.ended': ['info', 'The connection to a broker ended', 'broker', 'reason'],
  'link.fallback': ['info', 'The agent connects again with another version of MQTT', 'broker', 'protocol'],
  'link.handler': ['error', 'The agent failed to handle an event of the link', 'handler', 'reason'],
  'link.homing': ['info', 'The agent returns to its first broker', 'broker'],
  'link.homingFailed': ['info', 'The first broker is still unreachable', 'broker', 'reason'],
  'link.oversize': ['warn', 'The agent dropped a message that is larger than allowed', 'bytes', 'allowed'],
  'link.presence': ['warn', 'The broker did not accept the presence message of the unit', 'presence', 'reason'],
  'link.publishFailed': [
    'error',
    'The link of the program failed to publish a message; it stays in the store',
    'error',
  ],
  'link.renewal.done': ['info', 'The certificate of the unit was renewed', 'said'],
  'link.renewal.notDue': ['info', 'The certificate of the unit needs no renewal yet', 'said'],
  'link.renewal.failed': ['warn', 'The certificate of the unit cannot be renewed now', 'error'],
  'link.subscription': ['warn', 'The broker did not acknowledge the subscription of the car', 'filter', 'reason'],
  'link.unreachable': ['warn', 'The agent cannot reach a broker; it tries again', 'broker', 'reason'],
  'link.up': ['info', 'The link to the broker is up', 'waiting'],

  // Messages to the cloud, and from it
  'downlink.malformed': ['warn', 'A message does not fit its topic', 'topic', 'error'],
  'downlink.unknown': ['warn', 'The agent does not accept messages of this topic', 'topic'],
  'outbox.damaged': ['error', 'The disk damaged a message; a gap message tells the cloud', 'kind', 'class', 'seq'],
  'outbox.full': ['warn', 'The outbox is full; it dropped the oldest messages of the lowest class', 'dropped'],
  'outbox.gapsUnreadable': ['error', 'Gap messages contain only numbers: the stored rest is not readable', 'error'],
  'outbox.gapUnreadable': ['error', 'A gap message is not readable; a new one gets the same numbers', 'seq', 'error'],
  'outbox.gapUnsent': ['error', 'The agent cannot send a gap message', 'lost', 'error'],
  'outbox.inMemory': ['error', 'The disk refused the outbox; messages stay in memory and are sent', 'error'],
  'outbox.lost': [
    'error',
    'The disk lost messages; a gap message tells the cloud',
    'class',
    'messages',
    'numbers',
    'files',
  ],
  'outbox.repeatRefused': ['warn', 'The broker did not take a repeated message', 'kind', 'class', 'seq', 'error'],
  'outbox.repeatUnreadable': ['error', 'The agent cannot read messages that the cloud requested again', 'error'],
  'outbox.unencodable': ['error', 'The agent cannot make a message', 'kind', 'error'],
  'outbox.unreadable': [
    'error',
    'The agent cannot read a message from the disk; it tries again',
    'class',
    'seq',
    'error',
  ],
  'outbox.unsendable': ['error', 'The broker will never take a message', 'kind', 'class', 'seq', 'error'],
  'outbox.unsettled': ['error', 'The outbox could not finish its writes and messages', 'error'],

  // Commands and keys
  'command.copyUnwritten': ['error', 'The agent cannot write the second copy of the command ledger', 'error'],
  'command.defect': ['error', 'The work on a command failed', 'error'],
  'command.deprecated': ['info', 'A deprecated member of a command has no effect', 'id', 'type', 'member'],
  'command.failed': ['warn', 'A command failed', 'id', 'type', 'code', 'detail'],
  'command.finished': ['info', 'A command ended', 'id', 'type', 'status', 'failureCause'],
  'command.flood': ['warn', 'Too many messages arrived; the agent dropped some without an answer', 'dropped'],
  'command.lossUnwritten': ['error', 'The agent cannot store that the command ledger was lost', 'error'],
  'command.refused': ['warn', 'The agent refused a command without an answer', 'code', 'detail', 'unlogged'],
  'command.unwritten': ['error', 'The agent cannot store the outcome of a command', 'error'],
  'ownKey.damaged': ['error', 'The key of the unit cannot be used; the agent makes a new one', 'error'],
  'ownKey.missing': ['error', 'The unit has no key for its own commands', 'error'],
  'program.missed': ['warn', 'Programs were due while the agent could not run them', 'key', 'times'],
  'program.skipped': ['warn', 'The agent skips a program because it may have run already', 'id', 'type'],
  'program.unreadable': ['warn', 'The stored programs are not readable; the agent forgets them', 'error'],
  'trust.malformed': ['error', 'A key that a command added is not valid', 'error'],
  'trust.recovered': ['warn', 'The agent uses the list of changed keys in the journal', 'file'],
  'trust.unavailable': ['error', 'The trusted keys are unknown: the agent refuses commands and tries again', 'error'],
  'trust.unconfirmed': ['error', 'The agent trusts no key until a person confirms the list', 'why', 'fix'],
  'trust.unwritten': ['error', 'The agent cannot store the list of changed keys', 'error'],

  // Callbacks
  'callbacks.accepting': ['info', 'A receiver accepts events again', 'receiver'],
  'callbacks.defect': ['error', 'The delivery of events has a defect', 'receiver', 'error'],
  'callbacks.dropped': ['warn', 'The queue of a receiver is full; it dropped the oldest events', 'receiver', 'dropped'],
  'callbacks.forgotten': ['info', 'The push service no longer knows a device', 'callbackId', 'reason', 'left'],
  'callbacks.limited': ['error', 'The agent cannot send some notifications; it tries again', 'error'],
  'callbacks.queueUnreadable': ['error', 'The stored queue of a receiver is not readable', 'key', 'error'],
  'callbacks.refusing': ['warn', 'A receiver does not accept events', 'receiver', 'reason'],
  'callbacks.unconfigured': ['error', 'The agent cannot send the events of a monitor', 'monitorId', 'error'],
  'callbacks.undelivered': ['warn', 'The agent gave up the delivery of events', 'receiver', 'count', 'loss'],
  'callbacks.unencodable': ['error', 'The agent cannot encode an event and does not send it', 'receiver', 'id'],
  'callbacks.unknown': ['warn', 'The callback of an event does not exist', 'callbackId'],
  'callbacks.unreadable': ['error', 'A stored value of the callbacks is not readable', 'key', 'error'],
  'callbacks.unreadableEvent': ['error', 'A stored event is not readable any more', 'receiver', 'id'],
  'callbacks.unstored': ['error', 'The agent cannot store an event and does not send it', 'id', 'error'],
  'callbacks.waiting': ['warn', 'An event waits for the disk', 'receiver', 'error'],

  // The HTTP interface
  'http.answerFailed': ['error', 'The agent could not send an answer', 'error'],
  'http.certificates.kept': ['error', 'The renewed certificates cannot be used', 'cert', 'error'],
  'http.certificates.renewed': ['info', 'The HTTP interface uses renewed certificates', 'cert'],
  'http.connectionLimit': ['warn', 'The HTTP interface reached its limit of connections', 'connections', 'from'],
  'http.deprecated': ['warn', 'A request has deprecated members', 'operation', 'members'],
  'http.failed': ['error', 'The agent failed to answer a request', 'id', 'operation', 'error', 'cause', 'stack'],
  'http.fault': ['error', 'The HTTP server reported an error', 'error'],
  'http.issuerKeys.kept': ['warn', 'The keys of the issuer are not readable; the previous keys stay in use', 'error'],
  'http.issuerKeys.renewed': ['info', 'The agent read new keys of the issuer'],
  'http.malformed': ['info', 'A request is not readable', 'error'],
  'http.noDocument': ['warn', 'The HTTP interface runs without its OpenAPI document', 'sought'],
  'http.pageKeyUnwritten': ['warn', 'Tokens of the page become invalid at the next start', 'error'],
  'http.ready': ['info', 'The HTTP interface is ready', 'host', 'port', 'tls', 'sides'],
  'http.request': ['info', 'The agent answered a request', 'id', 'operation', 'method', 'status', 'caller', 'ms'],
  'http.unavailable': ['error', 'The HTTP interface cannot start; the agent tries again', 'error'],
  'retry.succeeded': ['info', 'A repeated attempt succeeded', 'was'],

  // Buses, lines and adapters
  'can.late': ['warn', 'A frame left after the agent had given it up', 'interface', 'frame', 'after'],
  'can.open': ['info', 'The CAN interface is open', 'interface', 'restarts'],
  'can.overdue': ['warn', 'A frame did not leave in time and may still leave', 'interface', 'frame', 'reason'],
  'can.waiting': ['warn', 'The CAN interface does not work; the agent tries again', 'interface', 'reason'],
  'elm327.close': ['warn', 'The line of an adapter did not close cleanly', 'adapter', 'error'],
  'elm327.fault': ['warn', 'An adapter reported a fault', 'adapter', 'error'],
  'elm327.protocol': ['info', 'An adapter found the diagnostic protocol of the car', 'adapter', 'protocol'],
  'elm327.ready': ['info', 'An adapter is ready', 'adapter', 'name', 'stn', 'lacking'],
  'elm327.waiting': ['warn', 'An adapter does not work; the agent tries again', 'adapter', 'reason', 'wait'],
  'line.open': ['info', 'A line is open', 'line'],
  'line.waiting': ['warn', 'A line does not work; the agent tries again', 'line', 'reason'],
  'recorder.cut': ['warn', 'A recording ended early', 'error'],
  'recorder.failed': ['error', 'The agent does not record frames', 'error'],
  'recording.unreadable': ['error', 'The agent cannot read the rest of a recording', 'bus', 'error'],
  'source.failed': ['error', 'A source did not start; the agent tries again', 'error', 'again'],

  // Diagnosis
  'faults.defect': ['error', 'The reading of fault codes has a defect', 'error'],
  'faults.tooMany': ['error', 'Too many fault codes are open; the agent leaves new ones out', 'most', 'unit', 'code'],
  'faults.unitUnread': ['info', 'The agent cannot read the fault codes of a control unit', 'unit', 'why'],
  'faults.unread': ['info', 'The agent cannot read the fault codes now', 'why'],
  'obd.backOff': ['info', 'The car does not answer a request; the agent sends it less often', 'command', 'why'],
  'obd.faults.unreadable': ['warn', 'An answer with fault codes is not readable', 'request', 'unit', 'error'],
  'obd.oneByOne': ['info', 'The car answers one parameter at a time; the agent requests each alone', 'bus'],
  'obd.unknownSignal': ['warn', 'The profile names a signal that no request of the source gives', 'bus', 'signal'],
  'seedKey.unusable': ['warn', 'A program that computes keys from seeds cannot be used', 'error'],
  'uds.controlKept': ['info', 'Control was not returned; the end of the session returns it', 'action', 'why'],
  'uds.noAnswer': ['warn', 'A control unit did not answer the request of a command', 'why'],
  'uds.noResult': ['warn', 'A control unit does not report the result of a command', 'action', 'why'],
  'uds.sessionOpen': ['warn', 'The agent could not end a diagnostic session', 'action', 'why', 'after'],

  // Signals, monitors, captures, power and time
  'capture.bound': ['warn', 'The agent refuses a capture: commands asked for the most of a day', 'perDay'],
  'capture.full': [
    'error',
    'Captures reached their bytes of the day; the agent makes none for this event',
    'bytesPerDay',
    'cause',
    'of',
    'monitorId',
    'at',
  ],
  'capture.running': ['info', 'A running capture covers this event', 'cause', 'of', 'monitorId', 'at', 'capture'],
  'clock.set': ['warn', 'The agent set the wall clock to the time of its receivers', 'by'],
  'clock.stepped': ['warn', 'The wall clock stepped', 'by', 'clock'],
  'collect.begun': ['info', 'A collection of signals begins', 'name', 'until', 'signals'],
  'collect.bound': ['error', 'The agent collects nothing more today: it reached the bound of bytes', 'bytesPerDay'],
  'collect.ended': ['info', 'A collection of signals ended', 'name', 'why'],
  'collect.filters': ['error', 'The agent cannot receive the frames of a collection', 'bus', 'error'],
  'collect.lost': ['error', 'The agent cannot continue a collection of signals', 'name', 'error'],
  'collect.unreadable': ['error', 'A stored collection of signals is not readable', 'error'],
  'monitors.fileRefused': ['error', 'The file of monitors has errors; the previous monitors stay in use', 'file'],
  'monitors.refused': ['error', 'The agent refuses a monitor of the configuration', 'monitorId', 'error'],
  'monitors.signals': ['warn', 'A monitor does not fit the profile', 'id', 'error'],
  'monitors.unreadable': ['error', 'A stored value of the monitors is not readable', 'key', 'error'],
  'power.changed': ['info', 'The power state changed', 'state', 'before'],
  'power.wakeUnsent': ['warn', 'The agent could not send the wake-up frame', 'error'],
  'signals.numbers': ['error', 'The stored signal numbers are damaged; custom signals get new ones'],
  'state.unreadable': ['warn', 'A stored state is not readable; its part starts anew', 'key', 'error'],

  // The store
  'records.missing': ['error', 'A file of the records is missing', 'file', 'consequence'],
  'records.rereading': ['warn', 'The disk does not return the records; the agent reads them again', 'error', 'ms'],
  'records.uncommitted': ['error', 'A record is not on disk yet', 'kind', 'id', 'error'],
  'records.unlocked': ['error', 'The agent cannot lock the directory of records', 'error'],
  'records.unreadable': [
    'error',
    'The disk does not return the records: the agent runs in minimal mode',
    'file',
    'error',
    'fix',
  ],
  'records.unprepared': ['error', 'The agent cannot prepare the directory of records', 'error'],
  'records.versionDamaged': ['error', 'The file with the version of the records was damaged', 'fault'],
  'records.versionUnwritten': ['error', 'The agent cannot write the version of the records', 'error'],
  'store.aside': ['warn', 'The disk refused to rename a damaged file', 'file', 'error'],
  'store.close': ['warn', 'The disk reported an error when a file was closed', 'file', 'error'],
  'store.corrupt': ['error', 'A file is not readable; the agent renames and keeps it', 'file', 'aside', 'error'],
  'store.cut': ['warn', 'The disk refused to shorten a segment', 'file', 'error'],
  'store.damaged': ['warn', 'A segment has damaged parts; the rest is used', 'file', 'stretches', 'records'],
  'store.damagedRecord': ['error', 'A stored record is damaged', 'file', 'offset'],
  'store.failed': ['warn', 'The disk refused a write; the agent tries again', 'file', 'error'],
  'store.lost': ['error', 'The disk lost stored entries', 'series', 'entries', 'files'],
  'store.manifest': ['warn', 'The disk refused the list of segments', 'error'],
  'store.misnamed': [
    'warn',
    'A segment file has the wrong number in its name: the agent renames it',
    'file',
    'segment',
  ],
  'store.missing': ['error', 'A segment is missing', 'file'],
  'store.name': ['warn', 'The disk refused to rename a segment', 'file', 'error'],
  'store.remove': ['warn', 'The disk refused to remove a file', 'file', 'error'],
  'store.skipped': ['warn', 'The agent skipped records that it does not know', 'where', 'records'],
  'store.spare': ['warn', 'The disk refused to keep an old segment for reuse', 'file', 'error'],
  'store.state': ['error', 'A part of the agent cannot store or read its state', 'key', 'error'],
  'store.torn': ['warn', 'A write was cut off; the agent drops its incomplete end', 'file', 'cutAt', 'bytes'],
  'store.unbegun': ['info', 'The agent removes a segment that was never begun', 'file'],
  'store.unreadable': ['error', 'The disk cannot read stored data', 'file', 'what', 'error'],
  'store.unsynced': ['error', 'The disk did not confirm a write', 'file', 'error'],

  // The hub
  'hub.car.certified': ['info', 'The hub gives a car a certificate', 'vin', 'serial', 'renewed'],
  'hub.car.refused': ['warn', 'The hub refuses the messages of a car', 'vin', 'reason'],
  'hub.erasure.cleared': ['info', 'The broker retains nothing of a forgotten car', 'vin'],
  'hub.erasure.failed': [
    'warn',
    'The hub cannot clear what the broker retains of a forgotten car; it tries again',
    'vin',
    'error',
  ],
  'hub.certificate.failed': ['error', 'The hub cannot renew its own certificate', 'error'],
  'hub.client.failed': ['error', 'A connection to the broker of the hub failed', 'client', 'reason'],
  'hub.client.refused': ['warn', 'The hub refuses a connection to its broker', 'client', 'reason'],
  'hub.command.unsent': ['warn', 'The hub cannot send a command now; it sends it again', 'vin', 'id', 'error'],
  'hub.commands.unread': ['error', 'The hub cannot read the open commands of a car', 'vin', 'error'],
  'hub.data.readable': ['warn', 'Other users of this machine may read the data of the hub', 'path', 'error'],
  'hub.database.disconnected': ['warn', 'The database closed a connection', 'where', 'error'],
  'hub.database.silent': ['warn', 'The database does not answer; the health report has no counts of cars', 'error'],
  'hub.deliveries.failed': ['warn', 'The hub cannot send events to receivers; it tries again', 'receiver', 'error'],
  'hub.dueTimes.corrected': ['warn', 'Due times lay too far ahead, as after a fast clock; they are due now', 'rows'],
  'hub.dueTimes.failed': ['warn', 'The hub cannot look for moments that lie too far ahead; it tries again', 'error'],
  'hub.enrolment.connectionLimit': ['warn', 'Enrolment reached its limit of connections', 'connections', 'from'],
  'hub.enrolment.failed': [
    'error',
    'The hub failed to answer a request for a certificate',
    'method',
    'url',
    'from',
    'reason',
  ],
  'hub.enrolment.refused': ['warn', 'The hub refuses a request for a certificate', 'method', 'url', 'from', 'reason'],
  'hub.health.unserved': ['error', 'The hub cannot serve its health', 'error'],
  'hub.signedIn': ['info', 'Somebody signed in at the identity provider', 'name', 'fleets', 'user'],
  'hub.signInFailed': ['warn', 'Somebody could not sign in at the identity provider', 'fault', 'error'],
  'hub.live.failed': ['error', 'The hub ends a live stream that failed', 'error'],
  'hub.live.unread': ['warn', 'The hub cannot read what the cars told; it tries again', 'error'],
  'hub.life.new': ['warn', 'A car begins a new folder of records: it was wiped or replaced', 'vin', 'first'],
  'hub.message.refused': ['warn', 'The hub refuses a message of a car', 'topic', 'reason'],
  'hub.number.conflict': [
    'warn',
    'Two messages of a car have one number; the hub keeps both',
    'vin',
    'class',
    'seq',
    'boot',
  ],
  'hub.receiving': ['info', 'The hub receives from the broker', 'broker', 'group'],
  'hub.receiving.ended': ['info', 'The hub no longer receives from the broker', 'reason'],
  'hub.receiving.failed': ['warn', 'The hub cannot receive from the broker; it tries again', 'error'],
  'hub.monitors.failed': ['warn', 'The hub cannot send monitors to the cars', 'error'],
  'hub.monitors.sent': ['info', 'The hub brings the monitors of a car up to date', 'vin', 'monitors'],
  'hub.news.failed': ['error', 'A part of the hub failed on news of cars; the others go on', 'error'],
  'hub.news.lost': ['warn', 'The hub learns nothing of other hubs until it is connected again', 'error'],
  'hub.registry.unread': ['warn', 'The hub cannot read its registry of cars', 'error'],
  'hub.resend.failed': ['warn', 'The hub cannot ask the cars for missing messages', 'error'],
  'hub.resend.requested': ['info', 'The hub asks a car for missing messages', 'vin', 'class', 'missing'],
  'hub.retention.failed': ['warn', 'The hub cannot remove old messages; it tries again', 'error'],
  'hub.retention.paused': ['warn', 'The hub removes no old messages until a car confirms its clock'],
  'hub.retention.removed': ['info', 'The hub removed messages that it kept long enough', 'kind', 'days', 'messages'],
  'hub.retained.unread': ['warn', 'The hub cannot read the retained messages of the broker', 'error'],
  'hub.rollout.failed': ['warn', 'The hub cannot send a configuration to the cars of a fleet; it tries again', 'error'],
  'hub.rollout.sent': ['info', 'The hub sends a configuration to a car', 'id', 'vin'],
  'hub.rollout.stopped': ['warn', 'A roll-out stops', 'id', 'fleet', 'reason'],
  'hub.standby': ['info', 'The hub waits because another hub receives', 'reason'],
  'hub.store.failed': ['error', 'The hub cannot store messages', 'messages', 'error'],
  'hub.watch.unsent': ['warn', 'The hub cannot tell a car that somebody watches it', 'vin', 'error'],
} as const satisfies Record<string, LogEventRow>;

type Rows = typeof logEvents;
export type LogEvent = keyof Rows;
/** The events of one level. */
export type LogEventOf<L extends LogLevel> = { [E in LogEvent]: Rows[E][0] extends L ? E : never }[LogEvent];
/** Fields of an event. `suppressed` counts events that were not written. */
export type LogFields<E extends LogEvent> = {
  readonly [M in
    | (Rows[E] extends readonly [unknown, unknown, ...infer N extends readonly string[]] ? N[number] : never)
    | 'suppressed']?: unknown;
};

/** Takes the events that happen, with their members; `fields` is small and carries no secret. */
export interface Log {
  info<E extends LogEventOf<'info'>>(event: E, fields?: LogFields<E>): void;
  warn<E extends LogEventOf<'warn'>>(event: E, fields?: LogFields<E>): void;
  error<E extends LogEventOf<'error'>>(event: E, fields?: LogFields<E>): void;
}

/** A {@link Log} for a part that passes on any event. */
export interface LogSink {
  info(event: LogEvent, fields?: Record<string, unknown>): void;
  warn(event: LogEvent, fields?: Record<string, unknown>): void;
  error(event: LogEvent, fields?: Record<string, unknown>): void;
}
