import { expect, it } from 'vitest';
import { AF_CAN, CAN_RAW, SOCK_RAW } from '../../../../adapters/can/socketcan/constants.ts';
import { ErrorCounts } from '../../../../adapters/can/socketcan/error-frames.ts';
import { isInterfaceName, lookUp } from '../../../../adapters/can/socketcan/interface.ts';
import { loadCanKernel } from '../../../../adapters/can/socketcan/kernel.ts';
import { loadLibc } from '../../../../adapters/can/socketcan/libc.ts';
import { watchLinks } from '../../../../adapters/can/socketcan/links.ts';
import { openBusSocket } from '../../../../adapters/can/socketcan/socket.ts';

const [AF_INET, SOCK_DGRAM, EBADF] = [2, 2, 9];

it.runIf(process.platform === 'linux')('a kernel without CAN causes an error with advice', async () => {
  const libc = await loadLibc();
  const descriptor = libc.socket(AF_CAN, SOCK_RAW, CAN_RAW);
  if (descriptor >= 0) {
    libc.close(descriptor);
    await expect(loadCanKernel()).resolves.toBeDefined();
  } else {
    const advice = expect.stringMatching(/(load the module|forbidden).*\(E[A-Z]+\)$/);
    await expect(loadCanKernel()).rejects.toMatchObject({ code: 'input.unreadable', message: advice });
  }
});

it.runIf(process.platform === 'linux')('interfaces are looked up by name', async () => {
  const libc = await loadLibc();
  const descriptor = libc.socket(AF_INET, SOCK_DGRAM, 0);
  expect(lookUp(libc, descriptor, 'lo')).toMatchObject({ index: 1, isCan: false });
  expect(lookUp(libc, descriptor, 'vigie-none')).toBe(-19);
  libc.close(descriptor);
});

it.runIf(process.platform === 'linux')('a socket is closed when its interface cannot be bound', async () => {
  const libc = await loadLibc();
  const options = { receiveBuffer: 4096, own: false, errors: new ErrorCounts() };
  for (const [name, message] of [
    ['lo', 'lo: it is not a CAN interface'],
    ['vigie-none', 'vigie-none: there is no such interface'],
  ] as const) {
    const descriptor = libc.socket(AF_INET, SOCK_DGRAM, 0);
    const open = () => openBusSocket(libc, descriptor, { interface: name, ...options });
    expect(open).toThrowError(expect.objectContaining({ code: 'input.unreadable', message }));
    expect(libc.close(descriptor)).toBe(-EBADF);
  }
});

it.runIf(process.platform === 'linux')('watching for link changes can be started and ended', async () => {
  const end = watchLinks(await loadLibc(), () => undefined);
  expect(end).toBeTypeOf('function');
  end?.();
});

it('only names that the kernel accepts are interface names', () => {
  for (const name of ['can0', 'vcan-body', 'a', 'fifteen-letters']) expect(isInterfaceName(name)).toBe(true);
  for (const name of ['', 'sixteen-letters-', 'a/b', 'a b', 'a:b', '.', '..'])
    expect(isInterfaceName(name)).toBe(false);
});
