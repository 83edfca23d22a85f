import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../adapters/obd/elm327/conversation.ts';
import type { LineEvents } from '../../../../agent/ports.ts';
import { VirtualClock } from '../../../rig/clock.ts';

const PATIENCE = { quiet: 1000, total: 5000 };

async function opened() {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const lost: string[] = [];
  let events: LineEvents | undefined;
  const conversation = await Conversation.open(
    async (given) => {
      events = given;
      return {
        write: async (bytes) => {
          sent.push(String.fromCharCode(...bytes));
        },
        close: async () => {},
      };
    },
    clock,
    (reason) => lost.push(reason),
  );
  const say = (text: string): void => events?.data(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  return { clock, sent, lost, conversation, say, end: (reason: string) => events?.closed(reason) };
}

describe("the adapter's output", () => {
  it.each([
    ['010D\r41 0D 32\r\r>', '41 0D 32'],
    ['0 1 0 d\r41 0D 32\r\r>', '41 0D 32'],
    ['\x00\x00010D\r\n41 0D 32\r\n\r\n>', '41 0D 32'],
    ['41 0D 32\r\r>', '41 0D 32'],
    ['010\r>', '010'],
    ['01\xff0D\r>', '01\ufffd0D'],
  ])('%j is returned without echo, NULs and prompt', async (said, text) => {
    const { conversation, say } = await opened();
    const heard = conversation.ask('010D', PATIENCE);
    say(said);
    const { text: heardText, prompted } = await heard;
    expect([heardText.trim(), prompted]).toEqual([text, true]);
  });

  it('ends without a prompt after silence, or if it is too long or takes too long', async () => {
    const { conversation, say, clock } = await opened();
    const silence = conversation.ask('ATI', PATIENCE);
    say('ELM');
    clock.advance(1000);
    expect(await silence).toEqual({ text: 'ELM', prompted: false });
    const babble = conversation.ask('ATI', PATIENCE);
    for (let i = 0; i < 12; i++) {
      say('x\r');
      clock.advance(500);
    }
    expect((await babble).prompted).toBe(false);
    const flood = conversation.ask('ATI', PATIENCE);
    for (let i = 0; i < 9; i++) say('y'.repeat(64 * 1024));
    expect((await flood).prompted).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('is stopped when it is sufficient', async () => {
    const { conversation, say, sent } = await opened();
    const heard = conversation.watch('ATMA', PATIENCE, (text) => text.includes('7E8'));
    say('123 00\r7E');
    expect(sent).toEqual(['ATMA\r']);
    say('8 00\r7E8 01\r');
    expect(sent).toEqual(['ATMA\r', ' ']);
    say('STOPPED\r\r>');
    expect((await heard).text).toContain('7E8 00');
  });

  it('between commands is recorded as stray', async () => {
    const { conversation, say } = await opened();
    say('\r>\r\n');
    expect(conversation.stray).toBe('');
    say('LV RESET\r');
    expect(conversation.stray).toBe('LV RESET');
  });

  it('ends with the line', async () => {
    const { conversation, end, lost } = await opened();
    const heard = conversation.ask('ATI', PATIENCE);
    end('unplugged');
    await expect(heard).rejects.toMatchObject({ code: 'input.unreadable' });
    await expect(conversation.ask('ATI', PATIENCE)).rejects.toThrow('unplugged');
    expect(lost).toEqual(['unplugged']);
  });
});
