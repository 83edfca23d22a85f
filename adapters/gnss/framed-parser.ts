import { Faults, type Fix, type FixParser } from './fix.ts';
import { Framer, type RecordSink } from './framing.ts';

/** Common part of the parsers: finds records in the bytes, and collects fixes until the caller reads them. */
export abstract class FramedParser implements FixParser {
  readonly faults: Faults;
  /** Number of records that could be read, with any content. */
  records = 0;
  readonly others = new Map<string, number>();
  private readonly framer: Framer;
  private fixes: Fix[] = [];

  /** @param file file, device or address named in diagnostics */
  constructor(file: string) {
    this.faults = new Faults(file);
    this.framer = new Framer({ ...this.sink(), fault: (line, message) => this.faults.add(line, message) });
  }

  get unproven(): number {
    return 0;
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

  /** Returns the receivers of records. Called once, before the subclass has initialised its members. */
  protected abstract sink(): Omit<RecordSink, 'fault'>;

  /** Emits the fix that is held until the next epoch begins. */
  protected abstract settleHeld(): void;

  protected give(fix: Fix): void {
    this.fixes.push(fix);
  }

  protected countOther(name: string): void {
    this.others.set(name, (this.others.get(name) ?? 0) + 1);
  }

  private taken(): readonly Fix[] {
    const { fixes } = this;
    this.fixes = [];
    return fixes;
  }
}
