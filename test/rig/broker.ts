/** What tests ask of a broker, whichever it is. */
export interface BrokerRig {
  readonly url: string;
  readonly port: number;
  /** Resolves when it listens; again on the same port. */
  start(): Promise<void>;
  /** Ends it in order; what it keeps is there after the next start. */
  stop(): Promise<void>;
  /** Ends it at once, as a power cut would; resolves when it is gone. */
  kill(): Promise<void>;
  /** Ends it and removes what it kept. */
  remove(): Promise<void>;
}
