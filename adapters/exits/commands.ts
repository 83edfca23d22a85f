/** Commands that arrive on plain topics: on `…/set/doors` the message `lock`, with the words of `vigie send`. */
import type { Log } from '../../agent/ports.ts';
import { type RemoteType, remoteKinds } from '../../protocol/remote/table.ts';

/** An order without parameters, such as `doors` `lock`. */
export interface WordOrder {
  readonly type: RemoteType;
  readonly verb: string;
  /** Content of the message. */
  readonly word: string;
  readonly body: object;
}

/** All orders that one word can express. For a kind that has no words, the word is its verb. */
export const orders: readonly WordOrder[] = remoteKinds.flatMap(({ type, words: { verb, bodies, alone } }) => {
  const given = Object.entries(bodies);
  const named = given.length === 0 && alone !== undefined ? [[verb, alone] as const] : given;
  return named.map(([word, body]) => ({ type, verb, word, body }));
});

export interface CommandTopicsOptions {
  /** Returns true if the exit may send commands of this kind. */
  readonly may: (type: RemoteType) => boolean;
  /** Submits a command. Rejects with a VigieError if the car refuses it immediately. */
  readonly submit: (order: WordOrder) => Promise<unknown>;
  /** Reports that a command was refused before it reached the car. */
  readonly refused: (order: { readonly verb: string; readonly word: string }, reason: string) => void;
  readonly log: Log;
}

/** Converts messages on command topics to commands. Refuses and logs all other messages. */
export class CommandTopics {
  readonly #options: CommandTopicsOptions;

  constructor(options: CommandTopicsOptions) {
    this.#options = options;
  }

  /**
   * @param verb end of the topic, after `set/`
   * @param text content of the message
   * @param retained true if the broker retained the message, so that its age is unknown
   */
  take(verb: string, text: string, retained: boolean): void {
    // An empty message only deletes a retained one.
    if (text === '') return;
    const word = text.trim().toLowerCase();
    const known = orders.filter((one) => one.verb === verb);
    const order = known.find((one) => one.word === word) ?? known.find((one) => one.word === BOOLEANS[word]);
    if (retained) {
      this.#refuse({ verb, word }, 'the broker retained it, so it would be carried out again; send it without retain');
    } else if (order === undefined) {
      const fix =
        known.length > 0
          ? `${verb} takes ${known.map((one) => one.word).join(', ')}`
          : `the topics are set/${[...new Set(orders.map((one) => one.verb))].join(', set/')}`;
      this.#refuse({ verb, word }, `there is no such command; ${fix}`);
    } else if (!this.#options.may(order.type)) {
      this.#refuse(order, `exits.scopes does not allow ${order.type}`);
    } else {
      this.#options.submit(order).catch((error: Error) => this.#refuse(order, error.message));
    }
  }

  #refuse({ verb, word }: { readonly verb: string; readonly word: string }, reason: string): void {
    const shown = { verb: verb.slice(0, MAX_SHOWN), word: word.slice(0, MAX_SHOWN) };
    this.#options.log.warn('exit.commandRefused', { command: `${shown.verb} ${shown.word}`, reason });
    this.#options.refused(shown, reason);
  }
}

/** Words for programs that only know true and false. */
const BOOLEANS: Readonly<Record<string, string>> = { true: 'on', false: 'off' };

/** Maximum length in characters of a part of an unknown command in a log message. */
const MAX_SHOWN = 40;
