/** An emulated unit that this program powers on, controls on its console, and can power off at any time. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Disks } from './disks.ts';
import { switchOn } from './emulator.ts';
import type { Platform } from './platforms.ts';

/** Timeout in ms of every wait: enough for an emulated start on a machine with other load. */
const PATIENCE = 900_000;

export class Machine {
  /** If set, every line of the console is printed to standard error as it arrives. */
  static shown = false;
  /** All lines of the console so far. */
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #listeners = new Set<() => void>();
  #commands = 0;

  private constructor(process: ChildProcess) {
    this.#process = process;
    createInterface({ input: process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.lines.push(line.trimEnd());
      if (Machine.shown) console.error(`  | ${line.trimEnd()}`);
      this.#tell();
    });
    process.once('exit', () => this.#tell());
  }

  /**
   * Powers on a unit, and resolves when it accepts commands. `forward` is a port on this machine's loopback interface
   * that leads to the unit's broker. The unit reaches this machine's loopback interface at 10.0.2.2.
   */
  static async boot(platform: Platform, disks: Disks, forward?: number): Promise<Machine> {
    const disk = (file: string, id: string, mode: string): readonly string[] => [
      '-drive',
      `if=none,id=${id},file=${file},format=raw,${mode}`,
      '-device',
      `virtio-blk-${platform.attached},drive=${id}`,
    ];
    // Disables network boot.
    const noRom = platform.attached === 'pci' ? ',romfile=' : '';
    const net = forward === undefined ? '' : `,hostfwd=tcp:127.0.0.1:${forward}-:1883`;
    const child = switchOn(platform, {
      kernel: disks.kernel,
      memoryDisk: disks.memoryDisk,
      told: 'net.ifnames=0 systemd.show_status=no',
      devices: [
        ...disk(disks.system, 'system', disks.writable === true ? 'cache=writeback' : 'readonly=on'),
        // Data that the unit has flushed are then in this machine's kernel, which outlives the emulator.
        ...disk(disks.data, 'data', 'cache=writeback'),
        '-netdev',
        `user,id=net${net}`,
        '-device',
        `virtio-net-${platform.attached},netdev=net${noRom}`,
        '-device',
        `virtio-rng-${platform.attached}`,
      ],
    });
    const machine = new Machine(child);
    await machine.says(/^@ready$/);
    return machine;
  }

  /** Returns the lines that start with a prefix, without the prefix. */
  said(prefix: string): string[] {
    return this.lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  }

  /** Resolves with the first line that matches, searching from index `from`. */
  async says(text: RegExp, from = 0): Promise<string> {
    let place = from;
    return this.until(`the unit to say ${text}`, () => {
      for (; place < this.lines.length; place++) {
        const line = this.lines[place] as string;
        if (text.test(line)) return line;
      }
      return undefined;
    });
  }

  /** Resolves with the result of `find` once it returns one. Calls it again whenever the unit prints something. */
  async until<T>(what: string, find: () => T | undefined, patience = PATIENCE): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(look);
      };
      const fail = (reason: string): void => {
        leave();
        reject(new Error(`${reason} while waiting for ${what}; its last words:\n${this.lines.slice(-40).join('\n')}`));
      };
      const timer = setTimeout(() => fail('nothing came'), patience);
      const look = (): void => {
        let found: T | undefined;
        try {
          found = find();
        } catch (error) {
          leave();
          reject(error);
          return;
        }
        if (found !== undefined) {
          leave();
          resolve(found);
        } else if (this.#ended) fail('the unit went off');
      };
      this.#listeners.add(look);
      look();
    });
  }

  /** Evaluates pending conditions again. Call when one may hold although the console printed nothing. */
  nudge(): void {
    this.#tell();
  }

  /** Runs a line of shell in the unit. @throws Error with its output if it fails */
  async run(line: string): Promise<string[]> {
    const number = ++this.#commands;
    const from = this.lines.length;
    this.#process.stdin?.write(`{ ${line}\n} 2>&1; echo "@${number} $?"\n`.replaceAll(/\n(?=\})/g, '; '));
    const end = await this.says(new RegExp(`^@${number} `), from);
    const words = this.lines.slice(from, this.lines.indexOf(end, from));
    if (end !== `@${number} 0`) throw new Error(`${line}: ${end}\n${words.join('\n')}`);
    return words;
  }

  /**
   * Starts a program in the unit, which keeps running in the background. The lines that it prints are prefixed with
   * `name`. Resolves with the first line that matches `ready`.
   * @throws Error if the program ends before that
   */
  async start(name: string, line: string, ready: RegExp): Promise<string> {
    const from = this.lines.length;
    const told = `while IFS= read -r words; do echo "${name}: $words"; done >/dev/console`;
    await this.run(`{ { ${line}; echo "ended with $?"; } 2>&1 | ${told}; } & true`);
    const ended = `${name}: ended with `;
    return this.until(`${name} to say ${ready}`, () => {
      const said = this.lines.slice(from).filter((words) => words.startsWith(`${name}: `));
      const end = said.find((words) => words.startsWith(ended));
      if (end !== undefined) throw new Error(said.join('\n'));
      return said.find((words) => ready.test(words));
    });
  }

  /** Cuts the power: the unit can do nothing more. */
  async cut(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#gone();
  }

  async powerOff(): Promise<void> {
    this.#process.stdin?.write('sync; umount /data; poweroff -f\n');
    await this.#gone();
  }

  get #ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  async #gone(): Promise<void> {
    if (!this.#ended) await once(this.#process, 'exit');
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
