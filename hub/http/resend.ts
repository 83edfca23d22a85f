import type { Handler } from '../../adapters/http/call.ts';
import { unknown } from '../../adapters/http/resources/context.ts';
import type { KeptCommand } from '../core/ports.ts';
import { written } from './commands.ts';

/** `POST /vigie/v1/vehicles/{vin}/resend`. `ask` resolves with undefined for a car without messages. */
export function resendOf(ask: (vin: string, caller: string) => Promise<readonly KeptCommand[] | undefined>): Handler {
  return async (call) => {
    const vin = call.path['vin'] ?? '';
    const commands = await ask(vin, call.caller.name);
    if (commands === undefined) throw unknown('vehicle', vin);
    return { status: 202, body: { vin, remotes: commands.map((one) => written(call, one)) } };
  };
}
