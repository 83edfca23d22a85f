/**
 * `npm run test:can [SECONDS]`: SocketCAN against a real kernel, which kernel.ts starts. SECONDS is how long the load
 * check lasts, 5 when not given. Its last line is `N passed, N failed, N skipped`; the exit status is 0 when none
 * failed. As root on Debian it installs what is missing; elsewhere it says what that is and fails.
 */
import { installKernel, runInKernel } from './kernel.ts';

try {
  const seconds = Number(process.argv[2] ?? 5);
  if (!Number.isFinite(seconds) || seconds <= 0) throw new Error(`${process.argv[2]} is no number of seconds`);
  installKernel();
  let total: RegExpExecArray | undefined;
  await runInKernel('checks', seconds, (line) => {
    total = /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(line) ?? total;
    // The last line is ours, whatever the kernel says when it goes down.
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
