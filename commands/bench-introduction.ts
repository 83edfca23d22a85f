/** First lines of a bench: all addresses and folders, and commands to try. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programName } from './program-name.ts';
import { benchDirectory, type Rig } from './rig.ts';

interface IntroducedOptions {
  readonly data: string;
  readonly scenario: string;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly certKey?: string;
}

/** @param url address of the page */
/** @param lan address that admits one browser, if the page is available on the local network */
export function introduction(
  rig: Rig,
  options: IntroducedOptions,
  embedded: boolean,
  url: string,
  lan?: { readonly url: string; readonly fingerprint: string },
): string {
  const { vin, broker, keys } = rig;
  const { data, scenario } = options;
  return `ready: ${vin} on ${broker} (${embedded ? 'embedded broker' : 'your broker'})
Published as CBOR under vigie/1/${vin}/up/: hello status telemetry waypoint trip event remote and more.
${lan === undefined ? `The page: ${url}/ shows the car.` : lanLines(lan)}
The HTTP interface: ${url}/docs for people, ${url}/fleets and ${url}/user for programs, ${url}/live as it changes.
Records and keys are in ${data} (keys: ${keys}); a second start goes on with them.
${scenario === 'loop' ? 'The car drives around the Champ de Mars: a trip ends within three minutes, halfway and at home.\n' : ''}\
Try in another terminal:
${commandsToTry(rig, options).join('\n')}
  on the page, "The wire": pull the plug or kill the agent, and see that no message is missing
Ctrl-C ends the bench.
`;
}

function lanLines({ url, fingerprint }: { readonly url: string; readonly fingerprint: string }): string {
  return `In the local network: ${url} lets one browser in.
It warns of the certificate, which this bench has made itself (SHA-256 ${fingerprint}).`;
}

function commandsToTry(
  { vin, broker }: Rig,
  { data, username, passwordFile, ca, cert, certKey }: IntroducedOptions,
): readonly string[] {
  // The broker of a hub admits a car only under its own name.
  if (username === vin || nameIn(cert) === vin) {
    const hub = `${broker.startsWith('mqtts:') ? 'https' : 'http'}://${new URL(broker).hostname}:8080`;
    return [
      `  open ${hub}/ (or the address that your hub printed) and sign in with a token of the hub`,
      `  ${programName} send ${vin} doors lock --hub ${hub} --token-file TOKEN${ca === undefined ? '' : ` --ca ${ca}`}`,
      `  (for commands the car must trust the hub: copy keys/trust.json of the hub to ${join(data, 'keys')})`,
    ];
  }
  const named = Object.entries({
    data: data === benchDirectory ? undefined : data,
    username,
    'password-file': passwordFile,
    ca,
    cert,
    'cert-key': certKey,
  });
  const more = named.map(([name, value]) => (value === undefined ? '' : ` --${name} ${value}`)).join('');
  const verbs = [`watch ${vin}`, `send ${vin} doors lock`, `send ${vin} doors unlock`];
  return verbs.map((words) => `  ${programName} ${words}${more}`);
}

/** Common name of the certificate in this file, which the broker has accepted already. */
function nameIn(cert: string | undefined): string | undefined {
  if (cert === undefined) return undefined;
  return /^CN=(.*)$/m.exec(new X509Certificate(readFileSync(cert)).subject)?.[1];
}
