import type { Handler } from '../../adapters/http/call.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import { classes } from '../../protocol/classes.ts';
import { defined } from '../../protocol/defined.ts';
import type { HubCommands } from '../core/commands.ts';
import type { CommandStore, NumbersStore, VehicleReader } from '../core/ports.ts';
import { resendTrouble } from '../core/resend-trouble.ts';

type NumbersReader = NumbersStore & Pick<VehicleReader, 'vehicle'>;
type AuditTrail = Pick<CommandStore, 'commands'>;
type Commands = Pick<HubCommands, 'untrusted'>;

/** `GET /vigie/v1/vehicles/{vin}/numbers`: all classes with known numbers. Runs are [first, last]. */
export function numbersOf(store: NumbersReader, audit: AuditTrail, commands: Commands): Handler {
  return async ({ path }) => {
    const vin = path['vin'] ?? '';
    const numbers = await store.numbers(vin);
    if (numbers === undefined) throw unknown('vehicle', vin);
    const isMissing = numbers.some(({ missing }) => missing.length > 0);
    const trouble = isMissing ? await troubleOf(store, audit, commands, vin) : undefined;
    return found({
      vin,
      lives: (await store.lives(vin)).map(({ first, since }) => ({ first, since })),
      ...defined({ trouble }),
      classes: numbers.map(({ class: number, ...runs }) => ({
        class: number,
        kinds: classes[number]?.kinds ?? [],
        ...runs,
      })),
    });
  };
}

async function troubleOf(
  store: NumbersReader,
  audit: AuditTrail,
  commands: Commands,
  vin: string,
): Promise<string | undefined> {
  const vehicle = await store.vehicle(vin);
  if (vehicle === undefined) return undefined;
  return resendTrouble(await audit.commands(vin), vehicle.lastSeen, await commands.untrusted(vin, 'Resend'));
}
