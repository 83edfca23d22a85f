import { whenUnread } from './output.ts';

/**
 * Resolves at SIGINT or SIGTERM, or when the reader of standard output has closed it. The terminal and npm may both
 * deliver the same Ctrl-C; only a clearly later signal means that the user does not want to wait any longer.
 */
export function untilSignal(): Promise<void> {
  const PATIENCE = 2_000;
  return new Promise((resolve) => {
    let first: number | undefined;
    const handle = (): void => {
      if (first === undefined) {
        first = Date.now();
        resolve();
      } else if (Date.now() - first > PATIENCE) {
        process.stderr.write('vigie: stopped at once; data not yet on disk is lost\n');
        process.exit(130);
      }
    };
    whenUnread(resolve);
    process.on('SIGINT', handle);
    process.on('SIGTERM', handle);
  });
}
