/**
 * Relays between Playwright and Debian's Firefox, which supports WebDriver BiDi but not every command that Playwright
 * sends for a new window. Commands that only emulate another screen are answered here, and all others pass unchanged.
 * Playwright starts this program instead of Firefox, with the same arguments.
 */
import { spawn } from 'node:child_process';
import { type RawData, type WebSocket as Socket, WebSocket, WebSocketServer } from 'ws';

/** Commands that Firefox 153 refuses as unknown. It cannot emulate colour schemes. */
const UNKNOWN = new Set(['emulation.setMediaFeaturesOverride']);

const firefox = spawn(process.env['FIREFOX'] as string, process.argv.slice(2), {
  stdio: ['inherit', 'inherit', 'pipe'],
});
firefox.once('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => firefox.kill(signal));

firefox.stderr.setEncoding('utf8').on('data', (text: string) => {
  const endpoint = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(text)?.[1];
  if (endpoint === undefined) process.stderr.write(text);
  else listen(endpoint);
});

function listen(endpoint: string): void {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('listening', () => {
    const { port } = server.address() as { port: number };
    process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${port}\n`);
  });
  server.on('connection', (playwright, { url = '' }) => join(playwright, new WebSocket(`${endpoint}${url}`)));
}

function join(playwright: Socket, browser: Socket): void {
  const waiting: RawData[] = [];
  const toBrowser = (data: RawData): void => {
    const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
    if (UNKNOWN.has(method)) playwright.send(JSON.stringify({ type: 'success', id, result: {} }));
    else browser.send(data.toString());
  };
  playwright.on('message', (data) => {
    if (browser.readyState === WebSocket.OPEN) toBrowser(data);
    else waiting.push(data);
  });
  browser.on('open', () => waiting.splice(0).forEach(toBrowser));
  browser.on('message', (data) => playwright.send(data.toString()));
  browser.on('close', () => playwright.close());
  playwright.on('close', () => browser.close());
}
