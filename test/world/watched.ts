/** Knowledge of the world about one car. */
import { AcknowledgedMessages, AwaitedAnswers } from './answers.ts';
import { ExpectedDeliveries } from './deliveries.ts';
import { spares } from './keys.ts';
import { LoggedLosses } from './losses.ts';
import { PlannedPrograms } from './programs.ts';
import { CommandHistory } from './refusals.ts';

/** First content, and whether the disk had refused a write in that run: then it may not have been on disk. */
export interface Said<T> {
  readonly value: T;
  readonly unwritten: boolean;
}

export type Published = Said<Uint8Array> & { acknowledged: boolean };

export class Watched {
  /** By class, number and start. */
  readonly published: Map<string, Published>;
  /** Starts in this life of the data directory. */
  readonly boots = new Set<number>();
  /** By class and number: the content that was published first. */
  readonly contents = new Map<string, Said<Uint8Array>>();
  /** By command and action. */
  readonly acts = new Map<string, number>();
  /** In this run, by kind: the command that has reached SentToVehicle and has not ended. */
  underWay = new Map<string, string>();
  /** Commands that were under way when a run ended. */
  readonly interrupted = new Set<string>();
  /** In this run, by command: how often its end was reported, and the time of the last report. */
  answered = new Map<string, { readonly count: number; readonly at: number }>();
  /** The newest configuration that it has accepted, and the number of starts since. */
  taken: string | undefined;
  trialStarts = 0;
  /** Whether its data directory was replaced. */
  isReplaced = false;
  /** Next number of each class after an orderly stop, until the next start. */
  stopped: readonly number[] | undefined;
  readonly revoked = new Set<string>();
  /** Keys that the car may not trust, because no command that adds them has arrived. */
  readonly unknown = new Set(spares.map((key) => key.hex));
  readonly programs = new PlannedPrograms();
  readonly deliveries = new ExpectedDeliveries();
  readonly answers = new AwaitedAnswers();
  readonly acknowledged = new AcknowledgedMessages();
  /** Keys that a command in flight may revoke, or that the car may not know. */
  readonly doubtful = new Set(spares.map((key) => key.hex));
  /** Published ends of commands. */
  readonly ends = new Map<string, Said<string>>();
  /** Numbers of the messages with these ends, published or not. */
  readonly endNumbers = new Map<string, string>();
  readonly accepted = new Set<string>();
  readonly succeeded = new Set<string>();
  readonly history = new CommandHistory();
  readonly losses = new LoggedLosses();
  /** Whether the disk refused a write in this life. */
  wasRefused = false;
  /** Whether a part of its records was destroyed. */
  isDamaged = false;

  /** @param published messages of earlier lives of the data directory */
  constructor(published = new Map<string, Published>()) {
    this.published = published;
  }
}
