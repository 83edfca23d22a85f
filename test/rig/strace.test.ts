import { describe, expect, it } from 'vitest';
import { completedCall, isQuestion, wakeUpsOf } from './strace.ts';

describe('output of strace', () => {
  it('a system call counts when it is complete', () => {
    const lines = [
      '12 write(23, "\\300\\0", 2)      = 2',
      '12 epoll_pwait(15,  <unfinished ...>',
      '13 futex(0x7f, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>',
      '12 <... epoll_pwait resumed>[{events=EPOLLIN}], 1024, 506, NULL, 8) = 1',
      '[pid    12] read(24, "\\320\\0", 65536)   = 2',
      '12 write(24, "x", 1) = -1 EAGAIN (Resource temporarily unavailable)',
      '13 <... futex resumed>)        = 0',
      '12 --- SIGCONT {si_signo=SIGCONT} ---',
      '12 epoll_pwait(15, [], 1024, 505, NULL, 8) = 0',
      '12 epoll_pwait(15, <detached ...>',
      '13 +++ exited with 0 +++',
    ];
    const begun = new Map<string, string>();
    const calls = lines.flatMap((line) => completedCall(line, begun) ?? []);
    expect(calls.map(({ thread, name }) => `${thread} ${name}`)).toEqual([
      '12 write',
      '12 epoll_pwait',
      '12 read',
      '12 write',
      '13 futex',
      '12 epoll_pwait',
    ]);
    // The arguments are in the line in which the call began.
    expect(calls[4]?.text).toContain('FUTEX_WAIT_PRIVATE');
    const asked = ['12 write(24, "\\300\\0", 2 <unfinished ...>', '13 read(3) = 0', '12 <... write resumed>) = 2'];
    const questions = asked.flatMap((line) => completedCall(line, begun) ?? []).filter(isQuestion);
    expect(questions.map(({ thread }) => thread)).toEqual([12]);
    const wakeUps = wakeUpsOf(12, calls);
    expect(wakeUps.map(({ calls: made, keepAlive }) => [made.length, keepAlive])).toEqual([
      [3, true],
      [1, false],
    ]);
  });
});
