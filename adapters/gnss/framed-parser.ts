import { Faults, type Fix, type FixParser } from './fix.ts';
import { Framer, type RecordSink } from './framing.ts';

/** Common part of the parsers: finds records in the bytes, and collects fixes until the caller takes them. */
export abstract class FramedParser implements FixParser {
  readonly faults: Faults;
  /** Records that could be read, whatever they say. */
  records = 0;
  readonly others = new Map<string, number>();
  private readonly framer: Framer;
  private fixes: Fix[] = [];

  /** @param file what diagnostics name: a file, a device or an address */
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

  /** The records that are looked for. Called once, before the parser has members of its own. */
  protected abstract sink(): Omit<RecordSink, 'fault'>;

  /** Emits the fix that waits for the next epoch to begin. */
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
