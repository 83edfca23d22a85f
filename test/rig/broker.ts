/** Common interface of all broker rigs. */
export interface BrokerRig {
  readonly url: string;
  readonly port: number;
  /** Starts it, or restarts it on the same port. Resolves when it listens. */
  start(): Promise<void>;
  /** Stops it in order. Its state is there after the next start. */
  stop(): Promise<void>;
  /** Kills it like a power cut. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Stops it and removes its state. */
  remove(): Promise<void>;
}
