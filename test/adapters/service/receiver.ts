/** The service manager's end of the notification socket: a real AF_UNIX datagram socket, opened by Python. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Arrivals } from '../../rig/arrivals.ts';

const program = `
import json, socket, sys
path = sys.argv[1]
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind('\\0' + path[1:] if path.startswith('@') else path)
print(json.dumps('listening'), flush=True)
while True:
    print(json.dumps(receiver.recv(65536).decode()), flush=True)
`;

const open = new Set<Receiver>();

/** Closes everything that a test left open. */
export function closeReceivers(): void {
  for (const receiver of open) receiver.close();
}

/** Records the received datagrams, each as one text. */
export class Receiver {
  readonly path: string;
  readonly messages = new Arrivals<string>();
  readonly #child: ChildProcess;

  private constructor(path: string) {
    this.path = path;
    this.#child = spawn('python3', ['-c', program, path], { stdio: ['ignore', 'pipe', 'ignore'] });
    open.add(this);
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      this.messages.push(JSON.parse(line) as string);
    });
  }

  /** Resolves when it listens at `path`; a leading `@` means the abstract namespace. */
  static async listen(path: string): Promise<Receiver> {
    const receiver = new Receiver(path);
    await receiver.messages.take((message) => message === 'listening');
    return receiver;
  }

  /** Resolves with the next message that contains this text. */
  saying(text: string): Promise<string> {
    return this.messages.take((message) => message.includes(text));
  }

  close(): void {
    open.delete(this);
    this.#child.kill();
  }
}
