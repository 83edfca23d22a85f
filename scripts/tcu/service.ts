/** Required behaviour of the service under systemd itself: one sentence for each requirement, in order. */
import assert from 'node:assert/strict';
import { upTopic } from '../../protocol/topics.ts';
import { type Cloud, VIN } from './cloud.ts';
import type { Machine } from './machine.ts';
import { readings, type UnitScenario } from './scenario.ts';

/** Output of the agent when it has fully started. */
export const READY: RegExp = /^vigie: ready: /;
/** Highest exposure level that is allowed, on the scale from 0 to 10 of `systemd-analyze security`. */
const EXPOSED = 2;

interface Hello {
  readonly mode?: string;
  readonly reason?: string;
}

/** Returns properties of the service (systemctl(1)). */
async function properties(machine: Machine, ...names: string[]): Promise<Readonly<Record<string, string>>> {
  const lines = await machine.run(`systemctl show vigie ${names.map((name) => `-p ${name}`).join(' ')}`);
  const pairs = lines.map((line) => /^(\w+)=(.*)$/.exec(line)).filter((pair) => pair !== null);
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
}

async function processOf(machine: Machine): Promise<string> {
  const { MainPID: id = '0' } = await properties(machine, 'MainPID');
  assert.notEqual(id, '0', 'the service has no process');
  return id;
}

/** Kills the process as a defect would. Resolves when the service is running again, in normal or minimal mode. */
async function crash(machine: Machine): Promise<string> {
  const from = machine.lines.length;
  await machine.run(`kill -SEGV ${await processOf(machine)}`);
  return machine.says(/^vigie: (ready|minimal): /, from);
}

function hellos(cloud: Cloud, from: number): readonly Hello[] {
  return cloud.received
    .slice(from)
    .filter(({ topic }) => topic === upTopic(VIN, 'hello'))
    .map(({ body }) => body as Hello);
}

export const service: UnitScenario = {
  'the installed service says itself when it has started': async (machine) => {
    const { Type, SubState, StatusText } = await properties(machine, 'Type', 'SubState', 'StatusText');
    assert.deepEqual({ Type, SubState }, { Type: 'notify', SubState: 'running' });
    assert.match(StatusText ?? '', /^ready: /);
  },

  'it runs as nobody in particular, with no capability and behind a filter of system calls': async (machine) => {
    const id = await processOf(machine);
    const status = await machine.run(`grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/${id}/status`);
    const found = Object.fromEntries(
      status.map((line) => line.split(/:\s*/)).map(([name = '', value = '']) => [name, value.split('\t')[0]]),
    );
    assert.notEqual(found['Uid'], '0');
    assert.deepEqual(
      { CapEff: found['CapEff'], CapBnd: found['CapBnd'], NoNewPrivs: found['NoNewPrivs'], Seccomp: found['Seccomp'] },
      { CapEff: '0000000000000000', CapBnd: '0000000000000000', NoNewPrivs: '1', Seccomp: '2' },
    );
    const said = (await machine.run('systemd-analyze security --no-pager vigie | tail -n 1')).join(' ');
    const exposed = Number(/exposure level for vigie\.service: ([\d.]+)/.exec(said)?.[1] ?? Number.NaN);
    assert.ok(exposed <= EXPOSED, said);
  },

  'inside its bounds it reads the bus, publishes and acts on the bus': async (machine, cloud) => {
    const from = cloud.received.length;
    await machine.until('five speeds', () => (readings(cloud, 'kinetic.speed', from).length >= 5 ? true : undefined));
    const lock = await cloud.command('doors', 'lock');
    assert.equal(await machine.until('the outcome', () => cloud.outcome(lock)), 'Success');
  },

  'a process that hangs is started anew by the watchdog, and says so': async (machine, cloud) => {
    const [from, messages] = [machine.lines.length, cloud.received.length];
    const id = await processOf(machine);
    await machine.run(`kill -STOP ${id}`);
    await machine.says(/^vigie: .*Watchdog timeout/, from);
    await machine.says(READY, from);
    assert.notEqual(await processOf(machine), id);
    const [hello] = await machine.until('a hello', () => nonEmpty(hellos(cloud, messages)));
    assert.match(hello?.reason ?? '', /watchdog/);
  },

  'after the third crash it comes up in its minimal mode, says why and answers': async (machine, cloud) => {
    const messages = cloud.received.length;
    assert.match(await crash(machine), READY);
    const said = await crash(machine);
    assert.match(said, /^vigie: minimal: /);
    const hello = await machine.until('a hello in minimal mode', () =>
      hellos(cloud, messages).find(({ mode }) => mode === 'minimal'),
    );
    assert.ok((hello.reason ?? '') !== '', 'it does not say why');
    const unlock = await cloud.command('doors', 'unlock');
    assert.equal(await machine.until('the outcome', () => cloud.outcome(unlock)), 'Failed');
    // The exit status 1 reports a problem, and is expected here.
    const status = (await machine.run('vigie status --data /var/lib/vigie || test $? = 1')).join('\n');
    assert.match(status, /minimal/);
    const { ActiveState } = await properties(machine, 'ActiveState');
    assert.equal(ActiveState, 'active');
  },

  'it stops in order when systemd stops it': async (machine) => {
    await machine.run('systemctl stop vigie');
    const { ActiveState, Result } = await properties(machine, 'ActiveState', 'Result');
    assert.deepEqual({ ActiveState, Result }, { ActiveState: 'inactive', Result: 'success' });
  },
};

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
