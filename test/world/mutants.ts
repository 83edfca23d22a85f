/** Hand-made defects in the sources of agent and hub. The invariants must find each. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { bundleWorlds } from './bundle.ts';
import type { Breach, Invariant } from './invariants.ts';

export interface Mutant {
  /** Description of the defect. */
  readonly defect: string;
  readonly file: string;
  /** Text that must occur once in the source, and its replacement. */
  readonly edits: readonly (readonly [text: string, instead: string])[];
  /** Invariant that must find the defect. */
  readonly invariant: Invariant;
  /** Seed of a world of ten minutes in which the defect is found, or a part of all small worlds. */
  readonly seed: number | 'small';
}

export const mutants: readonly Mutant[] = [
  {
    defect: 'messages are published before they are on disk',
    file: 'agent/outbox/outbox.ts',
    edits: [['      await this.#store.commit();', '      this.#store.commit().catch(() => undefined);']],
    invariant: 'oneContent',
    seed: 6,
  },
  {
    defect: 'numbers for a gap message are forgotten',
    file: 'agent/outbox/gaps.ts',
    edits: [['    const gaps = [...this.#gaps()];', '    const gaps: Gap[] = [];']],
    invariant: 'rests',
    seed: 10,
  },
  {
    defect: 'a message in flight when the connection ended is not sent again',
    file: 'agent/outbox/outbox.ts',
    edits: [['      this.#queue.hold(queued);\n      this.#tellIdle();', '      this.#tellIdle();']],
    invariant: 'rests',
    seed: 50,
  },
  {
    defect: 'executed commands are forgotten',
    file: 'agent/remotes/command-intake.ts',
    edits: [
      ['      const known = ledger.find(id);', '      const known = ledger.find(id.slice(1));'],
      ["firstRefusal('replay', { opened, key: hex(opened.keyId), ledger })", 'undefined as Refusal | undefined'],
    ],
    invariant: 'actsOnce',
    seed: 36,
  },
  {
    defect: 'the car acts before SentToVehicle is on disk',
    file: 'agent/remotes/reports.ts',
    edits: [
      [
        '    return (await Promise.all(kept)).at(-1) ?? progress;',
        '    if (final(states.at(-1) as RemoteStatus)) return (await Promise.all(kept)).at(-1) ?? progress;\n' +
          '    for (const one of kept) one.catch(() => undefined);\n' +
          '    return { ...progress, record: { ...progress.record, status: states.at(-1) as RemoteStatus } };',
      ],
    ],
    invariant: 'actsOnce',
    seed: 'small',
  },
  {
    defect: 'the ledger ignores its copy in the journal',
    file: 'agent/remotes/ledger.ts',
    edits: [['        return [action];', '        return [];']],
    invariant: 'ends',
    seed: 'small',
  },
  {
    defect: 'expired commands are carried out',
    file: 'agent/remotes/checks.ts',
    edits: [['  if (now > expires) return', '  if (now < 0) return']],
    invariant: 'actsInTime',
    seed: 1,
  },
  {
    defect: 'signatures are not verified',
    file: 'agent/remotes/checks.ts',
    edits: [
      [' && verifier.verify(keyId, toBeSigned, signature);', ' && (signature.length > 0 || toBeSigned.length > 0);'],
    ],
    invariant: 'actsSigned',
    seed: 1,
  },
  {
    defect: 'one of two simultaneous key changes is lost',
    file: 'adapters/keys/trust-store.ts',
    edits: [['    const changed = this.#last.then(change);', '    const changed = change();']],
    invariant: 'actsTrusted',
    seed: 19,
  },
  {
    defect: 'interlocks are not checked',
    file: 'agent/remotes/interlocks.ts',
    edits: [['if (!isHeld) return refusal;', 'if (isHeld === undefined) return refusal;']],
    invariant: 'actsSafely',
    seed: 42,
  },
  {
    defect: 'a command succeeds although the car did not show it',
    file: 'agent/remotes/execution.ts',
    edits: [
      [
        "    if (reports.stopped || end === 'shown') return 'done';",
        "    if (reports.stopped || end !== undefined) return 'done';",
      ],
    ],
    invariant: 'success',
    seed: 10,
  },
  {
    defect: 'privacy hides nothing',
    file: 'agent/model/privacy.ts',
    edits: [['    this.level = this.#exposed ? 0 : this.#chosen;', '    this.level = 0;']],
    invariant: 'private',
    seed: 19,
  },
  {
    defect: 'the hub shows no Status after an uncounted start',
    file: 'hub/core/message.ts',
    edits: [['  if (isOneCounted && isOtherCounted && a.boot !== b.boot)', '  if (a.boot !== b.boot)']],
    invariant: 'status',
    seed: 10,
  },
  {
    defect: 'the journal does not wait for its sync',
    file: 'adapters/store/flusher.ts',
    edits: [['      else await file.sync();', '      else file.sync().catch(() => undefined);']],
    invariant: 'oneContent',
    seed: 21,
  },
  {
    defect: 'the journal is not synced',
    file: 'adapters/store/flusher.ts',
    edits: [['      else await file.sync();', '      else if (began < 0) await file.sync();']],
    invariant: 'oneContent',
    seed: 85,
  },
  {
    defect: 'a revoked key stays trusted',
    file: 'adapters/keys/trust-store.ts',
    edits: [
      ['      this.#added.filter((added) => added !== key),', '      this.#added,'],
      ['trusted.filter(({ kid }) => !gone.has(kid))', 'trusted.filter(({ kid }) => kid.length > 0 || gone.has(kid))'],
    ],
    invariant: 'actsTrusted',
    seed: 19,
  },
  {
    defect: 'the hub acknowledges messages before it has committed them',
    file: 'hub/core/intake.ts',
    edits: [
      ['      if (waiting > CAR_WAITING)', "      if ('read' in item) resolve();\n      if (waiting > CAR_WAITING)"],
    ],
    invariant: 'committed',
    seed: 1,
  },
  {
    defect: 'numbers that are only in a checkpoint are assigned again',
    file: 'adapters/store/replay.ts',
    edits: [
      [
        '      series.next = Math.max(series.next, next);\n    }\n    return',
        '      series.next = Math.max(series.next, next > 0 ? 0 : next);\n    }\n    return',
      ],
    ],
    invariant: 'oneContent',
    seed: 3,
  },
];

/** Defects for worlds with more kinds of events (`widePlanOf`). */
export const wideMutants: readonly Mutant[] = [
  {
    defect: 'a program is carried out before it is due',
    file: 'agent/power/schedule.ts',
    edits: [['      if (item.next > now) continue;', '      if (item.next > now + 5_000) continue;']],
    invariant: 'programs',
    seed: 4,
  },
  {
    defect: 'a delayed charging is forgotten when it is due',
    file: 'agent/remotes/programs.ts',
    edits: [
      [
        "    if (kind !== 'charge') return undefined;",
        "    if (kind !== 'charge' || key === DELAYED) return undefined;",
      ],
    ],
    invariant: 'planned',
    seed: 4,
  },
  {
    defect: 'a refused notification counts as delivered',
    file: 'agent/callbacks/receiver.ts',
    edits: [['    else this.#failed(to, count, receipt);', '    else this.#taken(count);']],
    invariant: 'delivered',
    seed: 7,
  },
  {
    defect: 'a delivered notification is sent again',
    file: 'agent/callbacks/receiver.ts',
    edits: [
      [
        '    if (delivered > 0) this.#next(Math.min(delivered, count));',
        '    if (delivered > count) this.#next(count);',
      ],
    ],
    invariant: 'deliveredOnce',
    seed: 19,
  },
  {
    defect: 'every signature is rejected',
    file: 'agent/remotes/checks.ts',
    edits: [['verifier.key(keyId)?.algorithm === algorithm', 'verifier.key(keyId)?.algorithm !== algorithm']],
    invariant: 'answered',
    seed: 4,
  },
  {
    defect: 'acknowledgements of messages are not stored',
    file: 'adapters/store/contents.ts',
    edits: [['of removals) {\n      if (count === 0) continue;', 'of removals) {\n      if (count >= 0) continue;']],
    invariant: 'sentOnce',
    seed: 13,
  },
  {
    defect: 'monitors are not stored',
    file: 'agent/agent.ts',
    edits: [['    yield* this.#pipeline.monitors.states();\n', '']],
    invariant: 'monitors',
    seed: 1,
  },
  {
    defect: 'a changed monitor list is not published',
    file: 'agent/monitors/desk.ts',
    edits: [['if (this.#reported === version && !again) return;', 'if (this.#reported > 0 && !again) return;']],
    invariant: 'monitorList',
    seed: 1,
  },
];

/** Defects for worlds with still more kinds of events (`rarePlanOf`). */
export const rareMutants: readonly Mutant[] = [
  {
    defect: 'a low battery does not prevent commands',
    file: 'agent/remotes/checks.ts',
    edits: [["typeof charge !== 'number' || charge >= battery", "typeof charge !== 'number' || charge >= 0"]],
    invariant: 'accepts',
    seed: 2,
  },
  {
    defect: 'the ledger keeps its first commands instead of its last',
    file: 'agent/remotes/ledger.ts',
    edits: [['actions.filter(({ status }, at) => at >= oldest || !final(status))', 'actions.slice(0, REMEMBERED)']],
    invariant: 'ends',
    seed: 37,
  },
];

/** Defects for worlds with fleets and custom signals (`fleetPlanOf`). */
export const newestMutants: readonly Mutant[] = [
  {
    defect: 'the catalog of a collection is not published',
    file: 'agent/collect/collector.ts',
    edits: [['for (const part of catalogParts(catalog.entries))', 'for (const part of catalogParts([]))']],
    invariant: 'catalogs',
    seed: 5,
  },
  {
    defect: 'a changed definition keeps its number',
    file: 'agent/signals/numbers.ts',
    edits: [
      [
        'return JSON.stringify([name, kind, unit, resolution, offset, names?.map(',
        'return JSON.stringify([name, kind && unit && resolution && offset && names?.map(',
      ],
    ],
    invariant: 'values',
    seed: 5,
  },
  {
    defect: 'collections are not stored',
    file: 'agent/collect/collector.ts',
    edits: [['    yield [COMMANDS, this.#commands];', '    yield [COMMANDS, this.#commands && undefined];']],
    invariant: 'collections',
    seed: 5,
  },
  {
    defect: 'a collection does not end',
    file: 'agent/collect/collector.ts',
    edits: [['if (isKnown && now >= collection.until)', 'if (isKnown && now < 0)']],
    invariant: 'collections',
    seed: 11,
  },
  {
    defect: 'a monitor changed at the hub stays unchanged in the car',
    file: 'hub/core/monitor-sync.ts',
    edits: [['if (there?.revision === revision && there.status === status)', 'if (there?.status === status)']],
    invariant: 'fleet',
    seed: 1,
  },
  {
    defect: 'a car that leaves its fleet keeps its monitors',
    file: 'hub/core/monitor-sync.ts',
    edits: [
      ['if (revision !== undefined && !ids.has(monitorId))', 'if (revision === monitorId && !ids.has(monitorId))'],
    ],
    invariant: 'fleet',
    seed: 1,
  },
  {
    defect: 'privacy hides no custom signal',
    file: 'agent/signals/signals.ts',
    edits: [['(position ? 1 : 2)', '(position ? 3 : 4)']],
    invariant: 'private',
    seed: 5,
  },
];

/** Defects for worlds that also have read errors, replaced directories and floods (`folderPlanOf`). */
export const folderMutants: readonly Mutant[] = [
  {
    defect: 'a car with a new data directory does not get its monitors again',
    file: 'hub/database/message-store.ts',
    edits: [
      ['of newLifeMonitors(vehicle, life, one.received))', 'of newLifeMonitors(vehicle, life, one.received).slice(2))'],
    ],
    invariant: 'fleet',
    seed: 4,
  },
  {
    defect: 'numbers of a start without records count as those of its directory',
    file: 'hub/core/lives.ts',
    edits: [['boot >= UNRECORDED_BOOT ? UNRECORDED_START : UNCOUNTED_START', 'UNCOUNTED_START']],
    invariant: 'sentOnce',
    seed: 2,
  },
  {
    defect: 'an unreadable document counts as damaged',
    file: 'adapters/store/durable.ts',
    edits: [['      if (isReadFailure(error)) throw unreadable(path, error);\n', '']],
    invariant: 'untouched',
    seed: 1,
  },
  {
    defect: 'each data directory begins with the same start number',
    file: 'assembly/directory.ts',
    edits: [['  return anyNumber(0, BOOTS);', '  return 1;']],
    invariant: 'oneContent',
    seed: 1,
  },
  {
    defect: 'a repeated command is answered each time',
    file: 'agent/remotes/repeated-answers.ts',
    edits: [['at >= last.until', 'at >= 0']],
    invariant: 'repeats',
    seed: 2,
  },
  {
    defect: 'forged commands use up the checks of valid ones',
    file: 'agent/remotes/command-intake.ts',
    edits: [['{ perSecond: 250, maximum: 2_000 }', '{ perSecond: 1, maximum: 1 }']],
    invariant: 'answered',
    seed: 2,
  },
];

/** Defects for worlds that also have exits and damage (`exitPlanOf`). */
export const exitMutants: readonly Mutant[] = [
  {
    defect: 'a record is left out because the receiver of an exit was away',
    file: 'adapters/exits/forwarder.ts',
    edits: [['!(error instanceof VigieError) || factOf(error.code).retriable', '!(error instanceof VigieError)']],
    invariant: 'exits',
    seed: 1,
  },
  {
    defect: 'an exit sends records of a journal that is not synced',
    file: 'adapters/store/flusher.ts',
    edits: [['      else await file.sync();', '      else if (began < 0) await file.sync();']],
    invariant: 'exitContents',
    seed: 1,
  },
  {
    defect: 'an exit sends a record again that its receiver has confirmed',
    file: 'adapters/exits/forwarder.ts',
    edits: [['      next: portion.next,\n', '      next: Math.max(from, portion.next - 1),\n']],
    invariant: 'exitOrder',
    seed: 1,
  },
  {
    defect: 'a start fails because damage has destroyed a record',
    file: 'adapters/store/replay.ts',
    edits: [['      lost.set(series, missing.size);', "      throw new Error('an entry is missing');"]],
    invariant: 'sound',
    seed: 1,
  },
  {
    defect: 'a command that needs no action ends with Success',
    file: 'agent/remotes/execution.ts',
    edits: [["      if (outcome === 'done') acted = true;", '      acted = true;']],
    invariant: 'alreadyDone',
    seed: 2,
  },
];

/** Defects for worlds that also have callbacks at the hub (`callbackPlanOf`). */
export const callbackMutants: readonly Mutant[] = [
  {
    defect: 'a hub does not send states of commands to their callback',
    file: 'hub/database/event-deliveries.ts',
    edits: [
      ["  if (message.kind !== 'remote') return undefined;", "  if (message.kind !== 'hello') return undefined;"],
    ],
    invariant: 'hubDelivered',
    seed: 4,
  },
  {
    defect: 'a hub sends notifications again that a receiver has confirmed',
    file: 'hub/database/deliveries.ts',
    edits: [['    const erased = done.map(', '    const erased = done.slice(1).map(']],
    invariant: 'hubDeliveredOnce',
    seed: 1,
  },
];

/** Defects for worlds with all kinds of events (`planOf`). */
export const stopMutants: readonly Mutant[] = [
  {
    defect: 'a stopping agent carries out the command that it has just accepted',
    file: 'agent/remotes/command-intake.ts',
    edits: [['    this.#queue.stop();\n    this.reports.stop();', '    this.#queue.stop();']],
    invariant: 'stops',
    seed: 1,
  },
  {
    defect: 'an agent begins actions while its exits close',
    file: 'agent/agent.ts',
    edits: [
      ['  stopCommands(): void {\n    this.#downlink.stop();\n  }', '  stopCommands(): void {}'],
      ['    this.stopCommands();\n', '    this.#downlink.stop();\n'],
    ],
    invariant: 'stops',
    seed: 126,
  },
  {
    defect: 'an agent without a connection waits for acknowledgements when it stops',
    file: 'agent/outbox/outbox.ts',
    edits: [
      ['    if (this.waiting === 0 || !this.#link.connected) return;\n', '    if (this.waiting === 0) return;\n'],
    ],
    invariant: 'stops',
    seed: 19,
  },
  {
    defect: 'a configuration that does not work is kept',
    file: 'agent/configuration/generations.ts',
    edits: [
      [
        "  return { ...rest, outcome: { generation: rest.good, state: 'returned'",
        "  return { ...rest, good: trial.number, outcome: { generation: rest.good, state: 'returned'",
      ],
    ],
    invariant: 'configuration',
    seed: 3,
  },
  {
    defect: 'a roll-out goes on although more cars return it than tolerated',
    file: 'hub/core/rollouts.ts',
    edits: [['  if (failed <= tolerated) return undefined;', '  if (failed >= 0) return undefined;']],
    invariant: 'rollout',
    seed: 3,
  },
  {
    defect: 'the hub acknowledges bytes that are not a message, and does not store them',
    file: 'hub/core/intake.ts',
    edits: [["'refused' in item ? [item.refused] : []", "'refused' in item ? [item.refused].slice(1) : []"]],
    invariant: 'committed',
    seed: 1,
  },
  {
    defect: 'a car counts a command as in progress after its end',
    file: 'agent/remotes/remotes.ts',
    edits: [
      ['if (running === id) this.#running.delete(group);', 'if (running === group) this.#running.delete(group);'],
    ],
    invariant: 'refused',
    seed: 1,
  },
  {
    defect: 'a car accepts any number of commands of a kind in a short time',
    file: 'agent/remotes/checks.ts',
    edits: [
      ['ledger.accepted(now - BURST, now, type) < burst', 'ledger.accepted(now - BURST, now, type) <= burst + burst'],
    ],
    invariant: 'accepts',
    seed: 1,
  },
  {
    defect: 'a car does not log which messages it drops',
    file: 'agent/outbox/outbox.ts',
    edits: [["    this.#log.warn('outbox.full', { dropped });\n", '']],
    invariant: 'lossLogged',
    seed: 12,
  },
  {
    defect: 'a list of monitors that the disk refused is sent from memory',
    file: 'agent/monitors/desk.ts',
    edits: [['{ retain: true, durable: true }', '{ retain: true }']],
    invariant: 'monitorList',
    seed: 1012,
  },
  {
    defect: 'collections receive frames whose privacy a stopping agent does not see',
    file: 'agent/agent.ts',
    edits: [
      [
        '      if (this.#stopping) return;\n      this.#guard(() => {\n        if (isHeard)',
        '      if (this.#stopping) for (const receive of further) receive(batch);\n      if (this.#stopping) return;\n      this.#guard(() => {\n        if (isHeard)',
      ],
    ],
    invariant: 'private',
    seed: 1356,
  },
];

/** The part of the small worlds that `npm test` runs. */
export const PART = { steps: 45, cuts: 7, media: 1 };

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Runs worlds of mutants, each in its own process. */
export const allMutants: readonly Mutant[] = [
  ...mutants,
  ...wideMutants,
  ...rareMutants,
  ...newestMutants,
  ...folderMutants,
  ...exitMutants,
  ...callbackMutants,
  ...stopMutants,
];

export class MutantWorlds {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(): Promise<MutantWorlds> {
    return new MutantWorlds(await mkdtemp(join(tmpdir(), 'vigie-mutants-')));
  }

  close(): Promise<void> {
    return rm(this.#directory, { recursive: true });
  }

  /**
   * Runs the world of a seed with a mutant, or with the original source. The world ends when it has broken the mutant's
   * invariant.
   */
  async live(mutant: Mutant | undefined, seed: number | 'small', minutes = 10): Promise<readonly Breach[]> {
    const file = join(this.#directory, `${seed}.mjs`);
    await writeFile(file, await bundle(mutant, planFor(mutant)));
    const args = [file, String(seed), String(minutes), mutant?.invariant ?? ''];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 26 });
    return JSON.parse(stdout) as readonly Breach[];
  }
}

/** Name of the function that plans the worlds of a mutant. */
function planFor(mutant: Mutant | undefined): string {
  if (mutant === undefined || stopMutants.includes(mutant)) return 'planOf';
  if (callbackMutants.includes(mutant)) return 'callbackPlanOf';
  if (exitMutants.includes(mutant)) return 'exitPlanOf';
  if (folderMutants.includes(mutant)) return 'folderPlanOf';
  if (newestMutants.includes(mutant)) return 'fleetPlanOf';
  if (rareMutants.includes(mutant)) return 'rarePlanOf';
  return wideMutants.includes(mutant) ? 'widePlanOf' : 'narrowPlanOf';
}

/** Bundles the program of a world with the mutated source. */
async function bundle(mutant: Mutant | undefined, plan: string): Promise<string> {
  const changed = mutant === undefined ? undefined : join(root, mutant.file);
  const contents = `
    import { planOf } from './newest-plan.ts';
    import {
      callbackPlanOf, exitPlanOf, fleetPlanOf, folderPlanOf, narrowPlanOf, rarePlanOf, widePlanOf,
    } from './plan.ts';
    import { explore } from './small.ts';
    import { runWorld } from './world.ts';
    const [seed, minutes, wanted] = process.argv.slice(2);
    const tell = (breaches) => console.log(JSON.stringify(breaches));
    const breached = (breach) => {
      if (breach.invariant !== wanted) return;
      tell([breach]);
      process.exit();
    };
    const plan = ${plan};
    const breaches =
      seed === 'small'
        ? (await explore(${JSON.stringify(PART)})).broken.flatMap(({ lived }) => lived.breaches)
        : (await runWorld(plan(Number(seed), Number(minutes) * 60_000), breached)).breaches;
    tell(breaches);
  `;
  return bundleWorlds(contents, (path, original) =>
    path === changed && mutant !== undefined ? edited(original(), mutant) : undefined,
  );
}

/** Returns the source with the defect. @throws Error if it does not contain each text of the mutant once */
export function edited(source: string, { file, edits }: Mutant): string {
  return edits.reduce((text, [from, to]) => {
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`);
    return parts.join(to);
  }, source);
}
