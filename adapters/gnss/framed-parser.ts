import { Faults, type Fix, type FixParser } from './fix.ts';
import { Framer, type RecordSink } from './framing.ts';

/** What the parsers have in common: records are found in the bytes, and fixes collected until they are taken. */
export abstract class FramedParser implements FixParser {
  readonly faults: Faults;
  /** Records that could be read, whatever they say. */
  records = 0;
  private readonly framer: Framer;
  private fixes: Fix[] = [];

  /** @param file what diagnostics name: a file, a device or an address */
  constructor(file: string) {
    this.faults = new Faults(file);
    this.framer = new Framer({ ...this.sink(), fault: (line, message) => this.faults.add(line, message) });
  }

  push(bytes: Uint8Array): readonly Fix[] {
    this.framer.push(bytes);
    return this.taken();
  }

  settle(): readonly Fix[] {
    this.settleHeld();
    return this.taken();
  }

  finish(): readonly Fix[] {
    this.framer.finish();
    return this.settle();
  }

  /** The records that are looked for. Called once, before the parser has members of its own. */
  protected abstract sink(): Omit<RecordSink, 'fault'>;

  /** Gives the fix that only waits for the next to begin. */
  protected abstract settleHeld(): void;

  protected give(fix: Fix): void {
    this.fixes.push(fix);
  }

  private taken(): readonly Fix[] {
    const { fixes } = this;
    this.fixes = [];
    return fixes;
  }
}
