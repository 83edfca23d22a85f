/** What the world knows of one car. */
import { AcknowledgedMessages, AwaitedAnswers } from './answers.ts';
import { ExpectedDeliveries } from './deliveries.ts';
import { spares } from './keys.ts';
import { PlannedPrograms } from './programs.ts';

/** What was said first, and whether the disk had refused something in that run: then it need not have been on disk. */
export interface Said<T> {
  readonly value: T;
  readonly unwritten: boolean;
}

export type Published = Said<Uint8Array> & { acknowledged: boolean };

export class Watched {
  /** By class, number and start. */
  readonly published: Map<string, Published>;
  /** Starts of this life of the folder. */
  readonly boots = new Set<number>();
  /** By class and number: the content that was published first. */
  readonly contents = new Map<string, Said<Uint8Array>>();
  /** By command and action. */
  readonly acts = new Map<string, number>();
  /** In this run, by kind: the command that has reached SentToVehicle and has not ended. */
  underWay = new Map<string, string>();
  /** In this run, by command: how often its end was reported, and when the last time. */
  answered = new Map<string, { readonly count: number; readonly at: number }>();
  readonly revoked = new Set<string>();
  /** Keys that it need not trust: no command that adds them has come. */
  readonly unknown = new Set(spares.map((key) => key.hex));
  readonly programs = new PlannedPrograms();
  readonly deliveries = new ExpectedDeliveries();
  readonly answers = new AwaitedAnswers();
  readonly acknowledged = new AcknowledgedMessages();
  /** Keys that a command on its way may revoke, or that the car need not know. */
  readonly doubtful = new Set(spares.map((key) => key.hex));
  /** How commands ended, as published. */
  readonly ends = new Map<string, Said<string>>();
  /** The numbers of the messages that say so, published or not. */
  readonly endNumbers = new Map<string, string>();
  readonly accepted = new Set<string>();
  readonly succeeded = new Set<string>();

  /** @param published in earlier lives of the folder */
  constructor(published = new Map<string, Published>()) {
    this.published = published;
  }
}
