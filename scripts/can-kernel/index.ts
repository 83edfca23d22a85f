/**
 * `npm run test:can [SECONDS]`: tests SocketCAN with a real kernel, which kernel.ts starts. SECONDS is the duration of
 * the load check, default 5. The last line is `N passed, N failed, N skipped`; the exit status is 0 if none failed. As
 * root on Debian it installs missing packages; elsewhere it lists them and fails.
 */
import { installKernel, runInKernel } from './kernel.ts';

try {
  const seconds = Number(process.argv[2] ?? 5);
  if (!Number.isFinite(seconds) || seconds <= 0) throw new Error(`${process.argv[2]} is no number of seconds`);
  installKernel();
  let total: RegExpExecArray | undefined;
  await runInKernel('checks', seconds, (line) => {
    total = /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(line) ?? total;
    // The line with the totals must be the last one, whatever the kernel prints when it shuts down.
    if (line !== total?.[0]) console.log(line);
  });
  if (total === undefined) throw new Error('the kernel ended before the checks did');
  console.log(total[0]);
  process.exitCode = total[2] === '0' ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  console.log('0 passed, 1 failed, 0 skipped');
  process.exitCode = 1;
}
