/**
 * File with the sections that an unfinished run has measured: a run may reach its time limit before its last section,
 * and the next run with the same sources continues.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeWholeFile } from '../whole-file.ts';
import type { BenchmarkTarget } from './section.ts';

/** Results of one section. */
export interface KeptSection {
  /** Heading, text and tables in the form of the page. */
  readonly text: string;
  readonly targets: readonly BenchmarkTarget[];
  readonly seconds: number;
}

interface KeptFile {
  readonly of: string;
  /** Durations in ms of the fixed piece of work (`MachineNoise`). */
  readonly noise: readonly number[];
  readonly sections: Readonly<Record<string, KeptSection>>;
}

export class KeptSections {
  readonly #path: string;
  #content: KeptFile;

  /** @param of identifies the machine and the sources. Stored results of others are ignored. */
  constructor(path: string, of: string) {
    this.#path = path;
    // Figures that could not be measured are NaN, which JSON writes as null.
    const orNaN = (_: string, value: unknown): unknown => value ?? Number.NaN;
    const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8'), orNaN) as KeptFile) : undefined;
    this.#content = kept?.of === of ? kept : { of, noise: [], sections: {} };
  }

  get noise(): readonly number[] {
    return this.#content.noise;
  }

  find(name: string): KeptSection | undefined {
    return this.#content.sections[name];
  }

  keep(name: string, section: KeptSection, noise: readonly number[]): void {
    const { of, sections } = this.#content;
    this.#content = { of, noise, sections: { ...sections, [name]: section } };
    mkdirSync(dirname(this.#path), { recursive: true });
    writeWholeFile(this.#path, JSON.stringify(this.#content));
  }

  /** Call when all sections are on the page. */
  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
