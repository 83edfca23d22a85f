import { spawnSync } from 'node:child_process';
import koffi from 'koffi';
import { describe, expect, it } from 'vitest';
import { cmsgAlign, cmsgSpace, layoutFor, type StructLayout } from '../../../../adapters/can/socketcan/layouts.ts';
import { describePeer } from '../../../rig/peers.ts';

describe('layouts', () => {
  it("agree with koffi's layout of the declarations on this machine", () => {
    const msghdr = koffi.struct({
      name: 'void *',
      namelen: 'unsigned int',
      iov: 'void *',
      iovlen: 'size_t',
      control: 'void *',
      controllen: 'size_t',
      flags: 'int',
    });
    const mmsghdr = koffi.struct({ header: msghdr, len: 'unsigned int' });
    const iovec = koffi.struct({ base: 'void *', len: 'size_t' });
    const cmsghdr = koffi.struct({ len: 'size_t', level: 'int', type: 'int' });
    const timespec = koffi.struct({ seconds: 'long', nanoseconds: 'long' });
    const layout = layoutFor(koffi.sizeof('void *') === 4 ? 4 : 8);
    const offsets = (type: ReturnType<typeof koffi.struct>, names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, koffi.offsetof(type, name)]));
    expect(layout.mmsghdr).toEqual({
      ...offsets(msghdr, ['iov', 'iovlen', 'control', 'controllen', 'flags']),
      len: koffi.offsetof(mmsghdr, 'len'),
      size: koffi.sizeof(mmsghdr),
    });
    expect(layout.iovec).toEqual({ ...offsets(iovec, ['base', 'len']), size: koffi.sizeof(iovec) });
    expect(layout.cmsghdr).toEqual({ ...offsets(cmsghdr, ['len', 'level', 'type']), size: koffi.sizeof(cmsghdr) });
    expect(layout.oldNanoseconds).toBe(koffi.offsetof(timespec, 'nanoseconds'));
  });

  it('align control messages to a long', () => {
    // cmsg(3): CMSG_SPACE(16) and CMSG_SPACE(4)
    expect([16, 4, 1].map((length) => cmsgSpace(layoutFor(8), length))).toEqual([32, 24, 24]);
    expect([16, 4, 1].map((length) => cmsgSpace(layoutFor(4), length))).toEqual([28, 16, 16]);
    expect(cmsgAlign(layoutFor(8), 20)).toBe(24);
    expect(cmsgAlign(layoutFor(4), 18)).toBe(20);
  });
});

/**
 * A C program with the declarations of the kernel's uapi. It includes no headers, because those of the other word size
 * are seldom installed.
 */
function program({ mmsghdr, iovec, cmsghdr, oldNanoseconds, pointerSize }: StructLayout): string {
  const offset = (type: string, member: string, expected: number) =>
    `_Static_assert(__builtin_offsetof(struct ${type}, ${member}) == ${expected}, "${type}.${member}");`;
  const size = (type: string, expected: number) => `_Static_assert(sizeof(struct ${type}) == ${expected}, "${type}");`;
  return `
    typedef __SIZE_TYPE__ size_t;
    struct iovec { void *base; size_t len; };
    struct msghdr { void *name; unsigned namelen; struct iovec *iov; size_t iovlen; void *control; size_t controllen; unsigned flags; };
    struct mmsghdr { struct msghdr header; unsigned len; };
    struct cmsghdr { size_t len; int level; int type; };
    struct timespec { long seconds; long nanoseconds; };
    struct kernel_timespec { long long seconds; long long nanoseconds; };
    _Static_assert(sizeof(void *) == ${pointerSize}, "pointer");
    ${(['iov', 'iovlen', 'control', 'controllen', 'flags'] as const).map((name) => offset('mmsghdr', `header.${name}`, mmsghdr[name])).join('\n')}
    ${offset('mmsghdr', 'len', mmsghdr.len)} ${size('mmsghdr', mmsghdr.size)}
    ${offset('iovec', 'base', iovec.base)} ${offset('iovec', 'len', iovec.len)} ${size('iovec', iovec.size)}
    ${(['len', 'level', 'type'] as const).map((name) => offset('cmsghdr', name, cmsghdr[name])).join('\n')}
    ${size('cmsghdr', cmsghdr.size)}
    ${offset('timespec', 'nanoseconds', oldNanoseconds)} ${offset('kernel_timespec', 'nanoseconds', 8)}
  `;
}

describePeer('gcc', 'layouts, asked of a C compiler', () => {
  it.runIf(process.arch === 'x64').each([
    [8, '-m64'],
    [4, '-m32'],
  ] as const)('layouts agree with the C compiler for %d-byte pointers', (pointerSize, option) => {
    const compile = (layout: StructLayout) =>
      spawnSync('gcc', [option, '-x', 'c', '-fsyntax-only', '-'], { input: program(layout), encoding: 'utf8' });
    const layout = layoutFor(pointerSize);
    expect(compile(layout).stderr).toBe('');
    expect(compile({ ...layout, oldNanoseconds: 1 }).status, 'the compiler checks nothing').not.toBe(0);
  });
});
