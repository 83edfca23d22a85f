/** Reads the state of a running program from the socket in its folder. */
import { request } from 'node:http';
import { VigieError } from '../protocol/errors.ts';

/** Longest wait in ms for an answer. A program that takes longer is busy. */
const MAX_WAIT_MS = 5_000;

/** `program`: such as `agent`. `absent`: error if no process listens. Rejects with `input.unreadable`. */
export function readSocket<T>(
  socket: string,
  { program, absent }: { readonly program: string; readonly absent: string },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void =>
      reject(new VigieError('input.unreadable', why, { where: socket, cause }));
    const asked = request({ socketPath: socket, path: '/status', timeout: MAX_WAIT_MS }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(pieces).toString('utf8')) as T);
        } catch (error) {
          fail(`the process that answers here is not the ${program} of this version`, error);
        }
      });
    });
    asked.on('timeout', () => asked.destroy(new Error(`the ${program} does not answer`)));
    asked.on('error', (error: NodeJS.ErrnoException) => {
      const isAbsent = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(error.code ?? '');
      fail(isAbsent ? absent : error.message, error);
    });
    asked.end();
  });
}
